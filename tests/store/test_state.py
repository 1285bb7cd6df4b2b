"""The state's file, from its making to its end."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from sitemirror.store.state import State


def test_a_state_that_is_left_is_one_file(tmp_path: Path) -> None:
    """What was written is in the file itself, also when it was folded before and written to since."""
    state = State.open(tmp_path / "state")
    state.put("one", 1)
    state.fold()
    state.put("two", 2)
    state.close()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert dict(db.execute("SELECT name, value FROM meta WHERE name IN ('one', 'two')")) == {"one": "1", "two": "2"}


def test_a_state_is_closed_while_a_thread_folds_it(tmp_path: Path) -> None:
    """A run that is cancelled does not wait for its thread, and must not pull the file away from under it."""
    with ThreadPoolExecutor(1) as threads:
        for number in range(40):
            state = State.open(tmp_path / f"state-{number}")
            for key in range(50):
                state.put(str(key), "x" * 1000)
            folding = threads.submit(state.fold)
            state.close()
            assert folding.exception(timeout=10) is None
