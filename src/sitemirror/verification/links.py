"""Check that local links lead to files and anchors that exist."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from sitemirror.links.local import Linked, is_anywhere
from sitemirror.links.markdown import anchors
from sitemirror.links.resolve import linked_path
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.report import ProblemKind
from sitemirror.text import counted
from sitemirror.verification.files import FileCheck
from sitemirror.verification.report import Problems

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, parsed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE anchor (file INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (file, name)) WITHOUT ROWID;
CREATE TABLE link (source INTEGER NOT NULL, target INTEGER NOT NULL, name TEXT NOT NULL, decoded TEXT NOT NULL);
CREATE TABLE broken (source TEXT NOT NULL, target TEXT NOT NULL, reference TEXT NOT NULL);
BEGIN;
"""


class LinkCheck:
    """The local links of one mirror. They are judged when all files have been read."""

    def __init__(self, files: FileCheck, problems: Problems, where: Callable[[str], str]) -> None:
        self._files = files
        self._problems = problems
        self._where = where
        self._db = _LinkDatabase()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def add_anchors(self, path: str, names: Iterable[str]) -> None:
        """Record all anchors of the page at `path`."""
        self._db.add_anchors(path, names)

    def add_links(self, source: str, linked: Linked, is_saved: Callable[[str], bool]) -> None:
        """Record the links of the file `source`."""
        self._problems.links += len(linked.references)
        for path, fragment in sorted(linked.references):
            target = linked_path(source, path)
            if target is None:
                message = f"links to {path}, which is outside the mirror"
                self._problems.add(ProblemKind.LINK, self._where(source), message)
            elif not is_saved(target):
                self._db.add_broken(source, target, path)
            elif not is_anywhere(fragment):
                self._problems.anchors += 1
                self._db.add_link(source, target, fragment)

    def report(self, is_original: Callable[[str], bool]) -> None:
        """Report links to missing files and anchors.

        Between two pages that are as the site sent them (`is_original`), a missing anchor is the site's mistake.
        """
        for source, target, reference in self._db.broken():
            if target not in self._files.bad:  # else it is reported as missing
                self._problems.add(ProblemKind.LINK, self._where(source), f"links to {reference}, which is not there")
        for path in self._db.unparsed():
            data = self._files.body(path, None, None, MANIFEST) if path.endswith(".md") else None
            if data is not None:
                self._db.add_anchors(path, anchors(data.decode("utf-8", "replace")))
        of_the_site, example = 0, ""
        for source, target, name in self._db.without_anchor():
            what = "itself" if source == target else self._where(target)
            if is_original(source) and is_original(target):
                example = example or f"{self._where(source)} to #{name} in {what}"
                of_the_site += 1
            else:
                message = f"links to #{name} in {what}, where no such place is"
                self._problems.add(ProblemKind.ANCHOR, self._where(source), message)
        if of_the_site:
            number = counted(of_the_site, "link")
            self._problems.warn(f"{number} to places that the site's own pages lack, such as from {example}")


class _LinkDatabase:
    """A temporary database, which goes to disk when it grows: 50,000 pages can have millions of anchors."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_TABLES)

    def close(self) -> None:
        self._db.close()

    def add_anchors(self, path: str, names: Iterable[str]) -> None:
        id = self._id(path)
        self._db.execute("UPDATE file SET parsed = 1 WHERE id = ?", (id,))
        self._db.executemany("INSERT OR IGNORE INTO anchor VALUES (?, ?)", ((id, _storable(name)) for name in names))

    def add_link(self, source: str, target: str, name: str) -> None:
        # Browsers look for the name as it is written, then for what its escapes say.
        names = (_storable(name), _storable(unquote(name)))
        self._db.execute("INSERT INTO link VALUES (?, ?, ?, ?)", (self._id(source), self._id(target), *names))

    def add_broken(self, source: str, target: str, reference: str) -> None:
        self._db.execute("INSERT INTO broken VALUES (?, ?, ?)", tuple(map(_storable, (source, target, reference))))

    def broken(self) -> Iterator[tuple[str, str, str]]:
        """Yield (source, target, reference) of links to files that do not exist."""
        yield from self._db.execute("SELECT source, target, reference FROM broken ORDER BY rowid")

    def unparsed(self) -> list[str]:
        """List the files that links lead into and whose anchors are not known."""
        query = "SELECT path FROM file WHERE NOT parsed AND id IN (SELECT target FROM link) ORDER BY id"
        return [path for (path,) in self._db.execute(query)]

    def without_anchor(self) -> Iterator[tuple[str, str, str]]:
        """Yield (source, target, name) of links to anchors that their page does not have."""
        yield from self._db.execute(
            """
            SELECT source.path, target.path, link.name FROM link
            JOIN file AS source ON source.id = link.source JOIN file AS target ON target.id = link.target
            WHERE target.parsed AND NOT EXISTS (
              SELECT 1 FROM anchor WHERE anchor.file = link.target AND anchor.name IN (link.name, link.decoded))
            ORDER BY link.rowid
            """
        )

    def _id(self, path: str) -> int:
        path = _storable(path)
        row = self._db.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()
        if row is None:
            row = self._db.execute("INSERT INTO file (path) VALUES (?) RETURNING id", (path,)).fetchone()
        return int(row[0])


def _storable(value: str) -> str:
    """Replace lone surrogates, which SQLite cannot store."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
