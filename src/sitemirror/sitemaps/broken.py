"""Parse broken XML: bare ampersands, unknown entities, stray tags, invalid bytes, a missing end.

Tags are recognised one by one and need not match. Time is linear in the input and memory is bounded, whatever the
input: no search passes the next `<`, or a place that was searched before.
"""

from __future__ import annotations

import html.entities
import re
from typing import Final

from sitemirror.sitemaps.entries import (
    ENTRY_ELEMENTS,
    KIND_OF_ELEMENT,
    ROOTS,
    ElementRole,
    EntryBuilder,
    Kind,
    OmittedEntries,
    Parsed,
    Rejected,
    role_of,
    split_name,
)

_MAX_TOKEN: Final = 1024 * 1024
_MAX_TEXT: Final = 64 * 1024
_MAX_OPEN: Final = 100
# So many tags without one entry are made to waste our time.
_MAX_TAGS_WITHOUT_ENTRY: Final = 200_000

_TAG: Final = re.compile(
    rb"""<(/?)\s*+([A-Za-z_:][^\s<>/"'=]*+)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""",
)
_UNCLOSED_TAG: Final = re.compile(rb"<(/?)\s*+([A-Za-z_:][^\s<>/\"'=]*+)([^<>]*+)>?")
_ATTRIBUTE: Final = re.compile(
    rb"""([^\s=<>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?""",
)
_REFERENCE: Final = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{0,30}));")
_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")
_DECLARATIONS: Final = (b"<!DOCTYPE", b"<!ENTITY")
_SECTIONS: Final = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"))
_LONGEST_OPENER: Final = len(b"<![CDATA[")


