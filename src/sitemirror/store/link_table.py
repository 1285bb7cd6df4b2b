"""Who links to whom, and what the links found that nobody had seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason, cause_of
from sitemirror.store.database import RunInfo, State
from sitemirror.store.schema import ASSET, PAGE, UNREAD, Status
from sitemirror.store.tables import UrlState


class Linked(NamedTuple):
    """A link as the frontier judged it: `cause` is None when it may be fetched."""

    url: str
    attribute: int  # 0 href, 1 src
    depth: int
    chain: int
    kind: int  # PAGE or ASSET: what it probably is
    cause: Cause | None = None
    is_final: bool = False  # whether the cause holds for this URL whoever links to it


class Undecided(NamedTuple):
    """A URL that was found but not fetched."""

    id: int
    url: str
    cause: Cause | None
    is_out: bool
    depth: int
    chain: int
    kind: int


_HAS_PAGE: Final = "EXISTS (SELECT 1 FROM page WHERE page.id = url.id)"

_COUNTS: Final = f"(? OR sitemap = 0 OR {ASSET} IN (kind, excluded.kind) OR NOT {_HAS_PAGE})"
"""Whether a link names a URL: in a run by sitemaps none does that was a page of theirs."""

_LEADS_TO_GONE: Final = f"""
status = {Status.REDIRECT} AND EXISTS (
  WITH RECURSIVE way (id) AS (
    SELECT url.leads_to
    UNION SELECT next.leads_to FROM way CROSS JOIN url AS next USING (id) WHERE next.leads_to IS NOT NULL)
  SELECT 1 FROM way CROSS JOIN url AS next USING (id) WHERE next.status = {Status.GONE})
"""

# A URL that is met again keeps what was decided; a shorter way to it counts, and a way that is allowed. A page that was
# saved without a crawl, or whose state was lost, is visited again by a crawl: nobody has read its links. What has left
# the sitemaps is gone for a run by sitemaps, whoever links to it, if it ever was a page; else it is as if it had never
# been listed. What led to a page that is gone is asked again.
_MEET = f"""
INSERT INTO url (key, url, state, reached_run, source, sitemap, depth, chain, kind, found_on, reason, detail, at)
VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
  reached_run = CASE WHEN {_COUNTS} THEN excluded.reached_run ELSE reached_run END,
  named = named OR {_COUNTS},
  sitemap = CASE WHEN status = {Status.GONE} AND NOT {_HAS_PAGE} THEN 0 ELSE sitemap END,
  depth = min(coalesce(depth, excluded.depth), excluded.depth),
  chain = min(chain, excluded.chain),
  found_on = coalesce(found_on, excluded.found_on),
  reason = CASE WHEN status IN ({Status.OUT_OF_SCOPE}, {Status.GONE}) THEN excluded.reason ELSE reason END,
  detail = CASE WHEN status IN ({Status.OUT_OF_SCOPE}, {Status.GONE}) THEN excluded.detail ELSE detail END,
  gone_since = CASE
    WHEN state = {UrlState.PAGE} AND excluded.state != {UrlState.QUEUED} AND NOT ? THEN gone_since
    ELSE NULL END,
  state = CASE
    WHEN state = {UrlState.PAGE} THEN state
    WHEN status IN ({Status.OUT_OF_SCOPE}, {Status.GONE}) THEN excluded.state
    WHEN excluded.state = {UrlState.QUEUED} AND {_LEADS_TO_GONE} THEN {UrlState.QUEUED}
    ELSE state END,
  seen = CASE
    WHEN status IN ({Status.SAVED}, {Status.GONE}) AND depth IS NULL AND excluded.state = {UrlState.QUEUED} AND ?
      THEN {UNREAD}
    ELSE seen END
