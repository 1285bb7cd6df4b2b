"""Judges all blocks of a page at once by a small model: boosted trees that ask the same question of every block.

Each tree asks a few questions (is this column over that number?) and the answers of one block, as bits of a number,
name its leaf. Python's integers and `bytes.translate` then work on a whole column at a time, which is what makes
hundreds of trees affordable without a library: the cost hardly grows with the number of blocks.

`content_model.json` is made by `bench/quality/train_content.py` from WCXB (Murrough Foley, 2026, CC-BY-4.0) and the
article-extraction-benchmark (Zyte, MIT).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from struct import unpack
from typing import Any, Final

import orjson

from sitemirror.convert.features import Lexicon

_FILE: Final = "content_model.json"
_ODDS: Final = 16  # steps of the logarithm of the odds to one
_FAR: Final = 128  # steps after which nothing changes any more
# Probability by the logarithm of the odds, in steps from -_FAR to _FAR.
_PROBABLE: Final = tuple(1 / (1 + exp(-step / _ODDS)) for step in range(-_FAR, _FAR + 1))


@dataclass(frozen=True, slots=True)
class Tree:
    """Questions, as places in `Model.questions`, and what each combination of answers is worth."""

    questions: tuple[int, ...]
    leaves: bytes  # 256 of them, so that they can translate bytes


@dataclass(frozen=True, slots=True)
class Model:
    """What was learnt."""

    lexicon: Lexicon
    questions: tuple[tuple[str, int], ...]  # (column, number to be over)
    trees: tuple[Tree, ...]
    start: float  # what a block has before any tree is asked
    step: float  # what one unit of a leaf is worth

    def odds(self, columns: Mapping[str, bytes], count: int) -> list[float]:
        """For each block the logarithm of the odds that it is content."""
        answers = [int.from_bytes(columns[name].translate(_over(number)), "little") for name, number in self.questions]
        every_other = int.from_bytes(b"\xff\0" * (count // 2 + 1), "little")
        even = odd = 0  # sums of two bytes each, of every other block
        for tree in self.trees:
            index = 0
            for bit, question in enumerate(tree.questions):
                index |= answers[question] << bit
            worth = int.from_bytes(index.to_bytes(count, "little").translate(tree.leaves), "little")
            even += worth & every_other
            odd += worth >> 8 & every_other
        half = count // 2 + 1
        sums = [0] * (half * 2)
        sums[::2] = unpack(f"<{half}H", even.to_bytes(half * 2, "little"))
        sums[1::2] = unpack(f"<{half}H", odd.to_bytes(half * 2, "little"))
        start, step = self.start, self.step
        return [start + step * total for total in sums[:count]]


def probability(odds: float) -> float:
    """How likely something is of which the logarithm of the odds is known."""
    at = round(odds * _ODDS)
    return _PROBABLE[0 if at < -_FAR else 2 * _FAR if at > _FAR else at + _FAR]


@cache
def _over(number: int) -> bytes:
    return bytes(value > number for value in range(256))


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
