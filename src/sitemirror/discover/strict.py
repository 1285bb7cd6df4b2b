"""Reads well-formed sitemap XML with expat, and remembers where it could be read on if the XML breaks.

Expat never sees a DTD to its end and never expands anything but the five entities of XML itself. Names are taken
without namespaces: half of the sitemaps in the wild declare the wrong one or none.

Rows of ordinary entries go by expat as well, which alone judges whether XML is well-formed; but nobody listens to it
then: what they say is taken from them at once.
"""

from __future__ import annotations

from collections import deque
from typing import Final
from xml.parsers import expat

from sitemirror.discover import plain
from sitemirror.discover.entries import (
    BLOCKS,
    KIND_OF_BLOCK,
    ROOTS,
    Draft,
    Found,
    Kind,
    Role,
    Tally,
    role_of,
    split_name,
)
from sitemirror.text import printable

# An entry that needs more is read by the salvage reader, whose memory does not grow with the entry.
MAX_ENTRY: Final = 1024 * 1024
_MAX_DEPTH: Final = 100
_MAX_OUTSIDE: Final = 200_000
# Expat keeps every name it has ever seen.
_MAX_NAMES: Final = 2_000
# A file whose entries have more to say than the ordinary ones is not searched for these again and again.
_VAIN_SEARCHES: Final = 8

_LINK: Final = Role.LINK
_END: Final = b"</url>"


