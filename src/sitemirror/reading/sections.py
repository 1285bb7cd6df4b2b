"""Cut a page's Markdown into sections of limited size: a heading with its text.

Only lines that may be a heading or a fence are looked at: `MarkdownText` reads Markdown as a browser shows it, in
thirty times as long. A heading in a quotation or beside a list's bullet begins no section.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Final, NamedTuple

from sitemirror.errors import UsageError
from sitemirror.links.markdown import Slugs, body_start, plain_text

MAX_TOKENS: Final = 800
"""Tokens of a section, unless a caller says otherwise."""

# Counts of these, and what one costs: fitted to o200k over Debian's manuals. Words are counted by seven letters.
_WORDS: Final = re.compile(r"[A-Za-z]{1,7}")
_DIGITS: Final = re.compile(r"[0-9]{1,3}")
_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-^`{-~]+")
_PER_WORD: Final = 89
_PER_DIGITS: Final = 140
_PER_PUNCTUATION: Final = 77
_PER_LINE: Final = 110
_PER_OTHER: Final = 70
_COST: Final = 100
"""Cost of a token: whole numbers, so that the costs of lines add up to that of the text."""

_SURELY_LONG: Final = 8
"""Characters a token, in a text that has to be looked at in parts anyway."""

_MARK: Final = re.compile(
    r"\n(?:"
    r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?\r?(?=\n|\Z)"
    r"|(?P<prefix>(?:[ \t]|>|[-*+](?=[ \t])|[0-9]{1,9}[.)](?=[ \t]))*)(?P<fence>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})"
    r"|(?P<nested>[ \t]*(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])(?:[ \t]|>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*)"
    r"#{1,6}[ \t]+(?P<inner>[^\n]*)"
    r"|(?P<underline> {0,3}(?:=+|-{2,})[ \t]*\r?(?=\n|\Z))"
    r")"
)
_CLOSING_HASHES: Final = re.compile(r"(?:^|[ \t]+)#+[ \t\r]*\Z")
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&~!|\r]")
_NO_PARAGRAPH: Final = re.compile(r" {4}|[ \t]*(?:[-*+>|#\r]|[0-9]{1,9}[.)]|\Z)")
_BULLET: Final = re.compile(r"[-*+0-9.)]")
_BEGINS_BLOCK: Final = re.compile(r"[ \t>]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|\|)")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: a heading with the text up to the next one, or a piece of it."""

    id: str
    """16 hex digits; the same as long as URL and headings are, whatever changes elsewhere on the page."""
    url: str
    """The page's."""
    path: str
    """The page's file, as the caller named it."""
    headings: tuple[str, ...]
    """Titles from the page's own down to the section's; empty for text before the first heading."""
    anchor: str
    """Anchor of the heading in the Markdown file; empty for text before the first heading."""
    lines: tuple[int, int]
    """First and last line in the file, counted from 1."""
    text: str
    """The Markdown, with the heading; the fence of a code block that was cut is repeated."""
    tokens: int
    """Estimated; see `estimate_tokens`."""
    repeated: tuple[int, int] = (0, 0)
    """Characters of repeated fences at the beginning and at the end of the text."""

    @property
    def source(self) -> str:
        """The text without repeated fences, as in the file."""
        before, after = self.repeated
        return self.text[before : len(self.text) - after]


class Block(NamedTuple):
    """A heading with all the text up to the next one, however long."""

    headings: tuple[str, ...]
    anchor: str
    line: int  # its first, counted from 1
    text: str


