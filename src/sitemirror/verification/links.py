"""Remembers which places the files of a mirror have and which they link to, until both are known of all of them.

Kept in a database without a name, which goes to disk when it grows and vanishes with the process: fifty thousand pages
can have millions of anchors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self
from urllib.parse import unquote

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, parsed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE anchor (file INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (file, name)) WITHOUT ROWID;
CREATE TABLE wanted (source INTEGER NOT NULL, target INTEGER NOT NULL, name TEXT NOT NULL, decoded TEXT NOT NULL);
CREATE TABLE dangling (source TEXT NOT NULL, target TEXT NOT NULL, reference TEXT NOT NULL);
BEGIN;
"""


class LinkBase:
    """The links of one mirror that cannot be judged yet."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def has(self, path: str, anchors: Iterable[str]) -> None:
        """Notes the places that the page at `path` has; there are no others."""
        id = self._id(path)
        self._db.execute("UPDATE file SET parsed = 1 WHERE id = ?", (id,))
        self._db.executemany("INSERT OR IGNORE INTO anchor VALUES (?, ?)", ((id, _text(name)) for name in anchors))

    def wants(self, source: str, target: str, name: str) -> None:
        """Notes that the file `source` links to a place in `target`."""
        # Browsers look for the name as it is written, then for what its escapes say.
        names = (_text(name), _text(unquote(name)))
        self._db.execute("INSERT INTO wanted VALUES (?, ?, ?, ?)", (self._id(source), self._id(target), *names))

    def dangles(self, source: str, target: str, reference: str) -> None:
        """Notes that the file `source` links to `target`, which is not there."""
        self._db.execute("INSERT INTO dangling VALUES (?, ?, ?)", (_text(source), _text(target), _text(reference)))

    def dangling(self) -> Iterator[tuple[str, str, str]]:
        """(source, target, reference)."""
        yield from self._db.execute("SELECT source, target, reference FROM dangling ORDER BY rowid")

    def unread(self) -> list[str]:
        """Files with places that are linked, of which nobody has told what places they have."""
        query = "SELECT path FROM file WHERE NOT parsed AND id IN (SELECT target FROM wanted) ORDER BY id"
        return [path for (path,) in self._db.execute(query)]

    def unanchored(self) -> Iterator[tuple[str, str, str]]:
        """(source, target, name) of the places that no page has."""
        yield from self._db.execute(
            """
            SELECT source.path, target.path, wanted.name FROM wanted
            JOIN file AS source ON source.id = wanted.source JOIN file AS target ON target.id = wanted.target
            WHERE target.parsed AND NOT EXISTS (
              SELECT 1 FROM anchor WHERE anchor.file = wanted.target AND anchor.name IN (wanted.name, wanted.decoded))
            ORDER BY wanted.rowid
            """
        )

    def _id(self, path: str) -> int:
        path = _text(path)
        row = self._db.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
        if row is None:
            row = self._db.execute("INSERT INTO file (path) VALUES (?) RETURNING id", (path,)).fetchone()
        return int(row[0])


def _text(value: str) -> str:
    """What SQLite can keep: lone surrogates have no encoding."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
