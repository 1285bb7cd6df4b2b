"""`_processed.txt` has each URL once, whatever a kill left."""

from __future__ import annotations

from pathlib import Path

from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.processed_log import ProcessedLog

LINES = ["http://example.com/a", "http://example.com/b"]


def test_lines_restored_after_a_kill_are_not_appended_again(tree: Tree, out: Path) -> None:
    """A page that the same run saves again has its line already."""
    state = State.open(out / "_state.sqlite3")
    log = ProcessedLog(state, tree, "_processed.txt")
    log.announce(LINES)  # and a kill before they are appended
    with state.transaction():
        assert list(log.mend()) == []
    assert log.not_there(LINES) == []
    log.close()
    state.close()
    assert (out / "_processed.txt").read_text().splitlines() == LINES
