"""Finds where the text of a Markdown file stands: paragraphs, headings and table cells, and nothing that is code.

The block structure of CommonMark with GFM's tables, read line by line as the standard describes it. Only places are
reported; nothing is ever written out from here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from sitemirror.links.markdown_spots import TAG, Definition, definitions

Span = tuple[int, int]


class Kind(Enum):
    """What a text is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CELL = "cell"
    HTML = "html"


class Leaf:
    """Text that belongs together, though the file breaks it into lines and puts marks before them."""

    __slots__ = ("_lines", "_starts", "kind", "text")

    def __init__(self, kind: Kind, source: str, lines: list[Span]) -> None:
        self.kind = kind
        self.text = "\n".join([source[start:end] for start, end in lines])
        self._lines = lines
        self._starts: list[int] = []

    def place(self, offset: int) -> int:
        """Where a character of `text` is in the file."""
        if len(self._lines) == 1:
            return self._lines[0][0] + offset
        if not self._starts:
            here = 0
            for start, end in self._lines:
                self._starts.append(here)
                here += end - start + 1
        line = bisect_right(self._starts, offset) - 1
        return self._lines[line][0] + offset - self._starts[line]


class _Open(Enum):
    QUOTE = 1
    ITEM = 2
    PARAGRAPH = 3
    FENCE = 4
    CODE = 5
    HTML = 6
    TABLE = 7


class _Opened(Enum):
    """What came of looking for a new block in a line."""

    NOTHING = 1
    BLOCK = 2  # of which there may be more in the line
    WHOLE = 3  # and the line is used up


@dataclass(slots=True)
class _Block:
    """A block that more lines may belong to."""

    kind: _Open
    width: int = 0  # columns: of an item's content, of the blanks before a fence, of a table
    fence: str = ""
    last: re.Pattern[str] | None = None  # what an HTML block's last line has; without it a blank line ends the block
    is_empty: bool = False  # an item with nothing but its marker so far
    lines: list[Span] = field(default_factory=list)
    is_indented: bool = False  # the last line of a paragraph, as code would be


_RAW: Final = frozenset((_Open.FENCE, _Open.CODE, _Open.HTML))
_CHILDLESS: Final = frozenset((_Open.PARAGRAPH, _Open.TABLE))
_THEMATIC: Final = re.compile(r"(?:\*[ \t]*+){3,}+\Z|(?:_[ \t]*+){3,}+\Z|(?:-[ \t]*+){3,}+\Z")
_ATX: Final = re.compile(r"#{1,6}+(?:[ \t]++|\Z)")
_SETEXT: Final = re.compile(r"(?:=++|-++)[ \t]*+\Z")
_FENCE: Final = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
_FENCE_END: Final = re.compile(r"(`{3,}+|~{3,}+)[ \t]*+\Z")
_MARKER: Final = re.compile(r"[*+-]|([0-9]{1,9}+)[.)]")
_DELIMITERS: Final = re.compile(r"(?:[|:][|: \t-]|-[|:-])[|: \t-]*+\Z")
_DELIMITER: Final = re.compile(r":?-+:?")
_PIPE: Final = re.compile(r"(?<!\\)\|")

_BLOCK_TAGS: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
# How an HTML block begins, and what its last line has. The last of these cannot interrupt a paragraph.
_HTML: Final = (
    (
        re.compile(r"<(?:script|pre|textarea|style)(?:\s|>|\Z)", re.I),
        re.compile(r"</(?:script|pre|textarea|style)>", re.I),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<[?]"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|\Z)", re.I), None),
    (re.compile(rf"{TAG}\s*+\Z"), None),
)
_CODE_INDENT: Final = 4


