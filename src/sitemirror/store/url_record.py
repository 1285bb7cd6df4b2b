"""A URL's row with its page and file, and the one way to write down what an answer made of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.store.tables import Due, FileKind, GoneCause, UrlState


class UrlRecord(NamedTuple):
    """What is known of a URL. `path` and what follows are of its main file."""

    id: int
    url: str
    state: UrlState
    queue: int
    start_id: int
    named: int
    checked_run: int | None
    lastmod: str | None
    reason: int | None
    detail: str | None
    transient: int | None
    target_id: int | None
    since: str | None
    attempts: int | None
    misses: int | None
    gone_since: str | None
    gone_cause: int | None
    depth: int | None
    kind: int | None
    etag: str | None
    last_modified: str | None
    text_hash: bytes | None
    links_known: int | None
    path: str | None
    sha256: bytes | None
    has_file: bool  # as the row says; whoever has looked at the disk knows better

    def shares_text(self, text_hash: bytes | None) -> bool:
        """True if a duplicate with this text is still one of this page."""
        stays = self.reason != Reason.MOVED and not self.misses and self.gone_cause in (None, GoneCause.UNNAMED)
        return self.state is UrlState.PAGE and stays and self.text_hash == text_hash

    @property
    def has_validators(self) -> bool:
        """True if it can be asked for conditionally."""
        return bool(self.etag or self.last_modified)


_FROM_URL: Final = UrlRecord._fields[: UrlRecord._fields.index("etag")]
_STATES: Final = tuple(UrlState)

SELECT_RECORD: Final = f"""
SELECT {", ".join(f"url.{name}" for name in _FROM_URL)}, page.etag, page.last_modified, page.text_hash,
  page.links_known, main.path, main.sha256, main.path IS NOT NULL
FROM url LEFT JOIN page ON page.url_id = url.id
  LEFT JOIN file AS main ON main.id = (SELECT id FROM file WHERE url_id = url.id ORDER BY kind LIMIT 1)
