"""Reads a state file that no run has open, without writing a byte: to compare it with what is published."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sitemirror.store.schema import UNTOLD_ONCE_GONE, UPGRADES, VERSION, Row

_TOLD: Final = f"CASE status WHEN {Row.GONE} THEN NOT ({UNTOLD_ONCE_GONE}) ELSE run != 0 OR status = {Row.SAVED} END"


class NoGlance(Exception):
    """The state cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class HtmlFile:
    """A saved HTML page or an asset, as the state has it."""

    path: str  # from the output folder
    size: int | None
    sha256: str | None
    localized: bool  # its links lead to files
    has_twins: bool  # other pages were found to be the same


class Glance:
    """An open state."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def urls(self) -> Iterator[tuple[bytes, str]]:
        """(key, url) of every URL that the manifest must name.

        What was met on the way of a redirect only is told under the name that led to it, unless it is a page.
        """
        yield from self._db.execute(f"SELECT key, url FROM url WHERE {_TOLD} ORDER BY url")

    def passed(self) -> Iterator[bytes]:
        """Keys of the others."""
        for row in self._db.execute(f"SELECT key FROM url WHERE NOT ({_TOLD})"):
            yield row[0]

    def html_files(self) -> Iterator[HtmlFile]:
        for path, size, digest, local_at, has_twins in self._db.execute(
            f"SELECT html_path, html_size, html_sha256, local_at,"
            f" id IN (SELECT leads_to FROM url WHERE status = {Row.TWIN}) FROM page JOIN url USING (id)"
            f" WHERE status = {Row.SAVED} AND html_path IS NOT NULL"
        ):
            yield HtmlFile(path, size, digest, bool(local_at), bool(has_twins))


@contextmanager
def glance(path: Path) -> Iterator[Glance]:
    """The state at `path`, which must have no write-ahead log beside it. Raises `NoGlance`."""
    try:
        # Immutable: SQLite would make files of its own beside the state otherwise.
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise NoGlance(str(error)) from error
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION and version not in UPGRADES:  # What is read here they have in common.
            raise NoGlance(f"made by another version of sitemirror (state version {version})")
        yield Glance(db)
    except sqlite3.Error as error:
        raise NoGlance(str(error)) from error
    finally:
        db.close()
