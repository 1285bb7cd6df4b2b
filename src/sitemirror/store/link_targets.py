"""The paths by which saved files link to each other, and the original links."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from sitemirror import failpoint, urls
from sitemirror.store.database import State
from sitemirror.store.journal import FileTree
from sitemirror.store.paths import path_key
from sitemirror.store.tables import ChangeKind, FileKind, Op, UrlState

BATCH: Final = 24
"""Files that are relinked before their rows are written. After a kill, those and the ones in progress have local links
that no row has; their hashes show it.
"""

_IS_PAGE: Final = f"url.state = {UrlState.PAGE} AND url.gone_since IS NULL"
_HAS_FILE: Final = f"url.state = {UrlState.PAGE}"  # The file of a page that is gone stays.

# Every URL with a file, aliases under the file of their page. In both formats, HTML links to HTML; if the HTML of a
# gone page was deleted, the page has no path.
_PLACE_OF: Final = f"""
JOIN file ON file.id = (SELECT id FROM file AS f WHERE f.url_id = url.id
  ORDER BY f.kind = {FileKind.HTML} DESC, f.kind LIMIT 1)
WHERE {_HAS_FILE} AND (url.gone_since IS NULL OR file.kind != {FileKind.MARKDOWN})
"""
_PLACES: Final = f"""
CREATE TEMP TABLE place AS
SELECT url.id AS id, file.path AS path FROM url {_PLACE_OF}
UNION ALL
SELECT alias.url_id, file.path FROM alias JOIN url ON url.id = alias.page_id {_PLACE_OF}
"""
# As the interrupted pass saw them: some files link by these paths already.
_PLACES_THEN: Final = """
CREATE TEMP TABLE place AS
SELECT url_id AS id, coalesce(pending_path, path) AS path FROM link_target WHERE coalesce(pending_path, path, '') != ''
"""
_HAS_CHANGED: Final = "coalesce(link_target.path, '') != coalesce(place.path, '')"

# Of assets, only these have links.
_HAS_LINKS: Final = f"""
(file.kind = {FileKind.HTML}
  OR file.kind = {FileKind.ASSET} AND page.content_type IN ('text/css', 'image/svg+xml'))
"""
_LINKING: Final = f"""
SELECT url.id, file.id, url.url, file.path, coalesce(file.size, 0), lower(hex(file.sha256)), file.linked_path,
       page.headers, page.content_type
