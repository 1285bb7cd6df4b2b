"""Puts rows into a state that lost them: pages known from the manifest, or only from `_processed.txt`."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason
from sitemirror.store.database import State
from sitemirror.store.placement import fold_key
from sitemirror.store.schema import Status
from sitemirror.store.tables import UrlState

_REQUESTED: Final = frozenset(
    (Reason.TOO_LARGE, Reason.WRONG_TYPE, Reason.UNREADABLE, Reason.NO_CONTENT, *REDIRECTED_OUT.values())
)
"""Reasons for which a URL is skipped only after an answer."""


class Remembered(NamedTuple):
    """What is still known of a page. `path` is relative to the output folder."""

    url: str
    path: str
    wanted: str
    size: int = 0
    fetched_at: str = ""
    title: str | None = None
    sha256: str | None = None
    lastmod: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_type: str | None = None
    canonical: str | None = None
    published: bool = False
    html_path: str | None = None
    received: str | None = None
    depth: int | None = None
    hidden_texts: int = 0
    refresh: Cause | None = None
    kind: int | None = None  # PAGE or ASSET
    html_size: int | None = None
    changed_at: str = ""


# Columns of the same name and meaning.
_AS_REMEMBERED: Final = (
    *("path", "wanted", "size", "fetched_at", "title", "sha256", "etag", "last_modified", "content_type", "canonical"),
    *("html_path", "html_size", "received", "hidden_texts"),
)

_REFRESH: Final = ("refresh_reason", "refresh_detail", "missing_path")

TO_SETTLE: Final = "links_to_settle"
"""A small fact: all rows are back, but not yet by which paths files link to each other."""

TO_RECALL: Final = "links_to_recall"
"""A small fact: nobody has looked yet where links between Markdown files led on the site."""

RESCUED: Final = "rescued"
"""In place of the hash of what was received: the file is as received, but its links were never read."""


class Restorer:
    """Adds what is not in the state yet; what is there is newer and stays."""

    def __init__(self, state: State) -> None:
        self._db = state.db

    def knows(self, url: str) -> bool:
        return self._id(url) is not None

    def _id(self, url: str) -> int | None:
        row = self._db.execute("SELECT id FROM url WHERE key = ?", (urls.key(url),)).fetchone()
        return None if row is None else int(row[0])

    def done(self, url: str) -> bool:
        """Whether the state already counts the URL as done."""
        row = self._db.execute("SELECT status FROM url WHERE key = ?", (urls.key(url),)).fetchone()
        return row is not None and row[0] in (Status.SAVED, Status.REDIRECT, Status.DUPLICATE, Status.GONE)

    def page(self, page: Remembered) -> None:
        """Counts the page as saved."""
        id = self._row(page.url, UrlState.PAGE)
        columns = {
            **{name: getattr(page, name) for name in _AS_REMEMBERED},
            "id": id,
            "fold": fold_key(page.wanted),
            "published": int(page.published),
            "changed_at": page.changed_at or page.fetched_at,
            **dict(zip(_REFRESH, page.refresh or (None, None, None), strict=True)),
            "local_at": page.html_path or "",  # Links that were made local must never be made so again.
            "durable": 1,
        }
        query = f"INSERT OR REPLACE INTO page ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        self._db.execute(query, tuple(columns.values()))
        self._db.execute("UPDATE url SET kind = ? WHERE id = ?", (page.kind, id))
        self._found(id, page.depth)

    def alias(self, url: str, of: str) -> None:
        """Counts `url` as another name of a page that is remembered."""
        target = self._id(of)
        if target is not None and not self.done(url):
            id = self._row(url, UrlState.ALIAS)
            self._db.execute("UPDATE url SET leads_to = ?, reason = ? WHERE id = ?", (target, Reason.MOVED, id))

    def failure(self, url: str, cause: Cause, attempts: int, at: str | None, depth: int | None) -> None:
        if not self.knows(url):
            id = self._row(url, UrlState.FAILED)
            self._db.execute(
                "UPDATE url SET reason = ?, detail = ?, attempts = ?, at = ?, transient = 1 WHERE id = ?",
                (cause.reason, cause.detail, attempts, at, id),
            )
            self._found(id, depth)

    def skip(self, url: str, cause: Cause, content_type: str | None, size: int | None, depth: int | None) -> None:
        """Counts `url` as not wanted: looked at, or never to be."""
        if not self.knows(url):
            looked_at = content_type is not None or size is not None or cause.reason in _REQUESTED
            id = self._row(url, UrlState.SKIPPED if looked_at else UrlState.EXCLUDED)
            self._db.execute(
                "UPDATE url SET reason = ?, detail = ?, content_type = ?, size = ? WHERE id = ?",
                (cause.reason, cause.detail, content_type, size, id),
            )
            self._found(id, depth)

    def not_reached(self, url: str, depth: int) -> None:
        """Counts `url` as found by links and still to be fetched."""
        if not self.knows(url):
            self._found(self._row(url, UrlState.QUEUED), depth)

    def has_file(self, path: str) -> bool:
        """Whether a page is remembered there already."""
        query = "SELECT 1 FROM page WHERE fold = ? AND path = ?"
        return self._db.execute(query, (fold_key(path), path)).fetchone() is not None

    def at_path(self, path: str) -> bool:
        """Whether a page is remembered at this path already. If so, it is noted that the file may be another's."""
        changed = self._db.execute("UPDATE page SET received = NULL WHERE path = ?", (path,))
        return changed.rowcount > 0

    def folders(self) -> set[str]:
        """The host folders that pages are in."""
        return {path.partition("/")[0] for _, path in self.paths()}

    def paths(self) -> list[tuple[int, str]]:
        """Each file that a page should have, with the page's row; HTML beside Markdown too."""
        saved = f"FROM page JOIN url USING (id) WHERE status = {Status.SAVED}"
        both = f"SELECT id, path {saved} UNION ALL SELECT id, html_path {saved} AND html_path != path"
        return self._db.execute(both).fetchall()

    def forget_file(self, id: int) -> None:
        """Queues a page whose file is not there."""
        self._db.execute("UPDATE url SET state = ? WHERE id = ?", (UrlState.QUEUED, id))
        self._db.execute("DELETE FROM page WHERE id = ?", (id,))

    def gone(self, page: Remembered, since: str | None) -> None:
        if not self.knows(page.url):
            self.page(page)
            self._gone(page.url, since)

    def gone_without_file(self, url: str, since: str | None) -> None:
        if not self.knows(url):
            self._row(url, UrlState.QUEUED)
            self._gone(url, since)

    def _gone(self, url: str, since: str | None) -> None:
        # Some sitemap named it once: to be linked still is not enough for being there again.
        query = "UPDATE url SET gone_since = coalesce(?, ''), sitemap = -1 WHERE id = ?"
        self._db.execute(query, (since, self._id(url)))

    def _found(self, id: int, depth: int | None) -> None:
        """How many links away a URL was found, if by links at all."""
        if depth is not None:
            self._db.execute("UPDATE url SET depth = ? WHERE id = ?", (depth, id))

    def _row(self, url: str, state: UrlState) -> int:
        row = self._db.execute(
            "INSERT INTO url (key, url, state, named, source, sitemap) VALUES (?, ?, ?, 0, 0, 0) ON CONFLICT (key)"
            " DO UPDATE SET state = excluded.state, gone_since = NULL, reason = NULL, detail = NULL RETURNING id",
            (urls.key(url), url, state),
        ).fetchone()
        return int(row[0])
