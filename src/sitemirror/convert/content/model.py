"""The content model: boosted trees that judge all text blocks of a page at once.

Each tree is oblivious: it has a few conditions (column > threshold), whose results are the bits of the index of a leaf.
Big integers and `bytes.translate` evaluate a whole column at a time, so hundreds of trees are affordable without a
library, and the cost hardly grows with the number of blocks.

`content_model.json` is made by `bench/quality/train_content.py` from WCXB (Murrough Foley, 2026, CC-BY-4.0) and the
article-extraction-benchmark (Zyte, MIT).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from math import exp
from pathlib import Path
from struct import unpack
from typing import Any, Final

import orjson

NOTHING: Final = 128  # neutral score; higher ones mean content

_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_SMALL: Final = bytes(sign if chr(sign) in "abcdefghijklmnopqrstuvwxyz" else 32 for sign in range(256))
_REMEMBERED: Final = 10_000  # entries of a cache
SHORT_TEXT: Final = 120  # characters; shorter blocks have a score by their first words
_BEGINNING: Final = 40  # characters with the first words


class _Scores(dict[str, int]):
    """A cache of scores of names or texts."""

    def __init__(self, judge: Callable[[str], int]) -> None:
        super().__init__()
        self._judge = judge

    def __missing__(self, text: str) -> int:
        found = self._judge(text)
        if len(text) < SHORT_TEXT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = found
        return found


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Scores of words; positive ones mean content."""

    names: Mapping[str, int] = field(default_factory=dict)  # words of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # first words of blocks, and pairs of them
    judged_names: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """The summed score of all names of a part, as a byte."""
    judged_texts: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """The summed score of a block's first words, as a byte; neutral for long blocks."""

    def __post_init__(self) -> None:
        # Parts combine the same few names in ever new ways, so single names are cached, too.
        single = _Scores(self._name)
        together = _Scores(lambda names: _byte(sum(map(single.__getitem__, names.split()), NOTHING)))
        object.__setattr__(self, "judged_names", together)
        object.__setattr__(self, "judged_texts", _Scores(self._text))

    def _name(self, name: str) -> int:
        return sum(map(self.names.get, name_words(name), repeat(0)))

    def _text(self, text: str) -> int:
        total, get = NOTHING, self.words.get
        if len(text) < SHORT_TEXT:
            for word in first_words(text):
                total += get(word, 0)
        return _byte(total)


def _byte(number: int) -> int:
    return 0 if number < 0 else 255 if number > 255 else number


def name_words(names: str) -> list[str]:
    """Split classes and ids into words."""
    if names.islower():  # most names: the same in half the time
        return names.encode("ascii", "replace").translate(_SMALL).decode().split()
    return " ".join(_NAME.findall(names)).lower().split()


def first_words(text: str) -> list[str]:
    """The first words of a block, and the first two of them as a pair."""
    found = text[:_BEGINNING].lower().split()
    if len(found) > 1:
        found.append(f"{found[0]} {found[1]}")
    return found


Question = tuple[str, int]  # column, threshold

# For each threshold a table that translates bytes above it to 1, others to 0.
_OVER: Final = tuple(bytes(number + 1) + b"\1" * (255 - number) for number in range(256))
_BYTE_ORDER: Final = "little"


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Up to eight conditions (indexes of `Model.questions`), and the value of each combination."""

    questions: tuple[int, ...]
    leaves: bytes  # 256, as a table for `bytes.translate`


_FILE: Final = "content_model.json"
_ODDS: Final = 16  # steps for 1 of log odds
_FAR: Final = 128  # steps at which the probability is saturated
# Probability by log odds, in steps from -_FAR to _FAR.
_PROBABLE: Final = tuple(1 / (1 + exp(-step / _ODDS)) for step in range(-_FAR, _FAR + 1))


@dataclass(frozen=True, slots=True)
class Model:
    """The trained model."""

    lexicon: Lexicon
    questions: tuple[Question, ...]
    trees: tuple[DecisionTree, ...]
    start: float  # initial log odds
    step: float  # log odds for one unit of a leaf

    def odds(self, columns: Mapping[str, bytes], page: Mapping[str, int], count: int) -> list[float]:
        """The log odds that each block is content."""
        from_bytes = int.from_bytes
        yes = from_bytes(b"\1" * count, _BYTE_ORDER)
        # The results of each condition for all blocks, as an integer with one byte for each block.
        answers = [
            (yes if page[name] > number else 0)
            if name in page
            else from_bytes(columns[name].translate(_OVER[number]), _BYTE_ORDER)
            for name, number in self.questions
        ]
        every_other = from_bytes(b"\xff\0" * (count // 2 + 1), _BYTE_ORDER)
        even = both = 0  # 16-bit sums of every other block; overlapping sums of all
        for tree in self.trees:
            leaf = 0
            for place, question in enumerate(tree.questions):
                leaf |= answers[question] << place
            value = from_bytes(leaf.to_bytes(count, _BYTE_ORDER).translate(tree.leaves), _BYTE_ORDER)
            both += value
            even += value & every_other
        odd = both - even >> 8
        half = count // 2 + 1
        sums = [0] * (half * 2)
        sums[::2] = unpack(f"<{half}H", even.to_bytes(half * 2, _BYTE_ORDER))
        sums[1::2] = unpack(f"<{half}H", odd.to_bytes(half * 2, _BYTE_ORDER))
        start, step = self.start, self.step
        return [start + step * total for total in sums[:count]]


def probability(odds: float) -> float:
    """Convert log odds to a probability."""
    return probabilities((odds,))[0]


def probabilities(odds: Iterable[float]) -> list[float]:
    """Convert log odds to probabilities."""
    table, far = _PROBABLE, _FAR
    steps = [round(one * _ODDS) for one in odds]
    return [table[0 if at < -far else 2 * far if at > far else at + far] for at in steps]


def read_model(text: bytes) -> Model:
    """Read a model from the content of its file."""
    data: dict[str, Any] = orjson.loads(text)
    names: list[str] = data["columns"]
    return Model(
        lexicon=Lexicon(data["names"], data["words"]),
        questions=tuple((names[column], number) for column, number in data["questions"]),
        trees=tuple(
            DecisionTree(tuple(questions), bytes.fromhex(leaves).ljust(256, b"\0"))
            for questions, leaves in data["trees"]
        ),
        start=data["start"],
        step=data["step"],
    )


@cache
def load_model() -> Model:
    """Load the model of the package, once."""
    return read_model(Path(__file__).with_name(_FILE).read_bytes())
