"""Turns a body into UTF-8 as it arrives, so that every reader behind it knows one encoding only."""

from __future__ import annotations

import codecs

from sitemirror.discover.sniff import wide_codec

_ENOUGH = 4  # bytes that tell the wide encodings apart


class Recoder:
    """UTF-8 and its like pass through untouched, wrong bytes included; other encodings are converted."""

    def __init__(self) -> None:
        self.wide = False
        self._start: bytes | None = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> bytes:
        if self._start is not None:
            self._start += data
            if len(self._start) < _ENOUGH:
                return b""
            data = self._settle(self._start)
        return data if self._decoder is None else self._decoder.decode(data).encode()

    def close(self) -> bytes:
        rest = b"" if self._start is None else self._settle(self._start)
        return rest if self._decoder is None else self._decoder.decode(rest, final=True).encode()

    def convert_from(self, codec: str, seen: bytes) -> bytes:
        """The body turns out to be in `codec`: from now on it is converted, and `seen` is at once."""
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        return self._decoder.decode(seen).encode()

    def _settle(self, start: bytes) -> bytes:
        self._start = None
        found = wide_codec(start)
        if found is None:
            return start
        codec, mark = found
        self.wide = True
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        return start[mark:]
