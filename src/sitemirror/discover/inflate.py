"""Undoes gzip in small bounded steps, whatever the file is called, so that a bomb never gets to unfold."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from typing import Final

_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 16 + zlib.MAX_WBITS
_INPUT: Final = 16 * 1024
_OUTPUT: Final = 64 * 1024
# Real multi-member files (bgzip, pigz) have a member per 64 KB or more; an endless row of empty ones is an attack.
_MAX_MEMBERS: Final = 10_000


class Inflater:
    """One layer of gzip. Bytes that are not gzip pass through as they are.

    `problem` says what is wrong with the compressed data; nothing comes out after it.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._start = b""
        self._plain = False
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces of at most 64 KB each. Take them all before feeding more."""
        if not self._plain and self._stream is None and not self._over:
            data = self._start + data
            if len(data) < len(_MAGIC) and _MAGIC.startswith(data):
                self._start = data
                return
            self._start = b""
            if data.startswith(_MAGIC):
                self._next_member()
            else:
                self._plain = True
        for at in range(0, len(data), _OUTPUT if self._plain else _INPUT):
            if self._plain:
                yield data[at : at + _OUTPUT]
            elif self.problem is None and not self._over:
                yield from self._inflate(data[at : at + _INPUT])

    def close(self) -> Iterator[bytes]:
        """What was held back, and the last word on whether the data was whole."""
        if self._start and self._members == 0:
            yield self._start
        elif self._stream is not None and not self._stream.eof and self.problem is None:
            self.problem = "gzip data ends early"
        self._start = b""

    def _next_member(self) -> None:
        self._members += 1
        self._stream = zlib.decompressobj(_GZIP)

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data and self.problem is None:
            stream = self._stream
            if stream is None or stream.eof:
                data = self._start + data
                self._start = b""
                if len(data) < len(_MAGIC) and _MAGIC.startswith(data):
                    self._start = data
                    return
                if not data.startswith(_MAGIC):
                    # Padding and trailing rubbish after the last member are common and harmless.
                    self._over = True
                    return
                if self._members >= _MAX_MEMBERS:
                    self.problem = f"more than {_MAX_MEMBERS:,} gzip members"
                    return
                self._next_member()
                stream = self._stream
            assert stream is not None
            data = yield from self._one_member(stream, data)

    def _one_member(self, stream: zlib._Decompress, data: bytes) -> Generator[bytes, None, bytes]:
        """Decodes `data` until it is used up or the member ends; what follows the member is returned."""
        while True:
            before = stream.copy()
            try:
                piece = stream.decompress(data, _OUTPUT)
            except zlib.error:
                yield from _up_to_the_fault(before, data)
                self.problem = "corrupt gzip data"
                return b""
            if piece:
                yield piece
            if stream.eof:
                return stream.unused_data
            data = stream.unconsumed_tail
            # A full piece may leave decoded bytes behind inside zlib even when all input is taken.
            if not data and len(piece) < _OUTPUT:
                return b""


def _up_to_the_fault(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    # zlib drops what a failing call had already decoded, so the call is repeated in steps of one byte.
    for at in range(len(data)):
        step = data[at : at + 1]
        try:
            while piece := stream.decompress(step, _OUTPUT):
                yield piece
                step = stream.unconsumed_tail
        except zlib.error:
            return
