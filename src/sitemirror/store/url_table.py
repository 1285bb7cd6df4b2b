"""What is known of a URL, and where it leads: all that is read of outcomes while a run goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from sitemirror import failpoint, urls
from sitemirror.model import Failed, Skipped, Validators
from sitemirror.reasons import Cause, Reason, cause_of
from sitemirror.store.database import RunInfo, State
from sitemirror.store.disappeared import forget_replaced
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.schema import ASSET, PAGE, UNREAD, Status
from sitemirror.store.tables import UrlState


class Known(NamedTuple):
    """A URL's row, with what its page's row adds."""

    id: int
    url: str
    status: Status
    run: int
    seen: int
    lastmod: str | None
    at: str | None
    attempts: int
    transient: int
    size: int | None
    path: str | None
    fetched_at: str | None
    sha256: str | None
    etag: str | None
    last_modified: str | None
    depth: int | None
    chain: int
    kind: int | None
    html_path: str | None
    received: str | None
    local_at: str | None
    file_size: int | None
    html_sha256: str | None
    html_size: int | None
    changed_at: str | None

    @property
    def validators(self) -> Validators:
        return Validators(self.etag, self.last_modified)


_KNOWN = """
SELECT url.id, url.url, url.status, url.run, url.seen, url.lastmod, url.at, coalesce(url.attempts, 0),
       coalesce(url.transient, 0), url.size, page.path, page.fetched_at, page.sha256, page.etag, page.last_modified,
       url.depth, url.chain, url.kind, page.html_path, page.received, page.local_at, page.size,
       page.html_sha256, page.html_size, page.changed_at
FROM url LEFT JOIN page ON page.id = url.id
"""


# A URL, and what leads to it.
_NAMES: Final = f"""
WITH RECURSIVE name (id) AS (
  SELECT ? UNION SELECT url.id FROM name JOIN url ON url.leads_to = name.id WHERE url.status = {Status.REDIRECT}
)
SELECT url.id, url.url, url.run FROM name JOIN url USING (id)
"""

# A page that is gone gives way to one with its very name, not to one whose name only some systems take for it.
# (Nothing here is bound by number: Python 3.12 warned of that until 3.12.4.)
_TAKEN: Final = f"""
SELECT EXISTS (SELECT 1 FROM page JOIN url USING (id) WHERE page.fold = ? AND (url.status = {Status.SAVED}
      OR (url.status = {Status.GONE} AND path = wanted AND path != ?)))
    OR EXISTS (SELECT 1 FROM page WHERE path = ? AND path != wanted)
