"""Reads entries out of broken XML: unescaped ampersands, unknown entities, stray tags, invalid bytes, a missing end.

Tags are recognised one by one and nothing has to match. Time is linear in the input and memory is bounded, whatever
the input: no search passes the next `<`, or a place that was searched before.
"""

from __future__ import annotations

import html.entities
import re
from typing import Final

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
from sitemirror.discover.strict import Refused

_MAX_TOKEN: Final = 1024 * 1024
_MAX_TEXT: Final = 64 * 1024
_MAX_OPEN: Final = 100
_MAX_ROLES: Final = 200
_TAG: Final = re.compile(
    rb"""<(/?)\s*+([A-Za-z_:][^\s<>/"'=]*+)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""",
)
_LEAF: Final = re.compile(rb"<([A-Za-z_:][^\s<>/\"'=]*+)>([^<]*+)</\1>")
_LOOSE_TAG: Final = re.compile(rb"<(/?)\s*+([A-Za-z_:][^\s<>/\"'=]*+)([^<>]*+)>?")
_ATTRIBUTE: Final = re.compile(
    rb"""([^\s=<>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?""",
)
_REFERENCE: Final = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{0,30}));")
_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")
_DECLARATIONS: Final = (b"<!DOCTYPE", b"<!ENTITY")
_LONGEST_OPENER: Final = len(b"<![CDATA[")
# Outside an entry nothing else matters, and one search is faster than a thousand tags.
_BETWEEN_ENTRIES: Final = re.compile(
    rb"<(?:!(?:--|\[CDATA\[|DOCTYPE|ENTITY)"
    rb"|(?:[\w.-]{1,40}:)?(?:url|sitemap|item|entry)[\s/><]"
    rb"|/?(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|rss|rdf|feed)[\s/><])",
    re.I,
)
_LONGEST_BETWEEN: Final = 64
# So many tags without one entry: made to keep us busy.
_MAX_BARREN: Final = 200_000