def split(markdown: str, *, url: str, path: str, max_tokens: int = MAX_TOKENS) -> list[Section]:
    """Cut a page's file into sections of at most `max_tokens`, unless a single line has more.

    The sections' sources, joined, are the text after the front matter. `max_tokens` of 0 means no limit.
    """
    if max_tokens < 0:
        raise UsageError(f"max_tokens must be 0 or more, not {max_tokens}", hint="0 means no limit")
    found: list[Section] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for block in blocks(markdown):
        occurrence = seen[block.headings]
        seen[block.headings] += 1
        line = block.line
        for part, piece in enumerate(_pieces(block.text, max_tokens)):
            last = line + piece.lines - 1
            identity = "\x1f".join((url, *block.headings, str(occurrence), str(part)))
            found.append(
                Section(
                    id=sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16],
                    url=url,
                    path=path,
                    headings=block.headings,
                    anchor=block.anchor,
                    lines=(line, last),
                    text=piece.text,
                    tokens=piece.tokens,
                    repeated=piece.repeated,
                )
            )
            line = last + 1
    return found


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: of 20 sections, 10 within 6 % of o200k, 19 within 19 %."""
    return _tokens(_cost(text))


def _tokens(cost: int) -> int:
    return (cost + _COST // 2) // _COST


def _cost(text: str) -> int:
    ascii_characters = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return (
        _PER_WORD * len(_WORDS.findall(text))
        + _PER_DIGITS * len(_DIGITS.findall(text))
        + _PER_PUNCTUATION * len(_PUNCTUATION.findall(text))
        + _PER_LINE * text.count("\n")
        + _PER_OTHER * (len(text) - ascii_characters)
    )


# --- headings ---------------------------------------------------------------------------------------------------------


def blocks(markdown: str) -> Iterator[Block]:
    """Yield each heading of a page's file with the text up to the next one. The front matter is left out."""
    start = body_start(markdown)
    body = markdown[start:]
    line = 1 + markdown.count("\n", 0, start)
    here = 0
    path: list[tuple[int, str]] = []
    anchor = ""
    for place, level, title, slug in _headings(body):
        if body[here:place].strip("\n") or path:
            text = body[here:place]
            yield Block(tuple(each for _, each in path), anchor, line, text)
            line += text.count("\n")
            here = place
        anchor = slug
        path = [(above, each) for above, each in path if above < level]
        path.append((level, title))
    if here < len(body):
        yield Block(tuple(each for _, each in path), anchor, line, body[here:])