"""

_NOWHERE: Final[Mapping[int, int]] = MappingProxyType({})

_ROWS: Final = tuple(Status)  # by their values: to look one up in the class costs ten times as much


def _known(row: tuple[Any, ...]) -> Known:
    id, url, status, *rest = row
    return Known(id, url, _ROWS[status], *rest)


class UrlLookup:
    """Looks up URLs for one run."""

    def __init__(self, state: State, run: RunInfo) -> None:
        self._state = state
        self._db = state.db
        self._run = run

    def take(self, which: Selection, after: int, limit: int) -> list[Known]:
        """The next URLs to visit, in the order of discovery."""
        query = f"{_KNOWN} WHERE url.id > ? AND ({which.condition}) ORDER BY url.id LIMIT ?"
        return [_known(row) for row in self._db.execute(query, (after, *which.values, limit))]

    @property
    def changes(self) -> int:
        """Grows with each row that is written."""
        return self._db.total_changes

    def count(self, which: Selection) -> int:
        return self._state.number(f"SELECT count(*) FROM url WHERE {which.condition}", which.values)

    def saved_among(self, ids: Sequence[int]) -> int:
        """How many of these are pages of their own: some may have turned out to be one page with another."""
        query = f"SELECT count(*) FROM url WHERE status = {Status.SAVED} AND id IN"
        some = (",".join(map(str, ids[start : start + 1000])) for start in range(0, len(ids), 1000))
        return sum(self._state.number(f"{query} ({each})") for each in some)

    def find(self, url: str) -> Known | None:
        row = self._db.execute(f"{_KNOWN} WHERE url.key = ?", (urls.key(url),)).fetchone()
        return None if row is None else _known(row)

    def least_depth(self, which: Selection) -> int | None:
        """The least depth of a selection; None when it is empty."""
        rows = self._db.execute(f"SELECT min(depth) FROM url WHERE {which.condition}", which.values)
        return cast("int | None", rows.fetchone()[0])

    def cause_of(self, id: int) -> Cause | None:
        """Why a URL failed, was skipped, or has an old copy; None if nothing is wrong with it."""
        query = (
            "SELECT refresh_reason, refresh_detail, missing_path, reason, detail"
            " FROM url LEFT JOIN page USING (id) WHERE url.id = ?"
        )
        *refresh, reason, detail = self._db.execute(query, (id,)).fetchone()
        return cause_of(*refresh) or cause_of(reason, detail)

    def is_ours(self, known: Known) -> bool:
        """Whether a URL was found for no other start URL than this run's, which has no say in what another's is."""
        row = self._db.execute("SELECT source FROM url WHERE id = ?", (known.id,)).fetchone()
        return row[0] in (0, self._run.source)

    def is_settled(self, known: Known) -> bool:
        """Whether this run has looked at a URL."""
        return known.seen == self._run.number

    def end_of(self, known: Known) -> Known:
        """Where a URL leads in the end, as far as is known. A circle ends before it comes round."""
        *_, end = self.way_from(known)
        return end

    def way_from(self, known: Known, leads: Mapping[int, int] = _NOWHERE) -> Iterator[Known]:
        """A URL, what it leads to, and so on: each once, also in a circle. Some `leads` are not in their rows yet."""
        yield known
        passed = {known.id}
        while (found := self._led_to_by(known.id, leads.get(known.id))) is not None and found.id not in passed:
            yield found
            passed.add(found.id)
            known = found

    def _led_to_by(self, id: int, instead: int | None = None) -> Known | None:
        query = f"{_KNOWN} WHERE url.id = coalesce(?, (SELECT leads_to FROM url WHERE id = ?))"
        row = self._db.execute(query, (instead, id)).fetchone()
        return None if row is None else _known(row)

    def unsaved_names(self) -> Iterator[tuple[str, Known]]:
        """URLs that lead to something which an earlier run did not come to save, and what that is."""
        rows = self._db.execute(
            f"SELECT url.id, url.url FROM url JOIN url AS next ON next.id = url.leads_to"
            f" WHERE url.status = {Status.REDIRECT} AND next.status != {Status.SAVED}"
        ).fetchall()
        for id, url in rows:
            first = self._led_to_by(id)
            end = None if first is None else self.end_of(first)
            if end is not None and end.status is not Status.SAVED:
                yield url, end

    def listed_names(self, known: Known) -> list[tuple[int, str]]:
        """(id, url) of the names under which a URL without a page is told: those that were listed, or else its own."""
        rows = self._db.execute(_NAMES, (known.id,)).fetchall()
        return [(id, url) for id, url, run in rows if run] or [(known.id, known.url)]

    def lastmods_of_aliases(self, id: int) -> list[str]:
        """The dates that sitemaps give for other names of a page."""
        rows = self._db.execute(
            "SELECT lastmod FROM url WHERE leads_to = ? AND lastmod IS NOT NULL AND run = ?", (id, self._run.number)
        )
        return [row[0] for row in rows]

    def is_taken(self, path: str, fold: bytes) -> bool:
        """Whether another page's URL maps to this path, or a page that had to give way stands there."""
        return bool(self._db.execute(_TAKEN, (bytearray(fold), path, path)).fetchone()[0])


_SETTLED: Final = f"{Status.SAVED}, {Status.REDIRECT}, {Status.DUPLICATE}, {Status.SKIPPED}"
_MAY_FIT_NOW: Final = f"(url.status = {Status.SKIPPED} AND url.size <= ? AND url.reason = {Reason.TOO_LARGE})"
_UNREAD: Final = f"url.status = {Status.SAVED} AND url.seen = {UNREAD}"
_LEADS_HERE: Final = "SELECT 1 FROM url AS name WHERE name.leads_to = url.id"


