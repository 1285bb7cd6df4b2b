"""Reads a sitemap or feed in XML: strictly as long as the XML is well-formed, tolerantly from where it breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemirror.discover.entries import Found, Kind, Tally
from sitemirror.discover.strict import Broken, StrictReader
from sitemirror.model import Problem

if TYPE_CHECKING:
    from sitemirror.discover.salvage import SalvageReader


class DocumentReader:
    """Feeds on UTF-8 blocks. The entries go to `events`; raises `Refused` where nothing more should be read.

    `torn` means that the document ended before its root element did.
    """

    def __init__(self, lines_before: int) -> None:
        self.kind: Kind | None = None
        self.events: list[Found] = []
        self.torn = False
        self._tally = Tally()
        self._reader: StrictReader | SalvageReader = StrictReader(self._tally, lines_before)

    def feed(self, block: bytes) -> None:
        try:
            self._reader.feed(block)
        except Broken as broken:
            self.distrust(broken.reason)
        finally:
            self._collect()

    def finish(self) -> None:
        """The document has ended."""
        try:
            self._reader.finish()
        except Broken as broken:
            self.distrust(broken.reason)
            self._reader.finish()
        finally:
            self.torn = not isinstance(self._reader, StrictReader) and self._reader.torn
            self._collect()
            self.events += self._tally.problems()

    def cut(self) -> None:
        """The input broke off, for a reason that is reported elsewhere."""
        try:
            self._salvage()
            self._reader.finish()
        finally:
            self._collect()
            self.events += self._tally.problems()

    def distrust(self, reason: str) -> None:
        """Reads tolerantly from here on."""
        self._collect()
        self.events.append(Problem(f"broken XML, read as far as entries can be recognised: {reason}"))
        self._salvage()

    def _salvage(self) -> None:
        if isinstance(self._reader, StrictReader):
            from sitemirror.discover.salvage import SalvageReader as Reader  # Most sitemaps are whole.

            strict, unread = self._reader, self._reader.unread()
            self._reader = Reader(strict.kind, self._tally, has_root=strict.has_root)
            self._reader.feed(unread)

    def _collect(self) -> None:
        self.kind = self._reader.kind or self.kind
        self.events += self._reader.events
        self._reader.events.clear()
