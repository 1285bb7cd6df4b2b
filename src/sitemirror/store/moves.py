"""Moves and removes page files so that a kill in the middle is finished by the next run.

What is to be done is committed to the state first; doing it twice does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitemirror.store.files import Tree
from sitemirror.store.paths import folders
from sitemirror.store.state import State


@dataclass(frozen=True, slots=True)
class Move:
    """A file on its way. `new` is empty for a file that goes away; `page` is the row that follows it."""

    page: int
    old: str
    new: str


def start_moves(state: State, moves: list[Move]) -> None:
    """Notes what is about to happen. Belongs in the transaction that decides it."""
    if moves:
        state.put("moves", [[move.page, move.old, move.new] for move in moves])


def finish_moves(state: State, tree: Tree) -> None:
    """Does what was noted and is not done yet. Those who give way go first, so that no place is taken."""
    pending = [Move(*row) for row in state.get("moves", [])]
    if not pending:
        return
    pending += [move for each in pending if (move := _html_beside(state, tree, each))]
    for move in pending:
        if not move.new:
            tree.remove(move.old)
    waiting = [move for move in pending if move.new]
    while waiting:
        # A place that is still taken is left by its own move first. What is not at its old place was moved before.
        ready = [move for move in waiting if not (tree.exists(move.old) and _is_taken(tree, move.new))]
        for move in ready:
            if tree.exists(move.old):
                tree.rename(move.old, move.new)
        waiting = [move for move in waiting if move not in ready] if ready else []
    with state.transaction() as db:
        db.executemany(
            "UPDATE page SET path = ? WHERE id = ?", ((move.new, move.page) for move in pending if move.page)
        )
        # The HTML beside a page's Markdown has the same name with another ending.
        db.execute(
            "UPDATE page SET html_path = CASE WHEN path LIKE '%.md' THEN substr(path, 1, length(path) - 3) || '.html' "
            "ELSE path END WHERE html_path IS NOT NULL"
        )
        db.execute("DELETE FROM meta WHERE name = 'moves'")


def _is_taken(tree: Tree, path: str) -> bool:
    """Whether a file or a folder is there, or a file where a folder has to be."""
    return tree.exists(path) or tree.is_folder(path) or any(tree.exists(folder) for folder in folders(path))


def _html_beside(state: State, tree: Tree, move: Move) -> Move | None:
    """The HTML that was saved with a page's Markdown goes where that goes."""
    beside = move.old.removesuffix(".md") + ".html"
    if not move.old.endswith(".md") or not tree.exists(beside):
        return None
    query = "SELECT 1 FROM page WHERE html_path = ? AND path != html_path"
    if state.db.execute(query, (beside,)).fetchone() is None:
        return None
    return Move(0, beside, move.new and move.new.removesuffix(".md") + ".html")