"""


def to_record(row: tuple[Any, ...]) -> UrlRecord:
    """The record that a row of `SELECT_RECORD` holds."""
    id, url, state, *rest = row
    return UrlRecord(id, url, _STATES[state], *rest)


def load_record(db: sqlite3.Connection, id: int) -> UrlRecord:
    """The record of a row, as it is now."""
    return to_record(db.execute(f"{SELECT_RECORD} WHERE url.id = ?", (id,)).fetchone())


def find_record(db: sqlite3.Connection, url: str) -> UrlRecord | None:
    """The record of a URL; None if nobody has named it."""
    row = db.execute(f"{SELECT_RECORD} WHERE url.key = ?", (urls.key(url),)).fetchone()
    return None if row is None else to_record(row)


class FileRow(NamedTuple):
    """A file as its row says. Hashes are hexadecimal, so that the journal can hold them."""

    kind: FileKind
    path: str
    preferred_path: str
    path_key: str
    size: int | None = None
    sha256: str | None = None
    received_sha256: str | None = None


class RowChange(NamedTuple):
    """All that one answer changes in the rows of one URL, as plain data: the journal keeps it until a file is there."""

    id: int
    run: int
    url: Mapping[str, Any]
    page: Mapping[str, Any] | None = None  # None: the page's row stays as it is
    files: tuple[FileRow, ...] = ()  # the files that were written
    event: int | None = None
    frees_duplicates: bool = False
    clears_links: bool = False

    def dump(self) -> str:
        """JSON for the journal."""
        return json.dumps(self)

    @classmethod
    def load(cls, text: str) -> RowChange:
        """The change that `dump` wrote."""
        id, run, url, page, files, event, frees, clears = json.loads(text)
        return cls(id, run, url, page, tuple(FileRow(*each) for each in files), event, frees, clears)


_HASHES: Final = frozenset(("text_hash", "path_key", "sha256", "received_sha256"))


def _bound(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: bytes.fromhex(value) if value is not None and name in _HASHES else value
        for name, value in columns.items()
    }


def apply_change(db: sqlite3.Connection, change: RowChange) -> None:
    """Writes the rows. Doing it twice does no harm."""
    before = db.execute(
        "SELECT page.text_hash, main.path, main.sha256 FROM url LEFT JOIN page ON page.url_id = url.id"
        " LEFT JOIN file AS main ON main.url_id = url.id WHERE url.id = ? ORDER BY main.kind LIMIT 1",
        (change.id,),
    ).fetchone()
    columns = _bound(change.url)
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    db.execute(f"UPDATE url SET {assignments} WHERE id = :id", columns | {"id": change.id})
    if change.page is not None:
        page = _bound(change.page)
        db.execute("INSERT OR IGNORE INTO page (url_id) VALUES (?)", (change.id,))
        assignments = ", ".join(f"{name} = :{name}" for name in page)
        db.execute(f"UPDATE page SET {assignments} WHERE url_id = :id", page | {"id": change.id})
    state, reason = change.url.get("state"), change.url.get("reason")
    if state not in (None, UrlState.PAGE):
        db.execute("DELETE FROM file WHERE url_id = ?", (change.id,))
        if state == UrlState.ALIAS and reason != Reason.DUPLICATE:
            db.execute("DELETE FROM page WHERE url_id = ?", (change.id,))
    for file in change.files:
        row = _bound(file._asdict()) | {"url_id": change.id}
        names = ", ".join(row)
        replaced = ", ".join(f"{name} = excluded.{name}" for name in row if name not in ("url_id", "kind"))
        db.execute(
            f"INSERT INTO file ({names}) VALUES ({', '.join(f':{name}' for name in row)})"
            f" ON CONFLICT (url_id, kind) DO UPDATE SET {replaced}, durable = 0",
            row,
        )
    if change.files:
        kinds = ", ".join(str(int(file.kind)) for file in change.files)
        db.execute(f"DELETE FROM file WHERE url_id = ? AND kind NOT IN ({kinds})", (change.id,))
    if change.clears_links:
        db.execute("DELETE FROM link WHERE src_id = ?", (change.id,))
    if change.frees_duplicates:
        free_duplicates(db, [change.id])
    if change.event is not None:
        new = change.files[0] if change.files else None
        add_event(db, change.run, change.id, change.event, before, new)


def add_event(
    db: sqlite3.Connection, run: int, id: int, kind: int, before: tuple[Any, ...] | None, new: FileRow | None = None
) -> None:
    """Notes what a run changed, once for a URL: the first event is the one that tells what there was before."""
    text_hash, path, digest = before or (None, None, None)
    db.execute(
        "INSERT OR IGNORE INTO change (run_id, url_id, kind, old_sha256, old_text_hash, old_path, new_sha256, new_path)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (run, id, kind, digest, text_hash, path, new and new.sha256 and bytes.fromhex(new.sha256), new and new.path),
    )


def free_duplicates(db: sqlite3.Connection, pages: Iterable[int]) -> None:
    """Queues the duplicates of pages whose text may be theirs no longer. Without validators they are fetched whole."""
    for page in pages:
        values = (UrlState.ALIAS, Reason.DUPLICATE, page)
        which = "state = ? AND reason = ? AND target_id = ?"
        db.execute(
            f"UPDATE page SET etag = NULL, last_modified = NULL WHERE url_id IN (SELECT id FROM url WHERE {which})",
            values,
        )
        db.execute(f"UPDATE url SET queue = {Due.NOW} WHERE {which}", values)


def forget_files(db: sqlite3.Connection, pages: Iterable[int]) -> None:
    """Queues pages whose files were deleted. What their text was stays known: the same again is no change."""
    ids = list(pages)
    db.executemany(f"UPDATE url SET queue = {Due.NOW} WHERE id = ?", ((id,) for id in ids))
    db.executemany("UPDATE page SET etag = NULL, last_modified = NULL WHERE url_id = ?", ((id,) for id in ids))
    free_duplicates(db, ids)
