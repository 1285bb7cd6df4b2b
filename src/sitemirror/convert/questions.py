"""Lays out what the trees of a model ask, so that a page's blocks answer many questions at once.

What all blocks of a page answer alike, since it is about the page, is known before any block is asked. What is left of
two trees or three then fits into one: eight questions are eight bits of a byte, which names a leaf that is worth what
the trees' own leaves are together. How much that is depends on the page, and is remembered.

A question has the same bit wherever it is asked, if that can be had, and all of a byte are different: the answers are
put together by adding them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Final

Question = tuple[str, int]  # column, number to be over

PAGE: Final = ("page_", "hint")  # begin the names of columns that are about the page
_BITS: Final = 8
_MOST: Final = 255  # that a byte holds
_VALUES: Final = 256  # of a byte
_BYTE: Final = "little"
_ONES: Final = int.from_bytes(b"\1" * _VALUES, _BYTE)
_REMEMBERED: Final = 32  # kinds of page


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
    """What the leaves of some trees are worth together, by what is known of the page."""

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
        if len(self) >= _REMEMBERED:
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
        """What is known of a page: for each question about it one bit."""
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
    """What groups of trees ask blocks, and the trees, by number: no more questions than a byte has bits, and no more
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
