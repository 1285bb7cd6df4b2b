"""Parse a sitemap as it arrives: bytes in, entries out, in constant memory, without I/O.

    bytes → gzip undone → UTF-8 → format detected → XML (expat, from a fault on tolerantly) or one URL a line

The readers get blocks of fixed size, so the outcome never depends on how the network cut the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from sitemirror import urls
from sitemirror.model import Problem
from sitemirror.sitemaps.encoding import (
    HEAD,
    GzipDecoder,
    SitemapFormat,
    Utf8Converter,
    declared_codec,
    detect_format,
    strip_start,
)
from sitemirror.sitemaps.entries import (
    HTTP,
    EntryBatch,
    Event,
    Kind,
    OmittedEntries,
    Parsed,
    Rejected,
    expand_batches,
    trim,
)
from sitemirror.sitemaps.wellformed import ExpatReader, NotWellFormed

if TYPE_CHECKING:
    from sitemirror.sitemaps.broken import TolerantReader

# Expat before 2.6 reads an unfinished token again with every call, so calls must be few.
_BLOCK: Final = 128 * 1024
_LINE_END: Final = re.compile(rb"[\r\n]+")


class SitemapParser:
    """A push parser for every form of sitemap: feed it bytes as they come, then close it.

    `kind` is known once the beginning has been read; `decoded_bytes` counts what came out of gzip; `stopped` means
    that no more input is needed, `truncated` that there is more than was read. What is wrong with the file comes out
    as `Problem`s among the entries.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self.kind: Kind | None = None
        self.decoded_bytes = 0
        self.stopped = False
        self.truncated = False
        self._max_bytes = max_bytes
        self._outer = GzipDecoder()
        self._inner = GzipDecoder()  # Servers that compress once more what is already compressed are not rare.
        self._outer_bytes = 0
        self._converter = Utf8Converter()
        self._pending = bytearray()
        self._block_size = HEAD  # so that the kind is known, and a DTD rejected, early
        self._lines_before = 0
        self._reader: _XmlReader | _ListReader | None = None

    def batches(self, data: bytes) -> Iterator[list[Parsed]]:
        """Yield completed events in batches of a few thousand. Take them all before feeding more.

        Batches bound the memory: a few well compressed bytes can hold a great many entries.
        """
        if not self.stopped:
            yield from self._decode_outer(self._outer.feed(data))

    def close(self) -> list[Event]:
        """Ends the body and returns what is left of it."""
        if self.stopped:
            return []
        events = [event for batch in self._decode_outer(self._outer.close()) for event in batch]
        if not self.stopped:
            events += [event for batch in self._decode_inner(self._inner.close()) for event in batch]
        if not self.stopped:
            events += self._finish()
            self.stopped = True
        return expand_batches(events)

    def _decode_outer(self, pieces: Iterable[bytes]) -> Iterator[list[Parsed]]:
        for piece in pieces:
            room = self._max_bytes - self._outer_bytes
            self._outer_bytes += len(piece)
            yield from self._decode_inner(self._inner.feed(piece[:room]))
            if self.stopped:
                return
            if len(piece) > room:
                yield self._truncate(self._too_large())
                return
        if self._outer.problem:
            yield self._truncate(self._outer.problem)

    def _decode_inner(self, pieces: Iterable[bytes]) -> Iterator[list[Parsed]]:
        for piece in pieces:
            room = self._max_bytes - self.decoded_bytes
            self.decoded_bytes += min(len(piece), room)
            if events := self._receive(self._converter.feed(piece[:room])):
                yield events
            if self.stopped:
                return
            if len(piece) > room:
                yield self._truncate(self._too_large())
                return
        if self._inner.problem:
            yield self._truncate(self._inner.problem)

    def _too_large(self) -> str:
        return f"larger than {self._max_bytes:,} bytes when unpacked; read up to there"

    def _receive(self, data: bytes) -> list[Parsed]:
        self._pending += data
        events: list[Parsed] = []
        if self._reader is None:
            self._strip_start()
            if len(self._pending) < HEAD:
                return events
            events = self._open_reader()
        while len(self._pending) >= self._block_size and not self.stopped:
            block = bytes(self._pending[: self._block_size])
            del self._pending[: self._block_size]
            self._block_size = _BLOCK
            events += self._read(block)
        return events

    def _strip_start(self) -> None:
        stripped = len(self._pending) - len(strip_start(bytes(self._pending)))
        self._lines_before += self._pending[:stripped].count(b"\n")
        del self._pending[:stripped]

    def _open_reader(self) -> list[Parsed]:
        head = bytes(self._pending[:HEAD])
        detected = detect_format(head)
        if detected is SitemapFormat.TEXT:
            self.kind = "text"
            self._reader = _ListReader()
            return []
        if detected not in (SitemapFormat.XML, SitemapFormat.LATE_XML):
            self.kind = "html" if detected is SitemapFormat.HTML else None
            self.stopped = True
            return [Problem(detected.value)]
        codec = None if self._converter.is_wide else declared_codec(head)
        if codec is not None:
            self._pending[:] = self._converter.convert_from(codec, bytes(self._pending))
        self._reader = _XmlReader(self._lines_before)
        if detected is SitemapFormat.LATE_XML:
            self._reader.report_broken("something else stands before it")
        return []

    def _read(self, block: bytes) -> list[Parsed]:
        assert self._reader is not None
        try:
            self._reader.feed(block)
        except Rejected as rejected:
            return self._reject(rejected)
        return self._take_events()

    def _finish(self) -> list[Parsed]:
        events = self._flush()
        if self._reader is not None and not self.stopped:
            try:
                self._reader.finish()
            except Rejected as rejected:
                return events + self._reject(rejected)
            self.truncated = self._reader.truncated
            events += self._take_events()
        return events

    def _truncate(self, reason: str) -> list[Parsed]:
        """Stops for `reason`; what was read before counts."""
        self.truncated = True
        events = self._flush() if self.decoded_bytes else []
        if self._reader is not None and not self.stopped:
            try:
                self._reader.finish_truncated()
            except Rejected as rejected:
                return events + self._reject(rejected)
            events += self._take_events()
        self.stopped = True
        return [*events, Problem(reason)]

    def _flush(self) -> list[Parsed]:
        """Gives everything received so far to the reader, however little it is."""
        events = self._receive(self._converter.close())
        if self._reader is None and not self.stopped:
            events += self._open_reader()
        if self._reader is not None and not self.stopped:
            events += self._read(bytes(self._pending))
            self._pending.clear()
        return events

    def _reject(self, rejected: Rejected) -> list[Parsed]:
        events = self._take_events()
        self.kind = rejected.kind or self.kind
        self.stopped = self.truncated = True
        return [*events, Problem(rejected.reason)]

    def _take_events(self) -> list[Parsed]:
        assert self._reader is not None
        self.kind = self._reader.kind
        events, self._reader.events = self._reader.events, []
        return events


