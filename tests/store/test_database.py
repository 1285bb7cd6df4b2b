"""The state's file, from its creation to its end."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror.store.database import State, StateUnusable


def test_closed_state_is_one_file(tmp_path: Path) -> None:
    """All writes are in the file itself, also after an earlier checkpoint."""
    state = State.open(tmp_path / "state")
    state.set_facts(format="html")
    state.fold()
    state.set_facts(max_file_bytes=7)
    state.close()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("SELECT format, max_file_bytes FROM mirror").fetchall() == [("html", 7)]


def test_close_during_a_checkpoint_in_a_thread(tmp_path: Path) -> None:
    """A cancelled run does not wait for its thread, and must not close the file under it."""
    with ThreadPoolExecutor(1) as threads:
        for number in range(40):
            state = State.open(tmp_path / f"state-{number}")
            for key in range(50):
                state.db.execute("INSERT INTO recipe (options) VALUES (?)", (f"{key} {'x' * 1000}",))
            folding = threads.submit(state.fold)
            state.close()
            assert folding.exception(timeout=10) is None


def _tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def _as_version(path: Path, version: int, *changes: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        for change in (*changes, f"PRAGMA user_version={version}"):
            db.execute(change)


@pytest.mark.parametrize(("version", "change"), [(5, ""), (99, ""), (6, ""), (11, "DROP TABLE page")])
def test_state_that_cannot_be_upgraded_is_unchanged(tmp_path: Path, version: int, change: str) -> None:
    """It has another version or lacks a part: the caller sets it aside."""
    State.open(tmp_path / "state").close()
    before = _tables(tmp_path / "state")
    _as_version(tmp_path / "state", version, *([change] if change else []))
    with pytest.raises(StateUnusable):
        State.open(tmp_path / "state")
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
    assert _tables(tmp_path / "state") == before - {change.removeprefix("DROP TABLE ")}


def test_foreign_database_is_unchanged(tmp_path: Path) -> None:
    """It is not taken for an empty state."""
    with closing(sqlite3.connect(tmp_path / "state")) as db, db:
        db.execute("CREATE TABLE mine AS SELECT 7 AS number")
    with pytest.raises(StateUnusable):
        State.open(tmp_path / "state")
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("SELECT number FROM mine").fetchall() == [(7,)]
