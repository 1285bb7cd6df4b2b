"""Lays out what the trees of a model ask, so that a page's blocks answer many questions at once.

Eight questions about a column are eight bits of one byte, which one table gives for all blocks. A question has the same
bit in every tree, if that can be had, and no two questions of a tree have the same: the answers are put together with
nothing but `|`, and what comes out is the name of a leaf.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

Question = tuple[str, int]  # column, number to be over

_BITS: Final = 8
_MOST: Final = 255  # that a byte holds
_BYTE: Final = "little"


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


Placed = tuple[Callable[[Sequence[int]], tuple[int, ...]], bytes]  # picks a tree's answers; the leaves by their bits


class Layout:
    """All questions of a model, by column, and its trees, in groups whose leaves together are worth a byte at most."""

    __slots__ = ("_by_column", "_taken", "columns", "groups")

    def __init__(self, questions: Sequence[Question], trees: Sequence[Tree]) -> None:
        self._taken: dict[Question, list[tuple[int, int]]] = defaultdict(list)  # of each its bits, and which byte's
        self._by_column: dict[str, list[dict[int, int]]] = defaultdict(list)  # bytes: by bit the number to be over
        chosen = [self._choose([questions[one] for one in tree.questions]) for tree in trees]
        self.columns: list[tuple[str, list[Asked]]] = []
        places: dict[tuple[str, int, int], int] = {}
        for name, packs in self._by_column.items():
            for at, pack in enumerate(packs):
                places.update({(name, at, bit): len(places) + place for place, bit in enumerate(pack)})
            self.columns.append((name, [Asked(_answers(pack), tuple(pack)) for pack in packs]))
        placed = []
        for tree, asked in zip(trees, chosen, strict=True):
            own = [places[one] for one in asked]
            own += own[: len(own) == 1]  # at least two, or it would not be a tuple; asked twice it answers the same
            placed.append((itemgetter(*own), _scattered(tree.leaves, [bit for _, _, bit in asked])))
        self.groups = list(_grouped(placed))

    def _choose(self, asked: Sequence[Question]) -> list[tuple[str, int, int]]:
        """A bit for each question of a tree: the column, which of its bytes, and which bit of that."""
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


def _scattered(leaves: bytes, bits: Sequence[int]) -> bytes:
    """The leaves in the order that they have if the questions are these bits."""
    places = [0]
    for bit in bits:
        places += [place | 1 << bit for place in places]
    table = bytearray(256)
    for place, leaf in zip(places, leaves, strict=False):
        table[place] = leaf
    return bytes(table)


def _grouped(placed: Sequence[Placed]) -> Iterator[list[Placed]]:
    """The trees, put together so that no sum of their leaves needs more than a byte."""
    rooms: list[int] = []
    groups: list[list[Placed]] = []
    for one in sorted(placed, key=lambda one: max(one[1]), reverse=True):
        needed = max(one[1])
        at = next((at for at, room in enumerate(rooms) if room >= needed), len(rooms))
        if at == len(rooms):
            rooms.append(_MOST)
            groups.append([])
        rooms[at] -= needed
        groups[at].append(one)
    return iter(groups)
