"""The run's folder: locked, its state opened or rebuilt, and left so that the next run can go on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.errors import OutputError
from sitemirror.publish.file_names import MANIFEST, PROCESSED, STATE
from sitemirror.publish.progress import CorruptFile, check_checkpoint
from sitemirror.run.session import Session
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store import paths
from sitemirror.store.database import CUT_OFF, RunInfo, State, StateUnusable
from sitemirror.store.disk import boot_id
from sitemirror.store.files import Draft, Tree
from sitemirror.store.link_targets import MarkdownLinkTargets
from sitemirror.store.lock import FolderLock, OtherHostLocks
from sitemirror.store.paths import keep_free
from sitemirror.store.placement import finish_moves
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.restore import TO_SETTLE
from sitemirror.store.safe_folders import symlink_refused
from sitemirror.store.url_table import UrlTable
from sitemirror.text import counted

"""The mirror's own state; another (that of a listing) cannot be rebuilt from the mirror."""

_REBUILT_FROM: Final = (MANIFEST, PROCESSED)


@dataclass(slots=True)
class Workspace:
    """An open, locked host folder. `home` is its name below the output folder."""

    tree: Tree
    reserve: Tree
    """The same folder without the disk guard, whose reserve is for this: to say where the run stands."""
    home: str
    authority: str  # the host as the site's URLs have it
    state: State
    locks: ExitStack
    locked: set[str]
    fresh_start: bool  # nothing is known of an unfinished run
    cut_off: bool = False  # the machine went down under the last run
    stayed_up: bool = False  # it certainly did not, so that all that was written is there
    in_doubt: bool = False  # the last run broke off, and the machine may have gone down under it
    has_left: bool = False
    others: OtherHostLocks | None = None

    @property
    def broke_off(self) -> bool:
        """Whether the last run was killed, or the machine went down under it."""
        return self.stayed_up or self.in_doubt

    @property
    def folder(self) -> Path:
        return self.tree.root / self.home

    def lock(self, host_folder: str) -> None:
        """A run locks every host folder it writes to, when it first does."""
        if host_folder not in self.locked:
            if self.others is None:
                self.others = self.locks.enter_context(OtherHostLocks(self.tree.root))
            self.others.acquire(host_folder)
            self.locked.add(host_folder)
            self.state.put("writing_to", sorted(self.locked))

    async def leave(self) -> None:
        """Notes that nothing more is written, and closes the state. Other sites' runs go on while the disk takes it."""
        self.state.put("writing_to", [])
        self.has_left = True
        await asyncio.to_thread(self.state.close)

    def file(self, name: str) -> str:
        return f"{self.home}/{name}"


@contextmanager
def open_workspace(session: Session, url: str, *, state_file: str, checkpoint_file: str) -> Iterator[Workspace]:
    """Takes the folder of a URL's host into use."""
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
            locks=locks,
            locked={home},
            fresh_start=rebuilt or not good_checkpoint,
        )
        try:
            _tidy(space)
            finish_moves(state, tree)
            MarkdownLinkTargets(state).finish_relinking(tree)
            yield space
            if not space.has_left and state.get("writing_to"):
                state.put("writing_to", [])
        except sqlite3.OperationalError as error:
            raise state.refusal(error) from error
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise  # our own mistake, not the file's
            state.db.close()
            _set_aside(tree, home, state_file)
            raise OutputError(
                f"{state_file} is damaged ({error}); it is kept as {state_file}.corrupt",
                hint="run the same command again: the state is rebuilt from the mirror",
            ) from error
        finally:
            state.close()


def _tidy(space: Workspace) -> None:
    """Clears away the half-written files of a run that was killed. Looking costs time, so only then."""
    before, booted = space.state.get("booted"), boot_id()
    if before is None:  # A new state, perhaps in the place of one that knew of a kill.
        space.tree.sweep_temporary(space.home)
    for folder in space.state.get("writing_to", []):
        space.lock(folder)
        space.tree.sweep_temporary(folder)
        space.cut_off = bool(before) and before != booted
        space.stayed_up = bool(before) and before == booted
        space.in_doubt = not space.stayed_up
    if space.in_doubt:
        space.state.put(CUT_OFF, True)
    with space.state.transaction():
        space.state.put("writing_to", sorted(space.locked))
        space.state.put("booted", booted)