FROM file JOIN url ON url.id = file.url_id JOIN page ON page.url_id = file.url_id WHERE {_HAS_LINKS}
"""


class LinkingFile(NamedTuple):
    """A saved file with links in it."""

    id: int  # of its URL
    file_id: int
    url: str
    path: str
    size: int
    sha256: str | None
    linked_path: str | None  # where its links were made local; None while they are as received
    headers: str | None
    content_type: str | None

    @property
    def is_css(self) -> bool:
        """True for a style sheet."""
        return self.content_type == "text/css"


def is_unfinished(state: State) -> bool:
    """True if a kill interrupted the localizing of HTML links. No path may change before that is finished."""
    return bool(state.fact("is_relinking"))


class HtmlLinkTargets:
    """The current paths of files and those by which HTML links to them. Made after paths are settled."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self._pending = 0
        self.goes_on = is_unfinished(state)
        """True if this finishes an interrupted pass."""
        self._db.execute("DROP TABLE IF EXISTS temp.place")
        self._db.execute(_PLACES_THEN if self.goes_on else _PLACES)
        self._db.execute("CREATE UNIQUE INDEX temp.place_id ON place (id)")

    def begin(self) -> None:
        """Record the paths by which files are about to link to each other, for recovery after a kill."""
        if self.goes_on:
            return
        with self._state.transaction() as db:
            db.execute(
                f"""
                INSERT INTO link_target (url_id, pending_path) SELECT url.id, coalesce(place.path, '') FROM url
                LEFT JOIN temp.place ON place.id = url.id LEFT JOIN link_target ON link_target.url_id = url.id
                WHERE {_HAS_CHANGED} ON CONFLICT (url_id) DO UPDATE SET pending_path = excluded.pending_path
                """
            )
            self._state.set_facts(is_relinking=1)

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Commit in batches within the block, and at its end."""
        try:
            yield
        finally:
            self._commit()

    def received(self) -> Iterator[LinkingFile]:
        """Yield files whose links are as the site wrote them, in chunks: their rows change meanwhile."""
        last = 0
        condition = f"AND {_IS_PAGE} AND file.linked_path IS NULL AND file.id > ? ORDER BY file.id LIMIT 256"
        while found := list(self._places(condition, last)):
            yield from found
            last = found[-1].file_id

    def outdated(self) -> Iterator[LinkingFile]:
        """Yield files that moved or link to a moved one, also of gone pages, which may come back."""
        return self._places(
            f"""
            AND {_HAS_FILE} AND file.linked_path IS NOT NULL AND file.id NOT IN (SELECT file_id FROM relinked)
            AND (file.linked_path != file.path OR url.id IN (
              SELECT link.src_id FROM link LEFT JOIN temp.place ON place.id = link.dst_id
              LEFT JOIN link_target ON link_target.url_id = link.dst_id WHERE {_HAS_CHANGED}))
            ORDER BY file.id
            """
        )

    def _places(self, condition: str, *values: object) -> Iterator[LinkingFile]:
        # Fetched at once: the rows change meanwhile.
        for row in self._db.execute(f"{_LINKING} {condition}", values).fetchall():
            yield LinkingFile(*row)

    def links(self, src: int) -> list[tuple[str, str, str]]:
        """Return (url, path in the links, current path) for the links of a file; '' for no path."""
        return self._db.execute(
            """
            SELECT DISTINCT url.url, coalesce(link_target.path, ''), coalesce(place.path, '') FROM link
            JOIN url ON url.id = link.dst_id LEFT JOIN temp.place ON place.id = url.id
            LEFT JOIN link_target ON link_target.url_id = url.id WHERE link.src_id = ?
            """,
            (src,),
        ).fetchall()

    def targets(self, sources: Sequence[int]) -> dict[int, dict[str, str]]:
        """Return the paths of the link targets of each of these URLs, by target URL."""
        query = f"""
            SELECT link.src_id, url.url, place.path FROM link
            JOIN temp.place ON place.id = link.dst_id JOIN url ON url.id = link.dst_id
            WHERE link.src_id IN ({", ".join("?" * len(sources))})
        """
        found: dict[int, dict[str, str]] = {src: {} for src in sources}
        for src, url, path in self._db.execute(query, sources).fetchall():
            found[src][url] = path
        return found

    def done(self, file: LinkingFile, *, size: int, sha256: str) -> None:
        """Record a file whose links are current."""
        self._state.begin()
        if file.linked_path is not None:
            self._db.execute("INSERT OR IGNORE INTO relinked VALUES (?)", (file.file_id,))
        self._db.execute(
            "UPDATE file SET linked_path = path, size = ?, sha256 = ?, durable = 0 WHERE id = ?",
            (size, bytes.fromhex(sha256), file.file_id),
        )
        self._pending += 1
        if self._pending >= BATCH:
            self._commit()

    def _commit(self) -> None:
        self._pending = 0
        failpoint.reached("links-rewritten")
        self._state.commit()
        failpoint.reached("links-committed")

    def finish(self) -> None:
        """Record that all links are current."""
        with self._state.transaction() as db:
            db.execute("DELETE FROM link_target WHERE url_id NOT IN (SELECT id FROM temp.place)")
            db.execute(
                "INSERT INTO link_target (url_id, path) SELECT id, path FROM temp.place WHERE TRUE"
                " ON CONFLICT (url_id) DO UPDATE SET path = excluded.path, pending_path = NULL"
                " WHERE link_target.path IS NOT excluded.path OR pending_path IS NOT NULL"
            )
            db.execute("DELETE FROM relinked")
            self._state.set_facts(is_relinking=0)


_AT_ONCE: Final = 256


class LinkedPage(NamedTuple):
    """A page whose links may be local."""

    id: int  # of its URL
    path: str
    sha256: str | None
    is_linked: bool  # its links were made local since it was saved
    links: bytes  # the original links


class Relinked(NamedTuple):
    """The result of relinking a page."""

    id: int  # of its URL
    size: int
    sha256: str
    links: bytes
    is_vague: bool  # some originals are unknown: the page is written again when it is fetched next


class MarkdownLinkTargets:
    """The saved Markdown. Made after paths are settled and aliases resolved."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db

    def has_local_links(self) -> bool:
        """True if there are local links with known originals."""
        query = f"SELECT 1 FROM file JOIN url ON url.id = url_id WHERE link_spans != x'' AND {_IS_PAGE} LIMIT 1"
        return self._db.execute(query).fetchone() is not None

    def pages(self) -> Iterator[LinkedPage]:
        """Yield every page with links in it, in chunks: the rows change meanwhile."""
        last = 0
        while rows := self._db.execute(
            f"""
            SELECT file.id, url.id, file.path, lower(hex(file.sha256)), linked_path IS NOT NULL,
                   coalesce(link_spans, x'')
            FROM file JOIN url ON url.id = file.url_id JOIN page ON page.url_id = url.id
            WHERE {_IS_PAGE} AND file.kind = {FileKind.MARKDOWN} AND page.content_type LIKE '%html%' AND file.id > ?
            ORDER BY file.id LIMIT {_AT_ONCE}
            """,
            (last,),
        ).fetchall():
            for _, id, path, digest, is_linked, links in rows:
                yield LinkedPage(id, path, digest or None, bool(is_linked), links)
            last = rows[-1][0]

    def find(self, url: str) -> tuple[str, int, int] | None:
        """Find the file of a URL or its page: (path, id of the page, id of the URL itself)."""
        found: tuple[str, int, int] | None = self._db.execute(
            f"""
            SELECT file.path, url.id, named.id FROM url AS named LEFT JOIN alias ON alias.url_id = named.id
            JOIN url ON url.id = coalesce(alias.page_id, named.id) AND {_HAS_FILE}
            JOIN file ON file.url_id = url.id AND file.kind = {FileKind.MARKDOWN}
            WHERE named.key = ?
            """,
            (urls.key(url),),
        ).fetchone()
        return found

    def url_at(self, path: str) -> str | None:
        """Return the URL of the page whose file is there, or was before a run that made the page an alias."""
        row = self._db.execute(
            f"""
            SELECT url.url FROM file JOIN url ON url.id = url_id AND {_HAS_FILE}
            WHERE file.path_key = ? AND file.path = ? OR file.path = ? AND file.path != file.preferred_path
            UNION ALL
            SELECT url.url FROM change JOIN url ON url.id = url_id
            WHERE change.kind = {ChangeKind.MOVED} AND change.old_path = ? LIMIT 1
            """,
            (path_key(path), path, path, path),
        ).fetchone()
        return None if row is None else str(row[0])

    def anchors(self, id: int) -> str:
        """Return the packed map from ids of a page to headings; empty if unknown."""
        row = self._db.execute("SELECT anchors FROM page WHERE url_id = ?", (id,)).fetchone()
        return "" if row is None or row[0] is None else str(row[0])

    def announce(self, changes: Sequence[Relinked]) -> None:
        """Announce files that are about to be relinked. After a kill, `finish_relinking` checks which were."""
        with self._state.transaction() as db:
            for change in changes:
                db.execute(
                    "INSERT INTO journal (op, path, sha256, row) SELECT ?, path, ?, ? FROM file"
                    f" WHERE url_id = ? AND kind = {FileKind.MARKDOWN}",
                    (Op.RELINK, bytes.fromhex(change.sha256), _dump(change), change.id),
                )
                db.execute(f"UPDATE file SET durable = 0 WHERE url_id = ? AND kind = {FileKind.MARKDOWN}", (change.id,))

    def relinked(self, changes: Sequence[Relinked]) -> None:
        """Record files whose links were made local, or restored."""
        with self._state.transaction() as db:
            for change in changes:
                _record(db, change)
            db.execute("DELETE FROM journal WHERE op = ?", (Op.RELINK,))


