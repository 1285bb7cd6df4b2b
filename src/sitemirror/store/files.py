"""Files of a mirror: whole or not at all, inside its folder, never through a symlink, pipe or device."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from sitemirror import failpoint
from sitemirror.errors import OutputError
from sitemirror.store.disk import (
    DiskGuard,
    Space,
    others_sync,
    refusal,
    refusals_of,
    space,
    sync_file_system,
    syncs_begun,
)
from sitemirror.store.safe_folders import (
    Folders,
    Kind,
    NotAFile,
    OpenFolder,
    folders_of,
    is_contained,
    is_link,
    symlink_refused,
)
from sitemirror.text import printable

TEMPORARY: Final = re.compile(r"\.sitemirror [0-9a-f]{16}\.tmp")
"""Names of unfinished files. `paths.py` makes no name with a space, so no page has one of these."""

# O_NONBLOCK: opening a planted pipe must not wait for its other end.
_CAREFUL: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
READ: Final = os.O_RDONLY | _CAREFUL
_APPEND: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | _CAREFUL
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFUL
_SYNC: Final = os.O_RDWR | _CAREFUL if os.name == "nt" else READ  # Windows syncs only what is open for writing.
_UTIME_NO_FOLLOW: Final = os.utime in os.supports_follow_symlinks

_BLOCK: Final = 64 * 1024
_DRAFT_BUFFER: Final = 256 * 1024
_FEW: Final = 16  # Up to so many files are synced one by one, without waiting for files of other programs.


def _names_of(rel: str) -> list[str]:
    """Split a path of the tree; refuse one that could lead elsewhere."""
    if not is_contained(rel):
        raise OutputError(
            f"{printable(rel, limit=300)!r} is not a path inside the output folder",
            hint="the mirror's state may be damaged; report it if you did not change it",
        )
    return rel.split("/")


def _open(parent: OpenFolder, names: list[str], flags: int) -> int:
    """Open the regular file `names[-1]` in `parent`; the other names are for the message."""
    try:
        return parent.open(names[-1], flags)
    except NotAFile as error:
        if error.kind is Kind.LINK:
            raise symlink_refused(names) from None
        raise OutputError(
            f"{printable('/'.join(names), limit=300)} in the output folder is not a file",
            hint="move it away or choose another --output",
        ) from None


def _write_all(fd: int, data: bytes | bytearray) -> None:
    """Write all of `data`: the system may accept less at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _replace(parent: OpenFolder, temporary: str, name: str) -> str:
    """Rename a finished file to `name`, replacing what has that name."""
    os.replace(parent.at(temporary), parent.at(name), src_dir_fd=parent.fd, dst_dir_fd=parent.fd)
    return name


def _put_beside(parent: OpenFolder, temporary: str, name: str) -> str:
    """Rename a finished file to the first free name of `a.md`, `a-2.md`, `a-3.md` …; return it."""
    stem, dot, extension = name.rpartition(".")
    for number in count(2):
        try:
            _put_new(parent, temporary, name)
        except FileExistsError:
            name = f"{stem}-{number}{dot}{extension}"
        else:
            break
    return name


def _put_new(parent: OpenFolder, temporary: str, name: str) -> None:
    # Link instead of looking first: another process may take the name between the two.
    try:
        os.link(parent.at(temporary), parent.at(name), src_dir_fd=parent.fd, dst_dir_fd=parent.fd)
    except FileExistsError:
        raise
    except OSError:  # FAT has no hard links.
        os.close(os.open(parent.at(name), _NEW, 0o666, dir_fd=parent.fd))
        _replace(parent, temporary, name)
    else:
        _discard(parent, temporary)


def _discard(parent: OpenFolder, name: str) -> None:
    """Remove a file if it exists."""
    with suppress(FileNotFoundError):
        os.unlink(parent.at(name), dir_fd=parent.fd)