class Blocks:
    """The blocks of one file: `leaves` in order, and the reference `definitions` with the leaf text they stand in."""

    def __init__(self, source: str, start: int = 0) -> None:
        self.leaves: list[Leaf] = []
        self.definitions: list[tuple[Leaf, Definition]] = []
        self._source = source
        self._stack: list[_Block] = []
        self._here = self._end = self._column = 0
        self._cut = 0  # columns that are left of a tab which a mark has taken a part of
        while start < len(source):
            end = source.find("\n", start)
            end = len(source) if end < 0 else end
            self._read(start, end - source.startswith("\r", end - 1))
            start = end + 1
        self._close(0)

    def _read(self, start: int, end: int) -> None:
        """Takes in one line."""
        self._here, self._end, self._column, self._cut = start, end, 0, 0
        matched = 0
        for block in self._stack:
            if not self._goes_on(block):
                break
            matched += 1
        if self._ends_fence(matched):
            self._close(matched - 1)
            return
        while not matched or self._stack[matched - 1].kind not in _RAW:
            opened = self._open(matched)
            if opened is _Opened.WHOLE:
                return
            if opened is _Opened.NOTHING:
                break
            matched = len(self._stack)
        self._add(matched)

    def _add(self, matched: int) -> None:
        """Gives the rest of the line to the block that it belongs to."""
        width, first = self._indent()
        is_blank = first == self._end
        tip = self._stack[-1] if self._stack else None
        if is_blank or tip is None or tip.kind is not _Open.PARAGRAPH:
            # Otherwise the line goes on with a paragraph, if need be past the marks of its containers.
            self._close(matched)
            tip = self._stack[-1] if self._stack else None
        match tip.kind if tip is not None else None:
            case _Open.FENCE | _Open.CODE:
                return
            case _Open.TABLE if tip is not None:
                self._cells(first, self._end, tip.width)
            case _Open.HTML if tip is not None:
                tip.lines.append((self._here, self._end))
                if tip.last is not None and tip.last.search(self._source, self._here, self._end):
                    self._close(len(self._stack) - 1)
            case _ if not is_blank:
                if tip is None or tip.kind is not _Open.PARAGRAPH:
                    tip = self._push(_Block(_Open.PARAGRAPH))
                tip.lines.append((first, self._end))
                tip.is_indented = width >= _CODE_INDENT

    # What is open already

    def _goes_on(self, block: _Block) -> bool:
        """Whether the line goes on with `block`, whose mark is passed over then."""
        width, first = self._indent()
        is_blank = first == self._end
        match block.kind:
            case _Open.QUOTE:
                if width >= _CODE_INDENT or not self._source.startswith(">", first, self._end):
                    return False
                self._skip_mark(first, 1)
                self._skip(1)
            case _Open.ITEM:
                if (is_blank and block.is_empty) or (not is_blank and width < block.width):
                    return False
                block.is_empty = block.is_empty and is_blank
                self._skip(width if is_blank else block.width)
            case _Open.CODE:
                if not is_blank and width < _CODE_INDENT:
                    return False
                self._skip(_CODE_INDENT)
            case _Open.HTML:
                return block.last is not None or not is_blank
            case _Open.PARAGRAPH | _Open.TABLE:
                return not is_blank
        return True

    def _ends_fence(self, matched: int) -> bool:
        if not matched or self._stack[matched - 1].kind is not _Open.FENCE:
            return False
        width, first = self._indent()
        found = _FENCE_END.match(self._source, first, self._end) if width < _CODE_INDENT else None
        return found is not None and found[1].startswith(self._stack[matched - 1].fence)

    # What begins

    def _open(self, matched: int) -> _Opened:
        """Opens a block that the rest of the line begins with."""
        width, first = self._indent()
        if first == self._end:
            return _Opened.NOTHING
        source, end = self._source, self._end
        tip = self._stack[-1] if self._stack else None
        in_paragraph = tip is not None and tip.kind is _Open.PARAGRAPH
        if width >= _CODE_INDENT:
            if in_paragraph:
                return _Opened.NOTHING
            self._begin(matched, _Block(_Open.CODE))
            self._skip(_CODE_INDENT)
            return _Opened.BLOCK
        here = tip if in_paragraph and matched == len(self._stack) else None
        match source[first]:
            case ">":
                self._begin(matched, _Block(_Open.QUOTE))
                self._skip_mark(first, 1)
                self._skip(1)
                return _Opened.BLOCK
            case "#" if (found := _ATX.match(source, first, end)) is not None:
                self._make_room(matched)
                self._heading(found.end(), end)
                return _Opened.WHOLE
            case "`" | "~" if (found := _FENCE.match(source, first, end)) is not None:
                self._begin(matched, _Block(_Open.FENCE, fence=found[0]))
                return _Opened.WHOLE
            case "<":
                for begins, last in _HTML[:-1] if in_paragraph else _HTML:
                    if begins.match(source, first, end):
                        self._begin(matched, _Block(_Open.HTML, last=last))
                        return _Opened.BLOCK
        if here is not None and (self._starts_table(here, first) or self._ends_heading(here, first)):
            return _Opened.WHOLE
        if _THEMATIC.match(source, first, end):
            self._make_room(matched)
            return _Opened.WHOLE
        return self._open_item(matched, width, first, here)

    def _open_item(self, matched: int, width: int, first: int, paragraph: _Block | None) -> _Opened:
        source, end = self._source, self._end
        found = _MARKER.match(source, first, end)
        if found is None or (found.end() < end and source[found.end()] not in " \t"):
            return _Opened.NOTHING
        is_blank = not source[found.end() : end].strip(" \t")
        if paragraph is not None and (is_blank or (found[1] is not None and int(found[1]) != 1)):
            return _Opened.NOTHING
        length = len(found[0])
        self._skip_mark(first, length)
        blanks, _ = self._indent()
        padding = 1 if is_blank or blanks > _CODE_INDENT else blanks
        self._skip(padding)
        self._begin(matched, _Block(_Open.ITEM, width=width + length + padding, is_empty=is_blank))
        return _Opened.BLOCK

    def _starts_table(self, paragraph: _Block, first: int) -> bool:
        """Whether the line is the second of a table, whose first is the last of the paragraph."""
        source, end = self._source, self._end
        if paragraph.is_indented or not paragraph.lines or not _DELIMITERS.match(source, first, end):
            return False
        parts = [part.strip(" \t") for part in source[first:end].split("|")]
        inner = [part for number, part in enumerate(parts) if part or 0 < number < len(parts) - 1]
        start, stop = paragraph.lines[-1]
        header = _split(source, start, stop)
        if not inner or len(header) != len(inner) or "|" not in source[start:stop]:
            return False
        if not all(_DELIMITER.fullmatch(part) for part in inner):
            return False
        del paragraph.lines[-1]
        self._begin(len(self._stack), _Block(_Open.TABLE, width=len(inner)))
        self._cells(start, stop, len(inner))
        return True

    def _ends_heading(self, paragraph: _Block, first: int) -> bool:
        """Whether the line underlines the paragraph."""
        if not _SETEXT.match(self._source, first, self._end):
            return False
        self._take_definitions(paragraph)
        if not paragraph.lines:
            return False
        self._stack.pop()
        paragraph.lines[-1] = _trimmed(self._source, *paragraph.lines[-1])
        self.leaves.append(Leaf(Kind.HEADING, self._source, paragraph.lines))
        return True

    # What is found

    def _heading(self, start: int, end: int) -> None:
        text = self._source[start:end].rstrip(" \t")
        bare = text.rstrip("#")
        if len(bare) < len(text) and (not bare or bare[-1] in " \t"):
            text = bare.rstrip(" \t")
        self.leaves.append(Leaf(Kind.HEADING, self._source, [(start, start + len(text))]))

    def _cells(self, start: int, end: int, columns: int) -> None:
        for cell in _split(self._source, start, end)[:columns]:
            self.leaves.append(Leaf(Kind.CELL, self._source, [cell]))

    def _take_definitions(self, paragraph: _Block) -> None:
        if not paragraph.lines or not self._source.startswith("[", paragraph.lines[0][0]):
            return
        leaf = Leaf(Kind.PARAGRAPH, self._source, paragraph.lines)
        found, end = definitions(leaf.text)
        if found:
            self.definitions += [(leaf, definition) for definition in found]
            paragraph.lines = paragraph.lines[leaf.text.count("\n", 0, end) + (end == len(leaf.text)) :]

    def _push(self, block: _Block) -> _Block:
        self._stack.append(block)
        return block

    def _make_room(self, matched: int) -> None:
        """Closes what the line does not go on with, and what cannot hold a block."""
        self._close(matched)
        if self._stack and self._stack[-1].kind in _CHILDLESS:
            self._close(len(self._stack) - 1)

    def _begin(self, matched: int, block: _Block) -> None:
        self._make_room(matched)
        self._push(block)

    def _close(self, depth: int) -> None:
        while len(self._stack) > depth:
            block = self._stack.pop()
            if block.kind is _Open.PARAGRAPH:
                self._take_definitions(block)
                if block.lines:
                    self.leaves.append(Leaf(Kind.PARAGRAPH, self._source, block.lines))
            elif block.kind is _Open.HTML:
                self.leaves.append(Leaf(Kind.HTML, self._source, block.lines))

    # Columns of the line

    def _indent(self) -> tuple[int, int]:
        """How many columns of blanks come next, and where they end."""
        here, column, source = self._here, self._column, self._source
        while here < self._end and (char := source[here]) in " \t":
            if char == " ":
                column += 1
            elif here == self._here and self._cut:
                column += self._cut
            else:
                column += 4 - column % 4
            here += 1
        return column - self._column, here

    def _skip(self, columns: int) -> None:
        """Passes over so many columns of blanks; a tab may be cut in two."""
        while columns > 0 and self._here < self._end and (char := self._source[self._here]) in " \t":
            width = 1 if char == " " else self._cut or 4 - self._column % 4
            step = min(width, columns)
            self._cut = width - step
            self._here += not self._cut
            self._column += step
            columns -= step

    def _skip_mark(self, first: int, length: int) -> None:
        """Passes over the mark at `first` and the blanks before it."""
        width, _ = self._indent()
        self._here, self._cut = first + length, 0
        self._column += width + length


def _split(source: str, start: int, end: int) -> list[Span]:
    """The cells of a table's row."""
    while end > start and source[end - 1] in " \t":
        end -= 1
    edges = [found.start() for found in _PIPE.finditer(source, start, end)]
    cells = list(zip([start, *(edge + 1 for edge in edges)], [*edges, end], strict=True))
    if cells and cells[0][0] == cells[0][1]:
        del cells[0]
    if cells and cells[-1][0] == cells[-1][1]:
        del cells[-1]
    return [_trimmed(source, *cell) for cell in cells]


def _trimmed(source: str, start: int, end: int) -> Span:
    while start < end and source[start] in " \t":
        start += 1
    while end > start and source[end - 1] in " \t":
        end -= 1
    return start, end
