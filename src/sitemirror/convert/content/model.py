"""The content model: boosted trees that judge all text blocks of a page at once.

Each tree asks a few questions (is this column over that number?) of a block or of its page, and the answers, as bits of
a number, name its leaf. Python's integers and `bytes.translate` work on a whole column at a time, which makes hundreds
of trees affordable without a library: the cost hardly grows with the number of blocks.

`content_model.json` is made by `bench/quality/train_content.py` from WCXB (Murrough Foley, 2026, CC-BY-4.0) and the
article-extraction-benchmark (Zyte, MIT).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, groupby, repeat
from math import exp
from operator import itemgetter
from pathlib import Path
from struct import unpack
from typing import Any, Final

import orjson

NOTHING: Final = 128  # what a word says that says nothing; more speaks for content

_NAME: Final = re.compile(r"[A-Z]?[a-z]+")
_SMALL: Final = bytes(sign if chr(sign) in "abcdefghijklmnopqrstuvwxyz" else 32 for sign in range(256))
_REMEMBERED: Final = 10_000  # names, or texts
SHORT_TEXT: Final = 120  # characters of a block that is told by what it begins with, and of what is remembered
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

PAGE: Final = ("page_", "hint")  # begin the names of columns that are about the page
_BITS: Final = 8
_MOST: Final = 255  # that a byte holds
_VALUES: Final = 256  # of a byte
_BYTE: Final = "little"
_ONES: Final = int.from_bytes(b"\1" * _VALUES, _BYTE)
_REMEMBERED_PAGES: Final = 32  # kinds of page


@dataclass(frozen=True, slots=True)
class Tree:
    """Questions, as places in `Model.questions`, and what each combination of answers is worth."""

    questions: tuple[int, ...]
    leaves: bytes  # 256 of them, so that they can translate bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """Up to eight questions about one column."""

    table: bytes  # for each value of the column all answers
    bits: tuple[int, ...]


class Leaves(dict[int, bytes]):
    """The summed leaf values of a group of trees, by the answers about the page."""

    __slots__ = ("_trees",)

    def __init__(self, trees: Sequence[tuple[bytes, Sequence[int], Sequence[int]]]) -> None:
        """Of each tree its leaves, and of each of its questions the bit of a block's byte, or of what is known of the
        page; -1 where it is none of these."""
        super().__init__()
        self._trees = [
            (leaves, _leaf_of_byte(bits), [(bit, 1 << at) for at, bit in enumerate(known) if bit >= 0])
            for leaves, bits, known in trees
        ]

    def __missing__(self, page: int) -> bytes:
        worth = 0
        for leaves, places, known in self._trees:
            moved = places + sum([by for bit, by in known if page >> bit & 1]) * _ONES
            worth += int.from_bytes(moved.to_bytes(_VALUES, _BYTE).translate(leaves), _BYTE)
        if len(self) >= _REMEMBERED_PAGES:
            self.clear()
        found = self[page] = worth.to_bytes(_VALUES, _BYTE)
        return found


# What of the page matters, what picks the blocks' answers, and what those are worth.
Group = tuple[int, Callable[[Sequence[int]], tuple[int, ...]], Leaves]


class Layout:
    """All questions of a model, by column, and its trees, in groups that are asked together."""

    __slots__ = ("_by_column", "_taken", "columns", "groups", "page")

    def __init__(self, questions: Sequence[Question], trees: Sequence[Tree]) -> None:
        self._taken: dict[Question, list[tuple[int, int]]] = defaultdict(list)  # of each its bits, and which byte's
        self._by_column: dict[str, list[dict[int, int]]] = defaultdict(list)  # bytes: by bit the number to be over
        about_page = sorted({one for one in questions if one[0].startswith(PAGE)})
        known = {one: bit for bit, one in enumerate(about_page)}
        # Of each column about the page the numbers that are asked for, and what is known when so many are passed.
        self.page: list[tuple[str, list[int], list[int]]] = []
        for name, asked in groupby(about_page, itemgetter(0)):
            numbers = [number for _, number in asked]
            self.page.append((name, numbers, [0, *accumulate(1 << known[name, number] for number in numbers)]))
        self.columns: list[tuple[str, list[Asked]]] = []
        self.groups: list[Group] = []
        wanted = [[questions[one] for one in tree.questions] for tree in trees]
        together = _grouped(trees, wanted)
        chosen = [self._choose(own) for own, _ in together]
        places: dict[tuple[str, int, int], int] = {}
        for name, packs in self._by_column.items():
            for at, pack in enumerate(packs):
                # The first answer is that to no question.
                places.update({(name, at, bit): len(places) + place for place, bit in enumerate(pack, 1)})
            self.columns.append((name, [Asked(_answers(pack), tuple(pack)) for pack in packs]))
        for (own, members), found in zip(together, chosen, strict=True):
            bits = {question: bit for question, (_, _, bit) in zip(own, found, strict=True)}
            leaves = Leaves(
                [
                    (
                        trees[one].leaves,
                        [bits.get(question, -1) for question in wanted[one]],
                        [known.get(question, -1) for question in wanted[one]],
                    )
                    for one in members
                ]
            )
            of_page = {known[question] for one in members for question in wanted[one] if question in known}
            pick = itemgetter(0, 0, *[places[one] for one in found])  # at least two, or it would not be a tuple
            self.groups.append((sum(1 << bit for bit in of_page), pick, leaves))

    def known(self, page: Mapping[str, int]) -> int:
        """The answers about a page, one bit a question."""
        found = 0
        for name, numbers, passed in self.page:
            found |= passed[bisect_left(numbers, page[name])]
        return found

    def _choose(self, asked: Sequence[Question]) -> list[tuple[str, int, int]]:
        """A bit for each of some questions: the column, which of its bytes, and which bit of that."""
        found: list[tuple[str, int, int] | None] = []
        free = set(range(_BITS))
        for question in asked:
            known = next((one for one in self._taken.get(question, ()) if one[1] in free), None)
            found.append(None if known is None else (question[0], *known))
            if known is not None:
                free.remove(known[1])
        return [self._new(question, free) if one is None else one for question, one in zip(asked, found, strict=True)]

    def _new(self, question: Question, free: set[int]) -> tuple[str, int, int]:
        name, number = question
        packs = self._by_column[name]
        at = next((at for at, pack in enumerate(packs) if not free <= pack.keys()), len(packs))
        if at == len(packs):
            packs.append({})
        bit = min(free - packs[at].keys())
        free.remove(bit)
        packs[at][bit] = number
        self._taken[question].append((at, bit))
        return name, at, bit


def _answers(pack: Mapping[int, int]) -> bytes:
    """For each value of a column the answers to the questions of a byte."""
    table = 0
    for bit, number in pack.items():
        table |= int.from_bytes(bytes(number + 1) + b"\1" * (255 - number), _BYTE) << bit
    return table.to_bytes(256, _BYTE)


def _leaf_of_byte(bits: Sequence[int]) -> int:
    """For each byte of answers the leaf that it leads to, all as one number, given the bits of a tree's questions."""
    found = 0
    for place, bit in enumerate(bits):
        if bit >= 0:
            has_bit = (bytes(1 << bit) + b"\1" * (1 << bit)) * (_VALUES >> bit + 1)
            found |= int.from_bytes(has_bit, _BYTE) << place
    return found


