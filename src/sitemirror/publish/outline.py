"""`sitemap-<stamp>.md`: what a site's sitemaps list, for people. Grouped by folder, with counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sitemirror.publish import inline
from sitemirror.publish.json_text import Sink
from sitemirror.publish.listing import shown, write_listing
from sitemirror.text import counted

OutlineRow: TypeAlias = tuple[str, str | None, str | None]
"""A URL, and the `lastmod` and `priority` that its sitemap gives it. Bare tuples, as the database gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineHeader:
    """What stands above the outline."""

    host: str
    """The site's host, with its port if it has one; URLs of other hosts are grouped under theirs."""

    source_url: str
    made_at: str
    total_urls: int
    duplicates: int
    complete: bool
    """False when the run was interrupted, or a sitemap could not be read whole."""


@dataclass(frozen=True, slots=True)
class SitemapRow:
    """A sitemap that was found. `error` is empty when all was well."""

    url: str
    urls: int
    error: str = ""


def write_outline(
    file: Sink,
    header: OutlineHeader,
    *,
    sitemaps: Iterable[SitemapRow],
    rows: Callable[[int], Iterable[OutlineRow]],
) -> None:
    """Writes the outline. `rows(n)` gives the URLs from the n-th on, always in the order of `sections.order`."""
    _write_head(file, header)
    file.write(b"- Sitemaps:\n")
    for sitemap in sitemaps:
        problem = f"; problem: {inline.text(sitemap.error, limit=500)}" if sitemap.error else ""
        file.write(f"  - {inline.autolink(sitemap.url)}: {counted(sitemap.urls, 'URL')}{problem}\n".encode())
    file.write(b"\n---\n")

    write_listing(file, header.host, rows, lambda some: _items(some, header.host))


def _write_head(file: Sink, header: OutlineHeader) -> None:
    lines = [
        f"# Sitemap of {inline.text(header.host)}",
        "",
        f"- Source: {inline.autolink(header.source_url)}",
        f"- Made: {header.made_at}",
        f"- URLs: {header.total_urls:,} (repeats left out: {header.duplicates:,})",
    ]
    if not header.complete:
        lines.append("- **Incomplete**: some of the sitemaps were not read to their end.")
    file.write(("\n".join(lines) + "\n").encode())


def _items(rows: Sequence[OutlineRow], host: str) -> list[str]:
    """A list item for each row. Most lists are ordinary from end to end, which is seen of many rows at once."""
    first = rows[0][0]
    start = first[: first.find("/", 8)]
    if start.endswith("//" + host) and inline.all_ordinary([row[0] for row in rows], start + "/"):
        skip = len(start)
        return [f"[{url[skip:]}]({url}){_notes(lastmod, priority)}" for url, lastmod, priority in rows]
    return [
        inline.link(inline.text(shown(url, host)), url) + _notes(lastmod, priority) for url, lastmod, priority in rows
    ]


@lru_cache(maxsize=4096)  # Most sitemaps have one date for many pages, and few priorities.
def _notes(lastmod: str | None, priority: str | None) -> str:
    notes = ""
    if lastmod:
        notes += f" · {inline.text(lastmod, limit=60)}"
    if priority:
        notes += f" · priority {inline.text(priority, limit=20)}"
    return notes
