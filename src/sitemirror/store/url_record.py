"""A URL's row with its page and file, and the function that applies an answer's changes to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.model import Validators
from sitemirror.reasons import Reason
from sitemirror.store.tables import Due, FileKind, GoneCause, Op, UrlState


class UrlRecord(NamedTuple):
    """A URL with its page, main file, and the HTML beside Markdown (`html_…`)."""

    id: int
    url: str
    state: UrlState
    queue: int
    start_id: int
    named: int
    listed_run: int | None
    checked_run: int | None
    lastmod: str | None
    reason: int | None
    detail: str | None
    transient: int | None
    target_id: int | None
    since: str | None
    checked_at: str | None
    attempts: int | None
    misses: int | None
    gone_since: str | None
    gone_cause: int | None
    depth: int | None
    chain: int
    kind: int | None
    fetched_at: str | None
    changed_at: str | None
    etag: str | None
    last_modified: str | None
    text_hash: bytes | None
    links_known: int | None
    path: str | None
    file_kind: int | None
    preferred_path: str | None
    size: int | None
    sha256: bytes | None
    received_sha256: bytes | None
    linked_path: str | None
    html_path: str | None
    html_preferred_path: str | None
    html_size: int | None
    html_sha256: bytes | None
    html_received_sha256: bytes | None
    html_linked_path: str | None
    has_file: bool  # by the row; a caller that has checked the disk replaces it

    def shares_text(self, text_hash: bytes | None) -> bool:
        """True if a duplicate with this text still belongs to this page."""
        stays = self.reason != Reason.MOVED and not self.misses and self.gone_cause in (None, GoneCause.UNNAMED)
        # A page with a deleted file is queued: its own answer decides.
        return self.state in (UrlState.PAGE, UrlState.QUEUED) and stays and self.text_hash == text_hash

    @property
    def validators(self) -> Validators:
        """The validators for a conditional request."""
        return Validators(self.etag, self.last_modified)

    @property
    def has_validators(self) -> bool:
        """True if a conditional request is possible."""
        return bool(self.etag or self.last_modified)


_FIELDS: Final = UrlRecord._fields
_FROM_URL: Final = _FIELDS[: _FIELDS.index("fetched_at")]
_FROM_PAGE: Final = _FIELDS[_FIELDS.index("fetched_at") : _FIELDS.index("path")]
_FROM_MAIN: Final = ("path", "kind", *_FIELDS[_FIELDS.index("preferred_path") : _FIELDS.index("html_path")])
_FROM_HTML: Final = ("path", "preferred_path", "size", "sha256", "received_sha256", "linked_path")
_STATES: Final = tuple(UrlState)


def _columns(table: str, names: Iterable[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


SELECT_RECORD: Final = f"""
SELECT {_columns("url", _FROM_URL)}, {_columns("page", _FROM_PAGE)}, {_columns("main", _FROM_MAIN)},
  {_columns("html", _FROM_HTML)}, main.path IS NOT NULL
FROM url LEFT JOIN page ON page.url_id = url.id
  LEFT JOIN file AS main ON main.id = (SELECT id FROM file WHERE url_id = url.id ORDER BY kind LIMIT 1)
  LEFT JOIN file AS html
    ON html.url_id = url.id AND html.kind = {FileKind.HTML} AND main.kind = {FileKind.MARKDOWN}
"""


def to_record(row: tuple[Any, ...]) -> UrlRecord:
    """Convert a row of `SELECT_RECORD`."""
    id, url, state, *rest = row
    return UrlRecord(id, url, _STATES[state], *rest)


def load_record(db: sqlite3.Connection, id: int) -> UrlRecord:
    """Return the current record of a row."""
    return to_record(db.execute(f"{SELECT_RECORD} WHERE url.id = ?", (id,)).fetchone())


def find_record(db: sqlite3.Connection, url: str) -> UrlRecord | None:
    """Return the record of a URL; None if it is unknown."""
    row = db.execute(f"{SELECT_RECORD} WHERE url.key = ?", (urls.key(url),)).fetchone()
    return None if row is None else to_record(row)


class FileRecord(NamedTuple):
    """A row of `file`. Hashes are hexadecimal, so that the journal can store them."""

    kind: FileKind
    path: str
    preferred_path: str
    path_key: str
    size: int | None = None
    sha256: str | None = None
    received_sha256: str | None = None
    is_written: bool = True  # False: the file is unchanged and stays


class RowChange(NamedTuple):
    """All changes of one answer to the rows of one URL. The journal stores them until the files exist."""

    id: int
    run: int
    url: Mapping[str, Any]
    page: Mapping[str, Any] | None = None  # None: the page's row is unchanged
    files: tuple[FileRecord, ...] = ()  # all files of the page, if one was written
    event: int | None = None
    frees_duplicates: bool = False
    clears_links: bool = False
    lines: tuple[str, ...] = ()  # for `_processed.txt`

    def dump(self) -> str:
        """Return JSON for the journal."""
        return json.dumps(self)

    @classmethod
    def load(cls, text: str) -> RowChange:
        """Load the change that `dump` wrote."""
        id, run, url, page, files, event, frees, clears, lines = json.loads(text)
        return cls(id, run, url, page, tuple(FileRecord(*each) for each in files), event, frees, clears, tuple(lines))


_HASHES: Final = frozenset(("text_hash", "path_key", "sha256", "received_sha256"))


def _bound(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: bytes.fromhex(value) if value is not None and name in _HASHES else value
        for name, value in columns.items()
    }


def apply_change(db: sqlite3.Connection, change: RowChange) -> None:
    """Write the rows, and announce the deletion of files that are no longer the page's. Idempotent."""
    before = None
    if change.event is not None:
        before = db.execute(
            "SELECT page.text_hash, main.path, main.sha256 FROM url LEFT JOIN page ON page.url_id = url.id"
            " LEFT JOIN file AS main ON main.url_id = url.id WHERE url.id = ? ORDER BY main.kind LIMIT 1",
            (change.id,),
        ).fetchone()
    columns = _bound(change.url)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE url SET {assignments} WHERE id = ?", (*columns.values(), change.id))
    if change.page is not None:
        page = _bound(change.page)
        names = ", ".join(page)
        replaced = ", ".join(f"{name} = excluded.{name}" for name in page)
        db.execute(
            f"INSERT INTO page (url_id, {names}) VALUES (?, {', '.join('?' * len(page))})"
            f" ON CONFLICT (url_id) DO UPDATE SET {replaced}",
            (change.id, *page.values()),
        )
    state, reason = change.url.get("state"), change.url.get("reason")
    if state not in (None, UrlState.PAGE):
        db.execute("DELETE FROM file WHERE url_id = ?", (change.id,))
        if state == UrlState.ALIAS and reason != Reason.DUPLICATE:
            db.execute("DELETE FROM page WHERE url_id = ?", (change.id,))
    if change.files:
        _replace_files(db, change)
    if change.clears_links:
        db.execute("DELETE FROM link WHERE src_id = ?", (change.id,))
    if change.frees_duplicates:
        free_duplicates(db, [change.id])
    if change.event is not None:
        new = change.files[0] if change.files else None
        add_event(db, change.run, change.id, change.event, before, new)


