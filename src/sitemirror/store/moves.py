"""Moves and removes page files so that a kill at any moment is made good by the next run.

What is to be done is committed to the state before anything is touched, and done in two steps with a commit between:

1. Files that are to go away go, and files that stand where another has to be step aside, into a folder of our own.
   Nothing arrives anywhere in this step, so a file at its old place has not moved yet.
2. Every file goes to its new place. Nothing arrives at an old place from which a file has yet to come, because those
   were left in the first step; so a file that is where it comes from has not moved yet, and one that is not, has.

Each step may thus be begun again any number of times. The rows follow in the commit that ends the second. A rename may
also leave empty folders behind when it is cut off; they count as nothing and are cleared away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitemirror import failpoint
from sitemirror.store.files import Tree
from sitemirror.store.names import fold
from sitemirror.store.paths import folders
from sitemirror.store.state import State

ASIDE: Final = "_moving"
"""In a host's folder: where files wait while two of them change places. No URL maps into it."""

MOVED: Final = "moved"
"""In the state: whether files have moved or gone since links between files were led to where they are."""

_NOTE: Final = "moving"


class Move(NamedTuple):
    """A file on its way. `new` is empty for a file that goes away; `page` is the row it belongs to, 0 for nobody's."""

    page: int
    old: str
    new: str


class _File(NamedTuple):
    """One file's way. `aside` is empty where it stands in nobody's way."""

    old: str
    aside: str
    new: str


def html_beside(markdown: str) -> str:
    """Where the HTML of a page is whose Markdown is saved as well: the same name with another ending."""
    return markdown.removesuffix(".md") + ".html"


def start_moves(state: State, moves: list[Move]) -> None:
    """Notes what is about to happen. Belongs in the transaction that decides it. Each of a page's files goes along."""
    beside = _html_beside_of(state, moves) if moves else {}
    ways: list[tuple[str, str]] = []
    for move in moves:
        ways.append((move.old, move.new))
        if move.old in beside:
            ways.append((beside[move.old], move.new and html_beside(move.new)))
    if ways:
        files = [[file.old, file.aside, file.new] for file in _with_detours(ways)]
        rows = [[move.page, move.old, move.new] for move in moves if move.page and move.new]
        state.put(_NOTE, {"clear": False, "files": files, "rows": rows})
        state.put(MOVED, True)


def finish_moves(state: State, tree: Tree) -> None:
    """Does what was noted and is not done yet."""
    note: dict[str, Any] | None = state.get(_NOTE)
    if note is None:
        return
    assert not state.db.in_transaction  # else a kill would forget the note but not what was done
    failpoint.reached("moves-noted")
    files = [_File(*row) for row in note["files"]]
    if not note["clear"]:
        _clear_the_way(tree, files)
        with state.transaction():
            state.put(_NOTE, note | {"clear": True})
        failpoint.reached("way-cleared")
    _take_places(tree, files)
    failpoint.reached("places-taken")
    with state.transaction() as db:
        # What a power cut does to renames nobody knows: the next run compares these files with their hashes.
        db.executemany(
            "UPDATE page SET path = :new, durable = 0, html_path = "
            "CASE WHEN html_path IS NULL THEN NULL WHEN html_path = :old THEN :new ELSE :beside END WHERE id = :page",
            ({"page": page, "old": old, "new": new, "beside": html_beside(new)} for page, old, new in note["rows"]),
        )
        db.execute("DELETE FROM meta WHERE name = ?", (_NOTE,))


def _clear_the_way(tree: Tree, files: Iterable[_File]) -> None:
    for file in files:
        if not file.new:
            tree.remove(file.old)
            failpoint.reached("file-removed")
        elif file.aside and tree.exists(file.old):
            tree.remove(file.aside)  # what a state that was lost has left there
            tree.rename(file.old, file.aside)
            failpoint.reached("file-aside")


def _take_places(tree: Tree, files: Iterable[_File]) -> None:
    for file in files:
        source = file.aside or file.old
        if file.new and tree.exists(source):
            if tree.is_folder(file.new):
                _remove_empty_folders(tree, file.new)
            tree.rename(source, file.new)
            failpoint.reached("file-moved")
    for file in files:  # A kill between a rename and this may have left folders that only its file was in.
        for left in filter(None, (file.old, file.aside)):
            _prune_above(tree, left)


def _remove_empty_folders(tree: Tree, folder: str) -> None:
    """Removes the folder and those in it as far as they hold no file. Only looks by itself; the tree removes."""
    top = tree.root / folder
    for found, _, files in os.walk(top, topdown=False):
        if not files:
            _prune_above(tree, f"{folder}/{Path(found).relative_to(top).as_posix()}/{ASIDE}".replace("/./", "/"))


def _prune_above(tree: Tree, path: str) -> None:
    """Removes the folders above `path` as far as they are empty; removing what is not there does just that."""
    for part in (path, *reversed(list(folders(path)))):
        if tree.stat(part) is not None:
            return
        tree.remove(part)


def _html_beside_of(state: State, moves: Iterable[Move]) -> dict[str, str]:
    """Path of a page's Markdown → that of its HTML, where both are saved."""
    olds = json.dumps([move.old for move in moves if move.old.endswith(".md")])
    rows = state.db.execute(
        "SELECT path, html_path FROM page WHERE html_path != path AND path IN (SELECT value FROM json_each(?))", (olds,)
    )
    return dict(rows.fetchall())


def _with_detours(ways: list[tuple[str, str]]) -> Iterator[_File]:
    """Sends those aside that stand where another file, or a folder for one, has to be. By fold: names may be equal."""
    new_files = {fold(new): old for old, new in ways if new}
    new_folders = {folder for new in new_files for folder in folders(new)}
    for number, (old, new) in enumerate(ways):
        folded = fold(old)
        in_the_way = (
            new_files.get(folded, old) != old
            or folded in new_folders
            or any(folder in new_files for folder in folders(folded))
        )
        yield _File(old, f"{old.split('/')[0]}/{ASIDE}/{number}" if new and in_the_way else "", new)