class Selection(NamedTuple):
    """Which URLs a pass visits."""

    condition: str
    values: tuple[object, ...] = ()

    @classmethod
    def unfinished(cls, max_bytes: int) -> Selection:
        """What is queued or failed, and what was too large under a smaller limit."""
        return cls(f"url.status IN ({Status.QUEUED}, {Status.FAILED}) OR {_MAY_FIT_NOW}", (max_bytes,))

    @classmethod
    def wanted(cls) -> Selection:
        """All that was listed or linked and is in scope, done or not."""
        return cls(f"url.run != 0 AND url.status NOT IN ({Status.OUT_OF_SCOPE}, {Status.GONE})")

    @property
    def listed(self) -> Selection:
        """The same without what only redirects led to."""
        return Selection(f"({self.condition}) AND url.run != 0", self.values)

    @classmethod
    def queued(cls) -> Selection:
        """What a pass put back into the queue behind itself."""
        return cls(f"url.status = {Status.QUEUED}")

    @classmethod
    def unread(cls) -> Selection:
        """Pages whose copies do not tell what has to be known of them."""
        return cls(_UNREAD)

    @classmethod
    def failed(cls, max_bytes: int) -> Selection:
        """What could not be had so far, and what was too large under a smaller limit."""
        return cls(f"url.status = {Status.FAILED} OR {_MAY_FIT_NOW}", (max_bytes,))

    @classmethod
    def level(cls, depth: int) -> Selection:
        """What is still to be fetched at one depth of links."""
        return cls(f"(url.status = {Status.QUEUED} OR {_UNREAD}) AND url.depth <= ?", (depth,))

    @classmethod
    def old_level(cls, depth: int, run: RunInfo) -> Selection:
        """What this run has found linked and not looked at, or what such links lead to, at one depth of links."""
        led_to = f"url.run = 0 AND EXISTS ({_LEADS_HERE} AND name.run = ?)"
        return cls(
            f"url.depth <= ? AND url.seen < ? AND (url.status = {Status.QUEUED}"
            f" OR (url.status IN ({_SETTLED}) AND (url.run = ? OR {led_to})))",
            (depth, run.number, run.number, run.number),
        )

    @classmethod
    def outdated(cls, run: RunInfo) -> Selection:
        """Everything that this run has not looked at, to be brought up to date. What was listed once, and is only
        another name of a page by now, nobody asks for."""
        led_to = f"url.status NOT IN ({Status.REDIRECT}, {Status.DUPLICATE}) OR EXISTS ({_LEADS_HERE})"
        return cls(
            f"url.status IN ({Status.QUEUED}, {Status.FAILED})"
            f" OR (url.seen < ? AND url.status IN ({_SETTLED}) AND (url.run = ? OR (url.run = 0 AND ({led_to}))))",
            (run.number, run.number),
        )

    @classmethod
    def back(cls, run: RunInfo) -> Selection:
        """Files that were gone, and that a page needs again which this run read when their turn had passed."""
        return cls(
            f"url.status = {Status.SAVED} AND url.kind = {ASSET} AND url.run = ? AND url.seen < ?",
            (run.number, run.number),
        )

    @classmethod
    def perhaps_linked(cls, run: RunInfo) -> Selection:
        """Everything that this run has not looked at, and will if it is still linked: `outdated` for a crawl's start,
        when nobody knows yet what is."""
        return cls(
            f"url.status IN ({Status.QUEUED}, {Status.FAILED}) OR (url.seen < ? AND url.status IN ({_SETTLED}))",
            (run.number,),
        )

    @classmethod
    def to_retry(cls, run: RunInfo) -> Selection:
        """This run's transient failures."""
        failed = f"{Status.FAILED}, {Status.SAVED}"  # a saved page that could not be refreshed counts as well
        return cls(f"url.status IN ({failed}) AND url.transient = 1 AND url.seen = ?", (run.number,))


BATCH: Final = 16
"""Pages that may be on disk without their row: what a kill can cost beyond the requests in flight."""


class SavedPage(NamedTuple):
    """All that is recorded of a page or asset on disk. Paths are relative to the output folder."""

    path: str
    wanted: str
    fold: bytes
    size: int
    fetched_at: str
    changed_at: str
    title: str | None
    sha256: str
    body: bytes | None  # hash of the Markdown without front matter: equal pages are found by it; None for assets
    etag: str | None
    last_modified: str | None
    content_type: str
    canonical: str | None
    html_path: str | None = None
    html_size: int | None = None
    html_sha256: str | None = None
    received: str | None = None
    local_at: str = ""
    http_status: int | None = None
    headers: str | None = None
    meta: str | None = None
    anchors: str | None = None  # where the ids of the page are in its Markdown; None if nobody asked
    hidden_texts: int = 0  # pieces of text that were left out because nobody sees them


