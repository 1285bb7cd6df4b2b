"""Decides before publishing which pages are one page under many URLs: twins and canonicals with equal Markdown.

Pages whose content differs are all kept, whatever their canonical says: a site that points every canonical at its
home page loses nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.database import State
from sitemirror.store.placement import Move
from sitemirror.store.schema import Status
from sitemirror.store.tables import UrlState


class Candidate(NamedTuple):
    """A page that shares its Markdown with another."""

    id: int
    url: str
    canonical: str | None
    path: str
    published: bool
    is_twin: bool


class Merge(NamedTuple):
    """`losers` are other names of `winner`."""

    winner: Candidate
    losers: tuple[Candidate, ...]


def find_merges(state: State) -> Iterator[Merge]:
    """Groups of pages that are one page, from the whole state; nothing is changed."""
    groups = state.db.execute(
        f"""
        SELECT body FROM page JOIN url USING (id)
        WHERE url.status IN ({Status.SAVED}, {Status.DUPLICATE}) AND body IS NOT NULL
        GROUP BY body HAVING count(*) > 1 ORDER BY min(url.url)
        """
    ).fetchall()
    for (body,) in groups:
        rows = state.db.execute(
            f"""
            SELECT url.id, url.url, page.canonical, page.path, page.published, url.status = {Status.DUPLICATE}
            FROM page JOIN url USING (id)
            WHERE page.body = ? AND url.status IN ({Status.SAVED}, {Status.DUPLICATE}) ORDER BY url.url
            """,
            (body,),
        )
        yield from merges([Candidate(r[0], r[1], r[2], r[3], bool(r[4]), bool(r[5])) for r in rows])


def merge_pages(state: State, merge: Merge) -> Iterator[Move]:
    """Makes the losers other names of the winner; their files go away."""
    for loser in merge.losers:
        state.db.execute(
            "UPDATE url SET state = ?, reason = ?, detail = NULL, leads_to = ? WHERE id = ?",
            (UrlState.ALIAS, Reason.DUPLICATE, merge.winner.id, loser.id),
        )
        if not loser.is_twin and loser.path != merge.winner.path:
            yield Move(0, loser.path, "")


def strays(state: State) -> Iterator[tuple[str, str]]:
    """(url, canonical) of pages that call another page their canonical although it says something else."""
    rows = state.db.execute(
        f"""
        SELECT url.id, url.url, page.canonical, page.body FROM page JOIN url USING (id)
        WHERE url.status = {Status.SAVED} AND page.canonical != url.url AND page.body IS NOT NULL ORDER BY url.url
        """
    )
    for id, url, canonical, body in rows:
        other = state.db.execute(
            f"""
            WITH RECURSIVE hop (id, status, leads_to, n) AS (
              SELECT id, status, leads_to, 1 FROM url WHERE key = ?
              UNION ALL SELECT url.id, url.status, url.leads_to, n + 1 FROM url JOIN hop ON url.id = hop.leads_to
              WHERE n < 30
            ) SELECT hop.id, page.body FROM hop JOIN page USING (id) WHERE hop.status = {Status.SAVED}
            """,
            (urls.key(canonical),),
        ).fetchone()
        if other is not None and other[0] != id and other[1] not in (body, None):
            yield url, canonical


def merges(equal: list[Candidate]) -> Iterator[Merge]:
    """Which of these pages with equal Markdown are one page. Pure, and independent of their order."""
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