def finish_relinking(db: sqlite3.Connection, tree: FileTree) -> None:
    """Record the Markdown files that a killed run had relinked. Call it when opening a state."""
    entries = db.execute("SELECT path, sha256, row FROM journal WHERE op = ?", (Op.RELINK,)).fetchall()
    if not entries:
        return
    db.execute("BEGIN")
    for path, digest, row in entries:
        if tree.digest(path) == digest:
            _record(db, _load(digest, row))
    db.execute("DELETE FROM journal WHERE op = ?", (Op.RELINK,))
    db.execute("COMMIT")


def _record(db: sqlite3.Connection, change: Relinked) -> None:
    is_vague = ", received_sha256 = NULL" if change.is_vague else ""
    db.execute(
        f"UPDATE file SET size = ?, sha256 = ?, linked_path = path, link_spans = ?{is_vague}"
        f" WHERE url_id = ? AND kind = {FileKind.MARKDOWN}",
        (change.size, bytes.fromhex(change.sha256), change.links, change.id),
    )


def _dump(change: Relinked) -> str:
    return json.dumps([change.id, change.size, change.links.hex(), change.is_vague])


def _load(digest: bytes, row: str) -> Relinked:
    found: list[Any] = json.loads(row)
    id, size, links, is_vague = found
    return Relinked(id, size, digest.hex(), bytes.fromhex(links), is_vague)