def _headings(body: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield place, level, title and anchor of each heading at the beginning of a line."""
    slugs = Slugs()
    text = "\n" + body  # So that each line has a newline before it, by which the pattern is found fast.
    fence: re.Pattern[str] | None = None
    for mark in _MARK.finditer(text):
        if mark["fence"]:
            if fence is None:
                fence = _closes(mark["fence"], mark["prefix"])
            elif fence.match(text, mark.start("prefix")):
                fence = None
        elif fence is not None:
            if ">" in fence.pattern and not text.startswith(">", mark.start() + 1):
                fence = None  # Its quotation has ended.
            if fence is not None or not mark["level"]:
                continue
        if mark["level"]:
            title = _plain(_CLOSING_HASHES.sub("", mark["title"] or ""))
            yield mark.start(), len(mark["level"]), title, slugs.slug(title)
        elif mark["nested"]:
            slugs.slug(_plain(_CLOSING_HASHES.sub("", mark["inner"])))
        elif mark["underline"] and (found := _paragraph_before(text, mark.start())) is not None:
            place, line = found
            title = _plain(line)
            yield place, 1 if "=" in mark["underline"] else 2, title, slugs.slug(title)


def _closes(fence: str, prefix: str) -> re.Pattern[str]:
    """The pattern of a line that closes a fence."""
    quoted = "[ \t>]*>[ \t>]*" if ">" in prefix else "[ \t]*"
    return re.compile(rf"{quoted}{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*(?=\n|\Z)")


def _plain(title: str) -> str:
    title = title.strip()
    return " ".join(plain_text(title).split()) if _MARKUP.search(title) else title


def _paragraph_before(text: str, end: int) -> tuple[int, str] | None:
    """Return place and text of the line that ends at `end` if it is a one-line paragraph."""
    start = text.rfind("\n", 0, end)
    above = text.rfind("\n", 0, max(start, 0))
    line = text[start + 1 : end]
    if start < 0 or _NO_PARAGRAPH.match(line) or (above >= 0 and text[above + 1 : start].strip()):
        return None
    return start, line


# --- parts of a long section ------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    text: str
    tokens: int
    lines: int  # in the file
    repeated: tuple[int, int] = (0, 0)


class _Unit(NamedTuple):
    """Lines that belong together: a paragraph, an item, a row, a code block, with blank lines after them."""

    lines: list[str]
    cost: int
    opening: str = ""  # the line that opens the code block again
    closing: str = ""
    closed: int = 0  # number of the line that closes it


def _pieces(text: str, max_tokens: int) -> Iterator[_Piece]:
    if not max_tokens or len(text) <= _SURELY_LONG * max_tokens:
        cost = _cost(text)
        if not max_tokens or _tokens(cost) <= max_tokens:
            yield _piece([text], cost)
            return
    held: list[str] = []
    cost = 0
    for unit in _units(text):
        if held and _tokens(cost + unit.cost) > max_tokens:
            yield _piece(held, cost)
            held, cost = [], 0
        if _tokens(unit.cost) > max_tokens:
            yield from _cut(unit, max_tokens)
        else:
            held += unit.lines
            cost += unit.cost
    if held:
        yield _piece(held, cost)


def _piece(lines: list[str], cost: int, before: str = "", after: str = "") -> _Piece:
    source = "".join(lines)
    count = source.count("\n") + (not source.endswith("\n"))
    return _Piece(f"{before}{source}{after}", _tokens(cost), count, (len(before), len(after)))


def _units(text: str) -> Iterator[_Unit]:
    held: list[str] = []
    opening, closing, closed = "", "", 0
    fence: re.Pattern[str] | None = None
    after_block = False

    def unit() -> _Unit:
        return _Unit(held, _cost("".join(held)), opening, closing, closed if fence is None else len(held))

    for line in _lines(text):
        if fence is not None:
            if fence.match(line):
                fence, closed, after_block = None, len(held), True
            held.append(line)
            continue
        mark = _MARK.match("\n" + line) if "```" in line or "~~~" in line else None
        opens = mark is not None and bool(mark["fence"])
        is_blank = not line.strip()
        if held and not is_blank and (after_block or opens or _BEGINS_BLOCK.match(line)):
            yield unit()
            held, opening, closing = [], "", ""
        after_block = is_blank
        if mark is not None and opens:
            prefix = _BULLET.sub(" ", mark["prefix"])
            fence = _closes(mark["fence"], prefix)
            opening = prefix + line[len(prefix) :].rstrip("\r\n") + "\n"
            closing = f"{prefix}{mark['fence']}\n"
        held.append(line)
    if held:
        yield unit()


def _lines(text: str) -> list[str]:
    """Split into lines as editors do. `str.splitlines` would also split at a form feed."""
    *lines, rest = text.split("\n")
    return [f"{line}\n" for line in lines] + ([rest] if rest else [])


def _cut(unit: _Unit, max_tokens: int) -> Iterator[_Piece]:
    """Cut a unit that is too long between lines; code keeps its fences."""
    end = _cost(unit.closing)
    held: list[str] = []
    cost = 0
    before = ""
    blank = sum(1 for _ in takewhile(str.isspace, reversed(unit.lines)))
    lines = [*unit.lines[: -1 - blank], "".join(unit.lines[-1 - blank :])]  # Blank lines stay with the line before.
    for number, line in enumerate(lines):
        in_code = bool(unit.opening) and 0 < number <= unit.closed
        more = _cost(line)
        if held and _tokens(cost + more + (end if in_code and number < unit.closed else 0)) > max_tokens:
            if in_code:
                yield _piece(held, cost + end, before, unit.closing)
            else:
                yield _piece(held, cost, before)
            before = unit.opening if in_code else ""
            held, cost = [], _cost(before)
        held.append(line)
        cost += more
    yield _piece(held, cost, before)


def join(sections: Iterable[Section]) -> str:
    """Join the sections of a page to the text that they were cut from."""
    return "".join(section.source for section in sections)