RETURNING id
"""

# Bound once: whatever is no plain number, sqlite3 looks for an adapter for.
_QUEUED: Final = UrlState.QUEUED.value
_EXCLUDED: Final = UrlState.EXCLUDED.value

_REDIRECTED_OUT: Final = f"""
SELECT id, url, detail FROM url
WHERE status = {Status.SKIPPED} AND reason IN ({", ".join(str(int(each)) for each in REDIRECTED_OUT.values())})
ORDER BY id
"""
_TOO_LARGE: Final = f"""
SELECT id FROM url WHERE status = {Status.SKIPPED} AND reason = {Reason.TOO_LARGE} AND size IS NULL ORDER BY id
"""

MET: Final = 50_000
"""URLs whose rows are remembered: pages of one site link to the same ones again and again."""

# The pages that led to a page, nearest first, and how far back.
_UP = """
WITH RECURSIVE up (id, n) AS (
  SELECT found_on, 1 FROM url WHERE id = :id AND found_on IS NOT NULL
  UNION ALL
  SELECT found_on, n + 1 FROM url JOIN up USING (id) WHERE found_on IS NOT NULL AND n < :steps
)
"""


class Met(NamedTuple):
    """A URL that this run has met before, and that may be fetched, or that this run will never fetch."""

    id: int
    depth: int
    chain: int


class LinkTable:
    """Writes links as pages are read. Belongs to the ledger's batches: it begins none and ends none."""

    def __init__(self, state: State, run: RunInfo) -> None:
        self._state = state
        self._db = state.db
        self._run = run
        self._by_links = int(run.mode.startswith("links"))
        self._met: dict[str, Met] = {}
        self._db.execute("DROP INDEX IF EXISTS edge_in")  # Made anew when it is asked: that takes less than to keep it.

    def start(self, url: str) -> None:
        """Adds the page that a crawl begins at."""
        self._meet(None, Linked(url, 0, 0, 0, PAGE), None)

    def met(self, url: str) -> Met | None:
        """What this run knows of a URL whose fate no other link changes, but by a shorter way; if it still knows."""
        return self._met.get(url)

    def replace(self, src: int, links: Iterable[Linked], known: Iterable[tuple[int, int]], at: str) -> None:
        """These are the links on a page, instead of those before; `known` are more: (id of a URL met, attribute)."""
        self._db.execute("DELETE FROM edge WHERE src = ?", (src,))
        edges = [(src, self._meet(src, link, at), link.attribute) for link in links]
        edges += [(src, dst, attribute) for dst, attribute in known]
        self._db.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?, ?)", edges)

    def _meet(self, src: int | None, link: Linked, at: str | None) -> int:
        reason, detail = (link.cause.reason.value, link.cause.detail) if link.cause else (None, None)
        found = self._db.execute(
            _MEET,
            (
                bytearray(urls.key(link.url)),
                link.url,
                _EXCLUDED if link.cause else _QUEUED,
                self._run.number,
                self._run.source,
                link.depth,
                link.chain,
                link.kind,
                src,
                reason,
                detail,
                at,
                self._by_links,
                self._by_links,
                self._by_links,
                self._by_links,
            ),
        )
        id = int(found.fetchone()[0])
        if not link.cause or link.is_final:
            if len(self._met) >= MET:
                self._met.pop(next(iter(self._met)))
            self._met[link.url] = Met(id, link.depth, link.chain)
        return id

    def is_new(self, url: str) -> bool:
        """Whether nobody has decided yet to fetch this URL."""
        row = self._db.execute("SELECT status FROM url WHERE key = ?", (bytearray(urls.key(url)),)).fetchone()
        return row is None or row[0] == Status.OUT_OF_SCOPE

    def led_by(self, id: int, steps: int) -> list[str]:
        """The URLs of the pages that led to a page, nearest first, as far back as `steps`."""
        rows = self._db.execute(f"{_UP} SELECT url FROM up JOIN url USING (id) ORDER BY n", {"id": id, "steps": steps})
        return [row[0] for row in rows]

    def links_before(self, id: int, steps: int) -> Iterator[str]:
        """What the pages that led to a page link to."""
        query = f"{_UP} SELECT url.url FROM up JOIN edge ON edge.src = up.id JOIN url ON url.id = edge.dst"
        for row in self._db.execute(query, {"id": id, "steps": steps}):
            yield row[0]

    def accepted_queries(self) -> Iterator[str]:
        """Pages with a query that are fetched or will be: traps count them."""
        for row in self._db.execute(
            f"SELECT url FROM url WHERE status != {Status.OUT_OF_SCOPE} AND kind = {PAGE} AND instr(url, '?') > 0"
        ):
            yield row[0]

    def undecided(self) -> Iterator[Undecided]:
        """What links led to and no run has fetched, by id. Rows may be rejudged meanwhile."""
        query = f"""
            SELECT id, url, reason, detail, status = {Status.OUT_OF_SCOPE}, depth, chain, coalesce(kind, {PAGE})
            FROM url
            WHERE id > ? AND depth IS NOT NULL AND status IN ({Status.QUEUED}, {Status.FAILED}, {Status.OUT_OF_SCOPE})
            ORDER BY id LIMIT 1000
        """
        last = 0
        while rows := self._db.execute(query, (last,)).fetchall():
            for id, url, reason, detail, is_out, *rest in rows:
                yield Undecided(id, url, cause_of(reason, detail) if is_out else None, bool(is_out), *rest)
            last = rows[-1][0]

    def rejudge(self, id: int, cause: Cause | None) -> None:
        """The URL may be fetched after all, or no longer."""
        self._db.execute(
            "UPDATE url SET state = ?, reason = ?, detail = ? WHERE id = ?",
            (UrlState.EXCLUDED if cause else UrlState.QUEUED, cause and cause.reason, cause and cause.detail, id),
        )

    def redirected_out(self) -> list[tuple[int, str, str]]:
        """(id, url, location) of what redirected out of scope."""
        return self._db.execute(_REDIRECTED_OUT).fetchall()

    def outgrown(self, limit: int) -> list[int]:
        """The ids of what was too large, nobody knows by how much, for the limit of the run before this one."""
        before = self._state.get("size limit", 0)
        self._state.put("size limit", limit)
        return [id for (id,) in self._db.execute(_TOO_LARGE)] if before < limit else []

    def read_later(self, src: int) -> None:
        """Has the page fetched whole when it is next asked for: its links have never been read."""
        self._db.execute("UPDATE page SET etag = NULL, last_modified = NULL WHERE id = ?", (src,))

    def still_linked(self, src: int) -> None:
        """Counts what an unchanged page links to as linked in this run too.

        Where a run by sitemaps has called that gone, a run by links takes it back.
        """
        self._db.execute(
            f"""
            UPDATE url SET reached_run = :run, named = 1,
              gone_since = CASE WHEN :by_links THEN NULL ELSE gone_since END,
              state = CASE WHEN :by_links AND gone_since IS NOT NULL
                AND state NOT IN ({UrlState.PAGE}, {UrlState.EXCLUDED}) THEN {UrlState.QUEUED} ELSE state END
            WHERE id IN (SELECT dst FROM edge WHERE src = :src)
            """,
            {"run": self._run.number, "by_links": self._by_links, "src": src},
        )

    def come_nearer(self, src: int, depth: int, limit: int) -> None:
        """Brings what a page links to as near as the page itself has come, without reading its links again."""
        there = f":depth + (coalesce(kind, {PAGE}) != {ASSET})"  # what a page needs is as deep as itself
        reached = f"status = {Status.OUT_OF_SCOPE} AND reason = {Reason.TOO_DEEP} AND {there} <= :limit"
        self._db.execute(
            f"""
            UPDATE url SET depth = {there},
              state = CASE WHEN {reached} THEN {UrlState.QUEUED} ELSE state END,
              reason = CASE WHEN {reached} THEN NULL ELSE reason END,
              detail = CASE WHEN {reached} THEN NULL ELSE detail END
            WHERE depth > {there} AND id IN (SELECT dst FROM edge WHERE src = :src)
            """,
            {"src": src, "depth": depth, "limit": limit},
        )
