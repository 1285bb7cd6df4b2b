"""Allocate paths: a free one while pages come in, the final one when a run ends.

Each URL has two possible paths: the preferred one and the one with its own hash. The owner of a path that several URLs
prefer is decided at the end, when all are known, so that it does not depend on their order.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Final, NamedTuple

from sitemirror.store.files import Tree
from sitemirror.store.journal import announce_delete, announce_rename
from sitemirror.store.paths import collision_path, folders_above, moved_folder, path_key
from sitemirror.store.tables import FileKind, Op, UrlState

PROVISIONAL_DIGITS: Final = (8, 12, 16, 24, 32)
"""Lengths of the hash in the name of a page whose path is not free."""

_FOLDERS: Final = 4_000  # that are cached


def html_beside(markdown: str) -> str:
    """Return the path of the HTML beside saved Markdown: the same name with another extension."""
    return markdown.removesuffix(".md") + ".html"


# --- while pages come in -------------------------------------------------------------------------------------------


class PathAllocator:
    """Finds paths for new files of one run."""

    def __init__(self, db: sqlite3.Connection, tree: Tree, *, has_assets: bool) -> None:
        """`has_assets`: files have names of their own, so one may be where others need a folder."""
        self._db = db
        self._tree = tree
        self._has_assets = has_assets
        self._folders: set[str] = set()
        self._promised: set[bytes] = set()  # keys of paths whose files are being written
        self._needed: Counter[str] = Counter()  # their folders

    def allocate(self, page: int, url: str, preferred: str) -> str:
        """Allocate a free path. The caller writes its row, or reserves it by `promised`."""
        for path in self._candidates(preferred, url):
            if is_free(self._db, path, page) and path_key(path) not in self._promised and not self._is_blocked(path):
                return path
        raise AssertionError(f"no free path for {url}")  # would need two URLs with one md5

    def _candidates(self, preferred: str, url: str) -> Iterator[str]:
        yield preferred
        for digits in PROVISIONAL_DIGITS:
            yield collision_path(preferred, url, digits)
        if blocked := self._blocked_folder(preferred):
            for digits in PROVISIONAL_DIGITS:
                yield moved_folder(preferred, blocked, url, digits)

    def _is_blocked(self, path: str) -> bool:
        return self._blocked_folder(path) != "" or path in self._needed or self._tree.is_folder(path)

    def _blocked_folder(self, path: str) -> str:
        """Return the part of `path` that has to be a folder and is a file."""
        if not self._has_assets:
            return ""
        for folder in folders_above(path):
            if folder not in self._folders:
                if path_key(folder) in self._promised or self._tree.is_file(folder):
                    return folder
                if len(self._folders) > _FOLDERS:
                    self._folders.clear()
                self._folders.add(folder)
        return ""

    def is_folder(self, path: str) -> bool:
        """True if a folder is where the file would be."""
        return self._tree.is_folder(path)

    @contextmanager
    def promised(self, path: str) -> Iterator[None]:
        """Reserve the path within the block."""
        self.promise(path)
        try:
            yield
        finally:
            self.release(path)

    def promise(self, path: str) -> None:
        """Reserve a path until `release`."""
        self._promised.add(path_key(path))
        self._folders.discard(path)
        if self._has_assets:
            self._needed.update(folders_above(path))

    def release(self, path: str) -> None:
        """End the reservation: the file has its row now, or was discarded."""
        self._promised.discard(path_key(path))
        if self._has_assets:
            self._needed -= Counter(folders_above(path))


def is_free(db: sqlite3.Connection, path: str, page: int) -> bool:
    """True if no other page has this path or prefers it."""
    other = db.execute(
        "SELECT EXISTS (SELECT 1 FROM file WHERE path_key = :key AND url_id != :page)"
        " OR EXISTS (SELECT 1 FROM file WHERE path = :path AND path != preferred_path AND url_id != :page)",
        {"key": path_key(path), "path": path, "page": page},
    ).fetchone()[0]
    return not other


# --- when a run ends -----------------------------------------------------------------------------------------------

# A page that is gone since this run has published nothing: it is settled with the others, and comes after them.
_PLACED: Final = f"url.state = {UrlState.PAGE} AND (url.gone_since IS NULL OR NOT file.published)"
_CONFLICTS: Final = f"""
SELECT file.path_key, file.url_id, url.url, file.id, file.path, file.preferred_path, file.published, file.kind
FROM file JOIN url ON url.id = file.url_id
WHERE {_PLACED} AND (file.path != file.preferred_path AND NOT file.published OR file.path_key IN (
  SELECT path_key FROM file JOIN url ON url.id = file.url_id WHERE {_PLACED}
  GROUP BY path_key HAVING count(DISTINCT url_id) > 1))