class _XmlReader:
    """Read a sitemap or feed in XML: with expat while it is well-formed, tolerantly after that."""

    def __init__(self, lines_before: int) -> None:
        self.kind: Kind | None = None
        self.events: list[Parsed] = []
        self.truncated = False
        self._omitted = OmittedEntries()
        self._reader: ExpatReader | TolerantReader = ExpatReader(self._omitted, lines_before)

    def feed(self, block: bytes) -> None:
        try:
            self._reader.feed(block)
        except NotWellFormed as error:
            self.report_broken(error.reason)
        finally:
            self._take_events()

    def finish(self) -> None:
        """Ends the document."""
        try:
            self._reader.finish()
        except NotWellFormed as error:
            self.report_broken(error.reason)
            self._reader.finish()
        finally:
            self.truncated = not isinstance(self._reader, ExpatReader) and self._reader.truncated
            self._take_events()
            self.events += self._omitted.problems()

    def finish_truncated(self) -> None:
        """Ends a document that was cut off, for a reason that is reported elsewhere."""
        try:
            self._read_tolerantly()
            self._reader.finish()
        finally:
            self._take_events()
            self.events += self._omitted.problems()

    def report_broken(self, reason: str) -> None:
        """Reports that the XML is broken, and reads it tolerantly from here on."""
        self._take_events()
        self.events.append(Problem(f"broken XML, read as far as entries can be recognised: {reason}"))
        self._read_tolerantly()

    def _read_tolerantly(self) -> None:
        if isinstance(self._reader, ExpatReader):
            from sitemirror.sitemaps.broken import TolerantReader as Reader  # Most sitemaps are well-formed.

            before = self._reader
            self._reader = Reader(before.kind, self._omitted, has_root=before.has_root)
            self._reader.feed(before.unread())

    def _take_events(self) -> None:
        self.kind = self._reader.kind or self.kind
        self.events += self._reader.events
        self._reader.events.clear()


class _ListReader:
    """Reads a plain list: one URL a line."""

    kind: Final[Kind] = "text"
    truncated: Final = False

    def __init__(self) -> None:
        self.events: list[Parsed] = []
        self._partial = b""
        self._overlong = False
        self._ignored = 0

    def feed(self, block: bytes) -> None:
        *lines, partial = _LINE_END.split(self._partial + block)
        self._add(lines)
        # The rest of a line that is too long anyway need not be stored.
        if len(partial) > 4 * urls.MAX_LENGTH:
            self._overlong = True
            partial = b""
        self._partial = partial

    def finish(self) -> None:
        """Ends the list; its last line needs no line end."""
        self._add([self._partial])
        self.finish_truncated()

    def finish_truncated(self) -> None:
        """Ends a list that was cut off: the last line may be incomplete and does not count."""
        self._partial = b""
        if self._ignored:
            lines = "1 line that is no" if self._ignored == 1 else f"{self._ignored:,} lines that are no"
            self.events.append(Problem(f"ignored {lines} http(s) URL"))

    def _add(self, lines: list[bytes]) -> None:
        found = [line for line in map(self._url, lines) if line]
        if found:
            self.events.append(EntryBatch(found, [None] * len(found), [None] * len(found)))

    def _url(self, raw: bytes) -> str:
        """The URL of a line; empty if there is none."""
        line = trim(raw.decode("utf-8", "replace"))
        if not self._overlong and len(line) <= urls.MAX_LENGTH and HTTP.match(line):
            return line
        if line or self._overlong:
            self._ignored += 1
        self._overlong = False
        return ""
