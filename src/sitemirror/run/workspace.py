"""The run's folder: lock it, open or rebuild its state, and leave it so that a run can resume."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.errors import OutputError
from sitemirror.publish.file_names import MANIFEST, PROCESSED, STATE
from sitemirror.publish.progress import CorruptFile, check_checkpoint
from sitemirror.run.session import Session, unstamp
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store import paths
from sitemirror.store.database import RunInfo, State, StateUnusable
from sitemirror.store.disk import boot_id
from sitemirror.store.files import Draft, Tree
from sitemirror.store.journal import FileTree, JournalTree, recover
from sitemirror.store.link_targets import finish_relinking
from sitemirror.store.lock import FolderLock, OtherHostLocks
from sitemirror.store.paths import keep_free
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.safe_folders import symlink_refused
from sitemirror.store.url_record import fetch_whole, forget_files
from sitemirror.store.url_table import UrlTable
from sitemirror.text import counted

_REBUILT_FROM: Final = (MANIFEST, PROCESSED)


@dataclass(slots=True)
class Workspace:
    """An open, locked host folder. `home` is its name below the output folder."""

    tree: Tree
    reserve: Tree
    """The same folder without the disk guard, whose reserve is for progress and reports."""
    home: str
    authority: str  # the host as the site's URLs spell it
    state: State
    journal_tree: FileTree
    locks: ExitStack
    locked: set[str]
    fresh_start: bool  # no unfinished run is recorded
    was_killed: bool = False  # the last run, while the machine stayed up
    lost_power: bool = False  # the machine may have gone down during the last run
    last_started: datetime | None = None  # when that run began
    run: int = 0  # the run that writes here now
    has_left: bool = False
    others: OtherHostLocks | None = None

    @property
    def folder(self) -> Path:
        return self.tree.root / self.home

    def lock(self, host_folder: str) -> None:
        """Lock a host folder. A run locks every folder when it first writes to it."""
        if host_folder not in self.locked:
            if self.others is None:
                self.others = self.locks.enter_context(OtherHostLocks(self.tree.root))
            self.others.acquire(host_folder)
            self.locked.add(host_folder)
            if self.run:
                self._note_folders()

    def enter(self, run: RunInfo) -> None:
        """Record that a run writes here from now on, and the boot id of the machine."""
        self.run = run.number
        self._note_folders()

    def _note_folders(self) -> None:
        self.state.db.execute(
            "UPDATE run SET boot_id = ?, folders = ? WHERE id = ?",
            (boot_id() or "", json.dumps(sorted(self.locked)), self.run),
        )

    def note_end(self) -> None:
        """Record that writing has ended."""
        if self.run and not self.has_left:
            self.has_left = True
            self.state.db.execute("UPDATE run SET boot_id = NULL, folders = '[]' WHERE id = ?", (self.run,))

    async def leave(self) -> None:
        """Record that writing has ended, and close the state in a thread: other sites' runs go on."""
        self.note_end()
        await asyncio.to_thread(self.state.close)

    def file(self, name: str) -> str:
        """Path of one of the mirror's own files."""
        return f"{self.home}/{name}"


@contextmanager
def open_workspace(session: Session, url: str, *, state_file: str, checkpoint_file: str) -> Iterator[Workspace]:
    """Open the folder of a URL's host."""
    home, settings = paths.host_folder(url), session.settings
    tree = Tree(settings.output, min_free_mb=settings.min_free_mb)
    tree.prepare()
    tree.check_space()
    with ExitStack() as locks:
        locks.enter_context(FolderLock(tree.root / home))
        good_checkpoint = _check(session, tree, f"{home}/{checkpoint_file}")
        state, rebuilt = _open_state(session, tree, home, state_file)
        space = Workspace(
            tree=tree,
            reserve=tree.unguarded(),
            home=home,
            authority=urls.parts(url).authority,
            state=state,
            journal_tree=JournalTree(tree),
            locks=locks,
            locked={home},
            fresh_start=rebuilt or not good_checkpoint,
        )
        try:
            _sweep(space)
            recover(state.db, space.journal_tree)
            finish_relinking(state.db, space.journal_tree)
            yield space
            if not space.has_left:
                space.note_end()
        except sqlite3.OperationalError as error:
            raise state.refusal(error) from error
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise  # our own mistake, not a fault of the file
            state.db.close()
            _set_aside(tree, home, state_file)
            raise OutputError(
                f"{state_file} is damaged ({error}); it is kept as {state_file}.corrupt",
                hint="run the same command again: the state is rebuilt from the mirror",
            ) from error
        finally:
            state.close()


def _sweep(space: Workspace) -> None:
    """Delete the unfinished files of a killed run. Searching costs time, so only after a kill."""
    row = space.state.db.execute("SELECT boot_id, folders, started_at FROM run ORDER BY id DESC LIMIT 1").fetchone()
    if row is None:  # A new state, perhaps in place of one that recorded a kill.
        space.tree.sweep_temporary(space.home)
        return
    booted, folders, started_at = row
    if booted is None:
        return
    space.was_killed = bool(booted) and booted == boot_id()
    space.lost_power = not space.was_killed
    space.last_started = unstamp(started_at)
    for folder in {space.home, *json.loads(folders)}:
        space.lock(folder)
        space.tree.sweep_temporary(folder)


def _check(session: Session, tree: Tree, name: str) -> bool:
    """Validate the checkpoint. An invalid one is set aside, not deleted."""
    if not tree.exists(name):
        return True
    try:
        check_checkpoint(tree.read(name))
    except CorruptFile as error:
        tree.rename(name, f"{name}.corrupt")
        session.warn(f"{name} is damaged ({error}); kept as {name}.corrupt, and the sitemaps are read again")
        return False
    return True


