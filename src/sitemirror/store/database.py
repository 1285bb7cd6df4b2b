"""The working state: every URL ever seen and what became of it, in SQLite. One writer; a kill loses no committed row.

`UrlTable` writes it in small batches, `StateReport` reads it for publishing; this module opens it and knows the run.
"""

from __future__ import annotations

import atexit
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, Final
from uuid import uuid4

from sitemirror.errors import DiskFull, OutputError
from sitemirror.store.bulk_insert import settle
from sitemirror.store.schema import CACHE, SCHEMA, TABLES, UPGRADES, VERSION, upgrade


class StateUnusable(Exception):
    """The file is not a state this program can read. The caller sets it aside and rebuilds."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run over a site, kept while it is unfinished so that the next command can go on with it."""

    number: int
    source_url: str
    source: int
    mode: str  # what was asked for ("sitemap:markdown", "links:html:update", "list"): another mode begins another run
    scope: str  # fingerprint of the settings that decide what is in scope
    started_at: str
    uuid: str
    discovered: bool = False
    finished: bool = False


# The disk's fault and not the file's: a good state must not be put aside for it. A quota that is used up is IOERR.
_DISK_REFUSES: Final = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
)


def peek(path: Path, name: str) -> Any:
    """A small fact from a state that is not opened yet, or is another's; None where there is none."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        # Of a state that was closed in good order nothing is left beside it, and looking must not leave anything.
        closed = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{closed}", uri=True)) as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
            return None if row is None else json.loads(row[0])
    except (OSError, sqlite3.Error, ValueError, TypeError):  # Whoever opens it will say what is wrong with it.
        return None


FORMAT: Final = "format"
"""In what format pages are saved here. All commands of a folder have the same."""

CUT_OFF: Final = "cut_off"
"""Set when the machine may have gone down under a run, until links are made anew: no row may tell of some in files."""


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
            elif version in UPGRADES:
                upgrade(db, version)
            elif version != VERSION:
                raise StateUnusable(f"made by another version of sitemirror (state version {version})")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"SELECT 1 FROM {', '.join(TABLES)} LIMIT 0")  # All are there.
            db.execute("SELECT count(*) FROM meta").fetchone()
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

    # --- small facts -------------------------------------------------------------------------------------------

    def get(self, name: str, default: Any = None) -> Any:
        row = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def put(self, name: str, value: Any) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    # --- runs --------------------------------------------------------------------------------------------------

    def last_run(self) -> RunInfo | None:
        found = self.get("run")
        return None if found is None else RunInfo(**found)

    def begin_run(self, *, source_url: str, mode: str, scope: str, started_at: str) -> RunInfo:
        """A new run, with a number of its own."""
        last = self.last_run()
        sources: list[str] = self.get("sources", [])
        if source_url not in sources:
            sources.append(source_url)
        run = RunInfo(
            number=(last.number if last else 0) + 1,
            source_url=source_url,
            source=sources.index(source_url) + 1,
            mode=mode,
            scope=scope,
            started_at=started_at,
            uuid=str(uuid4()),
        )
        with self.transaction():
            self.put("sources", sources)
            self.db.execute("DELETE FROM sitemap")
            self.save_run(run)
        return run

    def save_run(self, run: RunInfo) -> None:
        self.put("run", {name: getattr(run, name) for name in RunInfo.__slots__})

    @property
    def has_aliases(self) -> bool:
        """Whether a URL leads to another. Of a site where none does, much need not be asked."""
        return self.db.execute("SELECT 1 FROM url WHERE leads_to IS NOT NULL LIMIT 1").fetchone() is not None

    @property
    def empty(self) -> bool:
        return self.db.execute("SELECT 1 FROM url LIMIT 1").fetchone() is None