_INTO_PAGE = f"INTO page (id, published, {', '.join(SavedPage._fields)}) VALUES (?, ?{', ?' * len(SavedPage._fields)})"
_ADD_PAGE: Final = f"INSERT {_INTO_PAGE}"
_REPLACE_PAGE: Final = f"INSERT OR REPLACE {_INTO_PAGE}"

_SAVED: Final = f"""
UPDATE url SET state = {UrlState.PAGE}, gone_since = NULL, at = ?, seen = ?, leads_to = NULL, kind = ?, reason = NULL,
  detail = NULL,
  transient = NULL, size = NULL WHERE id = ?
"""

_LOST: Final = "CREATE TEMP TABLE IF NOT EXISTS lost (id INTEGER PRIMARY KEY, received, sha256, changed_at)"

_PART_TWINS: Final = f"""
UPDATE url SET state = {UrlState.QUEUED}, reason = NULL, leads_to = NULL
WHERE leads_to = ? AND status = {Status.DUPLICATE}
"""


class UrlTable(UrlLookup):
    """The one writer of outcomes."""

    def __init__(self, state: State, run: RunInfo, log: ProcessedLog) -> None:
        super().__init__(state, run)
        self._log = log
        self._lines: list[str] = []
        self._pending = 0
        self._has_lost = False

    def find_or_add(self, url: str, source: Known) -> Known:
        """The row of a URL that a redirect from `source` led to; made if nobody ever listed or linked it."""
        found, depth = self.find(url), source.depth
        if found is not None and found.status is Status.GONE and found.path is not None:  # which it no longer is
            self._set(found.id, gone_since=None)
            found = found._replace(status=Status.SAVED)
        if found is not None and (depth is None or (found.depth is not None and found.depth <= depth)):
            return found
        self._state.begin()
        if found is not None:  # A redirect is no step: its end is as deep as it is itself.
            unread = found.depth is None and found.status is Status.SAVED  # by a crawl, which has to follow its links
            seen = UNREAD if unread else found.seen
            self._db.execute("UPDATE url SET depth = ?, seen = ? WHERE id = ?", (depth, seen, found.id))
            return found._replace(depth=depth, seen=seen)
        self._db.execute(
            "INSERT INTO url (key, url, state, named, source, sitemap, depth, chain, found_on)"
            " VALUES (?, ?, ?, 0, ?, 0, ?, ?, ?)",
            (urls.key(url), url, UrlState.QUEUED, self._run.source, depth, source.chain, source.id),
        )
        added = self.find(url)
        assert added is not None
        return added

    def within_batch(self) -> None:
        """Begins a batch if there is none, so that what others write to the state now belongs to it."""
        self._state.begin()

    def make_room(self, path: str, fold: bytes) -> None:
        """Deletes the row of a gone page whose file is about to be replaced: no kill may leave a row of other bytes."""
        self._state.begin()
        if forget_replaced(self._db, path, fold):
            self.commit()

    def _set(self, id: int, **columns: object) -> None:
        self._state.begin()
        assignments = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(f"UPDATE url SET {assignments} WHERE id = ?", (*columns.values(), id))

    def saved(self, id: int, url: str, page: SavedPage, names: Iterable[str]) -> None:
        """The page's file is in place; `names` lead to it. Twins of its old content are looked at again."""
        self._state.begin()
        try:
            self._db.execute(_ADD_PAGE, (id, 0, *page))
        except sqlite3.IntegrityError:  # It was saved before.
            self._saved_again(id, page)
        self._lines += (url, *names)  # before what may commit: the lines belong to the row's own batch
        self._db.execute(_SAVED, (page.fetched_at, self._run.number, PAGE if page.body else ASSET, id))
        self._count()

    def _saved_again(self, id: int, page: SavedPage) -> None:
        body, published, path = self._db.execute(
            "SELECT body, published, path FROM page WHERE id = ?", (id,)
        ).fetchone()
        if body != page.body:
            self._db.execute(_PART_TWINS, (id,))
        at_home = published if path == page.path else 0
        self._db.execute(_REPLACE_PAGE, (id, at_home, *page))

    def renewed(self, id: int, *, fetched_at: str, validators: Validators) -> None:
        """The server said that what we have is what there is."""
        self._state.begin()
        self._db.execute(
            "UPDATE page SET fetched_at = ?, etag = coalesce(?, etag), last_modified = coalesce(?, last_modified), "
            "refresh_reason = NULL, refresh_detail = NULL, missing_path = NULL, http_status = 304, not_modified = 1 "
            "WHERE id = ?",
            (fetched_at, validators.etag, validators.last_modified, id),
        )
        self.checked(id)

    def checked(self, id: int) -> None:
        """This run has looked at the URL and has nothing to change."""
        self._set(id, seen=self._run.number, transient=None)
        self._count()

    def answered(self, id: int, status: int) -> None:
        """Notes the status of the last answer about a page that is on disk."""
        self._state.begin()
        self._db.execute("UPDATE page SET http_status = ?, not_modified = 0 WHERE id = ?", (status, id))

    def kept(self, id: int, cause: Cause, at: str, *, transient: bool) -> None:
        """A page that is on disk could not be brought up to date; the copy stays, as it has since `at`."""
        self._state.begin()
        # Whatever the detail: a session id in a redirect's location differs each time.
        query = "SELECT at FROM url JOIN page USING (id) WHERE id = ? AND refresh_reason = ? AND at NOT NULL"
        before = self._db.execute(query, (id, cause.reason)).fetchone()
        at = before[0] if before else at
        self._db.execute(
            "UPDATE page SET refresh_reason = ?, refresh_detail = ?, missing_path = ?, not_modified = 0 WHERE id = ?",
            (*cause, id),
        )
        self._set(id, seen=self._run.number, at=at, transient=int(transient))
        self._count()

    def redirected(self, id: int, to: int, at: str, *, transient: bool = False) -> None:
        """The URL is another name of `to`; for now, if that is transient."""
        self._state.begin()
        self._db.execute("DELETE FROM page WHERE id = ?", (id,))
        self._db.execute(
            f"UPDATE url SET state = {UrlState.ALIAS}, gone_since = NULL, at = ?, seen = ?, leads_to = ?, reason = ?,"
            " detail = NULL, transient = ?, size = NULL WHERE id = ?",
            (
                at,
                self._run.number,
                to,
                Reason.MOVED_TEMPORARILY if transient else Reason.MOVED,
                int(transient) or None,
                id,
            ),
        )
        self._count()

    def read_again(self, id: int) -> int:
        """Where a URL led to a page that is known from the manifest only, that page is to be read; 1 if so."""
        self._state.begin()
        return self._db.execute(
            f"UPDATE url SET seen = {UNREAD} WHERE id = (SELECT leads_to FROM url WHERE id = ?)"
            f" AND status = {Status.SAVED} AND EXISTS (SELECT 1 FROM page WHERE page.id = url.id AND body IS NULL)",
            (id,),
        ).rowcount

    def alias_done(self, url: str) -> None:
        """The page that `url` leads to is saved, so `url` is done as well."""
        self._lines.append(url)

    def failed(self, id: int, failure: Failed, at: str) -> None:
        self._set(
            id,
            state=UrlState.FAILED,
            gone_since=None,
            leads_to=None,
            reason=failure.reason,
            detail=failure.detail,
            transient=int(failure.transient),
            at=at,
            seen=self._run.number,
        )
        self.tried(id, failure.tries)
        self._count()

    def tried(self, id: int, tries: int = 1) -> None:
        """Counts tries of a URL without a page, or of another name of it: what was tried has a placeholder."""
        self._state.begin()
        self._db.execute("UPDATE url SET attempts = coalesce(attempts, 0) + ? WHERE id = ?", (tries, id))

    def skipped(self, id: int, skip: Skipped, at: str) -> None:
        self._set(
            id,
            state=UrlState.SKIPPED,
            gone_since=None,
            leads_to=None,
            reason=skip.reason,
            detail=skip.detail,
            content_type=skip.content_type,
            size=skip.size_bytes,
            at=at,
            seen=self._run.number,
        )
        self._count()

    def outside(self, id: int, reason: Reason, at: str) -> None:
        """The scope refused the URL when its turn came."""
        self._set(
            id,
            state=UrlState.EXCLUDED,
            gone_since=None,
            leads_to=None,
            reason=reason,
            detail=None,
            at=at,
            seen=self._run.number,
        )
        self._count()

    def _count(self) -> None:
        self._pending += 1
        if self._pending >= BATCH:
            self.commit()

    def commit(self) -> None:
        """Makes the batch last, then adds its URLs to `_processed.txt`."""
        lines = self._lines and self._log.not_there(self._lines)
        if lines:
            self._state.begin()
            self._log.announce(lines)
        failpoint.reached("rows-written")
        self._state.commit()
        failpoint.reached("rows-committed")
        if lines:
            self._log.append(lines)
            failpoint.reached("lines-appended")
        self._lines.clear()
        self._pending = 0

    def look_again(self) -> None:
        """Has an interrupted run look again at pages that it could not renew."""
        self._db.execute(
            f"UPDATE url SET seen = 0 WHERE seen = ? AND status = {Status.SAVED}"
            " AND id IN (SELECT id FROM page WHERE refresh_reason IS NOT NULL)",
            (self._run.number,),
        )

    def not_yet_durable(self, after: int = -1, pages: int = -1) -> Iterator[tuple[int, str, str | None]]:
        """(id, path, sha256) of files whose bytes may still be in the system's cache only; some pages have two.

        In the order of ids, those behind `after`, of so many pages at most.
        """
        rows = self._db.execute(
            "SELECT page.id, path, sha256, html_path, html_sha256 FROM page JOIN url USING (id)"
            " WHERE page.durable = 0 AND url.status = ? AND page.id > ? ORDER BY page.id LIMIT ?",
            (Status.SAVED, after, pages),
        )
        for id, path, digest, html_path, html_digest in rows:
            yield id, path, digest
            if html_path is not None and html_path != path:
                yield id, html_path, html_digest

    def last_not_durable(self) -> int:
        """The highest id among those pages; -1 if there are none."""
        return self._state.number("SELECT coalesce(max(id), -1) FROM page WHERE durable = 0")

    def durable(self, files: Iterable[tuple[int, str, str | None]], but: Container[int] = ()) -> None:
        """Marks files as being on the disk itself, `but` for those of some pages, and for what was written since."""
        with self._state.transaction() as db:
            db.executemany(
                "UPDATE page SET durable = 1 WHERE id = :id AND (sha256 IS :sha OR html_sha256 IS :sha)",
                ({"id": id, "sha": digest} for id, _, digest in files if id not in but),
            )

    def requeue(self, id: int) -> None:
        """Queues the URL of a page whose file did not survive, and those that were found to be equal."""
        self._set(id, state=UrlState.QUEUED, gone_since=None)
        self._db.execute(_PART_TWINS, (id,))
        if not self._has_lost:
            self._has_lost = True
            self._db.execute(_LOST)
        self._db.execute(
            "INSERT OR REPLACE INTO lost SELECT id, received, sha256, changed_at FROM page WHERE id = ?", (id,)
        )
        self._db.execute("DELETE FROM page WHERE id = ?", (id,))

    def with_lost_hashes(self, known: Known) -> Known:
        """What was requeued in this run, with the hashes that its file had, and since when: to compare it again."""
        if not self._has_lost:
            return known
        row = self._db.execute("SELECT received, sha256, changed_at FROM lost WHERE id = ?", (known.id,)).fetchone()
        return known if row is None else known._replace(received=row[0], sha256=row[1], changed_at=row[2])

    def fetch_whole(self, id: int) -> None:
        """Has a page fetched whole whose copy does not do; the copy stays until there is another."""
        self._set(id, seen=UNREAD)


_NAMED: Final = "EXISTS (SELECT 1 FROM url AS name WHERE name.leads_to = url.id)"

_REOPEN: Final = f"""
WITH RECURSIVE name (id) AS (
  SELECT id FROM url WHERE status = {Status.FAILED}
  UNION SELECT url.id FROM name JOIN url ON url.leads_to = name.id WHERE url.status = {Status.REDIRECT}
)
UPDATE url SET state = {UrlState.QUEUED}, reason = NULL, leads_to = NULL, seen = 0
WHERE id IN name AND status = {Status.REDIRECT} AND run != 0 AND (run = ? OR ?)
"""


def reopen_names(state: State, run: RunInfo) -> None:
    """Puts such names into the queue; in a run by sitemaps only those that are still listed."""
    with state.transaction() as db:
        ends = db.execute(f"SELECT id FROM url WHERE status = {Status.FAILED} AND run = 0 AND {_NAMED}").fetchall()
        db.execute(_REOPEN, (run.number, run.mode.startswith("links")))
        # Nobody leads there any more, until somebody is found to.
        gone = f"UPDATE url SET gone_since = coalesce(at, '') WHERE id = ? AND NOT {_NAMED}"
        db.executemany(gone, ends)
