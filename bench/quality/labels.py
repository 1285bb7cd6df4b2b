"""Finds out which blocks of a page are in the text that people want from it: what a model of content is trained on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 3  # words in a row that are looked for
_LONG: Final = 6  # words of a block that can be told by what is in it; a shorter one by where it stands as well
_SLACK: Final = 8  # words by which a short block may be out of place
_AFTER: Final = 200
_BEFORE: Final = 100


def words(text: str) -> list[str]:
    """As WCXB counts them."""
    return _WORD.findall(text.lower())


def labels(blocks: Sequence[Sequence[str]], wanted: Sequence[str]) -> list[float]:
    """For each block, given as words, the share of it that is wanted."""
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(wanted) - _RUN + 1):
        runs[tuple(wanted[at : at + _RUN])].append(at)
    found = [0.0] * len(blocks)
    spans: list[tuple[int, int] | None] = [None] * len(blocks)
    last = 0
    for number, block in enumerate(blocks):
        if len(block) < _LONG:
            continue
        covered = bytearray(len(block))
        places = []
        for at in range(len(block) - _RUN + 1):
            if there := runs.get(tuple(block[at : at + _RUN])):
                covered[at : at + _RUN] = b"\1" * _RUN
                places.append(min(there, key=lambda place: abs(place - last)))
        found[number] = sum(covered) / len(block)
        if found[number] > 0.5 and places:
            places.sort()
            last = places[len(places) // 2]
            spans[number] = (last - len(block) // 2 - 2, last + len(block) // 2 + 2)
    _short(blocks, wanted, spans, found)
    return found


def _short(
    blocks: Sequence[Sequence[str]],
    wanted: Sequence[str],
    spans: Sequence[tuple[int, int] | None],
    found: list[float],
) -> None:
    """A short block is wanted if its words stand between what its neighbours were found as, each time but once."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(wanted):
        places[word].append(at)
    following: list[tuple[int, int] | None] = [None] * len(blocks)
    known: tuple[int, int] | None = None
    for number in range(len(blocks) - 1, -1, -1):
        following[number] = known
        known = spans[number] or known
    used: set[tuple[int, int]] = set()
    known = None
    for number, block in enumerate(blocks):
        if 0 < len(block) < _LONG:
            after = following[number]
            low = known[0] if known else max(0, after[0] - _BEFORE) if after else 0
            high = after[1] if after else known[1] + _AFTER if known else len(wanted)
            for at in places.get(block[0], ()):
                span = (at, len(block))
                if (
                    low - _SLACK <= at <= high + _SLACK
                    and span not in used
                    and list(wanted[at : at + len(block)]) == list(block)
                ):
                    used.add(span)
                    found[number] = 1.0
                    break
        known = spans[number] or known
