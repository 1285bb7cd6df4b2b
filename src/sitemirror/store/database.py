"""The state of a mirror in SQLite: every URL and its result. A kill loses no committed row.

`UrlTable` writes it in small batches, `StateReport` reads it for publishing; this module opens it and knows the run.
"""

from __future__ import annotations

import atexit
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar
from uuid import uuid4

from sitemirror.errors import DiskFull, OutputError
from sitemirror.store.bulk_insert import complete_bulk_insert
from sitemirror.store.migrate import OLD_VERSIONS, migrate
from sitemirror.store.tables import CACHE, SCHEMA, TABLES, VERSION, RunPhase

T = TypeVar("T")


class StateUnusable(Exception):
    """The file is not a state that this program can read. The caller sets it aside and rebuilds."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run over a site. The same command resumes it until it is finished."""

    number: int
    source_url: str
    source: int  # the row of the start URL
    mode: str  # the command ("sitemap:markdown", "links:html:update", "list"): another mode begins another run
    scope: str  # fingerprint of the settings that define the scope
    started_at: str
    uuid: str
    phase: RunPhase = RunPhase.DISCOVERING

    @property
    def discovered(self) -> bool:
        """True if all sitemaps were read."""
        return self.phase is not RunPhase.DISCOVERING

    @property
    def finished(self) -> bool:
        """True if everything was visited and decided."""
        return self.phase is RunPhase.FINISHED

    @property
    def by_links(self) -> bool:
        """True for a crawl."""
        return self.mode.startswith("links")


# A fault of the disk, not of the file: a good state must not be set aside for it. An exceeded quota is IOERR.
_DISK_REFUSES: Final = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)


def peek(path: Path, read: Callable[[sqlite3.Connection], T]) -> T | None:
    """Read something of a mirror whose state is not open; None if there is none."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        # A state that was closed properly has no files beside it, and reading must not create any.
        closed = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{closed}", uri=True)) as db:
            return read(db)
    except (OSError, sqlite3.Error, TypeError):  # Opening it will report the fault.
        return None


def host_pauses(db: sqlite3.Connection) -> str:
    """The pauses that hosts asked for, as the last run noted them."""
    return str(db.execute("SELECT host_pauses FROM mirror").fetchone()[0])


def source_before(db: sqlite3.Connection, start_url: str) -> str | None:
    """Source of URLs ("sitemap", "links") of the last run from this start URL, if known."""
    row = db.execute(
        "SELECT mode, listing_run FROM run JOIN start ON start.id = start_id JOIN mirror ON format IS NOT NULL"
        f" WHERE start.url = ? AND phase != {RunPhase.DISCOVERING} ORDER BY run.id DESC LIMIT 1",
        (start_url,),
    ).fetchone()
    if row is None:
        return None
    mode, listing_run = row
    # A rebuilt state knows what kind of run was complete, but not its mode.
    return mode.partition(":")[0] if mode else "links" if listing_run is None else "sitemap"


@cache
def _empty() -> sqlite3.Connection:
    """Return an empty state as bytes. A copy takes less than half the time of creating the tables."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
    atexit.register(db.close)
    return db


