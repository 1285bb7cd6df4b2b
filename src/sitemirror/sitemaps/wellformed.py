"""Parse well-formed sitemap XML with expat; a tolerant parser can continue where it breaks.

Expat never sees a DTD to its end and never expands anything but the five entities of XML itself. Names are read
without namespaces: half of the sitemaps in the wild declare the wrong one or none.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final
from xml.parsers import expat

from sitemirror import urls
from sitemirror.sitemaps.entries import (
    ENTRY_ELEMENTS,
    KIND_OF_ELEMENT,
    MAX_DATE,
    MAX_PRIORITY,
    ROOTS,
    ElementRole,
    EntryBatch,
    EntryBuilder,
    Kind,
    OmittedEntries,
    Parsed,
    Rejected,
    role_of,
    split_name,
)
from sitemirror.text import printable

# A larger entry is left to the tolerant parser, whose memory does not grow with the entry.
_MAX_ENTRY: Final = 1024 * 1024
_MAX_DEPTH: Final = 100
_MAX_OTHER_ELEMENTS: Final = 200_000
# Expat keeps every name it has ever seen.
_MAX_NAMES: Final = 2_000
# Failed attempts to match rows before a file is left to expat: its entries are of another kind.
_ROW_ATTEMPTS: Final = 8

_END: Final = b"</url>"
_GAP: Final = r"[ \t\r\n]*+"
_URL_CHARACTER: Final = r"[!-%'-;=?-~]"  # visible ASCII without & < >
_ROW: Final = re.compile(
    rf"<url>{_GAP}<loc>{_GAP}((?:{_URL_CHARACTER}++|&amp;)++){_GAP}</loc>{_GAP}"
    rf"(?:<lastmod>{_GAP}([0-9A-Za-z:+.-]{{1,{MAX_DATE}}}+){_GAP}</lastmod>{_GAP})?+"
    rf"(?:<changefreq>{_GAP}[A-Za-z]*+{_GAP}</changefreq>{_GAP})?+"
    rf"(?:<priority>{_GAP}([0-9.]{{1,{MAX_PRIORITY}}}+){_GAP}</priority>{_GAP})?+"
    r"</url>"
)


class NotWellFormed(Exception):
    """Expat cannot or must not read the document any further."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ExpatReader:
    """Parses UTF-8 blocks; entries go to `events`.

    Raises `NotWellFormed` where a tolerant parser should go on and `Rejected` where nobody should.
    """

    def __init__(self, omitted: OmittedEntries, lines_before: int) -> None:
        self.kind: Kind | None = None
        self.events: list[Parsed] = []
        self._builder = EntryBuilder(omitted)
        self._lines_before = lines_before
        self._recent: deque[bytes] = deque()
        self._recent_from = 0
        self._held_back = b""  # an incomplete entry that may become a row
        self._row_attempts = _ROW_ATTEMPTS
        self._fed = 0
        self._resume_at = 0
        self._outer_depth = 0
        self._outer_count = 0
        self._entry: tuple[str, str] | None = None  # local name and prefix of the open entry
        self._level = 0  # 1 directly in an entry, 2 in one of its children
        self._role: ElementRole | None = None
        self._entry_elements = ENTRY_ELEMENTS[None]
        self._text: list[str] = []
        self._names: dict[str, str] = {}
        # Everything arrives as UTF-8, whatever the declaration says.
        self._parser = expat.ParserCreate("utf-8", None, self._names)
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._set_handlers()

    def _set_handlers(self) -> None:
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append

    def feed(self, block: bytes) -> None:
        """Parses one block."""
        self._recent.append(block)
        data, self._held_back = self._held_back + block, b""
        if self._row_attempts:
            data = self._parse_rows(data)
        self._parse(data)
        while self._recent and self._recent_from + len(self._recent[0]) <= self._resume_at:
            self._recent_from += len(self._recent.popleft())
        if self._fed - self._resume_at > _MAX_ENTRY:
            raise NotWellFormed(f"{self._line(self._parser.CurrentLineNumber)}: an entry of more than 1 MB")
        if len(self._names) > _MAX_NAMES:
            raise NotWellFormed(f"more than {_MAX_NAMES:,} different element and attribute names")

    def finish(self) -> None:
        """Ends the document."""
        self._parse(self._held_back)
        self._parse(b"", final=True)

    @property
    def has_root(self) -> bool:
        """True if an element is open that contains the entries."""
        return self._outer_depth > 0

    def unread(self) -> bytes:
        """The bytes after the last complete entry: a parser that goes on there neither loses nor repeats any."""
        return b"".join(self._recent)[self._resume_at - self._recent_from :]

    def _parse(self, data: bytes, *, final: bool = False) -> None:
        self._fed += len(data)
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            place = f"{self._line(error.lineno)}, column {error.offset + 1}"
            raise NotWellFormed(f"{place}: {expat.ErrorString(error.code)}") from None

    def _line(self, number: int) -> str:
        return f"line {number + self._lines_before:,}"

    # Most sitemaps consist of plain <url> entries by the ten thousand. One regular expression reads them in a quarter
    # of the time of expat's callbacks: without it `bench/million.py` takes half as long again. Expat still sees the
    # bytes, since it alone decides whether they are well-formed.

    def _parse_rows(self, data: bytes) -> bytes:
        """Reads the plain entries at the beginning of `data`, and returns what is left to parse."""
        if not self._after_entry:
            begin = data.find(_END) + len(_END)
            if begin < len(_END):
                return data
            self._parse(data[:begin])
            data = data[begin:]
        end = data.rfind(_END) + len(_END)
        if not self._after_entry or end < len(_END):
            return data
        rows = match_rows(data[:end])
        if rows is None:
            self._row_attempts -= 1
            return data
        self._parse_silently(data[:end])
        self.events.append(rows)
        self._row_attempts = _ROW_ATTEMPTS
        self._held_back = data[end:]
        return b""

    @property
    def _after_entry(self) -> bool:
        """True right after the end tag of an entry, and so in no comment and in no element of an entry."""
        return self._resume_at == self._fed - len(_END) + 1

    def _parse_silently(self, rows: bytes) -> None:
        parser = self._parser
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
        self._parse(rows)
        self._set_handlers()
        self._resume_at = self._fed - len(_END) + 1

    def _doctype(self, name: str, *_: object) -> None:
        if name.lower() == "html":
            raise Rejected("HTML page instead of a sitemap", "html")
        raise Rejected("a DTD, which sitemaps do not have; refused unread")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._entry is None:
            self._start_outside(name)
            return
        self._level += 1
        if self._level == 2:
            self._text.clear()
            self._role = role_of(*self._entry, name)
            if self._role is ElementRole.LINK:
                self._builder.link(attributes)
        elif self._level > _MAX_DEPTH + 1:
            raise NotWellFormed(f"elements nested more than {_MAX_DEPTH} deep")

    def _end(self, name: str) -> None:
        if self._entry is None:
            self._outer_depth -= 1
            self._stay_outside()
            return
        if self._level == 2:
            if self._role is not None:
                self._builder.put(self._role, "".join(self._text))
            self._text.clear()
        elif self._level == 1:
            self._builder.finish("".join(self._text), self.events)
            # One past the "<" of the end tag, so that an empty <url/> is not met again.
            self._resume_at = self._parser.CurrentByteIndex + 1
            self._text.clear()
            self._entry = None
        self._level -= 1

    def _start_outside(self, name: str) -> None:
        prefix, local = split_name(name)
        if self.kind is None:
            self._start_root(local)
        if local in self._entry_elements:
            self._entry = (local, prefix)
            self._level = 1
            self._text.clear()
            self._builder.open(local)
            return
        self._stay_outside()
        self._outer_count += 1
        if self._outer_count > _MAX_OTHER_ELEMENTS:
            raise NotWellFormed(f"more than {_MAX_OTHER_ELEMENTS:,} elements that are no entries")
        self._outer_depth += 1
        if self._outer_depth > _MAX_DEPTH:
            raise NotWellFormed(f"elements nested more than {_MAX_DEPTH} deep")

    def _stay_outside(self) -> None:
        self._text.clear()
        self._resume_at = self._parser.CurrentByteIndex

    def _start_root(self, local: str) -> None:
        self.kind = ROOTS.get(local)
        if self.kind is None and local in ("url", "sitemap"):
            self.kind = KIND_OF_ELEMENT[local]
        if self.kind is None:
            if local == "html":
                raise Rejected("HTML page instead of a sitemap", "html")
            raise Rejected(f"XML, but not a sitemap: its root element is <{printable(local, limit=60)}>")
        self._entry_elements = ENTRY_ELEMENTS[self.kind]


def match_rows(data: bytes) -> EntryBatch | None:
    """The entries of `data`, if it is nothing but plain `<url>` entries with white space between them.

    The pattern allows nothing that could mean anything else in XML; whatever is unusual is left to expat.
    """
    # One character a byte: whatever is not ASCII fits no pattern.
    found = _ROW.split(data.decode("latin-1"))
    if "".join(found[::4]).strip(" \t\r\n"):
        return None
    locs = found[1::4]
    if b"&" in data:
        locs = [loc.replace("&amp;", "&") for loc in locs]
    if not locs or max(map(len, locs)) > urls.MAX_LENGTH:
        return None
    return EntryBatch(locs, found[2::4], found[3::4])
