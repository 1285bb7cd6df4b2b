"""The content model: boosted trees that judge all text blocks of a page at once.

Each tree asks a few questions (is this column over that number?) of a block or of its page, and the answers, as bits of
a number, name its leaf. Python's integers and `bytes.translate` work on a whole column at a time, which makes hundreds
of trees affordable without a library: the cost hardly grows with the number of blocks.

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

NOTHING: Final = 128  # what a word says that says nothing; more speaks for content

_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_SMALL: Final = bytes(sign if chr(sign) in "abcdefghijklmnopqrstuvwxyz" else 32 for sign in range(256))
_REMEMBERED: Final = 10_000  # names, or texts
SHORT_TEXT: Final = 120  # characters of a block that its first words judge, and of a cached text
_BEGINNING: Final = 40  # characters of that


class _Scores(dict[str, int]):
    """A cache of scores of names or texts, which the pages of a site share."""

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
    """Scores of words: more than 0 speaks for content."""

    names: Mapping[str, int] = field(default_factory=dict)  # of class and id
    words: Mapping[str, int] = field(default_factory=dict)  # the first words of a block, and pairs of them
    judged_names: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """The summed score of all names of a part, as a byte."""
    judged_texts: Mapping[str, int] = field(init=False, compare=False, repr=False)
    """The summed score of a block's first words, as a byte; long blocks are judged by other features."""

    def __post_init__(self) -> None:
        # What a part is called is often made of the same few names, in ever new ways.
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
    """The words that classes and ids are made of."""
    if names.islower():  # as most are: in half the time, what is left when all other signs are blanks
        return names.encode("ascii", "replace").translate(_SMALL).decode().split()
    return " ".join(_NAME.findall(names)).lower().split()


def first_words(text: str) -> list[str]:
    """The first words of a block, and the first two of them as a pair."""
    found = text[:_BEGINNING].lower().split()
    if len(found) > 1:
        found.append(f"{found[0]} {found[1]}")
    return found


Question = tuple[str, int]  # column, number to be over

# For each number a table that translates a byte to 1 if it is over that number.
_OVER: Final = tuple(bytes(number + 1) + b"\1" * (255 - number) for number in range(256))
_BYTE_ORDER: Final = "little"


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Up to eight questions, as indexes of `Model.questions`, and the value of each combination of answers."""

    questions: tuple[int, ...]
    leaves: bytes  # 256 of them, so that they can translate bytes


_FILE: Final = "content_model.json"
_ODDS: Final = 16  # steps of the logarithm of the odds to one
_FAR: Final = 128  # steps after which nothing changes any more
# Probability by the logarithm of the odds, in steps from -_FAR to _FAR.
_PROBABLE: Final = tuple(1 / (1 + exp(-step / _ODDS)) for step in range(-_FAR, _FAR + 1))


@dataclass(frozen=True, slots=True)
class Model:
    """The trained model."""

    lexicon: Lexicon
    questions: tuple[Question, ...]
    trees: tuple[DecisionTree, ...]
    start: float  # what a block has before any tree is asked
    step: float  # what one unit of a leaf is worth

    def odds(self, columns: Mapping[str, bytes], page: Mapping[str, int], count: int) -> list[float]:
        """For each block the logarithm of the odds that it is content."""
        from_bytes = int.from_bytes
        yes = from_bytes(b"\1" * count, _BYTE_ORDER)
        # The answers of all blocks to each question, as one integer with a byte a block.
        answers = [
            (yes if page[name] > number else 0)
            if name in page
            else from_bytes(columns[name].translate(_OVER[number]), _BYTE_ORDER)
            for name, number in self.questions
        ]
        every_other = from_bytes(b"\xff\0" * (count // 2 + 1), _BYTE_ORDER)
        even = both = 0  # sums that take two bytes of every other block; of all blocks, which lie over each other
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
    """The probability for a logarithm of odds."""
    return probabilities((odds,))[0]


def probabilities(odds: Iterable[float]) -> list[float]:
    """The probabilities for logarithms of odds."""
    table, far = _PROBABLE, _FAR
    steps = [round(one * _ODDS) for one in odds]
    return [table[0 if at < -far else 2 * far if at > far else at + far] for at in steps]


def read_model(text: bytes) -> Model:
    """A model from its file."""
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
    """The model that comes with the program, read when the first page needs it."""
    return read_model(Path(__file__).with_name(_FILE).read_bytes())
