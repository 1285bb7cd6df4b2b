"""States of earlier versions, with nothing in them."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tests.upgrade.cases import CASES, HOST


def empty_state(path: Path, version: int) -> None:
    """Makes an empty state of version 6 or 7, with the tables of a mirror of that time."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(CASES[0].unpack(Path(folder))[0] / HOST / "_state.sqlite3")) as old,
        closing(sqlite3.connect(path)) as new,
    ):
        for (sql,) in old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite%'"):
            new.execute(sql)
        if version == 6:
            new.execute("ALTER TABLE page DROP COLUMN changed_at")
        new.execute(f"PRAGMA user_version={version}")
