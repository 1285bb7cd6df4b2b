"""Reads the plainest sitemap there is: one URL a line."""

from __future__ import annotations

import re
from typing import Final

from sitemirror import urls
from sitemirror.discover.entries import HTTP, Found, Stretch, trimmed
from sitemirror.model import Problem

_LINE_END: Final = re.compile(rb"[\r\n]+")


class ListingReader:
    """Feeds on UTF-8 blocks. The entries go to `events`."""

    def __init__(self) -> None:
        self.events: list[Found] = []
        self._partial = b""
        self._overlong = False
        self._ignored = 0

    def feed(self, block: bytes) -> None:
        *lines, partial = _LINE_END.split(self._partial + block)
        self._take(lines)
        # The rest of a line that is too long anyway need not be kept.
        if len(partial) > 4 * urls.MAX_LENGTH:
            self._overlong = True
            partial = b""
        self._partial = partial

    def finish(self) -> None:
        """The list has ended; its last line needs no line end."""
        self._take([self._partial])
        self.cut()

    def cut(self) -> None:
        """The input broke off: the last line may be torn and does not count."""
        self._partial = b""
        if self._ignored:
            lines = "1 line that is no" if self._ignored == 1 else f"{self._ignored:,} lines that are no"
            self.events.append(Problem(f"ignored {lines} http(s) URL"))

    def _take(self, lines: list[bytes]) -> None:
        found = [line for line in map(self._line, lines) if line]
        if found:
            self.events.append(Stretch(found, [None] * len(found), [None] * len(found)))

    def _line(self, raw: bytes) -> str:
        """The URL of a line; empty where there is none."""
        line = trimmed(raw.decode("utf-8", "replace"))
        if not self._overlong and len(line) <= urls.MAX_LENGTH and HTTP.match(line):
            return line
        if line or self._overlong:
            self._ignored += 1
        self._overlong = False
        return ""