class Draft:
    """An unfinished file, invisible under its own name until it is complete."""

    def __init__(self, fd: int, below: str, rel: str, parent: OpenFolder, guard: DiskGuard) -> None:
        self._fd = fd
        self._below = below
        self.rel = rel  # its final path
        self._parent = parent
        self._guard = guard
        self._pending = bytearray()

    def write(self, data: bytes) -> int:
        self._pending += data
        if len(self._pending) >= _DRAFT_BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        with refusals_of(self._below + self.rel):
            self._guard.check(self._parent.handle)
            _write_all(self._fd, self._pending)
        self._pending.clear()


class LineLog:
    """An append-only file of lines. Opening it cuts off a last line that a crash has torn."""

    def __init__(self, fd: int, shown: str, parent: OpenFolder, guard: DiskGuard, opened: ExitStack) -> None:
        self._fd = fd
        self._shown = shown
        self._parent = parent
        self._guard = guard
        self.size = _cut_torn_line(fd)
        self._opened = opened.pop_all()  # Last: until then the caller closes them.

    def append(self, lines: bytes) -> None:
        """Append whole lines, each with its newline: all of them, or none and an error."""
        if not lines.endswith(b"\n"):
            raise ValueError("a line ends with a newline")
        with refusals_of(self._shown):
            self._guard.check(self._parent.handle)
            try:
                _write_all(self._fd, lines)
            except OSError:
                os.ftruncate(self._fd, self.size)
                raise
        self.size += len(lines)

    def cut(self, size: int) -> None:
        """Truncate the log to the whole lines within its first `size` bytes."""
        with refusals_of(self._shown):
            os.ftruncate(self._fd, size)
        self.size = _cut_torn_line(self._fd)

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> LineLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut_torn_line(fd: int) -> int:
    """Truncate the file after its last newline; return its size."""
    end = size = os.lseek(fd, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(fd, start, os.SEEK_SET)
        newline = os.read(fd, end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(fd, end)
    return end


class Tree:
    """One output folder. Paths are POSIX, relative to it, and made by `paths.py`."""

    def __init__(
        self,
        root: Path,
        *,
        min_free_mb: int,
        measure: Callable[[int | str], Space] = space,
        reach: Callable[[str], Folders] = folders_of,
    ) -> None:
        self.root = root
        self._below = f"{root}{os.sep}"
        self._measure = measure
        self._guard = DiskGuard(self._below, min_free_mb, measure)
        with refusals_of(root):  # The working directory may have been deleted.
            self._folders = reach(os.path.realpath(root))
        self._token = secrets.token_hex(4)
        self._numbers = count()

    def unguarded(self) -> Tree:
        """The same folder without the disk guard."""
        tree = copy(self)
        tree._guard = DiskGuard(self._below, 0, self._measure)
        return tree

    def prepare(self) -> None:
        """Create the output folder and check that files can be created in it."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            is_lost = any(path.is_symlink() and not path.exists() for path in (self.root, *self.root.parents))
            what = "a symlink that leads nowhere" if is_lost else "a file"
            raise OutputError(
                f"{self.root} cannot be the output folder: it is or lies under {what}", hint="choose another --output"
            ) from None
        except FileNotFoundError:  # /proc refuses new folders in this way.
            raise OutputError(
                f"{self.root} cannot be the output folder: no folder can be made there", hint="choose another --output"
            ) from None
        except OSError as error:
            raise refusal(error, self.root) from error
        with refusals_of(self.root), self._folders.find(()) as root:
            fd, temporary = self._new(root)
            os.close(fd)
            os.unlink(root.at(temporary), dir_fd=root.fd)

    def check_space(self) -> None:
        """Raise `DiskFull` under the limit. Every write checks by itself; this is for before the start."""
        with refusals_of(self.root), self._folders.find(()) as root:
            self._guard.check(root.handle)

    def write(self, rel: str, data: bytes) -> None:
        """Write a whole file, replacing a file or symlink; its folders are created. `sync` makes it durable."""
        with self._draft(rel, _replace, "file") as draft:
            draft.write(data)

    def replace_with(self, rel: str) -> AbstractContextManager[Draft]:
        """A draft that becomes the file `rel`, durably, when the block ends well, and vanishes otherwise."""
        return self._draft(rel, _replace, "draft", sync=True)

    def add(self, rel: str) -> AbstractContextManager[Draft]:
        """The same without replacing a file: `a.md` becomes `a-2.md` where it exists; see `draft.rel`."""
        return self._draft(rel, _put_beside, "draft", sync=True)

    @contextmanager
    def _draft(
        self, rel: str, put: Callable[[OpenFolder, str, str], str], step: str, *, sync: bool = False
    ) -> Iterator[Draft]:
        *above, name = _names_of(rel)
        with refusals_of(self._below + rel), self._folders.make(above) as parent:
            self._guard.check(parent.handle)
            fd, temporary = self._new(parent)
            try:
                try:
                    draft = Draft(fd, self._below, rel, parent, self._guard)
                    yield draft
                    draft.flush()
                    if sync:
                        os.fsync(fd)
                finally:
                    os.close(fd)
                failpoint.reached(f"{step}-written")
                draft.rel = "/".join((*above, put(parent, temporary, name)))
                failpoint.reached(f"{step}-renamed")
            except BaseException:
                _discard(parent, temporary)
                raise

    def log(self, rel: str) -> LineLog:
        """Open the log at `rel` for appending; a torn last line is cut off."""
        names = _names_of(rel)
        with refusals_of(self._below + rel), ExitStack() as opened:
            parent = opened.enter_context(self._folders.make(names[:-1]))
            fd = _open(parent, names, _APPEND)
            opened.callback(os.close, fd)
            return LineLog(fd, self._below + rel, parent, self._guard, opened)

    def append(self, rel: str, lines: bytes) -> None:
        """Append whole lines to the log at `rel`."""
        with self.log(rel) as log:
            log.append(lines)

    def stat(self, rel: str) -> os.stat_result | None:
        """`lstat` of the file or folder `rel`; `None` for nothing and for a symlink."""
        *above, name = _names_of(rel)
        try:
            with self._folders.find(above) as parent:
                found = parent.stat(name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusal(error, self._below + rel) from error
        return None if is_link(found) else found

    def exists(self, rel: str) -> bool:
        """True if `rel` is a regular file."""
        return self.file_size(rel) is not None

    is_file = exists

    def is_folder(self, rel: str) -> bool:
        """True if `rel` is a folder."""
        found = self.stat(rel)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def file_size(self, rel: str) -> int | None:
        """Size of the regular file `rel`; `None` if there is none."""
        found = self.stat(rel)
        return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None

    def mtime(self, rel: str) -> float | None:
        """Time of the last change, in seconds since 1970; `None` if there is no file."""
        found = self.stat(rel)
        return None if found is None else found.st_mtime

    mtime_seen = mtime

    def read(self, rel: str) -> bytes:
        """The file's bytes."""
        names = _names_of(rel)
        try:
            with self._folders.find(names[:-1]) as parent, os.fdopen(_open(parent, names, READ), "rb") as file:
                return file.read()
        except OSError as error:
            raise OutputError(
                f"cannot read {printable(rel, limit=300)}: {error.strerror}", hint="check that it is there and readable"
            ) from error

    def touch(self, rel: str, timestamp: float) -> None:
        """Set the file's times, in seconds since 1970."""
        *above, name = _names_of(rel)
        times = (timestamp, timestamp)
        with refusals_of(self._below + rel), self._folders.find(above) as parent:
            if _UTIME_NO_FOLLOW:
                os.utime(parent.at(name), times, dir_fd=parent.fd, follow_symlinks=False)
            else:
                os.utime(parent.at(name), times, dir_fd=parent.fd)

    def rename(self, old: str, new: str) -> None:
        """Move a file within the tree to a free path, and remove the folders this empties."""
        *old_above, old_name = _names_of(old)
        *new_above, new_name = _names_of(new)
        with (
            refusals_of(self._below + new),
            self._folders.find(old_above) as source,
            self._folders.make(new_above) as goal,
        ):
            moved = source.stat(old_name)
            with suppress(FileNotFoundError):
                # Where case does not count, `A.md` → `a.md` meets itself.
                if not os.path.samestat(moved, goal.stat(new_name)):
                    raise OutputError(
                        f"{printable(new, limit=300)} is taken: {printable(old, limit=300)} was not moved there",
                        hint="move it away, then run the same command",
                    )
            os.rename(source.at(old_name), goal.at(new_name), src_dir_fd=source.fd, dst_dir_fd=goal.fd)
        self._prune(old_above)

    def remove(self, rel: str) -> None:
        """Remove the file, if it exists, and the folders this empties; never the root."""
        *above, name = _names_of(rel)
        try:
            with self._folders.find(above) as parent:
                _discard(parent, name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise refusal(error, self._below + rel) from error
        self._prune(above)

    def _prune(self, names: list[str]) -> None:
        """Remove the folder and those above it as long as they are empty."""
        for depth in range(len(names), 0, -1):
            try:
                with self._folders.find(names[: depth - 1]) as parent:
                    os.rmdir(parent.at(names[depth - 1]), dir_fd=parent.fd)
            except (OSError, OutputError):
                return

    def syncing(self, rels: list[str]) -> Callable[[], set[str]]:
        """`sync` for a thread: a sync that another run begins before the thread does counts, too."""
        with refusals_of(self.root):
            return partial(self.sync, rels, asked=syncs_begun(self.root))

    def sync(self, rels: Iterable[str], *, asked: int | None = None) -> set[str]:
        """Force files, and the folders that name them, onto the disk; return those that exist.

        May run in a thread beside the writer, which may remove files meanwhile.
        """
        if not (rels := list(rels)):
            return set()
        found = self._sync_together(rels, asked) if self._others_sync() or len(rels) > _FEW else set()
        folders: set[tuple[str, ...]] = set()
        for rel in rels:
            if rel in found:
                continue
            names = _names_of(rel)
            folders.update(tuple(names[:depth]) for depth in range(len(names)))
            with refusals_of(self._below + rel), suppress(FileNotFoundError), self._folders.find(names[:-1]) as parent:
                fd = _open(parent, names, _SYNC)
                try:
                    os.fsync(fd)
                    found.add(rel)
                finally:
                    os.close(fd)
        for folder in sorted(folders, key=len, reverse=True):
            shown = self._below + "/".join(folder)
            with refusals_of(shown), suppress(FileNotFoundError), self._folders.find(folder) as parent:
                if parent.fd is not None:
                    os.fsync(parent.fd)
        return found

    def _others_sync(self) -> bool:
        with refusals_of(self.root), self._folders.find(()) as root:
            return root.fd is not None and others_sync(root.fd)

    def _sync_together(self, rels: list[str], asked: int | None) -> set[str]:
        """Sync the whole file system of the output folder; return the files that are on it."""
        with refusals_of(self.root), self._folders.find(()) as root:
            if root.fd is None or not sync_file_system(root.fd, asked=asked):
                return set()
            disk = os.fstat(root.fd).st_dev
            found = set()
            for rel in rels:
                with suppress(OSError):
                    if root.stat("/".join(_names_of(rel))).st_dev == disk:
                        found.add(rel)
            return found

    def sweep_temporary(self, under: str = "") -> int:
        """Remove the unfinished files of killed runs below the folder `under`; return their number."""
        removed = 0
        waiting = [_names_of(under) if under else []]
        while waiting:
            names = waiting.pop()
            try:
                with self._folders.find(names) as parent:
                    entries = parent.entries()
                    ours = [name for name, kind in entries if kind is not Kind.FOLDER and TEMPORARY.fullmatch(name)]
                    for name in ours:
                        _discard(parent, name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise refusal(error, self._below + "/".join(names)) from error
            waiting.extend([*names, name] for name, kind in entries if kind is Kind.FOLDER)
            removed += len(ours)
        return removed

    def _new(self, parent: OpenFolder) -> tuple[int, str]:
        """Create a temporary file in `parent`; return its descriptor and name."""
        name = f".sitemirror {self._token}{next(self._numbers):08x}.tmp"
        return os.open(parent.at(name), _NEW, 0o666, dir_fd=parent.fd), name