def _grouped(trees: Sequence[Tree], asked: Sequence[Sequence[Question]]) -> list[tuple[list[Question], list[int]]]:
    """Groups of trees with the questions they ask of blocks: no more questions than a byte has bits, and no more
    that the leaves can be worth than a byte holds."""
    own = [{one for one in questions if not one[0].startswith(PAGE)} for questions in asked]
    groups: list[tuple[set[Question], list[int]]] = []
    rooms: list[int] = []
    worth = [max(tree.leaves) for tree in trees]
    for tree in sorted(range(len(trees)), key=lambda one: len(own[one]) / _BITS + worth[one] / _MOST, reverse=True):
        best, least = -1, _BITS * 2
        for at, (questions, _) in enumerate(groups):
            if rooms[at] >= worth[tree]:
                count = len(questions | own[tree])
                # As full as can be, with as few new questions as can be.
                if count <= _BITS and (cost := _BITS - count + 2 * (count - len(questions))) < least:
                    best, least = at, cost
        if best < 0:
            groups.append((own[tree], [tree]))
            rooms.append(_MOST - worth[tree])
        else:
            groups[best][0].update(own[tree])
            groups[best][1].append(tree)
            rooms[best] -= worth[tree]
    return [(sorted(questions), members) for questions, members in groups]


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
        """The answers of all blocks to each question, in the order of the layout: one bit in a byte a block."""
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
            Tree(tuple(questions), bytes.fromhex(leaves).ljust(256, b"\0")) for questions, leaves in data["trees"]
        ),
        start=data["start"],
        step=data["step"],
    )


@cache
def load_model() -> Model:
    """The model that comes with the program, read when the first page needs it."""
    return read_model(Path(__file__).with_name(_FILE).read_bytes())