_WRITTEN: Final = """
INSERT INTO file (url_id, kind, path, preferred_path, path_key, size, sha256, received_sha256)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (url_id, kind) DO UPDATE SET
  published = published AND path = excluded.path, path = excluded.path, preferred_path = excluded.preferred_path,
  path_key = excluded.path_key, size = excluded.size, sha256 = excluded.sha256,
  received_sha256 = excluded.received_sha256, linked_path = NULL, link_spans = NULL, durable = 0
"""


def _replace_files(db: sqlite3.Connection, change: RowChange) -> None:
    paths = {file.path for file in change.files}
    for kind, path in db.execute("SELECT kind, path FROM file WHERE url_id = ?", (change.id,)).fetchall():
        if path not in paths:
            db.execute("INSERT INTO journal (op, path) VALUES (?, ?)", (Op.DELETE.value, path))
        if all(kind != file.kind for file in change.files):
            db.execute("DELETE FROM file WHERE url_id = ? AND kind = ?", (change.id, kind))
    for file in change.files:
        if file.is_written:
            row = _bound(file._asdict())
            del row["is_written"]
            db.execute(_WRITTEN, (change.id, *row.values()))


def note_received(db: sqlite3.Connection, page: int, kind: FileKind) -> None:
    """Record that a file is as received, without local links, which a rebuilt state does not know."""
    db.execute(
        "UPDATE file SET received_sha256 = sha256, linked_path = NULL, link_spans = NULL"
        " WHERE url_id = ? AND kind = ? AND (received_sha256 IS NULL OR linked_path IS NOT NULL)",
        (page, kind.value),
    )


def add_event(
    db: sqlite3.Connection, run: int, id: int, kind: int, before: tuple[Any, ...] | None, new: FileRecord | None = None
) -> None:
    """Record a change of a page, once per URL and run: the first event has the state before the run."""
    text_hash, path, digest = before or (None, None, None)
    db.execute(
        "INSERT OR IGNORE INTO change (run_id, url_id, kind, old_sha256, old_text_hash, old_path, new_sha256, new_path)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (run, id, kind, digest, text_hash, path, new and new.sha256 and bytes.fromhex(new.sha256), new and new.path),
    )


def free_duplicates(db: sqlite3.Connection, pages: Iterable[int]) -> None:
    """Queue the duplicates of pages whose text may differ now. Without validators they are fetched whole."""
    for page in pages:
        values = (UrlState.ALIAS, Reason.DUPLICATE, page)
        which = "state = ? AND reason = ? AND target_id = ?"
        db.execute(
            "UPDATE page SET etag = NULL, last_modified = NULL, fetched_at = NULL"
            f" WHERE url_id IN (SELECT id FROM url WHERE {which})",
            values,
        )
        db.execute(f"UPDATE url SET queue = {Due.NOW} WHERE {which}", values)


def forget_files(db: sqlite3.Connection, pages: Iterable[int]) -> None:
    """Queue pages whose files were deleted. The hash of their text stays: the same text is no change."""
    ids = list(pages)
    db.executemany(
        f"UPDATE url SET state = {UrlState.QUEUED}, queue = {Due.NOW}, reason = NULL, detail = NULL,"
        " missing_path = NULL, target_id = NULL WHERE id = ?",
        ((id,) for id in ids),
    )
    _forget_validators(db, ids)
    free_duplicates(db, ids)


def fetch_whole(db: sqlite3.Connection, pages: Iterable[int]) -> None:
    """Queue pages whose copies do not match their rows; the copies stay until they are replaced."""
    ids = list(pages)
    db.executemany(f"UPDATE url SET queue = {Due.NOW}, checked_run = NULL WHERE id = ?", ((id,) for id in ids))
    _forget_validators(db, ids)


def _forget_validators(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    db.executemany(
        "UPDATE page SET etag = NULL, last_modified = NULL, fetched_at = NULL WHERE url_id = ?", ((id,) for id in ids)
    )
