"""The links between URLs, and the URLs that links have found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason, cause_of
from sitemirror.store.database import State
from sitemirror.store.queue import RunRules, link_url, queue_again
from sitemirror.store.tables import ASSET, PAGE, Due, UrlState


class JudgedLink(NamedTuple):
    """A link with the frontier's decision: `cause` is None if it may be fetched."""

    url: str
    attribute: int  # 0 href, 1 src
    requisite: bool
    depth: int
    chain: int
    kind: int  # PAGE or ASSET: its probable kind
    cause: Cause | None = None
    is_final: bool = False  # True if the cause holds for this URL whichever page links to it


class Undecided(NamedTuple):
    """A URL that was found but not fetched."""

    id: int
    url: str
    cause: Cause | None
    is_excluded: bool
    depth: int
    chain: int
    kind: int


_OUT: Final = ", ".join(str(int(each)) for each in REDIRECTED_OUT.values())
_REDIRECTED_OUT: Final = f"""
SELECT id, url, detail FROM url WHERE state = {UrlState.SKIPPED} AND reason IN ({_OUT}) AND gone_since IS NULL
ORDER BY id
"""
_MAY_FIT_NOW: Final = f"""
SELECT id FROM url WHERE state = {UrlState.SKIPPED} AND reason = {Reason.TOO_LARGE} AND gone_since IS NULL
  AND (size <= :limit OR (size IS NULL AND :before < :limit))
ORDER BY id
"""

MET: Final = 50_000
"""URLs whose rows are cached: pages of one site link to the same ones again and again."""

# The ancestors of a page by links, nearest first, and their distance.
_UP = """
WITH RECURSIVE up (id, n) AS (
  SELECT found_on_id, 1 FROM url WHERE id = :id AND found_on_id IS NOT NULL
  UNION ALL
  SELECT found_on_id, n + 1 FROM url JOIN up USING (id) WHERE found_on_id IS NOT NULL AND n < :steps
)
"""


class Met(NamedTuple):
    """A URL that this run has met before, with its depth and its trap chain."""

    id: int
    depth: int
    chain: int


