"""Tells emphasis from asterisks and underscores that mean themselves, as CommonMark does. Needed for headings only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_RUNS: Final = re.compile(r"\\[\s\S]?|\*+|_+")


class _Run:
    """Some `*` or `_` in a row."""

    __slots__ = ("can_close", "can_open", "char", "end", "length", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.char = text[start]
        self.start = start
        self.end = end
        self.length = end - start  # in the text; some of it may be used up
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        blank_before, blank_after = before.isspace(), after.isspace()
        mark_before, mark_after = _is_punctuation(before), _is_punctuation(after)
        left = not blank_after and (not mark_after or blank_before or mark_before)
        right = not blank_before and (not mark_before or blank_after or mark_after)
        self.can_open = left and (self.char == "*" or not right or mark_before)
        self.can_close = right and (self.char == "*" or not left or mark_after)


def emphasis(text: str, gaps: Iterable[tuple[int, int]]) -> list[int]:
    """Where the characters are that mark emphasis, in text of which only `gaps` may hold any."""
    used: list[int] = []
    openers: list[_Run] = []
    hopeless: dict[tuple[str, bool, int], int] = {}  # how far down there is no opener for such a closer
    for start, end in gaps:
        for found in _RUNS.finditer(text, start, end):
            if found[0][0] == "\\":
                continue
            run = _Run(text, *found.span())
            if run.can_close:
                _close(run, openers, hopeless, used)
            if run.can_open and run.start < run.end:
                openers.append(run)
    return used


def _close(run: _Run, openers: list[_Run], hopeless: dict[tuple[str, bool, int], int], used: list[int]) -> None:
    while run.start < run.end:
        key = (run.char, run.can_open, run.length % 3)
        bottom = hopeless.get(key, 0)
        place = len(openers) - 1
        while place >= bottom and not _fits(openers[place], run):
            place -= 1
        if place < bottom:
            hopeless[key] = len(openers)
            return
        opener = openers[place]
        count = 2 if opener.end - opener.start > 1 and run.end - run.start > 1 else 1
        used += range(opener.end - count, opener.end)
        used += range(run.start, run.start + count)
        opener.end -= count
        run.start += count
        del openers[place + (opener.start < opener.end) :]
        for known, depth in hopeless.items():
            hopeless[known] = min(depth, len(openers))


def _fits(opener: _Run, closer: _Run) -> bool:
    if opener.char != closer.char:
        return False
    either = opener.can_close or closer.can_open
    return not either or (opener.length + closer.length) % 3 != 0 or (opener.length % 3 == 0 and closer.length % 3 == 0)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
