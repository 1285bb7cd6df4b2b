"""Judges all blocks of a page at once by a small model: boosted trees that ask the same question of every block.

Each tree asks a few questions (is this column over that number?) of a block or of its page, and the answers, as bits of
a number, name its leaf. Python's integers and `bytes.translate` then work on a whole column at a time, which is what
makes hundreds of trees affordable without a library: the cost hardly grows with the number of blocks.

`content_model.json` is made by `bench/quality/train_content.py` from WCXB (Murrough Foley, 2026, CC-BY-4.0) and the
article-extraction-benchmark (Zyte, MIT).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import exp
from pathlib import Path
from struct import unpack
from typing import Any, Final

import orjson

from sitemirror.convert.lexicon import Lexicon
from sitemirror.convert.questions import Layout, Question, Tree

_FILE: Final = "content_model.json"
_ODDS: Final = 16  # steps of the logarithm of the odds to one
_FAR: Final = 128  # steps after which nothing changes any more
# Probability by the logarithm of the odds, in steps from -_FAR to _FAR.
_PROBABLE: Final = tuple(1 / (1 + exp(-step / _ODDS)) for step in range(-_FAR, _FAR + 1))


@dataclass(frozen=True, slots=True)
class Model:
    """What was learnt."""

    lexicon: Lexicon
    questions: tuple[Question, ...]
    trees: tuple[Tree, ...]
    start: float  # what a block has before any tree is asked
    step: float  # what one unit of a leaf is worth
    _layout: Layout = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_layout", Layout(self.questions, self.trees))

    def odds(self, columns: Mapping[str, bytes], page: Mapping[str, int], count: int) -> list[float]:
        """For each block the logarithm of the odds that it is content."""
        from_bytes = int.from_bytes
        answers = self._answers(columns, count)
        known = self._layout.known(page)
        every_other = from_bytes(b"\xff\0" * (count // 2 + 1), "little")
        even = both = 0  # sums that take two bytes of every other block; of all blocks, which lie over each other
        for asked, pick, leaves in self._layout.groups:
            leaf = sum(pick(answers)).to_bytes(count, "little")
            worth = from_bytes(leaf.translate(leaves[known & asked]), "little")
            both += worth
            even += worth & every_other
        odd = both - even >> 8
        half = count // 2 + 1
        sums = [0] * (half * 2)
        sums[::2] = unpack(f"<{half}H", even.to_bytes(half * 2, "little"))
        sums[1::2] = unpack(f"<{half}H", odd.to_bytes(half * 2, "little"))
        start, step = self.start, self.step
        return [start + step * total for total in sums[:count]]

    def _answers(self, columns: Mapping[str, bytes], count: int) -> list[int]:
        """What all blocks answer to each question, in the order of the layout: a byte a block, with one bit of it."""
        from_bytes = int.from_bytes
        ones = from_bytes(b"\1" * count, "little")
        masks = [ones << bit for bit in range(8)]
        answers = [0]
        for name, packs in self._layout.columns:
            column = columns[name]
            for asked in packs:
                packed = from_bytes(column.translate(asked.table), "little")
                for bit in asked.bits:
                    answers.append(packed & masks[bit])  # noqa: PERF401 - they are few, and a list of their own is dearer
        return answers


def probability(odds: float) -> float:
    """How likely something is of which the logarithm of the odds is known."""
    return probabilities((odds,))[0]


def probabilities(odds: Iterable[float]) -> list[float]:
    """How likely things are of which the logarithms of the odds are known."""
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
            Tree(tuple(questions), bytes.fromhex(leaves).ljust(256, b"\0")) for questions, leaves in data["trees"]
        ),
        start=data["start"],
        step=data["step"],
    )


@cache
def model() -> Model:
    """The model that comes with the program, read when the first page needs it."""
    return read_model(Path(__file__).with_name(_FILE).read_bytes())