ORDER BY file.path_key, url.gone_since IS NOT NULL, url.url, file.kind
"""


class _File(NamedTuple):
    key: bytes
    page: int
    url: str
    id: int
    path: str
    preferred: str
    published: int
    kind: int

    @property
    def is_home(self) -> bool:
        return self.path == self.preferred


def settle_paths(db: sqlite3.Connection, is_blocked: Callable[[str], bool] = lambda _: False) -> None:
    """Give each contested path to the page that has published it, or else to the first by URL.

    All others get the path with their own hash. So a move is always: the occupant to its hashed path, then the owner to
    the preferred path. Only pages in conflict are held in memory. `is_blocked` is true for a path with a folder that
    belongs to no page.
    """
    rows = [_File(*row) for row in db.execute(_CONFLICTS)]
    arriving: list[_File] = []
    for _, group in groupby(rows, key=lambda row: row.key):
        pages = [list(files) for _, files in groupby(group, key=lambda row: row.page)]
        owner = next((files for files in pages if files[0].published and files[0].is_home), None)
        if owner is None:
            owner = next((files for files in pages if not files[0].published), None)
            if owner is not None and not owner[0].is_home:
                if all(_make_room(db, file) and not is_blocked(file.preferred) for file in owner):
                    arriving += owner
                else:
                    owner = None
            elif owner is not None and not all(_make_room(db, file) for file in owner):
                owner = None
        for files in pages:
            if files is not owner and not files[0].published:
                _use_own_name(db, files)
    for file in arriving:
        announce_rename(db, Op.ARRIVE, file.path, file.preferred)
        db.execute("UPDATE file SET path = preferred_path, durable = 0 WHERE id = ?", (file.id,))


def _make_room(db: sqlite3.Connection, file: _File) -> bool:
    """Remove whatever blocks a file's preferred path or its folders. False if that is impossible."""
    if file.kind == FileKind.ASSET and _has_files_below(db, file.preferred):
        return False  # Assets do not need their name: pages need the folder.
    for folder in folders_above(file.preferred):
        if not _move_asset_at(db, folder):
            return False
    others = db.execute(
        "SELECT file.id, file.path, url.gone_since IS NOT NULL FROM file JOIN url ON url.id = file.url_id"
        " WHERE file.published AND file.url_id != ?"
        " AND (file.path_key = ? AND file.path = file.preferred_path OR file.path = ?)",
        (file.page, file.key, file.preferred),
    ).fetchall()
    if any(path != file.preferred or not is_gone for _, path, is_gone in others):
        return False  # The paths are equal only on some file systems, or this is the page's own name.
    for id, path, _ in others:
        announce_delete(db, path)
        db.execute("DELETE FROM file WHERE id = ?", (id,))
    return True


def _has_files_below(db: sqlite3.Connection, path: str) -> bool:
    query = (
        "SELECT 1 FROM file JOIN url ON url.id = url_id"
        f" WHERE preferred_path > ? AND preferred_path < ? AND state = {UrlState.PAGE} LIMIT 1"
    )
    return db.execute(query, (path + "/", path + "0")).fetchone() is not None  # "0" comes after "/"


def _move_asset_at(db: sqlite3.Connection, folder: str) -> bool:
    """Move the asset at the path of a needed folder to its hashed path. False if it is published."""
    rows = db.execute(
        "SELECT file.path_key, url_id, url, file.id, path, preferred_path, published, file.kind"
        " FROM file JOIN url ON url.id = url_id"
        f" WHERE file.path_key = ? AND path = ? AND state = {UrlState.PAGE}",
        (path_key(folder), folder),
    ).fetchall()
    for row in rows:
        file = _File(*row)
        if file.published:
            return False
        _use_own_name(db, [file])
    return True


def _use_own_name(db: sqlite3.Connection, files: list[_File]) -> None:
    """Move a page that lost its preferred path to its hashed path."""
    main = files[0]
    blocked = _blocking_folder(db, main)
    for digits in PROVISIONAL_DIGITS:
        if blocked:
            names = [moved_folder(file.preferred, blocked, file.url, digits) for file in files]
        else:
            names = [collision_path(file.preferred, file.url, digits) for file in files]
        if all(is_free(db, name, main.page) for name in names):
            break
    for file, name in zip(files, names, strict=True):
        if file.path != name:
            announce_rename(db, Op.LEAVE, file.path, name)
            db.execute("UPDATE file SET path = ?, durable = 0 WHERE id = ?", (name, file.id))


def _blocking_folder(db: sqlite3.Connection, file: _File) -> str:
    """Return the folder of a file's preferred path that is a published asset."""
    for folder in folders_above(file.preferred):
        found = db.execute(
            f"SELECT 1 FROM file JOIN url ON url.id = url_id WHERE path_key = ? AND path = ?"
            f" AND state = {UrlState.PAGE} AND published",
            (path_key(folder), folder),
        ).fetchone()
        if found:
            return folder
    return ""


def mark_published(db: sqlite3.Connection) -> None:
    """Mark the files of all pages as published: their paths are final."""
    db.execute(
        "UPDATE file SET published = 1 WHERE published = 0"
        f" AND url_id IN (SELECT id FROM url WHERE state = {UrlState.PAGE})"
    )


def collisions(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return (url, path) of pages that did not get their preferred path."""
    return db.execute(
        "SELECT url.url, min(file.path) FROM file JOIN url ON url.id = url_id"
        f" WHERE file.path != preferred_path AND state = {UrlState.PAGE} AND gone_since IS NULL"
        " GROUP BY url.id ORDER BY url.url"
    ).fetchall()