class State:
    """An open state file."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db
        self._folded = -1  # value of `total_changes` when the log was last folded
        self._folding = RLock()

    @classmethod
    def open(cls, path: Path) -> State:
        """Open or create the state at `path`. Raises `StateUnusable` for a damaged or foreign file."""
        try:
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except sqlite3.OperationalError as error:
            hint = "move that folder away" if path.is_dir() else "check the folder's permissions"
            raise OutputError(f"cannot open {path}: {error}", hint=hint) from error
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                if db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None:
                    raise StateUnusable("a database of something else")
                # No sync for six commits of empty tables: a power cut would lose nothing else.
                db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA cache_size={CACHE}")
            db.execute("PRAGMA temp_store=FILE")
            if version == 0:
                _empty().backup(db)
            elif version in OLD_VERSIONS:
                migrate(db, version)
            elif version != VERSION:
                raise StateUnusable(f"made by another version of sitemirror (state version {version})")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"SELECT 1 FROM {', '.join(TABLES)} LIMIT 0")  # All of them exist.
            db.execute("SELECT format FROM mirror").fetchone()
            db.execute("SELECT max(id) FROM url").fetchone()
            complete_bulk_insert(db)
        except sqlite3.OperationalError as error:
            db.close()
            if error.sqlite_errorcode & 0xFF in _DISK_REFUSES:
                raise OutputError(f"cannot write {path}: {error}", hint="check permissions and free space") from error
            raise StateUnusable(str(error)) from error
        except sqlite3.DatabaseError as error:
            db.close()
            raise StateUnusable(str(error)) from error
        except StateUnusable:
            db.close()
            raise
        return cls(path, db)

    def close(self) -> None:
        """Close the state. The write-ahead log is folded into the file."""
        with self._folding:  # A cancelled run comes here while a thread may still use the state.
            self.fold()
            self.db.close()

    def fold(self) -> None:
        """Fold the write-ahead log into the file, so that the state of a finished mirror is one file.

        Waits for the disk. May run in a thread while nothing else uses the state.
        """
        with self._folding:
            try:
                if self.db.total_changes == self._folded:
                    return
                self.commit()
                self.db.execute("PRAGMA optimize")
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._folded = self.db.total_changes
            except sqlite3.Error:  # A full disk must not hide the original error; and the state may be closed.
                pass

    def refusal(self, error: sqlite3.OperationalError) -> OutputError:
        """Make the error for a disk fault during a run, with the next step. Committed rows are safe."""
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            return DiskFull(
                f"Insufficient disk space: the disk is full, {self.path.name} was not written",
                hint="free some space, then run the same command: it resumes",
            )
        return OutputError(f"cannot write {self.path}: {error}", hint="check the disk, then run the same command")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit all or nothing; joins an open batch."""
        if self.db.in_transaction:
            yield self.db
            return
        self.db.execute("BEGIN")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def begin(self) -> None:
        """Begin a batch, unless one is open."""
        if not self.db.in_transaction:
            self.db.execute("BEGIN")

    def commit(self) -> None:
        """Commit the batch, if there is one."""
        if self.db.in_transaction:
            self.db.execute("COMMIT")

    def number(self, query: str, values: Sequence[object] = ()) -> int:
        """Return the result of a query that counts."""
        return int(self.db.execute(query, values).fetchone()[0])

    # --- the mirror and its runs -------------------------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """Return a column of the mirror's row."""
        return self.db.execute(f"SELECT {name} FROM mirror").fetchone()[0]

    def set_facts(self, **facts: object) -> None:
        """Change columns of the mirror's row."""
        self.db.execute(f"UPDATE mirror SET {', '.join(f'{name} = ?' for name in facts)}", tuple(facts.values()))

    def last_run(self) -> RunInfo | None:
        """Return the run that began last."""
        row = self.db.execute(
            "SELECT run.id, start.url, start_id, mode, scope, started_at, uuid, phase FROM run"
            " JOIN start ON start.id = start_id ORDER BY run.id DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        number, url, start, mode, scope, started_at, uuid, phase = row
        return RunInfo(number, url, start, mode, scope, started_at, uuid, RunPhase(phase))

    def begin_run(self, *, source_url: str, mode: str, scope: str, started_at: str) -> RunInfo:
        """Begin a run with a number of its own."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO start (url) VALUES (?)", (source_url,))
            db.execute("DELETE FROM sitemap")
            db.execute(
                "INSERT INTO run (id, start_id, uuid, mode, scope, started_at)"
                " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM run),"
                " (SELECT id FROM start WHERE url = ?), ?, ?, ?, ?)",
                (source_url, str(uuid4()), mode, scope, started_at),
            )
        run = self.last_run()
        assert run is not None
        return run

    def set_phase(self, run: RunInfo, phase: RunPhase, at: str | None = None) -> RunInfo:
        """Record the run's phase, and when it was finished."""
        self.db.execute("UPDATE run SET phase = ?, finished_at = ? WHERE id = ?", (phase, at, run.number))
        return replace(run, phase=phase)

    @property
    def has_aliases(self) -> bool:
        """True if any alias exists. Without aliases, many queries can be skipped."""
        return self.db.execute("SELECT 1 FROM url WHERE target_id IS NOT NULL LIMIT 1").fetchone() is not None

    @property
    def empty(self) -> bool:
        """True if no URL is known."""
        return self.db.execute("SELECT 1 FROM url LIMIT 1").fetchone() is None
