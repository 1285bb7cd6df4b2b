"""The journal of file operations: announced in a commit, executed, then struck out in the next commit.

After a kill, `recover` finishes them when the state is opened next. Every operation is idempotent:

- WRITE: the file is replaced as a whole, then its rows are written.
- DELETE and LEAVE come before ARRIVE, with a commit between. Nothing arrives at a path from which a file has yet to
  leave, so a file at its old path has not moved yet, and one that is not there has.

The rows of DELETE, LEAVE and ARRIVE are written in the commit that announces them: nothing reads them before `recover`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

from sitemirror import failpoint
from sitemirror.store.files import Tree
from sitemirror.store.tables import Op
from sitemirror.store.url_record import FileRecord, RowChange, apply_change, fetch_whole


class FileTree(Protocol):
    """The files that the journal works on."""

    def exists(self, path: str) -> bool:
        """True if the file exists."""

    def digest(self, path: str) -> bytes | None:
        """Return the sha256 of a file; None if it is missing."""

    def rename(self, old: str, new: str) -> None:
        """Move a file, replacing another one."""

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""


class JournalTree:
    """The files of a mirror, for the journal."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def exists(self, path: str) -> bool:
        """True if the file exists."""
        return self._tree.exists(path)

    def digest(self, path: str) -> bytes | None:
        """Return the sha256 of a file; None if it is missing."""
        return sha256(self._tree.read(path)).digest() if self._tree.exists(path) else None

    def rename(self, old: str, new: str) -> None:
        """Move a file, replacing another one."""
        there, moved = self._tree.stat(new), self._tree.stat(old)
        # Where case does not count, `A.md` meets itself.
        if there is not None and moved is not None and not os.path.samestat(there, moved):
            self._tree.remove(new)
        self._tree.rename(old, new)

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        self._tree.remove(path)


def announce_write(db: sqlite3.Connection, change: RowChange) -> None:
    """Announce files that are about to be written, and the rows to write when all of them exist."""
    *others, last = [file for file in change.files if file.is_written]
    for file in others:
        _add_write(db, file, None)
    _add_write(db, last, change.dump())


def _add_write(db: sqlite3.Connection, file: FileRecord, row: str | None) -> None:
    assert file.sha256 is not None
    db.execute(
        "INSERT INTO journal (op, path, sha256, row) VALUES (?, ?, ?, ?)",
        (Op.WRITE, file.path, bytes.fromhex(file.sha256), row),
    )


def finish_writes(db: sqlite3.Connection, changes: Sequence[RowChange]) -> None:
    """Write the rows of files that are in place. Call it in a transaction."""
    for change in changes:
        apply_change(db, change)
    db.execute(f"DELETE FROM journal WHERE op = {Op.WRITE}")


def strike_out(db: sqlite3.Connection, change: RowChange) -> None:
    """Strike out the announcement of a finished write."""
    written = ((file.path,) for file in change.files if file.is_written)
    db.executemany(f"DELETE FROM journal WHERE op = {Op.WRITE} AND path = ?", written)


def announce_delete(db: sqlite3.Connection, path: str) -> None:
    """Announce the deletion of a file."""
    db.execute("INSERT INTO journal (op, path) VALUES (?, ?)", (Op.DELETE, path))


def announce_rename(db: sqlite3.Connection, op: Op, old: str, new: str) -> None:
    """Announce a move: `LEAVE` to a path of its own, or `ARRIVE` at a path that others have left."""
    db.execute("INSERT INTO journal (op, path, new_path) VALUES (?, ?, ?)", (op, old, new))


def execute(db: sqlite3.Connection, tree: FileTree) -> None:
    """Execute what is announced, except for writes. Begins and ends its own transactions."""
    assert not db.in_transaction  # A kill would undo the announcement, but not the operation.
    for stage in ((Op.DELETE, Op.LEAVE), (Op.ARRIVE,)):
        marks = ", ".join(str(int(op)) for op in stage)
        entries = db.execute(f"SELECT path, new_path FROM journal WHERE op IN ({marks}) ORDER BY op, id").fetchall()
        if not entries:
            continue
        for path, new_path in entries:
            if new_path is None:
                tree.remove(path)
            elif tree.exists(path):
                tree.rename(path, new_path)
            failpoint.reached("op-done")
        db.execute(f"DELETE FROM journal WHERE op IN ({marks})")
        failpoint.reached("stage-done")


def recover(db: sqlite3.Connection, tree: FileTree) -> None:
    """Finish or undo what a kill interrupted."""
    _recover_writes(db, tree)
    execute(db, tree)


def _recover_writes(db: sqlite3.Connection, tree: FileTree) -> None:
    entries = db.execute("SELECT path, sha256, row FROM journal WHERE op = ? ORDER BY id", (Op.WRITE,)).fetchall()
    if not entries:
        return
    db.execute("BEGIN")
    group: list[tuple[str, bytes]] = []
    for path, digest, row in entries:
        group.append((path, digest))
        if row is not None:  # the last file of its page
            if all(tree.digest(path) == digest for path, digest in group):
                change = RowChange.load(row)
                apply_change(db, change)
                lines = "".join(f"{line}\n" for line in change.lines)
                db.execute("UPDATE mirror SET log_lines = log_lines || ?", (lines,))
            else:
                for path, _ in group:
                    _undo_write(db, tree, path)
            group.clear()
    db.execute("DELETE FROM journal WHERE op = ?", (Op.WRITE,))
    db.execute("COMMIT")


def _undo_write(db: sqlite3.Connection, tree: FileTree, path: str) -> None:
    """Undo an incomplete write. A file without a row is deleted; one with another hash is fetched again."""
    found = tree.digest(path)
    owner = db.execute("SELECT url_id, sha256 FROM file WHERE path = ?", (path,)).fetchone()
    if owner is None:
        tree.remove(path)
    elif found != owner[1]:
        fetch_whole(db, [owner[0]])
        db.execute("UPDATE file SET sha256 = ?, received_sha256 = NULL WHERE path = ?", (found, path))