class TolerantReader:
    """Goes on where expat gave up. Entries go to `events`.

    `truncated` is set when the input ended before its root element, or before an entry outside of one.
    """

    def __init__(self, kind: Kind | None, omitted: OmittedEntries, *, has_root: bool) -> None:
        self.kind = kind
        self.truncated = False
        self.events: list[Parsed] = []
        self._has_root = has_root
        self._builder = EntryBuilder(omitted)
        self._entry_elements = ENTRY_ELEMENTS[kind]
        self._buffer = b""
        self._offset = 0  # of the buffer in the input
        self._ended = False
        self._tags_without_entry = 0
        self._searched = {b"-->": 0, b"]]>": 0}
        self._entry: tuple[str, str] | None = None  # local name and prefix of the open entry
        self._role: ElementRole | None = None  # of the open child; None directly in the entry
        self._open: list[str] = []  # other elements open below the entry
        self._raw_text = bytearray()  # not yet unescaped: a reference may be split between two blocks
        self._text: list[str] = []
        self._text_size = 0

    def feed(self, data: bytes) -> None:
        """Parses one block."""
        self._buffer += data
        self._scan()

    def finish(self) -> None:
        """Ends the document: an entry whose URL is complete counts, one that was cut inside its URL does not."""
        self._ended = True
        self._scan()
        self.truncated = self._has_root or self._entry is not None or self.kind is None
        if self._entry is not None:
            self._builder.finish_truncated(self.events)
            self._entry = None

    def _scan(self) -> None:
        buffer, at, size = self._buffer, 0, len(self._buffer)
        while at < size:
            tag = buffer.find(b"<", at)
            if tag != at:
                at = self._add_raw_text(buffer, at, tag if tag >= 0 else size)
                continue
            end = self._parse_markup(buffer, at)
            if end is None:
                break
            at = end
            self._count_tag()
        self._buffer = buffer[at:]
        self._offset += at

    def _count_tag(self) -> None:
        if self.events:
            self._tags_without_entry = 0
        self._tags_without_entry += 1
        if self._tags_without_entry > _MAX_TAGS_WITHOUT_ENTRY:
            raise Rejected(f"no entry among {_MAX_TAGS_WITHOUT_ENTRY:,} tags; given up")

    def _can_wait(self, buffer: bytes, at: int) -> bool:
        """True if the token at `at` may be completed by more input."""
        return not self._ended and len(buffer) - at < _MAX_TOKEN

    def _parse_markup(self, buffer: bytes, at: int) -> int | None:
        """Parses the token at `at` and returns its end, or None if that takes more input."""
        if len(buffer) - at < _LONGEST_OPENER and not self._ended:
            return None
        following = buffer[at + 1 : at + 2]
        if following == b"!":
            return self._parse_declaration(buffer, at)
        if following == b"?":
            return at + 2
        tag = _TAG.match(buffer, at)
        if tag is None:
            unbounded = buffer.find(b"<", at + 1) < 0
            if unbounded and self._can_wait(buffer, at):
                return None
            tag = _UNCLOSED_TAG.match(buffer, at)
            if tag is None or (unbounded and not self._ended):
                return self._add_raw_text(buffer, at, at + 1)
            if unbounded and not tag[0].endswith(b">"):
                # The input ends in this tag. Its name may be cut, but the text before it is complete.
                self._close_child()
                return len(buffer)
        name, rest = tag[2].decode("utf-8", "replace"), tag[3]
        if not tag[1]:
            self._start_tag(name, rest)
        if tag[1] or rest.endswith(b"/"):
            self._end_tag(name)
        return tag.end()

    def _parse_declaration(self, buffer: bytes, at: int) -> int | None:
        for opener, closer in _SECTIONS:
            if buffer.startswith(opener, at):
                start = at + len(opener)
                end = self._find(closer, buffer, start)
                if end < 0:
                    # Never closed: the opener is the mistake, what follows may well be entries.
                    return None if self._can_wait(buffer, at) else start
                if closer == b"]]>":
                    self._add_cdata(buffer[start:end])
                return end + len(closer)
        if buffer[at : at + _LONGEST_OPENER].upper().startswith(_DECLARATIONS):
            raise Rejected("a DTD, which sitemaps do not have; refused unread")
        return at + 2

    def _find(self, closer: bytes, buffer: bytes, start: int) -> int:
        """Like `bytes.find`, but searches nothing twice: many unclosed openers cost one search."""
        found = buffer.find(closer, max(start, self._searched[closer] - self._offset))
        if found < 0:
            self._searched[closer] = self._offset + len(buffer) - len(closer) + 1
        return found

    def _start_tag(self, name: str, rest: bytes) -> None:
        prefix, local = split_name(name)
        if local in ROOTS:
            self._has_root = True
        if local in self._entry_elements:
            if self._role is not None and not self._has_text():
                self._push(local)  # <loc><url>http://…</url></loc>
                return
            self._close_entry()
            self._open_entry(local, prefix)
        elif self._entry is None:
            if self.kind is None and local in ROOTS:
                self._set_kind(ROOTS[local])
        else:
            self._start_child(name, local, rest)

    def _start_child(self, name: str, local: str, rest: bytes) -> None:
        assert self._entry is not None
        role = role_of(*self._entry, name)
        if self._role is None and self._open:
            self._push(local)
        elif role is None:
            if self._role is None:
                self._take_text()
            self._push(local)
        else:
            self._close_child()
            self._take_text()
            if role is ElementRole.LINK:
                self._builder.link(_attributes(rest))
            else:
                self._role = role

    def _end_tag(self, name: str) -> None:
        _, local = split_name(name)
        if local in ROOTS:
            self._has_root = False
        if self._entry is None:
            return
        if local in self._open:
            while self._open.pop() != local:
                pass
        elif local == self._entry[0] or local in ROOTS or local == "channel":
            self._close_entry()
        elif self._open:
            self._open.pop()  # a misspelt end tag ends the innermost element
        else:
            self._close_child()

    def _open_entry(self, local: str, prefix: str) -> None:
        self._entry = (local, prefix)
        self._builder.open(local)
        if self.kind is None:
            self._set_kind(KIND_OF_ELEMENT[local])

    def _set_kind(self, kind: Kind) -> None:
        self.kind = kind
        self._entry_elements = ENTRY_ELEMENTS[kind]

    def _close_child(self) -> None:
        if self._role is not None:
            self._builder.put(self._role, self._take_text())
            self._role = None
            self._open.clear()
            self.events += self._builder.take_complete()

    def _close_entry(self) -> None:
        if self._entry is None:
            return
        self._close_child()
        own_text = "" if self._open else self._take_text()
        self._open.clear()
        self._builder.finish(own_text, self.events)
        self._take_text()
        self._entry = None

    def _push(self, local: str) -> None:
        if len(self._open) < _MAX_OPEN:
            self._open.append(local)

    @property
    def _collects_text(self) -> bool:
        in_field = self._entry is not None and (self._role is not None or not self._open)
        return in_field and self._text_size < _MAX_TEXT

    def _add_raw_text(self, buffer: bytes, start: int, end: int) -> int:
        if self._collects_text:
            self._raw_text += buffer[start : min(end, start + _MAX_TEXT)]
            self._text_size += end - start
        return end

    def _add_cdata(self, raw: bytes) -> None:
        if self._collects_text:
            self._unescape_raw_text()
            self._text.append(_decode(raw)[:_MAX_TEXT])
            self._text_size += len(raw)

    def _has_text(self) -> bool:
        return bool(self._raw_text.strip()) or any(text.strip() for text in self._text)

    def _unescape_raw_text(self) -> None:
        if self._raw_text:
            self._text.append(_unescape(bytes(self._raw_text)))
            self._raw_text.clear()

    def _take_text(self) -> str:
        self._unescape_raw_text()
        text = "".join(self._text)
        self._text.clear()
        self._text_size = 0
        return text


def _unescape(raw: bytes) -> str:
    return _REFERENCE.sub(_resolve, _decode(raw))


def _decode(raw: bytes) -> str:
    """Turns bytes that are not UTF-8 into percent escapes, which is how a server names them in a URL."""
    text = raw.decode("utf-8", "surrogateescape")
    return _UNDECODABLE.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)


def _resolve(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name is not None:
        return html.entities.html5.get(name + ";", reference[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x110000 else "\ufffd"


def _attributes(raw: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(raw):
        value = match[2] or match[3] or match[4] or b""
        found[match[1].decode("utf-8", "replace")] = _unescape(value)
    return found
