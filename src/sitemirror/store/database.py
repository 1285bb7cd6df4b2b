"""The working state: every URL ever seen and what became of it, in SQLite. One writer; a kill loses no committed row.

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
from sitemirror.store.bulk_insert import settle
from sitemirror.store.migrate import OLD_VERSIONS, migrate
from sitemirror.store.tables import CACHE, SCHEMA, TABLES, VERSION, Phase

T = TypeVar("T")


class StateUnusable(Exception):
    """The file is not a state this program can read. The caller sets it aside and rebuilds."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run over a site. While it is unfinished the same command goes on with it."""

    number: int
    source_url: str
    source: int  # the row of the start URL
    mode: str  # what was asked for ("sitemap:markdown", "links:html:update", "list"): another mode begins another run
    scope: str  # fingerprint of the settings that decide what is in scope
    started_at: str
    uuid: str
    phase: Phase = Phase.DISCOVERING

    @property
    def discovered(self) -> bool:
        """True if all sitemaps were read."""
        return self.phase is not Phase.DISCOVERING

    @property
    def finished(self) -> bool:
        """True if everything was visited and decided."""
        return self.phase is Phase.FINISHED

    @property
    def by_links(self) -> bool:
        """True for a crawl."""
        return self.mode.startswith("links")


# The disk's fault and not the file's: a good state must not be put aside for it. A quota that is used up is IOERR.
_DISK_REFUSES: Final = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)


def peek(path: Path, read: Callable[[sqlite3.Connection], T]) -> T | None:
    """Read a mirror whose state is not opened yet, or is another's; None where there is none."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        # Of a state that was closed in good order nothing is left beside it, and looking must not leave anything.
        closed = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{closed}", uri=True)) as db:
            return read(db)
    except (OSError, sqlite3.Error, TypeError):  # Whoever opens it will say what is wrong with it.
        return None


def host_pauses(db: sqlite3.Connection) -> str:
    """The pauses that hosts asked for, as the last run noted them."""
    return str(db.execute("SELECT host_pauses FROM mirror").fetchone()[0])


def source_before(db: sqlite3.Connection, start_url: str) -> str | None:
    """Source of URLs ("sitemap", "links") of the mirror's last run from this start URL, if it knew its URLs."""
    row = db.execute(
        "SELECT mode, listing_run FROM run JOIN start ON start.id = start_id JOIN mirror ON format IS NOT NULL"
        f" WHERE start.url = ? AND phase != {Phase.DISCOVERING} ORDER BY run.id DESC LIMIT 1",
        (start_url,),
    ).fetchone()
    if row is None:
        return None
    mode, listing_run = row
    # A rebuilt state knows what kind of run was complete, but not its mode.
    return mode.partition(":")[0] if mode else "links" if listing_run is None else "sitemap"


@cache
def _empty() -> sqlite3.Connection:
    """A state with nothing in it. A copy of it takes less than half of what making the tables takes."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
    atexit.register(db.close)
    return db


class State:
    """An open state file."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.db = db
        self._folded = -1  # changes that are in the file itself
        self._folding = RLock()

    @classmethod
    def open(cls, path: Path) -> State:
        """Opens or creates the state at `path`; raises `StateUnusable` for a damaged or foreign file."""
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
                # Waiting for the disk six times to make empty tables safe: a power cut now costs nothing but them.
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
            db.execute(f"SELECT 1 FROM {', '.join(TABLES)} LIMIT 0")  # All are there.
            db.execute("SELECT format FROM mirror").fetchone()
            db.execute("SELECT max(id) FROM url").fetchone()
            settle(db)
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
        """Leaves nothing open. What was written last is folded into the file."""
        with self._folding:  # A run that is cancelled comes here while a thread may still be at it.
            self.fold()
            self.db.close()

    def fold(self) -> None:
        """Folds the write-ahead log into the file, so that a finished mirror is one state file and no more.

        Waits for the disk. May run in a thread while nobody else uses the state.
        """
        with self._folding:
            try:
                if self.db.total_changes == self._folded:
                    return
                self.commit()
                self.db.execute("PRAGMA optimize")
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._folded = self.db.total_changes
            except sqlite3.Error:  # A full disk must not hide the error that brought us here; and it may be closed.
                pass

    def refusal(self, error: sqlite3.OperationalError) -> OutputError:
        """What the disk did to the state in the middle of a run, with the next step. What was committed is safe."""
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            return DiskFull(
                f"Insufficient disk space: the disk is full, {self.path.name} was not written",
                hint="free some space, then run the same command: it resumes",
            )
        return OutputError(f"cannot write {self.path}: {error}", hint="check the disk, then run the same command")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; joins a batch that is already open."""
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
        """Begins a batch, unless one is open. What is written from then on lasts once it is committed."""
        if not self.db.in_transaction:
            self.db.execute("BEGIN")

    def commit(self) -> None:
        """Makes the batch last, if there is one."""
        if self.db.in_transaction:
            self.db.execute("COMMIT")

    def number(self, query: str, values: Sequence[object] = ()) -> int:
        """The answer to a query that counts."""
        return int(self.db.execute(query, values).fetchone()[0])

    # --- the mirror and its runs -------------------------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """A column of the mirror's row."""
        return self.db.execute(f"SELECT {name} FROM mirror").fetchone()[0]

    def set_facts(self, **facts: object) -> None:
        """Changes columns of the mirror's row."""
        self.db.execute(f"UPDATE mirror SET {', '.join(f'{name} = ?' for name in facts)}", tuple(facts.values()))

    def last_run(self) -> RunInfo | None:
        """The run that began last."""
        row = self.db.execute(
            "SELECT run.id, start.url, start_id, mode, scope, started_at, uuid, phase FROM run"
            " JOIN start ON start.id = start_id ORDER BY run.id DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        number, url, start, mode, scope, started_at, uuid, phase = row
        return RunInfo(number, url, start, mode, scope, started_at, uuid, Phase(phase))

    def begin_run(self, *, source_url: str, mode: str, scope: str, started_at: str) -> RunInfo:
        """A new run, with a number of its own."""
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

    def set_phase(self, run: RunInfo, phase: Phase, at: str | None = None) -> RunInfo:
        """Notes how far a run has come, and when it was finished."""
        self.db.execute("UPDATE run SET phase = ?, finished_at = ? WHERE id = ?", (phase, at, run.number))
        return replace(run, phase=phase)

    @property
    def has_aliases(self) -> bool:
        """True if a URL leads to another. Of a site where none does, much need not be asked."""
        return self.db.execute("SELECT 1 FROM url WHERE target_id IS NOT NULL LIMIT 1").fetchone() is not None

    @property
    def empty(self) -> bool:
        """True if no URL is known."""
        return self.db.execute("SELECT 1 FROM url LIMIT 1").fetchone() is None
