"""Pages with their files, saved and settled as a run does it, on a real folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from sitemirror import urls
from sitemirror.store.files import Tree
from sitemirror.store.journal import JournalTree, execute
from sitemirror.store.path_allocation import PathAllocator, html_beside, mark_published, settle_paths
from sitemirror.store.paths import page_path, path_key
from sitemirror.store.tables import ASSET, PAGE, SCHEMA, Due, FileKind, UrlState


class Killed(Exception):
    """The program is gone."""


class MortalTree(JournalTree):
    """A tree whose program is killed before one of its operations."""

    def __init__(self, tree: Tree, operations: int) -> None:
        super().__init__(tree)
        self._left = operations

    def _burn(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Killed

    def rename(self, old: str, new: str) -> None:
        self._burn()
        super().rename(old, new)

    def remove(self, path: str) -> None:
        self._burn()
        super().remove(path)


class Placed:
    """A mirror of which only paths matter: each file says whose it is."""

    def __init__(self, folder: Path, *, has_assets: bool = False, writes: bool = True) -> None:
        """Without `writes` there are only rows."""
        self._writes = writes
        self.tree = Tree(folder, min_free_mb=0)
        self.tree.prepare()
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.executescript(SCHEMA)
        self.allocator = PathAllocator(self.db, self.tree, has_assets=has_assets)

    def save(
        self, url: str, preferred: str, *, kind: FileKind = FileKind.MARKDOWN, both: bool = False, at: str = ""
    ) -> str:
        """A page that comes in; `at` is the path that it has published."""
        row = {"key": urls.key(url), "url": url, "state": UrlState.PAGE, "queue": Due.NO, "start_id": 1, "named": 1}
        row["kind"] = ASSET if kind is FileKind.ASSET else PAGE
        query = f"INSERT INTO url ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) RETURNING id"
        id = self.db.execute(query, tuple(row.values())).fetchall()[0][0]
        path = at or self.allocator.allocate(id, url, preferred)
        files = [(kind, path, preferred)]
        if both:
            files.append((FileKind.HTML, html_beside(path), html_beside(preferred)))
        for each, name, meant in files:
            self.db.execute(
                "INSERT INTO file (url_id, kind, path, preferred_path, path_key, published) VALUES (?, ?, ?, ?, ?, ?)",
                (id, each, name, meant, path_key(meant), int(bool(at))),
            )
            if self._writes:
                self.tree.write(name, url.encode())
        return path

    def settle(self, *kills: int) -> None:
        """The end of a run, killed before so many operations, as often as there are numbers."""
        self.db.execute("BEGIN")
        settle_paths(self.db, self.tree.is_folder)
        self.db.execute("COMMIT")
        for operations in kills:
            try:
                execute(self.db, MortalTree(self.tree, operations))
            except Killed:
                continue
        execute(self.db, JournalTree(self.tree))
        mark_published(self.db)

    @property
    def paths(self) -> dict[str, str]:
        """URL → its main file."""
        rows = self.db.execute("SELECT url, path FROM file JOIN url ON url.id = url_id ORDER BY file.kind DESC")
        return dict(rows.fetchall())

    @property
    def files(self) -> dict[str, str]:
        """Path → whose file is there."""
        root = self.tree.root
        return {
            path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*") if path.is_file()
        }

    def is_right(self) -> bool:
        """True if each file is where its row says, and nothing else is there."""
        rows = self.db.execute("SELECT path, url FROM file JOIN url ON url.id = url_id").fetchall()
        return len(dict(rows)) == len(rows) and dict(rows) == self.files


def settled(folder: Path, found: Iterable[str]) -> dict[str, str]:
    """URL → path of Markdown pages that come in this order."""
    placed = Placed(folder)
    for url in found:
        placed.save(url, page_path(url))
    placed.settle()
    assert placed.is_right()
    return placed.paths
