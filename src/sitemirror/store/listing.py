"""What the sitemaps list, kept exactly: each URL once, repeats counted, and an interrupted sitemap counted anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.store.schema import Row
from sitemirror.store.state import RunInfo, State

# Bound once: an enum's member is looked up in its class each time.
_QUEUED: Final = Row.QUEUED.value
_OUTSIDE: Final = Row.OUTSIDE.value

# A commit writes every page of the key index that its URLs fall on, which for a large index is all of them. So each
# commit takes in a part of what is listed, and the writing grows with the list, not with its square. A kill costs
# reading those sitemaps again, from their beginnings.
_PART: Final = 20
_AT_MOST: Final = 50_000

# A URL that is listed again keeps what was decided about it, unless the scope now says otherwise.
_LIST = f"""
INSERT INTO url (key, url, status, run, source, sitemap, lastmod, priority, alternates, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
  run = excluded.run, source = excluded.source, sitemap = excluded.sitemap,
  lastmod = excluded.lastmod, priority = excluded.priority, alternates = excluded.alternates,
  reason = CASE
    WHEN excluded.status = {Row.OUTSIDE} AND status IN ({Row.QUEUED}, {Row.FAILED}, {Row.SKIPPED}, {Row.OUTSIDE})
      THEN excluded.reason
    WHEN status IN ({Row.OUTSIDE}, {Row.GONE}) THEN NULL
    ELSE reason END,
  status = CASE
    WHEN status = {Row.GONE} AND EXISTS (SELECT 1 FROM page WHERE page.id = url.id) THEN {Row.SAVED}
    WHEN status IN ({Row.QUEUED}, {Row.FAILED}, {Row.SKIPPED}, {Row.OUTSIDE}, {Row.GONE})
      AND excluded.status = {Row.OUTSIDE} THEN {Row.OUTSIDE}
    WHEN status IN ({Row.OUTSIDE}, {Row.GONE}) THEN {Row.QUEUED}
    ELSE status END
WHERE url.run != excluded.run
"""


class Listed(NamedTuple):  # made a million times over: a tuple takes a third of a frozen dataclass's time
    """One URL as a sitemap gives it, with the scope's word on it: `reason` is empty when it may be fetched."""

    url: str
    lastmod: str | None = None
    priority: str | None = None
    alternates: str | None = None  # JSON
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SitemapRow:
    """A sitemap of this run."""

    id: int
    url: str
    depth: int
    status: str  # pending, in_progress, completed, cut (as far as we read), failed
    urls: int = 0
    repeats: int = 0
    kind: str | None = None
    error: str | None = None


class Listing:
    """One run's discovery, written as it goes."""

    def __init__(self, state: State, run: RunInfo) -> None:
        self._state = state
        self._db = state.db
        self._run = run
        self._listed = self.listed
        self._uncommitted = 0

    def add_sitemaps(self, locations: Iterable[str], depth: int) -> int:
        """Queues sitemaps that this run has not met yet; says how many were new."""
        before = self._db.total_changes
        with self._state.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO sitemap (run, key, url, depth, status) VALUES (?, ?, ?, ?, 'pending')",
                ((self._run.number, urls.key(url), url, depth) for url in locations),
            )
        return self._db.total_changes - before

    def reopen(self) -> None:
        """After an interruption: what was being read, or could not be, is read again from its beginning."""
        with self._state.transaction() as db:
            for row in db.execute("SELECT id FROM sitemap WHERE status IN ('in_progress', 'failed')").fetchall():
                self.restart(row[0])
            db.execute("UPDATE sitemap SET status = 'pending' WHERE status IN ('in_progress', 'failed')")

    def restart(self, sitemap: int) -> None:
        """Forgets what an unfinished reading listed, so that reading it again counts nothing twice."""
        with self._state.transaction() as db:
            db.execute("UPDATE url SET run = -1 WHERE sitemap = ? AND run = ?", (sitemap, self._run.number))
            db.execute("UPDATE sitemap SET urls = 0, repeats = 0, error = NULL WHERE id = ?", (sitemap,))

    def next_sitemap(self) -> SitemapRow | None:
        """Takes the next sitemap in hand. When there is none left, all that they list is safe."""
        row = self._db.execute(
            "UPDATE sitemap SET status = 'in_progress' WHERE id = "
            "(SELECT id FROM sitemap WHERE status = 'pending' ORDER BY id LIMIT 1) RETURNING id, url, depth, status"
        ).fetchone()
        if row is None:
            self._commit()
            return None
        return SitemapRow(*row)

    def forget(self, sitemap: int) -> None:
        """A guess at a sitemap's place that was wrong: it never was one."""
        self.restart(sitemap)
        self._db.execute("DELETE FROM sitemap WHERE id = ?", (sitemap,))

    def add(self, sitemap: int, entries: Iterable[Listed]) -> int:
        """Lists URLs; says how many of them this run had listed already."""
        run, source = self._run.number, self._run.source
        rows = [
            (
                urls.key(url),
                url,
                _OUTSIDE if reason else _QUEUED,
                run,
                source,
                sitemap,
                lastmod,
                priority,
                alternates,
                reason or None,
            )
            for url, lastmod, priority, alternates, reason in entries
        ]
        db = self._db
        if not db.in_transaction:
            db.execute("BEGIN")
        before = db.total_changes
        db.executemany(_LIST, rows)
        repeats = len(rows) - (db.total_changes - before)
        db.execute(
            "UPDATE sitemap SET urls = urls + ?, repeats = repeats + ? WHERE id = ?", (len(rows), repeats, sitemap)
        )
        self._listed += len(rows)
        self._uncommitted += len(rows)
        if self._uncommitted >= _AT_MOST:
            self._commit()
        return repeats

    def finish(self, sitemap: int, *, kind: str | None, error: str | None, status: str = "completed") -> None:
        self._db.execute(
            "UPDATE sitemap SET status = ?, kind = ?, error = ? WHERE id = ?", (status, kind, error, sitemap)
        )
        if self._uncommitted * _PART >= self._listed:
            self._commit()

    def _commit(self) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._uncommitted = 0

    def sitemaps(self, *, newest: int | None = None) -> Iterator[SitemapRow]:
        """This run's sitemaps in the order they were found; with `newest`, only the last so many."""
        query = "SELECT id, url, depth, status, urls, repeats, kind, error FROM sitemap"
        if newest is not None:
            query = f"SELECT * FROM ({query} ORDER BY id DESC LIMIT {int(newest)}) ORDER BY id"
        for row in self._db.execute(query):
            yield SitemapRow(*row)

    @property
    def failed_sitemaps(self) -> int:
        """Sitemaps of which something was not read, and is known to be there."""
        query = "SELECT count(*) FROM sitemap WHERE status IN ('failed', 'cut')"
        return int(self._db.execute(query).fetchone()[0])

    @property
    def unsound_sitemaps(self) -> int:
        """Sitemaps of which something may not have been read."""
        query = "SELECT count(*) FROM sitemap WHERE status != 'completed' OR error IS NOT NULL"
        return int(self._db.execute(query).fetchone()[0])

    @property
    def sitemap_count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM sitemap").fetchone()[0])

    @property
    def listed(self) -> int:
        """Entries read so far, repeats included."""
        return int(self._db.execute("SELECT coalesce(sum(urls), 0) FROM sitemap").fetchone()[0])

    @property
    def repeats(self) -> int:
        return int(self._db.execute("SELECT coalesce(sum(repeats), 0) FROM sitemap").fetchone()[0])

    @property
    def total(self) -> int:
        """Distinct URLs that this run has listed."""
        return int(self._db.execute("SELECT count(*) FROM url WHERE run = ?", (self._run.number,)).fetchone()[0])

    @property
    def in_scope(self) -> int:
        """Distinct URLs that this run has listed and may fetch."""
        return int(
            self._db.execute(
                "SELECT count(*) FROM url WHERE run = ? AND status != ?", (self._run.number, Row.OUTSIDE)
            ).fetchone()[0]
        )

    def mark_gone(self, at: str) -> int:
        """URLs that this start URL listed once and no longer does. Their files stay. Returns how many are new."""
        with self._state.transaction() as db:
            cursor = db.execute(
                """
                UPDATE url SET status = :gone, at = :at
                WHERE run != :run AND status NOT IN (:gone, :redirect, :twin)
                  AND (source = :source OR run = 0)
                  AND NOT EXISTS (
                    WITH RECURSIVE names (id, run, n) AS (
                      SELECT id, run, 1 FROM url AS other WHERE other.leads_to = url.id
                      UNION SELECT other.id, other.run, n + 1 FROM url AS other
                        JOIN names ON other.leads_to = names.id WHERE n < 20
                    ) SELECT 1 FROM names WHERE run = :run)
                """,
                {
                    "gone": Row.GONE,
                    "redirect": Row.REDIRECT,
                    "twin": Row.TWIN,
                    "at": at,
                    "run": self._run.number,
                    "source": self._run.source,
                },
            )
        return cursor.rowcount
