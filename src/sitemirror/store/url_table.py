"""The table of URLs as one run sees it: lookups, counts and durable files."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple

from sitemirror.reasons import Reason
from sitemirror.store.database import RunInfo, State
from sitemirror.store.queue import Part
from sitemirror.store.tables import Due, UrlState
from sitemirror.store.url_record import SELECT_RECORD, UrlRecord, find_record, load_record, to_record

# A URL, and redirects to it: aliases, and copies of pages that moved there.
_LEADING: Final = f"""
WITH RECURSIVE name (id) AS (
  SELECT ? UNION SELECT url.id FROM name JOIN url ON url.target_id = name.id
  WHERE url.state = {UrlState.PAGE} OR url.state = {UrlState.ALIAS} AND url.reason IS NOT {Reason.DUPLICATE}
)
SELECT url.id, url.url, url.named, url.state = {UrlState.PAGE}, url.reason, url.detail FROM name JOIN url USING (id)
"""
_COUNTED: Final = f"named AND gone_since IS NULL AND state != {UrlState.EXCLUDED}"


class Name(NamedTuple):
    """An alias, or a copy of a page that moved."""

    id: int
    url: str
    named: int
    is_copy: int
    reason: int | None
    detail: str | None


class UrlTable:
    """The rows of URLs, as one run sees them."""

    def __init__(self, state: State, run: RunInfo) -> None:
        self._state = state
        self._db = state.db
        self._run = run

    @property
    def db(self) -> sqlite3.Connection:
        return self._db

    @property
    def changes(self) -> int:
        """Number of rows written so far."""
        return self._db.total_changes

    def due(self, part: Part, after: int, limit: int) -> list[UrlRecord]:
        """Return the next URLs to visit, in the order of discovery."""
        query = f"{SELECT_RECORD} WHERE {part.condition} AND url.id > ? ORDER BY url.id LIMIT ?"
        return [to_record(row) for row in self._db.execute(query, (after, limit))]

    def load(self, id: int) -> UrlRecord:
        """Return the current record of a row."""
        return load_record(self._db, id)

    def find(self, url: str) -> UrlRecord | None:
        """Return the record of a URL; None if it is unknown."""
        return find_record(self._db, url)

    def count_total(self, *, by_links: bool) -> tuple[int, int]:
        """Return (number of named URLs in scope, number of those that are due)."""
        level = "AND depth IS NOT NULL" if by_links else ""
        total, left = self._db.execute(
            f"SELECT count(*), count(*) FILTER (WHERE queue != {Due.NO} {level}) FROM url WHERE {_COUNTED}"
        ).fetchone()
        return total, left

    def mark_checked(self, id: int) -> None:
        """Record that this run has checked a URL and changes nothing."""
        self._db.execute(
            f"UPDATE url SET queue = {Due.NO}, checked_run = ?,"
            f" transient = CASE state WHEN {UrlState.PAGE} THEN NULL ELSE transient END WHERE id = ?",
            (self._run.number, id),
        )

    def leave_unchecked(self, id: int) -> None:
        """This run does not look at a URL: `checked_run` stays that of the last run that did."""
        self._db.execute(f"UPDATE url SET queue = {Due.NO} WHERE id = ?", (id,))

    def aliases_of_pages(self) -> Iterator[str]:
        """Yield the URLs of aliases of pages."""
        rows = self._db.execute(
            "SELECT url.url FROM alias JOIN url ON url.id = alias.url_id JOIN url AS e ON e.id = page_id"
            f" WHERE e.state = {UrlState.PAGE} ORDER BY url.id"
        )
        for (url,) in rows:
            yield url

    def leading_to(self, id: int) -> list[Name]:
        """Return a URL and all redirects to it."""
        return [Name(*row) for row in self._db.execute(_LEADING, (id,))]

    def leads_to_page(self, id: int) -> bool:
        """True if an alias led to a page when the aliases were last resolved."""
        query = f"SELECT 1 FROM alias JOIN url ON url.id = page_id WHERE url_id = ? AND state = {UrlState.PAGE}"
        return self._db.execute(query, (id,)).fetchone() is not None

    def lastmods_of_aliases(self, id: int) -> list[str]:
        """Return the sitemap dates of a page's aliases."""
        rows = self._db.execute(
            f"SELECT lastmod FROM url WHERE target_id = ? AND state = {UrlState.ALIAS} AND lastmod IS NOT NULL"
            " AND listed_run = ?",
            (id, self._run.number),
        )
        return [row[0] for row in rows]

    def redirects_before(self, record: UrlRecord, limit: int) -> int:
        """Count the consecutive redirects that led to an unnamed URL, up to `limit`."""
        if record.named:
            return 0
        found: int = self._db.execute(
            """
            WITH RECURSIVE way (id, n) AS (
              SELECT :id, 0
              UNION ALL SELECT url.found_on_id, n + 1 FROM way JOIN url USING (id)
              WHERE NOT url.named AND url.found_on_id IS NOT NULL AND n < :limit
            ) SELECT max(n) FROM way
            """,
            {"id": record.id, "limit": limit},
        ).fetchone()[0]
        return found

    def unlogged_failures(self) -> Iterator[tuple[int, str, str | None, int | None, str | None]]:
        """Return (id, url, target, reason, detail) of this run's unlogged failures, aliases included."""
        yield from self._db.execute(
            "SELECT account.id, account.url, CASE WHEN account.id != end_id THEN e.url END, e.reason, e.detail"
            " FROM account JOIN url AS e ON e.id = end_id JOIN url AS u ON u.id = account.id"
            f" WHERE place = {UrlState.FAILED} AND (e.checked_run = :run OR u.checked_run = :run) ORDER BY account.id",
            {"run": self._run.number},
        ).fetchall()

    def moved_copies(self) -> list[tuple[int, str, str | None]]:
        """Return (id, url, detail) of copies whose pages moved, by this run, to a URL that failed."""
        return self._db.execute(
            "SELECT copy.id, copy.url, copy.detail FROM url AS copy"
            f" WHERE copy.state = {UrlState.PAGE} AND copy.reason = {Reason.MOVED} AND copy.checked_run = ?"
            " ORDER BY copy.id",
            (self._run.number,),
        ).fetchall()

    # --- files on the disk -------------------------------------------------------------------------------------

    def not_yet_durable(self, after: int = -1, files: int = -1) -> list[tuple[int, int, str, bytes | None]]:
        """Return (id, page, path, sha256) of files whose bytes may only be in the system's cache, by id."""
        return self._db.execute(
            "SELECT file.id, url_id, path, sha256 FROM file JOIN url ON url.id = url_id"
            f" WHERE durable = 0 AND state = {UrlState.PAGE} AND sha256 IS NOT NULL AND file.id > ?"
            " ORDER BY file.id LIMIT ?",
            (after, files),
        ).fetchall()

    def durable_files(self) -> list[tuple[int, int, str, bytes | None]]:
        """Return the same of files that were forced to disk."""
        return self._db.execute(
            "SELECT file.id, url_id, path, sha256 FROM file JOIN url ON url.id = url_id"
            f" WHERE durable AND state = {UrlState.PAGE} AND sha256 IS NOT NULL"
        ).fetchall()

    def last_not_durable(self) -> int:
        """Return the highest id among those files; -1 if there are none."""
        return self._state.number("SELECT coalesce(max(id), -1) FROM file WHERE durable = 0")

    def durable(self, files: Iterable[tuple[int, int, str, bytes | None]], but: Container[int] = ()) -> None:
        """Mark files as durable, except for `but` and for files written since."""
        with self._state.transaction() as db:
            db.executemany(
                "UPDATE file SET durable = 1 WHERE id = ? AND sha256 IS ?",
                ((id, digest) for id, _, _, digest in files if id not in but),
            )


# Pages first: few of a million URLs may be saved. URLs that only `_processed.txt` names count as done without a file.
_FILES: Final = f"""
SELECT url_id, file.path, file.size FROM file CROSS JOIN url ON url.id = url_id
WHERE url.state = {UrlState.PAGE} AND file.size IS NOT NULL AND url.gone_since IS {{gone}} ORDER BY url_id
"""


def live_files(db: sqlite3.Connection) -> sqlite3.Cursor:
    """Yield (page, path, size) of the files of pages."""
    return db.execute(_FILES.format(gone="NULL"))


def gone_files(db: sqlite3.Connection) -> sqlite3.Cursor:
    """Yield the same of gone pages."""
    return db.execute(_FILES.format(gone="NOT NULL"))


def forget_gone_files(db: sqlite3.Connection, files: Iterable[tuple[int, str]]) -> None:
    """Delete rows of missing files of gone pages."""
    db.executemany("DELETE FROM file WHERE url_id = ? AND path = ?", files)
