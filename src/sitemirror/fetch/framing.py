"""Repairs responses that browsers read and aiohttp's parser refuses.

It sees the bytes of one response before the parser does, and leaves a well-formed response as it is. What it repairs
has one meaning in RFC 9112, in browsers and in curl. A connection whose framing was contradictory, or that sent more
than was announced, is not used again, so no response can pass for another one.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

MAX_HEAD: Final = 128 * 1024
"""Bytes of a head or a trailer. What is longer passes unrepaired, and the parser applies its own limits."""

_HEAD_END: Final = re.compile(rb"\n\r?\n")
_BEGINNING: Final = b"HTTP/1."
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?!\d)")
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;|\Z)")


class _State(Enum):
    HEAD = "head"
    BODY = "body of a known length"
    CHUNK_SIZE = "line before a chunk"
    CHUNK = "chunk"
    CHUNK_END = "line end after a chunk"
    TRAILER = "trailer"
    END = "after the response"
    UNREPAIRED = "passes as it is"


class FramingRepair:
    """One response on its way to the parser. `has_body` is False for the answer to a HEAD request."""

    def __init__(self, *, has_body: bool = True) -> None:
        self.must_close = False
        """True if the connection must not carry another request."""
        self.surplus = 0
        """Bytes that came after the end of the response."""
        self._has_body = has_body
        self._state = _State.HEAD
        self._held = b""
        self._left = 0  # bytes of the body, of the chunk or, in a trailer, of the limit

    def feed(self, data: bytes) -> bytes:
        """Return the bytes that the parser should see now. Incomplete heads and lines are held back."""
        if self._held:
            data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and self._state is not _State.END:
            piece, at = self._step(data, at)
            pieces.append(piece)
        if at < len(data) and (surplus := data[at:].strip(b"\r\n")):
            self.must_close = True
            self.surplus += len(surplus)
        return b"".join(pieces)

    def flush(self) -> bytes:
        """Return what is held back, once the connection has ended."""
        held, self._held = self._held, b""
        return held

    def _step(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Read one part of the response; return the bytes for the parser and the start of the next part."""
        match self._state:
            case _State.HEAD:
                return self._read_head(data, at)
            case _State.BODY | _State.CHUNK:
                piece = data[at : at + self._left]
                self._left -= len(piece)
                if not self._left:
                    self._state = _State.END if self._state is _State.BODY else _State.CHUNK_END
                return piece, at + len(piece)
            case _State.CHUNK_SIZE | _State.CHUNK_END | _State.TRAILER:
                return self._read_line(data, at)
        return data[at:], len(data)

    def _hold(self, data: bytes, at: int) -> tuple[bytes, int]:
        if len(data) - at > MAX_HEAD:
            self._state = _State.UNREPAIRED
            return data[at:], len(data)
        self._held = data[at:]
        return b"", len(data)

    def _read_head(self, data: bytes, at: int) -> tuple[bytes, int]:
        while data[at : at + 1] in (b"\r", b"\n"):
            at += 1
        if not data.startswith(_BEGINNING[: len(data) - at], at):
            self._state = _State.UNREPAIRED  # Not HTTP/1: the parser says so at once.
            return data[at:], len(data)
        found = _HEAD_END.search(data, at)
        if found is None:
            return self._hold(data, at)
        head, end = data[at : found.end()], found.end()
        status = _STATUS.match(head)
        if status is None:
            self._state = _State.UNREPAIRED
            return head, end
        code = int(status[1])
        if 100 <= code < 200 and code != 101:
            return head, end  # An informational response; the final one follows.
        head, length, is_chunked = self._repair_head(head)
        if code == 101:
            self._state = _State.UNREPAIRED
        elif not self._has_body or code in (204, 304) or length == 0:
            self._state = _State.END
        elif is_chunked:
            self._state = _State.CHUNK_SIZE
        elif length is not None:
            self._state, self._left = _State.BODY, length
        else:
            self._state = _State.UNREPAIRED  # The body ends with the connection, or the parser refuses the head.
        return head, end

    def _repair_head(self, head: bytes) -> tuple[bytes, int | None, bool]:
        """Return the head as the parser accepts it, the length of the body, and True for a chunked one."""
        first, *lines = head.split(b"\n")
        kept: list[tuple[bytes, bytes]] = []  # name in lower case, line; without a name for a continuation
        lengths: list[bytes] = []
        codings: list[bytes] = []
        changed = drops_continuation = False
        for line in lines:
            if line[:1] in (b" ", b"\t"):
                if not drops_continuation:
                    kept.append((b"", line))
                continue
            name, colon, value = line.partition(b":")
            drops_continuation = bool(colon) and not name.strip(b" \t")
            if drops_continuation:
                changed = True
                continue
            if name[-1:] in (b" ", b"\t") and colon:
                name = name.rstrip(b" \t")
                line, changed = name + b":" + value, True
            name = name.lower()
            if name == b"content-length":
                lengths += [each.strip() for each in value.split(b",")]
            elif name == b"transfer-encoding":
                codings += [each.strip().lower() for each in value.split(b",")]
            kept.append((name, line))
        length = int(lengths[0]) if len(set(lengths)) == 1 and lengths[0].isdigit() and len(lengths[0]) < 20 else None
        is_chunked = codings == [b"chunked"]
        if lengths and is_chunked:
            # RFC 9112, 6.3: Transfer-Encoding overrides, and the connection ends with this response.
            kept = [each for each in kept if each[0] != b"content-length"]
            changed = self.must_close = True
            length = None
        elif lengths and codings == [b"identity"]:
            kept = [each for each in kept if each[0] != b"transfer-encoding"]
            changed = True
        elif codings:
            length = None
        if length is not None and len(lengths) > 1:
            kept = [each for each in kept if each[0] != b"content-length"]
            kept.insert(0, (b"content-length", b"Content-Length: %d\r" % length))
            changed = True
        if changed:
            head = b"\n".join([first, *(line for _, line in kept)])
        return head, length, is_chunked

    def _read_line(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Read the line before a chunk, after a chunk or in a trailer. Lines that end in LF alone get CRLF."""
        end = data.find(b"\n", at) + 1
        if not end:
            return self._hold(data, at)
        line = data[at : end - 1].removesuffix(b"\r")
        if self._state is _State.TRAILER:
            self._left -= end - at
            if not line:
                self._state = _State.END
                return b"\r\n", end
            if self._left < 0:
                self._state = _State.UNREPAIRED
            return b"", end  # Trailers are of no use here.
        if self._state is _State.CHUNK_END and not line:
            self._state = _State.CHUNK_SIZE
            return b"\r\n", end
        size = _CHUNK_SIZE.match(line) if self._state is _State.CHUNK_SIZE else None
        if size is None:
            self._state = _State.UNREPAIRED
            return data[at:end], end
        self._left = int(size[1], 16)
        self._state = _State.CHUNK
        if not self._left:
            self._state, self._left = _State.TRAILER, MAX_HEAD
        return line + b"\r\n", end
