"""Restore rows of a lost state from the manifest or `_processed.txt`.

Links, their originals, and hashes of what was received are not restored: a crawl requests such a page whole, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple
from uuid import uuid4

from sitemirror import urls
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason
from sitemirror.store.database import State
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.link_targets import HtmlLinkTargets
from sitemirror.store.paths import path_key
from sitemirror.store.tables import ASSET, Due, FileKind, GoneCause, RunPhase, UrlState

_REQUESTED: Final = frozenset(
    (
        Reason.TOO_LARGE,
        Reason.WRONG_TYPE,
        Reason.UNREADABLE,
        Reason.NO_CONTENT,
        Reason.NOT_HTML,
        *REDIRECTED_OUT.values(),
    )
)
"""Reasons for which a URL is skipped only after an answer."""


_IS_PAGE: Final = f"url.state = {UrlState.PAGE} AND url.gone_since IS NULL"


class RestoredFile(NamedTuple):
    """A file of a page. The path is relative to the output folder."""

    kind: FileKind
    path: str
    preferred_path: str
    size: int | None = None
    sha256: str | None = None
    is_local: bool = False  # its links may be local


class RestoredPage(NamedTuple):
    """The restored data of a page. Without `fetched_at` it only counts as done."""

    url: str
    files: tuple[RestoredFile, ...]
    kind: int | None = None  # PAGE or ASSET
    fetched_at: str | None = None
    changed_at: str | None = None
    title: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_type: str | None = None
    canonical: str | None = None
    hidden_texts: int = 0
    depth: int | None = None
    cause: Cause | None = None  # why the copy is outdated
    is_published: bool = False
    has_links: bool = True  # a crawl has to read them again


class Restorer:
    """Adds rows that are missing in the state; existing ones are newer and stay. Used in a transaction."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self._named: dict[str, object] = {"start_id": self._last_start()}
        self._linked: dict[str, object] = self._named
        self._has_html = False
        self._at: str | None = None

    def _last_start(self) -> int:
        row = self._db.execute("SELECT start_id FROM run ORDER BY id DESC LIMIT 1").fetchone()
        return 1 if row is None else int(row[0])

    def begin(self, source_url: str, *, by_links: bool, at: str) -> None:
        """Record the run that published the manifest. It counts as complete."""
        which = "crawl_run" if by_links else "listing_run"
        self._db.execute(f"INSERT INTO start (id, url, {which}) VALUES (1, ?, 1)", (source_url,))
        self._db.execute(
            "INSERT INTO run (id, start_id, uuid, mode, scope, started_at, finished_at, phase)"
            " VALUES (1, 1, ?, '', '', ?, ?, ?)",
            (str(uuid4()), at, at, RunPhase.FINISHED),
        )
        self._at = at
        self._linked = {"start_id": 1, "reached_run": 1}
        self._named = self._linked if by_links else {"start_id": 1, "listed_run": 1}

    def knows(self, url: str) -> bool:
        """True if the state has the URL."""
        return self._id(url) is not None

    def _id(self, url: str) -> int | None:
        row = self._db.execute("SELECT id FROM url WHERE key = ?", (urls.key(url),)).fetchone()
        return None if row is None else int(row[0])

    def is_done(self, url: str) -> bool:
        """True if the state has a page, or had one, at the URL."""
        row = self._db.execute("SELECT state, gone_since FROM url WHERE key = ?", (urls.key(url),)).fetchone()
        return row is not None and (row[0] in (UrlState.PAGE, UrlState.ALIAS) or row[1] is not None)

    def has_file(self, path: str) -> bool:
        """True if a page is already restored there."""
        query = "SELECT 1 FROM file WHERE path_key = ? AND path = ?"
        return self._db.execute(query, (path_key(path), path)).fetchone() is not None

    def page(self, page: RestoredPage) -> None:
        """Restore a saved page."""
        self._has_html = self._has_html or any(file.kind is FileKind.HTML for file in page.files)
        reason, detail, missing_path = page.cause or (None, None, None)
        id = self._put(
            page.url,
            UrlState.PAGE,
            self._naming(is_page=page.kind != ASSET),
            kind=page.kind,
            depth=page.depth,
            reason=reason,
            detail=detail,
            missing_path=missing_path,
            since=self._at if page.cause else None,
        )
        self._db.execute(
            "INSERT OR REPLACE INTO page (url_id, fetched_at, changed_at, etag, last_modified, content_type, title,"
            " canonical, hidden_texts, links_known) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                id,
                page.fetched_at,
                page.changed_at or page.fetched_at,
                page.etag,
                page.last_modified,
                page.content_type,
                page.title,
                page.canonical,
                page.hidden_texts,
                int(not page.has_links),
            ),
        )
        self._db.execute("DELETE FROM file WHERE url_id = ?", (id,))
        for file in page.files:
            self._db.execute(
                "INSERT INTO file (url_id, kind, path, preferred_path, path_key, size, sha256, linked_path, published,"
                " durable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
                (
                    id,
                    file.kind,
                    file.path,
                    file.preferred_path,
                    path_key(file.preferred_path),
                    file.size,
                    bytes.fromhex(file.sha256) if file.sha256 else None,
                    file.path if file.is_local else None,
                    int(page.is_published),
                ),
            )

    def alias(self, url: str, of: str) -> None:
        """Restore `url` as an alias of a restored page."""
        target = self._id(of)
        if target is not None and not self.is_done(url):
            self._put(url, UrlState.ALIAS, self._named, target_id=target, reason=Reason.MOVED, since=self._at)

    def failure(self, url: str, cause: Cause, attempts: int, at: str | None, depth: int | None) -> None:
        """Restore a failure."""
        if not self.knows(url):
            self._without_page(url, UrlState.FAILED, cause, at, attempts=attempts, transient=1, depth=depth)

    def skip(self, url: str, cause: Cause, content_type: str | None, size: int | None, depth: int | None) -> None:
        """Restore a URL that was skipped after a request, or excluded."""
        if not self.knows(url):
            is_requested = content_type is not None or size is not None or cause.reason in _REQUESTED
            state = UrlState.SKIPPED if is_requested else UrlState.EXCLUDED
            self._without_page(url, state, cause, self._at, content_type=content_type, size=size, depth=depth)

    def _without_page(self, url: str, state: UrlState, cause: Cause, at: str | None, **columns: object) -> None:
        named = self._naming(is_page=False)
        self._put(url, state, named, reason=cause.reason, detail=cause.detail, since=at, checked_at=at, **columns)

    def _naming(self, *, is_page: bool) -> dict[str, object]:
        """Return the columns for how a URL was named: in an HTML mirror, lost links may name assets."""
        if is_page or not self._has_html or self._linked is self._named:
            return self._named
        self._db.execute("UPDATE start SET crawl_run = 1 WHERE id = 1")
        return self._linked

    def not_reached(self, url: str, depth: int | None) -> None:
        """Restore a URL that is named and still to be fetched."""
        if not self.knows(url):
            self._put(url, UrlState.QUEUED, self._named, depth=depth, queue=Due.NOW)

    def gone(self, page: RestoredPage, since: str | None) -> None:
        """Restore a gone page; its file stays. Without files it may never have been one."""
        if self.knows(page.url):
            return
        if page.files:
            self.page(page)
        else:
            self._put(page.url, UrlState.QUEUED, self._named)
        self._db.execute(
            "UPDATE url SET gone_since = ?, gone_cause = ?, listed_run = NULL, reached_run = NULL WHERE id = ?",
            (since or "", GoneCause.UNNAMED, self._id(page.url)),
        )

    def forget_missing(self, exists: Callable[[str], bool]) -> None:
        """Queue pages with a missing file: a kill interrupted its move, and the target is unknown."""
        rows = self._db.execute(
            f"SELECT url_id, path FROM file JOIN url ON url.id = url_id WHERE {_IS_PAGE}"
        ).fetchall()
        for id in {id for id, path in rows if not exists(path)}:
            self._db.execute("UPDATE url SET state = ?, queue = ? WHERE id = ?", (UrlState.QUEUED, Due.NOW, id))
            for table in ("page", "file"):
                self._db.execute(f"DELETE FROM {table} WHERE url_id = ?", (id,))

    def finish(self) -> None:
        """Connect the restored rows: targets of redirects, and the paths by which files link to each other."""
        redirects = f"SELECT id, detail FROM url WHERE state = {UrlState.PAGE} AND reason = {Reason.MOVED_TEMPORARILY}"
        for id, location in self._db.execute(redirects).fetchall():
            self._db.execute("UPDATE url SET target_id = ? WHERE id = ?", (location and self._id(location), id))
        resolve_aliases(self._db)
        HtmlLinkTargets(self._state).finish()

    def _put(self, url: str, state: UrlState, named: dict[str, object], **columns: object) -> int:
        row = {"key": urls.key(url), "url": url, "state": state, "queue": Due.NO, "named": 1, **named, **columns}
        replaced = [name for name in (*columns, "state", "queue") if name != "depth"]
        cleared = {"reason", "detail", "gone_since", "gone_cause", "target_id"} - columns.keys()
        assignments = ", ".join(
            [*(f"{name} = excluded.{name}" for name in replaced), *(f"{name} = NULL" for name in sorted(cleared))]
        )
        found = self._db.execute(
            f"INSERT INTO url ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
            f" ON CONFLICT (key) DO UPDATE SET {assignments} RETURNING id",
            tuple(row.values()),
        ).fetchall()
        return int(found[0][0])
