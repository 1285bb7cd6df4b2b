"""Reads a sitemap as it arrives: bytes in, entries out, in constant memory, and nothing is opened or fetched.

    bytes → inflate (gzip undone) → recode (UTF-8) → sniff (what is it?) → document (XML) or listing (lines)

Readers are given blocks that are cut at fixed places, so the outcome never depends on how the network cut the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sitemirror.discover.document import DocumentReader
from sitemirror.discover.entries import Event, Found, Kind, one_by_one
from sitemirror.discover.inflate import Inflater
from sitemirror.discover.listing import ListingReader
from sitemirror.discover.recode import Recoder
from sitemirror.discover.sniff import HEAD, Shape, declared_codec, shape, skip_blanks
from sitemirror.discover.strict import Refused
from sitemirror.model import Problem

# Expat before 2.6 reads an unfinished token again with every call, so calls must be few.
_BLOCK: Final = 128 * 1024


class SitemapParser:
    """A push parser for every form of sitemap: feed it bytes as they come, then close it.

    `kind` is known once the beginning has been read; `decoded_bytes` counts what came out of gzip; `stopped` means
    that no more input is wanted, `cut` that there is more than was read. What is wrong with the file comes out as
    `Problem`s among the entries.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self.kind: Kind | None = None
        self.decoded_bytes = 0
        self.stopped = False
        self.cut = False
        self._max_bytes = max_bytes
        self._outer = Inflater()
        self._inner = Inflater()  # Servers that compress once more what is already compressed are not rare.
        self._outer_bytes = 0
        self._recoder = Recoder()
        self._pending = bytearray()
        self._cut_at = HEAD  # so that the kind is known, and a DTD refused, early
        self._lines_before = 0
        self._reader: DocumentReader | ListingReader | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Takes the next bytes of the body and returns what they completed."""
        return [event for batch in self.batches(data) for event in one_by_one(batch)]

    def batches(self, data: bytes) -> Iterator[list[Found]]:
        """Like `feed`, a few thousand events at a time: well compressed bytes can hold a great many. Take them all.

        Ordinary entries come as whole stretches.
        """
        if not self.stopped:
            yield from self._unpack(self._outer.feed(data))

    def close(self) -> list[Event]:
        """The body has ended: what is still to come out of it."""
        if self.stopped:
            return []
        events = [event for batch in self._unpack(self._outer.close()) for event in batch]
        if not self.stopped:
            events += [event for batch in self._accept(self._inner.close()) for event in batch]
        if not self.stopped:
            events += self._end()
            self.stopped = True
        return one_by_one(events)

    def _unpack(self, pieces: Iterable[bytes]) -> Iterator[list[Found]]:
        for piece in pieces:
            room = self._max_bytes - self._outer_bytes
            self._outer_bytes += len(piece)
            yield from self._accept(self._inner.feed(piece[:room]))
            if self.stopped:
                return
            if len(piece) > room:
                yield self._break_off(self._too_large())
                return
        if self._outer.problem:
            yield self._break_off(self._outer.problem)

    def _accept(self, pieces: Iterable[bytes]) -> Iterator[list[Found]]:
        for piece in pieces:
            room = self._max_bytes - self.decoded_bytes
            self.decoded_bytes += min(len(piece), room)
            if events := self._receive(self._recoder.feed(piece[:room])):
                yield events
            if self.stopped:
                return
            if len(piece) > room:
                yield self._break_off(self._too_large())
                return
        if self._inner.problem:
            yield self._break_off(self._inner.problem)

    def _too_large(self) -> str:
        return f"larger than {self._max_bytes:,} bytes when unpacked; read up to there"

    def _receive(self, data: bytes) -> list[Found]:
        self._pending += data
        events: list[Found] = []
        if self._reader is None:
            self._skip_blanks()
            if len(self._pending) < HEAD:
                return events
            events = self._open_reader()
        while len(self._pending) >= self._cut_at and not self.stopped:
            block = bytes(self._pending[: self._cut_at])
            del self._pending[: self._cut_at]
            self._cut_at = _BLOCK
            events += self._read(block)
        return events

    def _skip_blanks(self) -> None:
        rest = skip_blanks(bytes(self._pending))
        skipped = len(self._pending) - len(rest)
        self._lines_before += self._pending[:skipped].count(b"\n")
        del self._pending[:skipped]

    def _open_reader(self) -> list[Found]:
        head = bytes(self._pending[:HEAD])
        found = shape(head)
        if found is Shape.TEXT:
            self.kind = "text"
            self._reader = ListingReader()
            return []
        if found not in (Shape.XML, Shape.LATE_XML):
            self.kind = "html" if found is Shape.HTML else None
            self.stopped = True
            return [Problem(found.value)]
        codec = None if self._recoder.wide else declared_codec(head)
        if codec is not None:
            self._pending[:] = self._recoder.convert_from(codec, bytes(self._pending))
        self._reader = DocumentReader(self._lines_before)
        if found is Shape.LATE_XML:
            self._reader.distrust("something else stands before it")
        return []

    def _read(self, block: bytes) -> list[Found]:
        assert self._reader is not None
        try:
            self._reader.feed(block)
        except Refused as refused:
            return self._refuse(refused)
        return self._collect()

    def _end(self) -> list[Found]:
        events = self._drain()
        if self._reader is not None and not self.stopped:
            try:
                self._reader.finish()
            except Refused as refused:
                return events + self._refuse(refused)
            self.cut = isinstance(self._reader, DocumentReader) and self._reader.torn
            events += self._collect()
        return events

    def _break_off(self, reason: str) -> list[Found]:
        """What was read before `reason` is kept."""
        self.cut = True
        events = self._drain() if self.decoded_bytes else []
        if self._reader is not None and not self.stopped:
            try:
                self._reader.cut()
            except Refused as refused:
                return events + self._refuse(refused)
            events += self._collect()
        self.stopped = True
        return [*events, Problem(reason)]

    def _drain(self) -> list[Found]:
        """Everything received so far goes to its reader, however little it is."""
        events = self._receive(self._recoder.close())
        if self._reader is None and not self.stopped:
            events += self._open_reader()
        if self._reader is not None and not self.stopped:
            events += self._read(bytes(self._pending))
            self._pending.clear()
        return events

    def _refuse(self, refused: Refused) -> list[Found]:
        events = self._collect()
        self.kind = refused.kind or self.kind
        self.stopped = self.cut = True
        return [*events, Problem(refused.reason)]

    def _collect(self) -> list[Found]:
        assert self._reader is not None
        if isinstance(self._reader, DocumentReader):
            self.kind = self._reader.kind
        events, self._reader.events = self._reader.events, []
        return events
