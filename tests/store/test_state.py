"""The state's file, from its making to its end."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror.store.state import State, StateUnusable


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


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    """It is no state that has yet to be made, whatever it is doing there."""
    with closing(sqlite3.connect(tmp_path / "state")) as db, db:
        db.execute("CREATE TABLE mine AS SELECT 7 AS number")
    with pytest.raises(StateUnusable):
        State.open(tmp_path / "state")
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("SELECT number FROM mine").fetchall() == [(7,)]