def _open_state(session: Session, tree: Tree, home: str, state_file: str) -> tuple[State, bool]:
    """Open the state; True if it was rebuilt from the published files."""
    path = tree.root / home / state_file
    if path.is_symlink():  # SQLite would follow it, and create its tables there.
        raise symlink_refused([home, state_file])
    try:
        state = State.open(path)
    except StateUnusable as error:
        _set_aside(tree, home, state_file)
        session.warn(
            f"{state_file} cannot be used ({error}); kept as {state_file}.corrupt, and rebuilt from the mirror"
        )
        state = State.open(path)
    # Only the mirror's own state can be rebuilt, a listing's cannot.
    if state_file != STATE or not state.empty or state.last_run() is not None:
        return state, False
    names = [each.name for each in path.parent.iterdir()]
    if not any(name in names for name in _REBUILT_FROM):
        _warn_of_strangers(session, path.parent, names)
        return state, False
    from sitemirror.run.rebuild import rebuild  # A first run has nothing to rebuild.

    return state, rebuild(session.warn, state, tree, home)


def _warn_of_strangers(session: Session, folder: Path, names: list[str]) -> None:
    """Warn of other people's files where a mirror begins: a page's file may replace them."""
    # Our own have names that no page can have.
    strangers = [name for name in names if not name.startswith(".") and keep_free(name) == name]
    if strangers:
        session.warn(
            f"{folder} holds files that are not of this mirror, such as {min(strangers)}: "
            "where a page's file has the name of one, it takes its place"
        )


def _set_aside(tree: Tree, home: str, state_file: str) -> None:
    """Set aside an unusable state, replacing an earlier one."""
    for suffix in ("", "-wal", "-shm"):
        name = f"{home}/{state_file}{suffix}"
        if tree.exists(name):
            tree.remove(f"{name}.corrupt")
            tree.rename(name, f"{name}.corrupt")


def _trust(space: Workspace, processed: Iterator[str]) -> None:
    first = next(processed, None)
    if first is not None:  # rarely needed, and a large part of a rebuild's imports
        from sitemirror.run.rebuild import trust
        from sitemirror.store.restore import Restorer

        trust(Restorer(space.state), space.tree, space.home, chain([first], processed))


def open_table(session: Session, space: Workspace, run: RunInfo) -> tuple[UrlTable, ProcessedLog]:
    """Open the table of URLs and the log, after repairs for a kill or a power cut."""
    log = ProcessedLog(space.state, space.reserve, space.file(PROCESSED))
    space.locks.callback(log.close)
    with space.state.transaction():
        if space.lost_power:
            log.cut_back()
        _trust(space, log.mend())
    table = UrlTable(space.state, run)
    files = table.not_yet_durable()
    lost, others, there = set[int](), set[int](), set[int]()
    for _, page, path, digest in chain(files, _written_since(space, table)):
        data = space.tree.read(path) if space.tree.exists(path) else b""
        if not data.strip(b"\0") and digest != _OF_NOTHING:
            lost.add(page)
            continue
        there.add(page)
        if space.lost_power and sha256(data).digest() != digest:
            others.add(page)
    # One of two files may have been deleted while the machine stayed up.
    lost = lost if space.lost_power else lost - there
    with space.state.transaction() as db:
        forget_files(db, sorted(lost))
        fetch_whole(db, sorted(others - lost))
    lost |= others
    if files:
        synced = space.tree.sync([path for _, page, path, _ in files if page not in lost])
        table.durable(files, but={id for id, _, path, _ in files if path not in synced})
    if lost:
        session.warn(f"{counted(len(lost), 'page')} had not reached the disk when the last run ended; fetched again")
    return table, log


_OF_NOTHING: Final = sha256().digest()
_COARSE: Final = 2.0  # seconds: the resolution of mtimes on FAT


def _written_since(space: Workspace, table: UrlTable) -> Iterator[tuple[int, int, str, bytes | None]]:
    """List the files newer than the last run's start: the state may be older after a power cut."""
    if space.lost_power and space.last_started is not None:
        since = space.last_started.timestamp() - _COARSE
        yield from (file for file in table.durable_files() if (space.tree.mtime_seen(file[2]) or 0) >= since)


AT_ONCE: Final = 1_000
"""Files synced in one call: their names are held in memory meanwhile."""


async def force_to_disk(tree: Tree, table: UrlTable, watch: Stopwatch) -> None:
    """Force all files written so far to disk. Later writes wait."""
    after, last = -1, table.last_not_durable()
    while after < last and (files := table.not_yet_durable(after, AT_ONCE)):
        after = files[-1][0]
        with watch.waiting(Stage.FLUSH):
            synced = await asyncio.to_thread(tree.syncing([path for _, _, path, _ in files]))
        table.durable(files, but={id for id, _, path, _ in files if path not in synced})


@asynccontextmanager
async def written(draft: AbstractContextManager[Draft], watch: Stopwatch) -> AsyncIterator[Draft]:
    """Return a draft to write in one go. When the block ends, a thread forces it to disk."""
    with watch.working(Stage.PUBLISHING), ExitStack() as files:
        yield files.enter_context(draft)
        complete = files.pop_all()
    with watch.waiting(Stage.FLUSH):
        await in_thread(complete.close)


async def in_thread(call: Callable[[], None]) -> None:
    """Call it in a thread. If cancelled, wait for it: the folder's lock ends with the run."""
    ending = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        while not ending.done():
            with suppress(asyncio.CancelledError):  # A second cancellation does not make it faster.
                await asyncio.wait([ending])
        ending.exception()  # The run counts as cancelled, whatever the result.
        raise
