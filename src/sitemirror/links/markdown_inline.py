"""Finds the links in the text of one block, and what the text says without its markup.

Code spans, tags and autolinks come before brackets, brackets before emphasis, as CommonMark has it. Linear: no
character is looked at more than a few times, whatever the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from enum import Enum
from typing import Final, NamedTuple

from sitemirror.links.markdown_emphasis import emphasis
from sitemirror.links.markdown_spots import (
    TAG,
    Spot,
    destination,
    label,
    normalized,
    skip_gap,
    spoken,
    title_end,
)

_SPECIAL: Final = re.compile(r"[\\`<\[\]]|!\[")
_TICKS: Final = re.compile(r"`+")
_AUTOLINK: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}+:[^<>\x00-\x20]*+)>")
_NAME: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_EMAIL: Final = re.compile(rf"<([a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]++@{_NAME}(?:\.{_NAME})*)>")
_TAG: Final = re.compile(TAG)
# Tags that go on until their own end, and that end. A missing end is looked for once.
_LONG_TAGS: Final = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_MAX_LABEL: Final = 999  # characters, by the standard


class Form(Enum):
    """How a link is written."""

    LINK = "link"
    IMAGE = "image"
    AUTOLINK = "autolink"
    DEFINITION = "definition"


class Link(NamedTuple):
    """A link with a destination of its own."""

    form: Form
    spot: Spot


class _Mark(NamedTuple):
    """Markup, and what it says."""

    start: int
    end: int
    says: str


class _Bracket(NamedTuple):
    start: int
    is_image: bool
    marks: int  # found before it
    pairs: int
    links: int


class Inline:
    """The text of a block, read once. `defined` are the labels of the file's definitions."""

    def __init__(self, text: str, defined: Container[str]) -> None:
        self.links: list[Link] = []
        self.tags: list[str] = []
        self._text = text
        self._defined = defined
        self._marks: list[_Mark] = []
        self._pairs: list[tuple[int, int]] = []  # from the opening to the closing bracket of each link
        self._brackets: list[_Bracket] = []
        self._in_link = 0  # so many of them can no longer become links, since they have one in them
        self._last_bracket = -1
        self._ticks: dict[int, list[int]] | None = None  # where runs of so many backticks begin
        self._endless: set[str] = set()
        here = 0
        while (found := _SPECIAL.search(text, here)) is not None:
            here = self._read(found[0], found.start())

    def _read(self, special: str, here: int) -> int:
        """Reads what begins with a special character; answers where reading goes on."""
        match special:
            case "\\":
                return here + 2
            case "`":
                return self._code(here)
            case "<":
                return self._pointed(here)
            case "]":
                return self._close(here)
        self._brackets.append(_Bracket(here, special == "![", len(self._marks), len(self._pairs), len(self.links)))
        self._last_bracket = here
        return here + len(special)

    def _code(self, here: int) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        found = _TICKS.match(self._text, here)
        assert found is not None
        length, start = len(found[0]), found.end()
        closing = self._ticks.get(length, [])
        number = bisect_left(closing, start)
        if number == len(closing):
            return start
        end = closing[number]
        inside = self._text[start:end].replace("\n", " ")
        if inside.strip(" ") and inside[0] == inside[-1] == " ":
            inside = inside[1:-1]
        self._marks.append(_Mark(here, end + length, inside))
        return end + length

    def _pointed(self, here: int) -> int:
        """An autolink or a tag."""
        text = self._text
        if (found := _AUTOLINK.match(text, here)) is not None:
            self.links.append(Link(Form.AUTOLINK, Spot(here, found.end(), found[1])))
            self._marks.append(_Mark(here, found.end(), found[1]))
            return found.end()
        if (found := _EMAIL.match(text, here)) is not None:
            self._marks.append(_Mark(here, found.end(), found[1]))
            return found.end()
        end = found.end() if (found := _TAG.match(text, here)) is not None else self._long_tag(here)
        if not end:
            return here + 1
        self.tags.append(text[here:end])
        self._marks.append(_Mark(here, end, ""))
        return end

    def _long_tag(self, here: int) -> int:
        """The end of a comment, declaration or the like; 0 if it has none."""
        text = self._text
        for short in ("<!-->", "<!--->"):
            if text.startswith(short, here):
                return here + len(short)
        for begin, end in _LONG_TAGS:
            if text.startswith(begin, here) and (begin != "<!" or text[here + 2 : here + 3].isalpha()):
                if end in self._endless:
                    return 0
                found = text.find(end, here + len(begin))
                if found < 0:
                    self._endless.add(end)
                    return 0
                return found + len(end)
        return 0

    # Brackets

    def _close(self, here: int) -> int:
        """A closing bracket: the end of a link, or just a bracket."""
        if not self._brackets:
            return here + 1
        opener = self._brackets.pop()
        is_active = opener.is_image or len(self._brackets) >= self._in_link
        self._in_link = min(self._in_link, len(self._brackets))
        if not is_active:
            return here + 1
        end = self._inline_target(opener, here) or self._reference(opener, here)
        if end is None:
            return here + 1
        if opener.is_image:
            del self._marks[opener.marks :]
            del self._pairs[opener.pairs :]
            self._marks.append(_Mark(opener.start, end, ""))
        else:
            self._marks += (_Mark(opener.start, opener.start + 1, ""), _Mark(here, end, ""))
            self._pairs.append((opener.start, here))
            self._in_link = len(self._brackets)
            # A link in a link is possible in this one form only, so it has to keep it.
            self.links[opener.links :] = [link for link in self.links[opener.links :] if link.form is not Form.AUTOLINK]
        return end

    def _inline_target(self, opener: _Bracket, here: int) -> int | None:
        """The end of `(destination "title")` after the bracket."""
        text = self._text
        if not text.startswith("(", here + 1):
            return None
        start = skip_gap(text, here + 2)
        spot = destination(text, start)
        end = start
        if spot is not None:
            end = skip_gap(text, spot.end)
            if end > spot.end and (title := title_end(text, end)) is not None:
                end = skip_gap(text, title)
        elif text.startswith("<", start):
            return None
        if not text.startswith(")", end):
            return None
        self.links.append(
            Link(Form.IMAGE if opener.is_image else Form.LINK, spot if spot is not None else Spot(start, start, ""))
        )
        return end + 1

    def _reference(self, opener: _Bracket, here: int) -> int | None:
        """The end of a link by a definition's label: `[text][label]`, `[label][]` or `[label]`."""
        text = self._text
        found = label(text, here + 1)
        end = here + 1 if found is None else found[1]
        if found is not None and found[0]:
            name = found[0]
        elif self._last_bracket > opener.start:
            return None  # A label has no brackets.
        else:
            name = text[opener.start + 1 + opener.is_image : here]
        if len(name) > _MAX_LABEL or not name.strip():
            return None
        return end if normalized(name) in self._defined else None

    # What the text says

    def plain(self) -> str:
        """The text without its markup. Pictures say nothing here, as on GitHub."""
        marks = sorted(self._marks)
        silent = [mark for gaps in self._gaps(marks) for mark in emphasis(self._text, gaps)]
        pieces: list[str] = []
        here = 0
        for start, end, says in sorted([*marks, *(_Mark(index, index + 1, "") for index in silent)]):
            pieces += (spoken(self._text[here:start]), says)
            here = end
        return "".join((*pieces, spoken(self._text[here:])))

    def _gaps(self, marks: list[_Mark]) -> Iterator[list[tuple[int, int]]]:
        """What stands between the marks: in each link, then in the rest, since emphasis crosses no bracket."""
        edges = [0, *(edge for mark in marks for edge in mark[:2]), len(self._text)]
        between = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
        outside: list[tuple[int, int]] = []
        pairs = iter([*self._pairs, (len(self._text), len(self._text))])
        opening, closing = next(pairs)
        inside: list[tuple[int, int]] = []
        for gap in between:
            while gap[0] > closing:
                yield inside
                inside = []
                opening, closing = next(pairs)
            (inside if gap[0] > opening else outside).append(gap)
        yield inside
        yield outside
