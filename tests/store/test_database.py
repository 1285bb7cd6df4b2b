"""The state's file, from its creation to its end."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror.reasons import Reason
from sitemirror.store.database import State, StateUnusable
from sitemirror.store.tables import UrlState
from tests.store.older import to_version_6, to_version_8


def test_closed_state_is_one_file(tmp_path: Path) -> None:
    """All writes are in the file itself, also after an earlier checkpoint."""
    state = State.open(tmp_path / "state")
    state.put("one", 1)
    state.fold()
    state.put("two", 2)
    state.close()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert dict(db.execute("SELECT name, value FROM meta WHERE name IN ('one', 'two')")) == {"one": "1", "two": "2"}


def test_close_during_a_checkpoint_in_a_thread(tmp_path: Path) -> None:
    """A cancelled run does not wait for its thread, and must not close the file under it."""
    with ThreadPoolExecutor(1) as threads:
        for number in range(40):
            state = State.open(tmp_path / f"state-{number}")
            for key in range(50):
                state.put(str(key), "x" * 1000)
            folding = threads.submit(state.fold)
            state.close()
            assert folding.exception(timeout=10) is None


def _as_version(path: Path, version: int, *changes: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        for change in (*changes, f"PRAGMA user_version={version}"):
            db.execute(change)


def _columns(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return sorted(row[1:] for row in db.execute("PRAGMA table_info(page)"))


def test_older_state_is_upgraded(tmp_path: Path) -> None:
    """Its pages count as unchanged since their last fetch; nothing else is touched, and only once."""
    state = State.open(tmp_path / "state")
    columns = _columns(state.db)
    page = "INSERT INTO page (id, path, wanted, fold, size, fetched_at, received) VALUES (?, ?, '', '', 1, ?, 'hash')"
    state.db.executemany(page, [(1, "a", "2026-01-03T20:00:00Z"), (2, "b", "")])
    state.close()
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        to_version_6(db)
    for changed_at in ("2026-01-03T20:00:00Z", "2026-01-01T20:00:00Z"):
        with closing(State.open(tmp_path / "state")) as state:
            assert _columns(state.db) == columns
            rows = state.db.execute("SELECT path, received, changed_at FROM page ORDER BY id").fetchall()
            assert rows == [("a", "hash", changed_at), ("b", "hash", "")]
            state.db.execute("UPDATE page SET changed_at = '2026-01-01T20:00:00Z' WHERE id = 1")


def test_what_became_of_a_url_survives_an_upgrade(tmp_path: Path) -> None:
    """State, being gone and the reason of an alias come out of the one number that an older state has for them."""
    moment, moved, same = "2026-01-03T20:00:00Z", Reason.MOVED, Reason.DUPLICATE
    told = [
        (UrlState.QUEUED, None, None),
        (UrlState.PAGE, None, None),
        (UrlState.PAGE, moment, None),
        (UrlState.ALIAS, None, moved),
        (UrlState.ALIAS, None, same),
        (UrlState.FAILED, None, Reason.TIMED_OUT),
        (UrlState.SKIPPED, None, Reason.TOO_LARGE),
        (UrlState.EXCLUDED, None, Reason.ROBOTS),
        (UrlState.EXCLUDED, moment, Reason.ROBOTS),
        (UrlState.QUEUED, moment, None),
    ]
    columns = "INSERT INTO url (id, key, url, listed_run, source, sitemap, state, gone_since, reason)"
    with closing(State.open(tmp_path / "state")) as state:
        state.db.executemany(
            f"{columns} VALUES (?, ?, '', 1, 1, 1, ?, ?, ?)", [(n, bytes([n]), *row) for n, row in enumerate(told)]
        )
        page = "INSERT INTO page (id, path, wanted, fold, size, fetched_at) VALUES (?, 'a', 'a', '', 1, '')"
        state.db.executemany(page, [(1,), (2,)])
        statuses = state.db.execute("SELECT status FROM url ORDER BY id").fetchall()
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        to_version_8(db)
        assert db.execute("SELECT status FROM url ORDER BY id").fetchall() == statuses
    with closing(State.open(tmp_path / "state")) as state:
        assert state.db.execute("SELECT state, gone_since, reason FROM url ORDER BY id").fetchall() == told
        assert state.db.execute("SELECT status FROM url ORDER BY id").fetchall() == statuses


@pytest.mark.parametrize(("version", "change"), [(5, ""), (99, ""), (6, "DROP TABLE page")])
def test_state_that_cannot_be_upgraded_is_unchanged(tmp_path: Path, version: int, change: str) -> None:
    """It has another version or lacks a part: the caller sets it aside."""
    State.open(tmp_path / "state").close()
    _as_version(tmp_path / "state", version, *([change] if change else []))
    with pytest.raises(StateUnusable):
        State.open(tmp_path / "state")
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)


def test_foreign_database_is_unchanged(tmp_path: Path) -> None:
    """It is not taken for an empty state."""
    with closing(sqlite3.connect(tmp_path / "state")) as db, db:
        db.execute("CREATE TABLE mine AS SELECT 7 AS number")
    with pytest.raises(StateUnusable):
        State.open(tmp_path / "state")
    with closing(sqlite3.connect(tmp_path / "state")) as db:
        assert db.execute("SELECT number FROM mine").fetchall() == [(7,)]
