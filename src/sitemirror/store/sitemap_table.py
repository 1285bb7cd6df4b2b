"""The sitemaps of a run: each URL listed once, repeats counted, interrupted sitemaps read again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import Cause, cause_of
from sitemirror.store.bulk_insert import BulkInsert, Listed
from sitemirror.store.database import RunInfo, State
from sitemirror.store.queue import RunRules
from sitemirror.store.tables import UrlState

# With an index of keys, a commit writes every page of the index that its URLs fall on: for a large index, all of them.
# So each commit covers a share of the list, and the writing grows with the list, not with its square. A kill costs
# reading the sitemaps since the last commit again.
_PART: Final = 20
_AT_MOST: Final = 50_000


_SITEMAPS: Final = f"""
SELECT count(*), total(status = 'in_progress'), (SELECT count(*) FROM sitemap WHERE status = 'pending'),
  coalesce((SELECT min(id) FROM sitemap WHERE status = 'pending'), {sys.maxsize}), total(kind = 'index') FROM sitemap
"""


class SitemapRow(NamedTuple):
    """A sitemap of this run."""

    id: int
    url: str
    depth: int
    status: str  # pending, in_progress, completed, cut (partly read), failed
    urls: int = 0
    repeats: int = 0
    kind: str | None = None
    error: str | None = None


class Begun(NamedTuple):
    """The finished and current sitemaps, as far as requested."""

    rows: tuple[SitemapRow, ...]  # the finished ones in the order they were found, then the current ones
    earlier: int  # number of finished ones that are not included
    has_index: bool


class SitemapTable:
    """The sitemaps of one run, written as they are read."""

    def __init__(self, state: State, run: RunInfo, rules: RunRules) -> None:
        self._state = state
        self._db = state.db
        self._run = run
        self._intake = BulkInsert(state.db, rules)
        self._listed = self.listed
        self._uncommitted = 0

    def add_sitemaps(self, locations: Iterable[str], depth: int) -> None:
        """Queue sitemaps that are new to this run."""
        with self._state.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO sitemap (run, key, url, depth, status) VALUES (?, ?, ?, ?, 'pending')",
                ((self._run.number, urls.key(url), url, depth) for url in locations),
            )

    def reopen(self) -> None:
        """After an interruption, read incomplete and failed sitemaps again from the beginning.

        If every sitemap was read, their URLs are used already or were useless: all sitemaps are found and read again.
        """
        with self._state.transaction() as db:
            query = "SELECT count(*), count(*) FILTER (WHERE status IN ('pending', 'in_progress')) FROM sitemap"
            sitemaps, unfinished = db.execute(query).fetchone()
            if sitemaps and not unfinished:
                for table in ("url", "intake"):
                    db.execute(f"UPDATE {table} SET listed_run = NULL WHERE listed_run = ?", (self._run.number,))
                db.execute("DELETE FROM sitemap")
                return
            for row in db.execute("SELECT id FROM sitemap WHERE status IN ('in_progress', 'failed')").fetchall():
                self.restart(row[0])
            db.execute("UPDATE sitemap SET status = 'pending' WHERE status IN ('in_progress', 'failed')")

    def restart(self, sitemap: int) -> None:
        """Discard what an incomplete reading listed, so that reading it again counts nothing twice."""
        with self._state.transaction() as db:
            found = db.execute("SELECT urls FROM sitemap WHERE id = ?", (sitemap,)).fetchone()
            if found != (0,):  # Most failed ones list nothing, and there may be thousands: each would scan all URLs.
                for table in ("url", "intake"):
                    query = f"UPDATE {table} SET listed_run = NULL WHERE sitemap_id = ? AND listed_run = ?"
                    db.execute(query, (sitemap, self._run.number))
            db.execute("UPDATE sitemap SET urls = 0, repeats = 0, error = NULL WHERE id = ?", (sitemap,))

    def next_sitemap(self) -> SitemapRow | None:
        """Begin the next sitemap. If there is none, everything listed is committed."""
        row = self._db.execute(
            "UPDATE sitemap SET status = 'in_progress' WHERE id = "
            "(SELECT id FROM sitemap WHERE status = 'pending' ORDER BY id LIMIT 1) RETURNING id, url, depth, status"
        ).fetchone()
        if row is None:
            self.finish_listing()
            return None
        return SitemapRow(*row)

    def forget(self, sitemap: int) -> None:
        """Delete a guessed sitemap that does not exist."""
        self.restart(sitemap)
        self._db.execute("DELETE FROM sitemap WHERE id = ?", (sitemap,))

    def add(self, sitemap: int, entries: Sequence[Listed]) -> None:
        """List URLs."""
        if entries:
            self._state.begin()
            self._count(sitemap, len(entries), self._intake.add(sitemap, entries))

    def add_plain(
        self, sitemap: int, found: Sequence[str], lastmods: Sequence[str | None], priorities: Sequence[str | None]
    ) -> None:
        """List URLs in scope that have no alternates."""
        if found:
            self._state.begin()
            self._count(sitemap, len(found), self._intake.add_plain(sitemap, found, lastmods, priorities))

    def _count(self, sitemap: int, entries: int, repeats: int) -> None:
        self._db.execute(
            "UPDATE sitemap SET urls = urls + ?, repeats = repeats + ? WHERE id = ?", (entries, repeats, sitemap)
        )
        self._listed += entries
        self._uncommitted += entries
        if self._uncommitted >= _AT_MOST:
            self.save()

    def finish(self, sitemap: int, *, kind: str | None, error: str | None, status: str = "completed") -> None:
        self._db.execute(
            "UPDATE sitemap SET status = ?, kind = ?, error = ? WHERE id = ?", (status, kind, error, sitemap)
        )
        if self._uncommitted * _PART >= self._listed:
            self.save()

    def save(self) -> None:
        """Commit what was written so far."""
        self._state.commit()
        self._uncommitted = 0

    def finish_listing(self) -> None:
        """Finish listing: repeats are counted, and everything is committed."""
        self._intake.finish()
        self.save()

    def sitemaps(self, *, newest: int | None = None) -> Iterator[SitemapRow]:
        """Return this run's sitemaps in the order they were found; with `newest`, only the last ones."""
        query = "SELECT id, url, depth, status, urls, repeats, kind, error FROM sitemap"
        if newest is not None:
            query = f"SELECT * FROM ({query} ORDER BY id DESC LIMIT {int(newest)}) ORDER BY id"
        for row in self._db.execute(query):
            yield SitemapRow(*row)

    def begun(self, *, done: int) -> Begun:
        """Return the current sitemaps, and the newest `done` of the finished ones, whatever their result."""
        columns = "SELECT id, url, depth, status, urls, repeats, kind, error FROM sitemap"
        every, under_way_now, waiting, first_waiting, has_index = self._db.execute(_SITEMAPS).fetchone()
        # They are read in the order of their ids, so the pending ones, which may be many, need not be scanned.
        newest = f"{columns} WHERE id < ? AND status NOT IN ('pending', 'in_progress') ORDER BY id DESC LIMIT ?"
        ended = [SitemapRow(*row) for row in self._db.execute(newest, (first_waiting, done))][::-1]
        query = f"{columns} WHERE status = 'in_progress' ORDER BY id"
        under_way = [SitemapRow(*row) for row in self._db.execute(query)] if under_way_now else []
        return Begun((*ended, *under_way), every - waiting - len(under_way) - len(ended), bool(has_index))

    @property
    def failed_sitemaps(self) -> int:
        """Return the sitemaps that were not read completely and that certainly exist."""
        return self._state.number("SELECT count(*) FROM sitemap WHERE status IN ('failed', 'cut')")

    @property
    def unsound_sitemaps(self) -> int:
        """Return the sitemaps that may not have been read completely."""
        return self._state.number("SELECT count(*) FROM sitemap WHERE status != 'completed' OR error IS NOT NULL")

    @property
    def listed(self) -> int:
        """Count the entries read so far, repeats included."""
        return self._state.number("SELECT coalesce(sum(urls), 0) FROM sitemap")

    @property
    def repeats(self) -> int:
        return self._state.number("SELECT coalesce(sum(repeats), 0) FROM sitemap")

    @property
    def outside(self) -> int:
        """Count the distinct URLs that this run listed and may not fetch."""
        query = f"SELECT count(*) FROM url WHERE listed_run = ? AND state = {UrlState.EXCLUDED}"
        return self._state.number(query, (self._run.number,))

    @property
    def total(self) -> int:
        """Count the distinct URLs that this run listed."""
        return self._state.number("SELECT count(*) FROM url WHERE listed_run = ?", (self._run.number,))

    @property
    def in_scope(self) -> int:
        """Count the distinct URLs that this run listed and may fetch."""
        query = f"SELECT count(*) FROM url WHERE listed_run = ? AND state != {UrlState.EXCLUDED}"
        return self._state.number(query, (self._run.number,))

    @property
    def main_refusal(self) -> Cause | None:
        """Return the most frequent reason why listed URLs are excluded; None if none is."""
        row = self._db.execute(
            "SELECT reason, detail FROM url WHERE listed_run = ? AND state = ?"
            " GROUP BY reason, detail ORDER BY count(*) DESC LIMIT 1",
            (self._run.number, UrlState.EXCLUDED),
        ).fetchone()
        return None if row is None else cause_of(*row)