class SalvageReader:
    """Goes on where strict reading ended. The entries go to `events`.

    `torn` means that the input has ended, and its root element or an entry without one has not.
    """

    def __init__(self, kind: Kind | None, tally: Tally, *, has_root: bool) -> None:
        self.kind = kind
        self.torn = False
        self._has_root = has_root
        self.events: list[Found] = []
        self._draft = Draft(tally)
        self._blocks = BLOCKS[kind]
        self._buffer = b""
        self._offset = 0  # of the buffer in the input
        self._ended = False
        self._barren = 0
        self._searched = {b"-->": 0, b"]]>": 0}
        self._block: tuple[str, str] | None = None
        self._roles: dict[tuple[tuple[str, str], bytes], Role] = {}
        self._role: Role | None = None  # of the child that is open; None directly in the block
        self._open: list[str] = []  # other elements open below the block
        self._run = bytearray()  # text not yet unescaped: a reference may go across two feeds
        self._text: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data
        self._scan()

    def finish(self) -> None:
        """No more input: an entry whose URL is complete counts, one that was torn inside its URL does not."""
        self._ended = True
        self._scan()
        self.torn = self._has_root or self._block is not None or self.kind is None
        if self._block is not None:
            self._draft.finish_torn(self.events)
            self._block = None

    def _scan(self) -> None:
        buffer, at, size = self._buffer, 0, len(self._buffer)
        while at < size:
            if self._block is None:
                found = _BETWEEN_ENTRIES.search(buffer, at)
                if found is None:
                    at = self._possible_start(buffer, at)
                    break
                at = found.start()
            else:
                mark = buffer.find(b"<", at)
                if mark != at:
                    at = self._characters(buffer, at, mark if mark >= 0 else size)
                    continue
            after = self._markup(buffer, at)
            if after is None:
                break
            at = after
            self._count_barren()
        self._buffer = buffer[at:]
        self._offset += at

    def _possible_start(self, buffer: bytes, at: int) -> int:
        start = buffer.rfind(b"<", max(at, len(buffer) - _LONGEST_BETWEEN))
        return len(buffer) if start < 0 or self._ended else start

    def _count_barren(self) -> None:
        if self.events:
            self._barren = 0
        self._barren += 1
        if self._barren > _MAX_BARREN:
            raise Refused(f"no entry among {_MAX_BARREN:,} tags; given up")

    def _more_may_come(self, buffer: bytes, at: int) -> bool:
        return not self._ended and len(buffer) - at < _MAX_TOKEN

    def _markup(self, buffer: bytes, at: int) -> int | None:
        """Reads the token at `at` and returns where it ends; `None` if that takes more input."""
        if len(buffer) - at < _LONGEST_OPENER and not self._ended:
            return None
        following = buffer[at + 1 : at + 2]
        if following == b"!":
            return self._declaration(buffer, at)
        if following == b"?":
            return at + 2
        if self._block is not None and self._role is None and not self._open:
            leaf = _LEAF.match(buffer, at)
            if leaf is not None and self._leaf(leaf[1], leaf[2]):
                return leaf.end()
        tag = _TAG.match(buffer, at)
        if tag is None:
            unbounded = buffer.find(b"<", at + 1) < 0
            if unbounded and self._more_may_come(buffer, at):
                return None
            tag = _LOOSE_TAG.match(buffer, at)
            if tag is None or (unbounded and not self._ended):
                return self._characters(buffer, at, at + 1)
            if unbounded and not tag[0].endswith(b">"):
                # The input ends in this tag. Its name may be torn, but the text before it is whole.
                self._close_child()
                return len(buffer)
        name, rest = tag[2].decode("utf-8", "replace"), tag[3]
        if not tag[1]:
            self._start_tag(name, rest)
        if tag[1] or rest.endswith(b"/"):
            self._end_tag(name)
        return tag.end()

    def _leaf(self, name: bytes, text: bytes) -> bool:
        """A whole child at once. No more than a shortcut: most of a broken file is sound."""
        assert self._block is not None
        role = self._roles.get((self._block, name))
        if role is None:
            role = role_of(*self._block, name.decode("utf-8", "replace"))
            if len(self._roles) < _MAX_ROLES:
                self._roles[self._block, name] = role
        if not role or role is Role.LINK or len(text) > _MAX_TEXT:
            return False
        self._take_text()
        self._draft.put(role, _unescaped(text))
        self.events += self._draft.take_finished()
        return True

    def _declaration(self, buffer: bytes, at: int) -> int | None:
        for opener, closer in ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>")):
            if buffer.startswith(opener, at):
                start = at + len(opener)
                end = self._find(closer, buffer, start)
                if end < 0:
                    # Never closed: the opener is the mistake, what follows may well be entries.
                    return None if self._more_may_come(buffer, at) else start
                if closer == b"]]>" and self._block is not None:
                    self._flush_run()
                    self._add_text(_decoded(buffer[start:end]))
                return end + len(closer)
        if buffer[at : at + 9].upper().startswith(_DECLARATIONS):
            raise Refused("a DTD, which sitemaps do not have; refused unread")
        return at + 2

    def _find(self, closer: bytes, buffer: bytes, start: int) -> int:
        """Like `find`, but what was searched in vain once is not searched again: many openers, one search."""
        found = buffer.find(closer, max(start, self._searched[closer] - self._offset))
        if found < 0:
            self._searched[closer] = self._offset + len(buffer) - len(closer) + 1
        return found

    def _start_tag(self, name: str, rest: bytes) -> None:
        prefix, local = split_name(name)
        if local in ROOTS:
            self._has_root = True
        if local in self._blocks:
            if self._role is not None and not self._has_text():
                self._push(local)  # <loc><url>http://…</url></loc>
                return
            self._close_block()
            self._open_block(local, prefix)
        elif self._block is None:
            if self.kind is None and local in ROOTS:
                self.kind = ROOTS[local]
                self._blocks = BLOCKS[self.kind]
        else:
            self._start_child(name, local, rest)

    def _start_child(self, name: str, local: str, rest: bytes) -> None:
        assert self._block is not None
        role = role_of(*self._block, name)
        if self._role is None and self._open:
            self._push(local)
        elif not role:
            if self._role is None:
                self._take_text()
            self._push(local)
        else:
            self._close_child()
            self._take_text()
            if role is Role.LINK:
                self._draft.link(_attributes(rest))
            else:
                self._role = role

    def _end_tag(self, name: str) -> None:
        _, local = split_name(name)
        if local in ROOTS:
            self._has_root = False
        if self._block is None:
            return
        if local in self._open:
            while self._open.pop() != local:
                pass
        elif local == self._block[0] or local in ROOTS or local == "channel":
            self._close_block()
        elif self._open:
            self._open.pop()  # a misspelt end tag ends what is innermost
        else:
            self._close_child()

    def _open_block(self, local: str, prefix: str) -> None:
        self._block = (local, prefix)
        self._draft.open(local)
        if self.kind is None:
            self.kind = KIND_OF_BLOCK[local]
            self._blocks = BLOCKS[self.kind]

    def _close_child(self) -> None:
        if self._role is not None:
            self._draft.put(self._role, self._take_text())
            self._role = None
            self._open.clear()
            self.events += self._draft.take_finished()

    def _close_block(self) -> None:
        if self._block is None:
            return
        self._close_child()
        own_text = "" if self._open else self._take_text()
        self._open.clear()
        self._draft.finish(own_text, self.events)
        self._take_text()
        self._block = None

    def _push(self, local: str) -> None:
        if len(self._open) < _MAX_OPEN:
            self._open.append(local)

    def _characters(self, buffer: bytes, start: int, end: int) -> int:
        if (self._role is not None or not self._open) and self._size < _MAX_TEXT:
            self._run += buffer[start : min(end, start + _MAX_TEXT)]
            self._size += end - start
        return end

    def _has_text(self) -> bool:
        return bool(self._run.strip()) or any(text.strip() for text in self._text)

    def _flush_run(self) -> None:
        if self._run:
            self._text.append(_unescaped(bytes(self._run)))
            self._run.clear()

    def _add_text(self, text: str) -> None:
        if (self._role is not None or not self._open) and self._size < _MAX_TEXT:
            self._text.append(text[:_MAX_TEXT])
            self._size += len(text)

    def _take_text(self) -> str:
        if not self._size:
            return ""
        self._flush_run()
        text = "".join(self._text)
        self._text.clear()
        self._size = 0
        return text


def _unescaped(raw: bytes) -> str:
    text = _decoded(raw)
    return _REFERENCE.sub(_resolve, text) if "&" in text else text


def _decoded(raw: bytes) -> str:
    """Bytes that are not UTF-8 become percent escapes: in a URL that is what the server was meant to be asked for."""
    if raw.isascii():
        return raw.decode("ascii")
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
        found[match[1].decode("utf-8", "replace")] = _unescaped(value)
    return found