class LinkTable:
    """Writes links as pages are read, within the open batch."""

    def __init__(self, state: State, rules: RunRules) -> None:
        self._state = state
        self._db = state.db
        self._rules = rules
        self._met: dict[str, Met] = {}
        self._db.execute("DROP INDEX IF EXISTS link_in")  # Created again on demand: that is faster than maintaining it.

    def start(self, url: str) -> None:
        """Add the start page of a crawl."""
        self._meet(None, JudgedLink(url, 0, False, 0, 0, PAGE), None)

    def met(self, url: str) -> Met | None:
        """Return a cached URL, whose row only a shorter path could change; None if it is not in the cache."""
        return self._met.get(url)

    def replace(
        self, src: int, links: Iterable[JudgedLink], met: Iterable[tuple[int, int, bool]], at: str | None
    ) -> None:
        """Replace the links of a page; `met` are more of them: (id of a URL met, attribute, requisite)."""
        self._db.execute("DELETE FROM link WHERE src_id = ?", (src,))
        rows = [(src, self._meet(src, link, at), link.attribute, int(link.requisite)) for link in links]
        rows += [(src, dst, attribute, int(requisite)) for dst, attribute, requisite in met]
        self._db.executemany(
            "INSERT INTO link VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " requisite = max(requisite, excluded.requisite)",
            rows,
        )

    def _meet(self, src: int | None, link: JudgedLink, at: str | None) -> int:
        cause = link.cause
        id = link_url(
            self._db,
            self._rules,
            link.url,
            link.depth,
            src,
            chain=link.chain,
            kind=link.kind,
            at=at if cause else None,
            refused=(cause.reason.value, cause.detail) if cause else None,
        )
        if not cause or link.is_final:
            if len(self._met) >= MET:
                self._met.pop(next(iter(self._met)))
            self._met[link.url] = Met(id, link.depth, link.chain)
        return id

    def is_new(self, url: str) -> bool:
        """True if the URL is unknown or excluded."""
        row = self._db.execute("SELECT state FROM url WHERE key = ?", (bytearray(urls.key(url)),)).fetchone()
        return row is None or row[0] == UrlState.EXCLUDED

    def led_by(self, id: int, steps: int) -> list[str]:
        """Return the URLs of a page's ancestors by links, nearest first, at most `steps`."""
        rows = self._db.execute(f"{_UP} SELECT url FROM up JOIN url USING (id) ORDER BY n", {"id": id, "steps": steps})
        return [row[0] for row in rows]

    def links_before(self, id: int, steps: int) -> Iterator[str]:
        """Yield the links of a page's ancestors."""
        query = f"{_UP} SELECT url.url FROM up JOIN link ON link.src_id = up.id JOIN url ON url.id = link.dst_id"
        for row in self._db.execute(query, {"id": id, "steps": steps}):
            yield row[0]

    def accepted_queries(self) -> Iterator[str]:
        """Yield pages with a query that are saved or queued, for the trap limits."""
        for row in self._db.execute(
            f"SELECT url FROM url WHERE state != {UrlState.EXCLUDED} AND kind = {PAGE} AND instr(url, '?') > 0"
        ):
            yield row[0]

    def undecided(self) -> Iterator[Undecided]:
        """Yield URLs that links found and no run has fetched, by id. Rows may be rejudged meanwhile."""
        query = f"""
            SELECT id, url, reason, detail, state = {UrlState.EXCLUDED}, depth, chain, coalesce(kind, {PAGE}) FROM url
            WHERE id > ? AND depth IS NOT NULL AND gone_since IS NULL
              AND state IN ({UrlState.QUEUED}, {UrlState.FAILED}, {UrlState.EXCLUDED})
            ORDER BY id LIMIT 1000
        """
        last = 0
        while rows := self._db.execute(query, (last,)).fetchall():
            for id, url, reason, detail, is_excluded, *rest in rows:
                cause = cause_of(reason, detail) if is_excluded else None
                yield Undecided(id, url, cause, bool(is_excluded), *rest)
            last = rows[-1][0]

    def rejudge(self, id: int, cause: Cause | None) -> None:
        """Queue or exclude a URL."""
        self._db.execute(
            "UPDATE url SET state = ?, queue = ?, reason = ?, detail = ? WHERE id = ?",
            (
                UrlState.EXCLUDED if cause else UrlState.QUEUED,
                Due.NO if cause else Due.NOW,
                cause and cause.reason,
                cause and cause.detail,
                id,
            ),
        )

    def queue_again(self, ids: Iterable[int]) -> None:
        """Queue URLs that were skipped under other settings."""
        queue_again(self._db, ids)

    def redirected_out(self) -> list[tuple[int, str, str]]:
        """Return (id, url, location) of redirects out of scope."""
        return self._db.execute(_REDIRECTED_OUT).fetchall()

    def outgrown(self, limit: int) -> list[int]:
        """Return the ids of URLs that exceeded an earlier size limit and may not exceed this one."""
        before = self._state.fact("max_file_bytes")
        self._state.set_facts(max_file_bytes=limit)
        return [id for (id,) in self._db.execute(_MAY_FIT_NOW, {"limit": limit, "before": before})]

    def come_nearer(self, src: int, depth: int, limit: int) -> None:
        """Reduce the depth of a page's link targets with the page's own, without reading its links again."""
        there = f":depth + (coalesce(kind, {PAGE}) != {ASSET})"  # requisites are as deep as their page
        reached = f"state = {UrlState.EXCLUDED} AND reason = {Reason.TOO_DEEP} AND {there} <= :limit"
        self._db.execute(
            f"""
            UPDATE url SET depth = {there},
              state = CASE WHEN {reached} THEN {UrlState.QUEUED} ELSE state END,
              queue = CASE WHEN {reached} THEN {Due.NOW} ELSE queue END,
              reason = CASE WHEN {reached} THEN NULL ELSE reason END,
              detail = CASE WHEN {reached} THEN NULL ELSE detail END
            WHERE depth > {there} AND id IN (SELECT dst_id FROM link WHERE src_id = :src)
            """,
            {"src": src, "depth": depth, "limit": limit},
        )
