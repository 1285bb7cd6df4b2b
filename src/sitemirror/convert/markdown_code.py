"""Tells code from text in rendered Markdown, and changes the blanks of what is text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = re.compile(r"^(?:[ \t>]|[-*+] |[0-9]{1,9}[.)] )*+(`{3,}+|~{3,}+)(.*)$", re.M)
_TICKS: Final = re.compile("`++")
_NBSP_IN_CELL: Final = re.compile("(\\|?) *+(?:(?:\xa0|&#160;) *+)++(?=\\|)")
# It looks back from the entity's end, since a pattern that begins with a text is found many times faster.
_NBSP_IN_WORDS: Final = re.compile(r"&#160;(?<=[\w.,:;)\]]&#160;)(?:&#160;)*+(?= ?\w)")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


class LineOfCode:
    """The code spans of the line that is being read, from its beginning to where one has got."""

    __slots__ = ("_escaped", "_here", "_text", "_ticks", "_unsure")

    def __init__(self, text: str) -> None:
        self._text = text
        self._here = 0
        self._ticks = 0
        self._escaped = 0
        self._unsure = False

    def is_code(self, place: int) -> bool:
        """Whether `place`, further on than the last one, may stand in code."""
        text = self._text
        begin = text.rfind("\n", self._here, place) + 1
        if begin:
            self._here, self._ticks, self._escaped, self._unsure = begin, 0, 0, False
        if ticks := text.count("`", self._here, place):
            passed = text[max(self._here - 1, 0) : place]
            self._ticks += ticks
            self._escaped += passed.count("\\`")
            self._unsure = self._unsure or "``" in passed or "\\\\`" in passed
        self._here = place
        if self._escaped:  # They begin no code, but may end some that ends with a backslash.
            return self._unsure or self._escaped < self._ticks
        return self._unsure or self._ticks % 2 == 1


def without_blank_lines(text: str) -> str:
    """`text` with one blank line at most between two others, but for code."""
    return outside_code(text, lambda piece: _BLANK_LINES.sub("\n\n", piece))


def with_plain_spaces(text: str) -> str:
    """`text` with no-break spaces as they are, where they keep words together; at a cell's end they say nothing."""
    return outside_code(text, lambda piece: "\n".join(map(_plain_spaces, piece.split("\n"))))


def _plain_spaces(line: str) -> str:
    has_entity = "&" in line and "&#160;" in line
    if not has_entity and "\xa0" not in line:
        return line
    if ("\xa0 |" in line or (has_entity and "&#160; |" in line)) and line.lstrip(" \t>").startswith("|"):
        line = _NBSP_IN_CELL.sub(lambda cell: "|  " if cell[1] else " ", line)
    if not has_entity or "`" in line:  # Code may speak of the entity.
        return line
    return _NBSP_IN_WORDS.sub(lambda spaces: "\xa0" * (len(spaces[0]) // len("&#160;")), line)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """`text` with what is no code block changed."""
    pieces: list[str] = []
    done = 0
    for start, end in fences(text):
        pieces += (change(text[done:start]), text[start:end])
        done = end
    return "".join((*pieces, change(text[done:])))


def fences(text: str) -> Iterator[tuple[int, int]]:
    """Where fenced code begins and ends."""
    if "~" not in text or "~~~" not in text:
        yield from _blocks(text)
        return
    start, mark = 0, ""
    for found in _FENCE.finditer(text):
        if not mark:
            if "`" not in found[2]:
                start, mark = found.start(), found[1]
        elif found[1] == mark and not found[2].strip():
            yield start, found.end()
            mark = ""
    if mark:
        yield start, len(text)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The same where only backticks fence: three of them are never text, and what they open ends with as many."""
    start = text.find("```")
    while start >= 0:
        end = _end_of_ticks(text, start)
        mark, here = text[start:end], end
        while (here := text.find(mark, here)) >= 0:
            before, here = here, _end_of_ticks(text, here)
            if here - before == len(mark):
                break
        here = len(text) if here < 0 else here
        yield start, here
        start = text.find("```", here)


def _end_of_ticks(text: str, place: int) -> int:
    while text.startswith("`", place):
        place += 1
    return place


class CodeSpans:
    """Where code ends in a paragraph; its backticks are looked at once, however many there are."""

    __slots__ = ("_runs", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs: dict[int, list[int]] | None = None

    def end(self, start: int, end: int) -> int:
        """The end of the code that the backticks from `start` to `end` open, or theirs if they open none."""
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        closing = self._runs[end - start]
        number = bisect_left(closing, end)
        return end if number == len(closing) else closing[number] + end - start