def _check(session: Session, tree: Tree, name: str) -> bool:
    """Whether the checkpoint can be trusted. One that cannot is set aside, not thrown away."""
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
    """The state, and whether it had to be made anew from the published files."""
    path = tree.root / home / state_file
    if path.is_symlink():  # SQLite would follow it, and write its tables there.
        raise symlink_refused([home, state_file])
    try:
        state = State.open(path)
    except StateUnusable as error:
        _set_aside(tree, home, state_file)
        session.warn(
            f"{state_file} cannot be used ({error}); kept as {state_file}.corrupt, and rebuilt from the mirror"
        )
        state = State.open(path)
    if state.get(TO_SETTLE):
        from sitemirror.run.rebuild import settle_links

        settle_links(state)
    if state_file != STATE or not state.empty or state.last_run() is not None:
        return state, False
    names = [each.name for each in path.parent.iterdir()]
    if not any(name in names for name in _REBUILT_FROM):
        _tell_strangers(session, path.parent, names)
        return state, False
    from sitemirror.run.rebuild import rebuild  # A first run has nothing to rebuild.

    return state, rebuild(session, state, tree, home)


def _tell_strangers(session: Session, folder: Path, names: list[str]) -> None:
    """Warns of other people's files where a mirror is to begin: a page's file may take their place."""
    # Our own have names that no page can have.
    strangers = [name for name in names if not name.startswith(".") and keep_free(name) == name]
    if strangers:
        session.warn(
            f"{folder} holds files that are not of this mirror, such as {min(strangers)}: "
            "where a page's file has the name of one, it takes its place"
        )


def _set_aside(tree: Tree, home: str, state_file: str) -> None:
    """Keeps a state that cannot be used, in the place of one that was kept before."""
    for suffix in ("", "-wal", "-shm"):
        name = f"{home}/{state_file}{suffix}"
        if tree.exists(name):
            tree.remove(f"{name}.corrupt")
            tree.rename(name, f"{name}.corrupt")


def _trust(space: Workspace, processed: Iterator[str]) -> None:
    first = next(processed, None)
    if first is not None:  # which is rare, and takes much of what rebuilding takes
        from sitemirror.run.rebuild import trust
        from sitemirror.store.restore import Restorer

        trust(Restorer(space.state), space.tree, space.home, chain([first], processed))


def open_ledger(session: Session, space: Workspace, run: RunInfo) -> UrlTable:
    """The ledger, after mending what a kill or a power cut may have left: `_processed.txt` and unsynced pages."""
    log = ProcessedLog(space.state, space.reserve, space.file(PROCESSED))
    space.locks.callback(log.close)
    with space.state.transaction():
        if space.cut_off:
            log.cut_back()
        _trust(space, log.mend())
    ledger = UrlTable(space.state, run, log)
    lost, missing, there = set[int](), set[int](), set[int]()
    files = list(ledger.not_yet_durable())
    for id, path, digest in files:
        data = space.tree.read(path) if space.tree.exists(path) else None
        if data is None:
            missing.add(id)
        # A kill tears no file. One that is not as its row says had its links made local, and its row is behind.
        elif digest and not space.stayed_up and sha256(data).hexdigest() != digest:
            lost.add(id)
        else:
            there.add(id)
    lost |= missing if space.in_doubt else missing - there  # Of two files somebody may have deleted one.
    for id in lost:
        ledger.requeue(id)
    if files:
        synced = space.tree.sync([path for id, path, _ in files if id not in lost])
        ledger.durable(files, but={id for id, path, _ in files if path not in synced})
        ledger.commit()
    if lost:
        session.warn(f"{counted(len(lost), 'page')} had not reached the disk when the last run ended; fetched again")
    return ledger


AT_ONCE: Final = 1_000
"""Pages that are forced onto the disk at one time: their names are held in memory meanwhile."""


async def force_to_disk(tree: Tree, ledger: UrlTable, watch: Stopwatch) -> None:
    """Returns when all pages that were saved before are on the disk. What is saved meanwhile has to wait."""
    after, last = -1, ledger.last_not_durable()
    while after < last and (fresh := list(ledger.not_yet_durable(after, AT_ONCE))):
        after = fresh[-1][0]
        with watch.waiting(Stage.FLUSH):
            synced = await asyncio.to_thread(tree.syncing([path for _, path, _ in fresh]))
        ledger.durable(fresh, but={id for id, path, _ in fresh if path not in synced})


@asynccontextmanager
async def written(draft: AbstractContextManager[Draft], watch: Stopwatch) -> AsyncIterator[Draft]:
    """A draft to write to in one go. When the block ends, a thread forces it onto the disk."""
    with watch.working(Stage.PUBLISHING), ExitStack() as files:
        yield files.enter_context(draft)
        complete = files.pop_all()
    with watch.waiting(Stage.FLUSH):
        await in_thread(complete.close)


async def in_thread(call: Callable[[], None]) -> None:
    """Calls it in a thread, while other sites' runs go on. Cancelled, it waits: the folder's lock goes with the run."""
    ending = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        while not ending.done():
            with suppress(asyncio.CancelledError):  # Being cancelled twice makes it no faster.
                await asyncio.wait([ending])
        ending.exception()  # The run is told as cancelled, whatever came of this.
        raise
