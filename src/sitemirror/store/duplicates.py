"""Decide which pages are duplicates: www twins and canonicals with equal Markdown.

Pages with different content are all saved, whatever their canonical says: a site that points every canonical at its
home page loses nothing.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sitemirror import urls
from sitemirror.store.tables import UrlState


class Candidate(NamedTuple):
    """A page with the same Markdown as another one."""

    id: int
    url: str
    canonical: str | None
    path: str
    published: bool
    is_twin: bool


class Merge(NamedTuple):
    """`losers` become aliases of `winner`."""

    winner: Candidate
    losers: tuple[Candidate, ...]


def strays(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Return (url, canonical) of pages that name another page as canonical but have different content."""
    is_page = f"url.state = {UrlState.PAGE} AND url.gone_since IS NULL"
    rows = db.execute(
        "SELECT url.id, url.url, page.canonical, page.text_hash FROM page JOIN url ON url.id = page.url_id"
        f" WHERE {is_page} AND page.canonical != url.url AND page.text_hash IS NOT NULL ORDER BY url.url"
    )
    for id, url, canonical, text in rows:
        other = db.execute(
            "SELECT url.id, page.text_hash FROM url AS name LEFT JOIN alias ON alias.url_id = name.id"
            " JOIN url ON url.id = coalesce(alias.page_id, name.id) JOIN page ON page.url_id = url.id"
            f" WHERE name.key = ? AND {is_page}",
            (urls.key(canonical),),
        ).fetchone()
        if other is not None and other[0] != id and other[1] not in (text, None):
            yield url, canonical


def merges(equal: list[Candidate]) -> Iterator[Merge]:
    """Return the merges among pages with equal Markdown. Pure, and independent of their order."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (up := leader.setdefault(name, name)) != name:
            leader[name] = leader[up]
            name = up
        return name

    for page in equal:
        # A page belongs with its twins and with every page that names the same canonical.
        leader[find(urls.twin_key(page.url))] = find(urls.twin_key(page.canonical or page.url))
    families: defaultdict[str, list[Candidate]] = defaultdict(list)
    for page in equal:
        families[find(urls.twin_key(page.url))].append(page)
    for family in families.values():
        if len(family) > 1:
            canonicals = {page.canonical for page in family if page.canonical}
            ranked = sorted(
                family,
                key=lambda page: (
                    page.is_twin,  # has no file
                    not page.published,  # a published path never moves
                    page.url not in canonicals,
                    not page.url.startswith("https:"),
                    page.url,
                ),
            )
            yield Merge(ranked[0], tuple(ranked[1:]))
