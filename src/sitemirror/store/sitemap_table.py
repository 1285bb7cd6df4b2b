"""What the sitemaps list, kept exactly: each URL once, repeats counted, and an interrupted sitemap counted anew."""

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

# Where the state has its index of keys already, a commit writes every page of it that its URLs fall on, which for a
# large index is all of them. So each commit takes in a part of what is listed, and the writing grows with the list, not
# with its square. A kill costs reading those sitemaps again, from their beginnings.
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
    status: str  # pending, in_progress, completed, cut (as far as we read), failed
    urls: int = 0
    repeats: int = 0
    kind: str | None = None
    error: str | None = None


class Begun(NamedTuple):
    """The sitemaps that are read or have been, as far as somebody wants to see them."""

    rows: tuple[SitemapRow, ...]  # those that are done, in the order they were found, then those under way
    earlier: int  # that are done and not among them
    has_index: bool


class SitemapTable:
    """One run's discovery, written as it goes."""

    def __init__(self, state: State, run: RunInfo, rules: RunRules) -> None:
        self._state = state
        self._db = state.db
        self._run = run
        self._intake = BulkInsert(state.db, rules)
        self._listed = self.listed
        self._uncommitted = 0

    def add_sitemaps(self, locations: Iterable[str], depth: int) -> None:
        """Queues sitemaps that this run has not met yet."""
        with self._state.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO sitemap (run, key, url, depth, status) VALUES (?, ?, ?, ?, 'pending')",
                ((self._run.number, urls.key(url), url, depth) for url in locations),
            )

    def reopen(self) -> None:
        """After an interruption: what was being read, or could not be, is read again from its beginning.

        Where every sitemap was read, what they listed was of no use, or has been of use to an earlier reading: all of
        them are looked for and read anew.
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
        """Forgets what an unfinished reading listed, so that reading it again counts nothing twice."""
        with self._state.transaction() as db:
            found = db.execute("SELECT urls FROM sitemap WHERE id = ?", (sitemap,)).fetchone()
            if found != (0,):  # Most that fail list nothing, and there may be thousands: each takes a look at all URLs.
                for table in ("url", "intake"):
                    query = f"UPDATE {table} SET listed_run = NULL WHERE sitemap_id = ? AND listed_run = ?"
                    db.execute(query, (sitemap, self._run.number))
            db.execute("UPDATE sitemap SET urls = 0, repeats = 0, error = NULL WHERE id = ?", (sitemap,))

    def next_sitemap(self) -> SitemapRow | None:
        """Takes the next sitemap in hand. When there is none left, all that they list is safe."""
        row = self._db.execute(
            "UPDATE sitemap SET status = 'in_progress' WHERE id = "
            "(SELECT id FROM sitemap WHERE status = 'pending' ORDER BY id LIMIT 1) RETURNING id, url, depth, status"
        ).fetchone()
        if row is None:
            self.settle()
            return None
        return SitemapRow(*row)

    def forget(self, sitemap: int) -> None:
        """A guess at a sitemap's place that was wrong: it never was one."""
        self.restart(sitemap)
        self._db.execute("DELETE FROM sitemap WHERE id = ?", (sitemap,))

    def add(self, sitemap: int, entries: Sequence[Listed]) -> None:
        """Lists URLs."""
        if entries:
            self._state.begin()
            self._count(sitemap, len(entries), self._intake.add(sitemap, entries))

    def add_plain(
        self, sitemap: int, found: Sequence[str], lastmods: Sequence[str | None], priorities: Sequence[str | None]
    ) -> None:
        """Lists URLs that may all be fetched, and of which no more is known than this."""
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
        """Makes what has been written so far last."""
        self._state.commit()
        self._uncommitted = 0

    def settle(self) -> None:
        """Nothing more is listed for now: what came twice is known, and all is safe."""
        self._intake.settle()
        self.save()

    def sitemaps(self, *, newest: int | None = None) -> Iterator[SitemapRow]:
        """This run's sitemaps in the order they were found; with `newest`, only the last so many."""
        query = "SELECT id, url, depth, status, urls, repeats, kind, error FROM sitemap"
        if newest is not None:
            query = f"SELECT * FROM ({query} ORDER BY id DESC LIMIT {int(newest)}) ORDER BY id"
        for row in self._db.execute(query):
            yield SitemapRow(*row)

    def begun(self, *, done: int) -> Begun:
        """The sitemaps that are being read, and the newest `done` of those that have been, whatever came of it."""
        columns = "SELECT id, url, depth, status, urls, repeats, kind, error FROM sitemap"
        every, under_way_now, waiting, first_waiting, has_index = self._db.execute(_SITEMAPS).fetchone()
        # They are taken in the order of their ids, so those that wait, which may be many, need not be passed over.
        newest = f"{columns} WHERE id < ? AND status NOT IN ('pending', 'in_progress') ORDER BY id DESC LIMIT ?"
        ended = [SitemapRow(*row) for row in self._db.execute(newest, (first_waiting, done))][::-1]
        query = f"{columns} WHERE status = 'in_progress' ORDER BY id"
        under_way = [SitemapRow(*row) for row in self._db.execute(query)] if under_way_now else []
        return Begun((*ended, *under_way), every - waiting - len(under_way) - len(ended), bool(has_index))

    @property
    def failed_sitemaps(self) -> int:
        """Sitemaps of which something was not read, and is known to be there."""
        return self._state.number("SELECT count(*) FROM sitemap WHERE status IN ('failed', 'cut')")

    @property
    def unsound_sitemaps(self) -> int:
        """Sitemaps of which something may not have been read."""
        return self._state.number("SELECT count(*) FROM sitemap WHERE status != 'completed' OR error IS NOT NULL")

    @property
    def listed(self) -> int:
        """Entries read so far, repeats included."""
        return self._state.number("SELECT coalesce(sum(urls), 0) FROM sitemap")

    @property
    def repeats(self) -> int:
        return self._state.number("SELECT coalesce(sum(repeats), 0) FROM sitemap")

    @property
    def outside(self) -> int:
        """Distinct URLs that this run has listed and may not fetch."""
        query = f"SELECT count(*) FROM url WHERE listed_run = ? AND state = {UrlState.EXCLUDED}"
        return self._state.number(query, (self._run.number,))

    @property
    def total(self) -> int:
        """Distinct URLs that this run has listed."""
        return self._state.number("SELECT count(*) FROM url WHERE listed_run = ?", (self._run.number,))

    @property
    def in_scope(self) -> int:
        """Distinct URLs that this run has listed and may fetch."""
        query = f"SELECT count(*) FROM url WHERE listed_run = ? AND state != {UrlState.EXCLUDED}"
        return self._state.number(query, (self._run.number,))

    @property
    def main_refusal(self) -> Cause | None:
        """Why most of the URLs that this run has listed may not be fetched; None if none is refused."""
        row = self._db.execute(
            "SELECT reason, detail FROM url WHERE listed_run = ? AND state = ?"
            " GROUP BY reason, detail ORDER BY count(*) DESC LIMIT 1",
            (self._run.number, UrlState.EXCLUDED),
        ).fetchone()
        return None if row is None else cause_of(*row)
