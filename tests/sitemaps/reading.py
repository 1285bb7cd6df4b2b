"""Reads whole bodies with the push parser, for tests that look at the outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sitemirror.model import Entry, Problem, SitemapRef
from sitemirror.sitemaps.entries import Event, expand_batches
from sitemirror.sitemaps.parse import SitemapParser

LIMIT = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """All that came out of one body, in order."""

    kind: str | None
    events: tuple[Event, ...]
    decoded_bytes: int
    truncated: bool

    @property
    def entries(self) -> list[Entry]:
        return [event for event in self.events if isinstance(event, Entry)]

    @property
    def children(self) -> list[SitemapRef]:
        return [event for event in self.events if isinstance(event, SitemapRef)]

    @property
    def locs(self) -> list[str]:
        return [event.loc for event in self.events if isinstance(event, Entry | SitemapRef)]

    @property
    def problems(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, Problem)]


def feed(parser: SitemapParser, data: bytes) -> list[Event]:
    """Everything that the next bytes complete."""
    return [event for batch in parser.batches(data) for event in expand_batches(batch)]


def read_pieces(pieces: Iterable[bytes], *, max_bytes: int = LIMIT) -> Reading:
    """What a parser makes of a body that arrives in these pieces."""
    parser = SitemapParser(max_bytes=max_bytes)
    events: list[Event] = []
    for piece in pieces:
        events += feed(parser, piece)
    events += parser.close()
    return Reading(parser.kind, tuple(events), parser.decoded_bytes, parser.truncated)


def read(body: bytes, *, max_bytes: int = LIMIT) -> Reading:
    """What a parser makes of a body that arrives at once."""
    return read_pieces([body], max_bytes=max_bytes)


def urlset(*blocks: str) -> bytes:
    """A urlset with these `<url>` blocks."""
    lines = "\n".join(blocks)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f"{head}\n{lines}\n</urlset>\n".encode()


def block(loc: str) -> str:
    """A `<url>` block as most generators write it. `loc` is put in as it is."""
    return f"  <url>\n    <loc>{loc}</loc>\n    <lastmod>2026-01-02</lastmod>\n  </url>"


def numbered(count: int) -> list[str]:
    """Distinct URLs."""
    return [f"https://example.com/docs/page-{number:06}" for number in range(count)]
