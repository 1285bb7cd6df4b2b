"""Find code in rendered Markdown, and normalise blanks and blank lines outside of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Final

_FENCE: Final = re.compile(r"^(?:[ \t>]|[-*+] |[0-9]{1,9}[.)] )*+(`{3,}+|~{3,}+)(.*)$", re.M)
_TICKS: Final = re.compile("``*+").finditer  # begins with a literal, which is fast
_FENCING_TICKS: Final = re.compile("`(?=``)`*+").finditer  # one literal character first is faster than three
_NBSP_IN_CELL: Final = re.compile("(\\|?) *+(?:(?:\xa0|&#160;) *+)++(?=\\|)")
# Looks back from the end of the entity, since patterns that begin with a literal are many times faster.
_NBSP_IN_WORDS: Final = re.compile(r"&#160;(?<=[\w.,:;)\]]&#160;)(?:&#160;)*+(?= ?\w)")
# Spaces at the ends of a line have no effect, and are removed unless the line would then be a list, rule or definition.
_NBSP_AT_END: Final = re.compile(r"(?:[ \xa0]*+&#160;)++[ \xa0]*+(?=\\?\Z)")
_NO_SIGN: Final = re.compile(r"(?=.*[^\W_])(?!\s*[0-9]{1,9}[.)]\Z).*[^\s\\|+-](?<!\]:)", re.S).fullmatch
_NBSP_AT_START: Final = re.compile(r"([ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)]) )?)&#160; ?(?=[^\W\d_])").match
# Other Unicode spaces, which the renderer writes as entities in headings: after a chapter's number, around a dash.
_WIDE_SPACE_IN_WORDS: Final = re.compile(r"(?<=[^\s\\])&#(5760|819[2-9]|820[0-2]|8239|8287|12288);(?=\S)")
_SPACES: Final = ("&#160;", "\xa0 |", "&#81", "&#82", "&#12288;", "&#5760;")
_BLANK_LINES: Final = re.compile(r"\n\n\n+")  # begins with a literal, which is fast


class CodeTracker:
    """The code spans of the current line, for a text that is read from left to right."""

    __slots__ = ("_escaped", "_here", "_text", "_ticks", "_unsure")

    def __init__(self, text: str) -> None:
        self._text = text
        self._here = 0
        self._ticks = 0
        self._escaped = 0
        self._unsure = False

    def is_code(self, place: int) -> bool:
        """True if `place`, after all earlier ones, may be in code."""
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
        if self._escaped:  # Escaped backticks begin no code, but may end code that ends with a backslash.
            return self._unsure or self._escaped < self._ticks
        return self._unsure or self._ticks % 2 == 1


def collapse_blank_lines(text: str) -> str:
    """Collapse several blank lines outside of code to one."""
    return map_outside_code(text, lambda piece: _BLANK_LINES.sub("\n\n", piece))


def plain_spaces(text: str) -> str:
    """Replace entities of spaces by the characters between words; remove them at the ends of lines."""
    return map_outside_code(text, _plain_spaces_in_lines)


def _plain_spaces_in_lines(text: str) -> str:
    lines: set[tuple[int, int]] = set()  # the few lines that have any
    for sign in _SPACES:
        here = text.find(sign)
        while here >= 0:
            end = text.find("\n", here)
            end = len(text) if end < 0 else end
            lines.add((text.rfind("\n", 0, here) + 1, end))
            here = text.find(sign, end)
    pieces: list[str] = []
    done = 0
    for start, end in sorted(lines):
        pieces += (text[done:start], _plain_spaces_in_line(text[start:end]))
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _plain_spaces_in_line(line: str) -> str:
    has_entity = "&#160;" in line
    if ("\xa0 |" in line or (has_entity and "&#160; |" in line)) and line.lstrip(" \t>").startswith("|"):
        line = _NBSP_IN_CELL.sub(lambda cell: "|  " if cell[1] else " ", line)
    if has_entity:
        line = _without_outer_spaces(line)
    if "&#" not in line or "`" in line:  # The entity may be part of code.
        return line
    line = _WIDE_SPACE_IN_WORDS.sub(lambda space: chr(int(space[1])), line)
    return _NBSP_IN_WORDS.sub(lambda spaces: "\xa0" * (len(spaces[0]) // len("&#160;")), line)


def _without_outer_spaces(line: str) -> str:
    if line.endswith(("&#160;", "\xa0", " ", "\\")) and (found := _NBSP_AT_END.search(line)):
        words = line[: found.start()]
        if _NO_SIGN(words):
            line = words + line[found.end() :]
    if found := _NBSP_AT_START(line):
        line = found[1] + line[found.end() :]
    return line


def map_outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the text outside of code blocks."""
    pieces: list[str] = []
    done = 0
    for start, end in code_fences(text):
        pieces += (change(text[done:start]), text[start:end])
        done = end
    return "".join((*pieces, change(text[done:])))


def code_fences(text: str) -> list[tuple[int, int]]:
    """Find start and end of each fenced code block."""
    if "~" not in text or "~~~" not in text:
        return _blocks(text)
    found: list[tuple[int, int]] = []
    start, mark = 0, ""
    for fence in _FENCE.finditer(text):
        if not mark:
            if "`" not in fence[2]:
                start, mark = fence.start(), fence[1]
        elif fence[1] == mark and not fence[2].strip():
            found.append((start, fence.end()))
            mark = ""
    if mark:
        found.append((start, len(text)))
    return found


def _blocks(text: str) -> list[tuple[int, int]]:
    """Find the fenced blocks of a text without tildes, by runs of three or more backticks."""
    found: list[tuple[int, int]] = []
    start = length = 0
    for run in _FENCING_TICKS(text):
        here, end = run.span()
        if not length:
            start, length = here, end - here
        elif end - here == length:
            found.append((start, end))
            length = 0
    if length:
        found.append((start, len(text)))
    return found


class CodeSpans:
    """Find the ends of code spans in a paragraph; its backticks are read once."""

    __slots__ = ("_runs", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs: dict[int, list[int]] | None = None

    def end(self, start: int, end: int) -> int:
        """The end of the code span opened by the backticks from `start` to `end`; `end` if there is none."""
        if self._runs is None:
            self._runs = {}
            for run in _TICKS(self._text):
                place, after = run.span()
                self._runs.setdefault(after - place, []).append(place)
        closing = self._runs.get(end - start, [])
        number = bisect_left(closing, end)
        return end if number == len(closing) else closing[number] + end - start