class Refused(Exception):
    """The document is not to be read at all."""

    def __init__(self, reason: str, kind: Kind | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class Broken(Exception):
    """The document cannot be read strictly any further."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StrictReader:
    """Feeds UTF-8 blocks to expat. Raises `Broken` where XML ends and `Refused` where reading should."""

    def __init__(self, tally: Tally, lines_before: int) -> None:
        self.kind: Kind | None = None
        self.events: list[Found] = []
        self._draft = Draft(tally)
        self._lines_before = lines_before
        self._recent: deque[bytes] = deque()
        self._recent_from = 0
        self._held = b""  # the beginning of an entry, kept back from expat so that whole rows can be read at once
        self._chances = _VAIN_SEARCHES
        self._fed = 0
        self._resume_at = 0
        self._outer_depth = 0
        self._outer_count = 0
        self._level = 0  # 0 outside an entry, 1 directly in it, 2 in one of its children
        self._role = Role.OTHER
        self._roles: dict[str, Role] = {}
        self._openings: dict[str, tuple[tuple[str, str], dict[str, Role]]] = {}
        self._block = ("", "")
        self._blocks = BLOCKS[None]
        self._text: list[str] = []
        self._names: dict[str, str] = {}
        self._parser = self._new_parser()

    def _new_parser(self) -> expat.XMLParserType:
        # The encoding is settled before: everything arrives here as UTF-8, whatever the declaration says.
        parser = expat.ParserCreate("utf-8", None, self._names)
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        self._listen(parser)
        return parser

    def _listen(self, parser: expat.XMLParserType) -> None:
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append

    def feed(self, block: bytes) -> None:
        """Reads one block; the entries go to `events`."""
        self._recent.append(block)
        data, self._held = self._held + block, b""
        if self._chances:
            data = self._read_rows(data)
        self._parse(data)
        while self._recent and self._recent_from + len(self._recent[0]) <= self._resume_at:
            self._recent_from += len(self._recent.popleft())
        if self._fed - self._resume_at > MAX_ENTRY:
            raise Broken(f"{self._where(self._parser.CurrentLineNumber)}: an entry of more than 1 MB")
        if len(self._names) > _MAX_NAMES:
            raise Broken(f"more than {_MAX_NAMES:,} different element and attribute names")

    def _read_rows(self, data: bytes) -> bytes:
        """Takes the ordinary entries off `data`, if it has such; returns what is left to read now."""
        if not self._after_entry:
            begin = data.find(_END) + len(_END)
            if begin < len(_END):
                return data
            self._parse(data[:begin])
            data = data[begin:]
        end = data.rfind(_END) + len(_END)
        if not self._after_entry or end < len(_END):
            return data
        rows = plain.stretch(data[:end])
        if rows is None:
            self._chances -= 1
            return data
        self._pass_by(data[:end])
        self.events.append(rows)
        self._chances = _VAIN_SEARCHES
        self._held = data[end:]
        return b""

    @property
    def _after_entry(self) -> bool:
        """Whether expat stands right behind the end of an entry, and so in no comment and no element of one."""
        return self._resume_at == self._fed - len(_END) + 1

    def _pass_by(self, rows: bytes) -> None:
        """Lets expat see whole entries that have been read otherwise."""
        parser = self._parser
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
        self._parse(rows)
        self._listen(parser)
        self._resume_at = self._fed - len(_END) + 1

    def _parse(self, data: bytes) -> None:
        self._fed += len(data)
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            raise self._broken(error) from None

    def finish(self) -> None:
        """The document has ended."""
        self._parse(self._held)
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._broken(error) from None

    @property
    def has_root(self) -> bool:
        """Whether an element is open that holds the entries."""
        return self._outer_depth > 0

    def unread(self) -> bytes:
        """The bytes after the last complete entry: a tolerant reader goes on there and loses or doubles nothing."""
        return b"".join(self._recent)[self._resume_at - self._recent_from :]

    def _broken(self, error: expat.ExpatError) -> Broken:
        return Broken(f"{self._where(error.lineno)}, column {error.offset + 1}: {expat.ErrorString(error.code)}")

    def _where(self, line: int) -> str:
        return f"line {line + self._lines_before:,}"

    def _doctype(self, name: str, *_: object) -> None:
        if name.lower() == "html":
            raise Refused("HTML page instead of a sitemap", "html")
        raise Refused("a DTD, which sitemaps do not have; refused unread")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        level = self._level
        if level == 1:
            self._level = 2
            self._text.clear()
            role = self._roles.get(name)
            if role is None:
                role = self._roles[name] = role_of(*self._block, name)
            self._role = role
            if role is _LINK:
                self._draft.link(attributes)
        elif level:
            self._level = level + 1
            if level > _MAX_DEPTH:
                raise Broken(f"elements nested more than {_MAX_DEPTH} deep")
        elif name in self._openings:
            self._level = 1
            self._text.clear()
            self._block, self._roles = self._openings[name]
            self._draft.open(self._block[0])
        else:
            self._start_outside(name)

    def _end(self, name: str) -> None:
        level = self._level
        if level == 2:
            self._level = 1
            text = self._text
            if self._role:
                self._draft.put(self._role, text[0] if len(text) == 1 else "".join(text))
            text.clear()
        elif level == 1:
            self._level = 0
            self._draft.finish("".join(self._text), self.events)
            # One past the "<" of the end tag, so that an empty <url/> is not met again.
            self._resume_at = self._parser.CurrentByteIndex + 1
            self._text.clear()
        elif level:
            self._level = level - 1
        else:
            self._outer_depth -= 1
            self._outside()

    def _outside(self) -> None:
        self._text.clear()
        self._resume_at = self._parser.CurrentByteIndex

    def _start_outside(self, name: str) -> None:
        prefix, local = split_name(name)
        if self.kind is None:
            self._root(local)
        if local in self._blocks:
            self._openings[name] = ((local, prefix), {})
            self._start(name, {})
            return
        self._outside()
        self._outer_count += 1
        if self._outer_count > _MAX_OUTSIDE:
            raise Broken(f"more than {_MAX_OUTSIDE:,} elements that are no entries")
        self._outer_depth += 1
        if self._outer_depth > _MAX_DEPTH:
            raise Broken(f"elements nested more than {_MAX_DEPTH} deep")

    def _root(self, local: str) -> None:
        self.kind = ROOTS.get(local)
        if self.kind is None and local in ("url", "sitemap"):
            self.kind = KIND_OF_BLOCK[local]
        if self.kind is None:
            if local == "html":
                raise Refused("HTML page instead of a sitemap", "html")
            raise Refused(f"XML, but not a sitemap: its root element is <{printable(local, limit=60)}>")
        self._blocks = BLOCKS[self.kind]
