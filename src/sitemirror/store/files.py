"""What may be opened in a mirror: a path that stays inside it, and at its end a file, no symlink, pipe or device."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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
from sitemirror.store.safe_folders import Folders, Place, folders_of, is_link, symlink_refused
from sitemirror.text import printable

_ELSEWHERE: Final = frozenset(("", ".", ".."))
_NOT_ON_WINDOWS: Final = re.compile(r'[\\:*?"<>|]')
# Not to wait for the other end of a pipe that somebody put there.
_CAREFUL: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CHANGE: Final = os.O_RDWR | _CAREFUL
READ: Final = os.O_RDONLY | _CAREFUL
APPEND: Final = _CHANGE | os.O_APPEND | os.O_CREAT
# Windows syncs only what is open for writing.
SYNC: Final = _CHANGE if os.name == "nt" else READ


def open_regular(place: Place, names: list[str], flags: int) -> int:
    """Opens the file that `names` ends with in `place`, unless it is a symlink or no file at all."""
    target = place.at(names[-1])
    try:
        # Before opening, for platforms that cannot refuse to follow a link.
        if is_link(os.stat(target, dir_fd=place.fd, follow_symlinks=False)):
            raise symlink_refused(names)
    except FileNotFoundError:
        pass
    fd = os.open(target, flags, 0o666, dir_fd=place.fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OutputError(
            f"{printable('/'.join(names), limit=300)} in the output folder is not a file",
            hint="move it away or choose another --output",
        )
    return fd


def names_of(rel: str) -> list[str]:
    """The names in a path of the tree; anything that could lead elsewhere is refused."""
    names = rel.split("/")
    if not _ELSEWHERE.isdisjoint(names) or "\0" in rel or (os.name == "nt" and _NOT_ON_WINDOWS.search(rel)):
        raise OutputError(
            f"{printable(rel, limit=300)!r} is not a path inside the output folder",
            hint="the mirror's state may be damaged; report it if you did not change it",
        )
    return names


NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def replace(place: Place, temporary: str, name: str) -> str:
    """Gives the file its name, whatever had that name before."""
    os.replace(place.at(temporary), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd)
    return name


def put_beside(place: Place, temporary: str, name: str) -> str:
    """Gives the file the first name that is free (`a.md`, `a-2.md`, `a-3.md` …), and says which."""
    stem, dot, extension = name.rpartition(".")
    for number in count(2):
        try:
            _put_new(place, temporary, name)
        except FileExistsError:
            name = f"{stem}-{number}{dot}{extension}"
        else:
            break
    return name


def _put_new(place: Place, temporary: str, name: str) -> None:
    # To look first whether the name is free would leave a moment for another to take it.
    try:
        os.link(place.at(temporary), place.at(name), src_dir_fd=place.fd, dst_dir_fd=place.fd)
    except FileExistsError:
        raise
    except OSError:  # Not every file system can give a file a second name: FAT cannot.
        os.close(os.open(place.at(name), NEW, 0o666, dir_fd=place.fd))
        replace(place, temporary, name)
    else:
        discard(place, temporary)


def discard(place: Place, name: str) -> None:
    """Removes the file, if it is there."""
    try:
        os.unlink(place.at(name), dir_fd=place.fd)
    except FileNotFoundError:
        pass


_BLOCK: Final = 64 * 1024
_DRAFT_BUFFER: Final = 256 * 1024


def write_all(fd: int, data: bytes | bytearray | memoryview) -> None:
    """Writes all of `data`, however little the system takes at a time."""
    written = os.write(fd, data)
    if written < len(data):
        rest = memoryview(data)[written:]
        while rest:
            rest = rest[os.write(fd, rest) :]


class LineLog:
    """An append-only file of lines. What a crash left of a last line is cut off when the log is opened again."""

    def __init__(self, fd: int, shown: str, place: Place, guard: DiskGuard) -> None:
        self._fd = fd
        self._shown = shown  # how people find it
        self._place = place
        self._guard = guard
        self.size = _cut_torn_line(fd)

    def append(self, lines: bytes) -> None:
        """Adds whole lines, each with its newline: all of them, or none and an error."""
        if not lines.endswith(b"\n"):
            raise ValueError("a line ends with a newline")
        with refusals_of(self._shown):
            self._guard.check(self._place.handle)
            try:
                write_all(self._fd, lines)
            except OSError:
                os.ftruncate(self._fd, self.size)
                raise
        self.size += len(lines)

    def cut(self, size: int) -> None:
        """Forgets the lines behind the first `size` bytes."""
        with refusals_of(self._shown):
            os.ftruncate(self._fd, size)
        self.size = _cut_torn_line(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._place.__exit__()

    def __enter__(self) -> LineLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut_torn_line(fd: int) -> int:
    """Cuts the file after its last newline and gives its size."""
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


class Draft:
    """A file in the making; nobody sees it under its own name before it is complete."""

    def __init__(self, fd: int, below: str, rel: str, place: Place, guard: DiskGuard) -> None:
        self._fd = fd
        self._below = below
        self.rel = rel  # what it is called in the end
        self._place = place
        self._guard = guard
        self._pending = bytearray()

    def write(self, data: bytes) -> int:
        self._pending += data
        if len(self._pending) >= _DRAFT_BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        with refusals_of(self._below + self.rel):
            self._guard.check(self._place.handle)
            write_all(self._fd, self._pending)
        self._pending.clear()


# No URL's path can hold a space, so these names are ours alone.
TEMPORARY: Final = re.compile(r"\.sitemirror [0-9a-f]{16}\.tmp")

_FEW: Final = 16  # files that are synced one by one: cheaper than asking for everything that others have written
_UTIME_NO_FOLLOW: Final = os.utime in os.supports_follow_symlinks


class Tree:
    """One output folder. Paths are POSIX, relative to it, and named as `paths.py` names them."""

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
        with refusals_of(root):  # which may be below a working folder that is gone
            self._folders = reach(os.path.realpath(root))
        self._token = secrets.token_hex(4)
        self._numbers = count()

    def unguarded(self) -> Tree:
        """The same folder without the disk guard."""
        tree = copy(self)
        tree._guard = DiskGuard(self._below, 0, self._measure)
        return tree

    def prepare(self) -> None:
        """Makes the output folder and proves that files can be made in it."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            is_lost = any(path.is_symlink() and not path.exists() for path in (self.root, *self.root.parents))
            what = "a symlink that leads nowhere" if is_lost else "a file"
            raise OutputError(
                f"{self.root} cannot be the output folder: it is or lies under {what}", hint="choose another --output"
            ) from None
        except FileNotFoundError:  # though the folders above it were to be made, too: /proc has its own ideas
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
        """Raises `DiskFull` under the limit. Every write looks by itself; this is for before the start."""
        with refusals_of(self.root), self._folders.find(()) as root:
            self._guard.check(root.handle)

    def write(self, rel: str, data: bytes) -> None:
        """Puts `data` at `rel`, replacing what file or symlink is there; its folders are made."""
        *above, name = names_of(rel)
        try:
            with self._folders.make(above) as place:
                self._guard.check(place.handle)
                fd, temporary = self._new(place)
                try:
                    try:
                        write_all(fd, data)
                    finally:
                        os.close(fd)
                    failpoint.reached("file-written")
                    replace(place, temporary, name)
                    failpoint.reached("file-renamed")
                except BaseException:
                    discard(place, temporary)
                    raise
        except OSError as error:
            raise refusal(error, self._below + rel) from error

    def replace_with(self, rel: str) -> AbstractContextManager[Draft]:
        """A draft to write to, which becomes the file `rel` when the block ends well and vanishes otherwise."""
        return self._draft(rel, replace)

    def add(self, rel: str) -> AbstractContextManager[Draft]:
        """The same, but nothing is replaced: where `a.md` is taken it becomes `a-2.md`, and so on; see `draft.rel`."""
        return self._draft(rel, put_beside)

    @contextmanager
    def _draft(self, rel: str, put: Callable[[Place, str, str], str]) -> Iterator[Draft]:
        *above, name = names_of(rel)
        with refusals_of(self._below + rel), self._folders.make(above) as place:
            self._guard.check(place.handle)
            fd, temporary = self._new(place)
            try:
                try:
                    draft = Draft(fd, self._below, rel, place, self._guard)
                    yield draft
                    draft.flush()
                    os.fsync(fd)
                finally:
                    os.close(fd)
                failpoint.reached("draft-written")
                draft.rel = "/".join((*above, put(place, temporary, name)))
                failpoint.reached("draft-renamed")
            except BaseException:
                discard(place, temporary)
                raise

    def log(self, rel: str) -> LineLog:
        """The log at `rel`, opened for appending; a torn last line is cut off."""
        names = names_of(rel)
        with refusals_of(self._below + rel):
            place = self._folders.make(names[:-1])
            try:
                fd = open_regular(place, names, APPEND)
                try:
                    return LineLog(fd, self._below + rel, place, self._guard)
                except BaseException:
                    os.close(fd)
                    raise
            except BaseException:
                place.__exit__()
                raise

    def append(self, rel: str, lines: bytes) -> None:
        """Adds whole lines to the log at `rel`."""
        with self.log(rel) as log:
            log.append(lines)

    def stat(self, rel: str) -> os.stat_result | None:
        """What is known of the file or folder `rel`; `None` where neither stands."""
        *above, name = names_of(rel)
        try:
            with self._folders.find(above) as place:
                found = os.stat(place.at(name), dir_fd=place.fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusal(error, self._below + rel) from error
        return None if is_link(found) else found

    def exists(self, rel: str) -> bool:
        """Whether a file stands at `rel`. A symlink is none: nothing of ours is one."""
        found = self.stat(rel)
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_file(self, rel: str) -> bool:
        """Whether a file seems to stand at `rel`. Looks as `is_folder` does."""
        return stat.S_ISREG(self._mode(rel))

    def file_size(self, rel: str) -> int | None:
        """How large the file is that seems to stand at `rel`; `None` where none does."""
        found = self._look(rel)
        return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None

    def is_folder(self, rel: str) -> bool:
        """Looks without stepping from folder to folder, since it is asked for every page and nothing is opened."""
        return stat.S_ISDIR(self._mode(rel))

    def _mode(self, rel: str) -> int:
        """Of what kind that is which stands at `rel`; 0 where there is nothing."""
        found = self._look(rel)
        return 0 if found is None else found.st_mode

    def _look(self, rel: str) -> os.stat_result | None:
        names_of(rel)
        try:
            return os.lstat(self._below + rel)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusal(error, self._below + rel) from error

    def mtime(self, rel: str) -> float | None:
        """When the file was last changed (seconds since 1970); `None` where there is none."""
        found = self.stat(rel)
        return None if found is None else found.st_mtime

    def mtime_seen(self, rel: str) -> float | None:
        """The same. Looks as `is_folder` does: an index asks it of every file."""
        found = self._look(rel)
        return None if found is None or is_link(found) else found.st_mtime

    def read(self, rel: str) -> bytes:
        """The file's bytes."""
        names = names_of(rel)
        try:
            with (
                self._folders.find(names[:-1]) as place,
                os.fdopen(open_regular(place, names, READ), "rb") as file,
            ):
                return file.read()
        except OSError as error:
            raise OutputError(
                f"cannot read {printable(rel, limit=300)}: {error.strerror}", hint="check that it is there and readable"
            ) from error

    def touch(self, rel: str, timestamp: float) -> None:
        """Sets the file's times (seconds since 1970)."""
        *above, name = names_of(rel)
        with refusals_of(self._below + rel), self._folders.find(above) as place:
            if _UTIME_NO_FOLLOW:
                os.utime(place.at(name), (timestamp, timestamp), dir_fd=place.fd, follow_symlinks=False)
            else:
                os.utime(place.at(name), (timestamp, timestamp), dir_fd=place.fd)

    def rename(self, old: str, new: str) -> None:
        """Moves a file within the tree, where nothing may stand yet, and removes the folders this empties."""
        *old_above, old_name = names_of(old)
        *new_above, new_name = names_of(new)
        with (
            refusals_of(self._below + new),
            self._folders.find(old_above) as source,
            self._folders.make(new_above) as goal,
        ):
            moved = os.stat(source.at(old_name), dir_fd=source.fd, follow_symlinks=False)
            try:
                there = os.stat(goal.at(new_name), dir_fd=goal.fd, follow_symlinks=False)
            except FileNotFoundError:
                pass
            else:
                # Where case does not count, `A.md` → `a.md` meets itself.
                if not os.path.samestat(moved, there):
                    raise OutputError(
                        f"{printable(new, limit=300)} is taken: {printable(old, limit=300)} was not moved there",
                        hint="move it away, then run the same command",
                    )
            os.rename(source.at(old_name), goal.at(new_name), src_dir_fd=source.fd, dst_dir_fd=goal.fd)
        self._prune(old_above)

    def remove(self, rel: str) -> None:
        """Removes the file, if it is there, and the folders this empties; never the root."""
        *above, name = names_of(rel)
        try:
            with self._folders.find(above) as place:
                discard(place, name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise refusal(error, self._below + rel) from error
        self._prune(above)

    def syncing(self, rels: list[str]) -> Callable[[], set[str]]:
        """`sync` for a thread, which may have to wait for its turn: what others sync meanwhile is not synced again."""
        with refusals_of(self.root):
            return partial(self.sync, rels, asked=syncs_begun(self.root))

    def sync(self, rels: Iterable[str], *, asked: int | None = None) -> set[str]:
        """Returns when these files, and the folders that name them, are on the disk itself; gives those it found.

        May run in a thread beside the writer, which may have taken a file away meanwhile.
        """
        if not (rels := list(rels)):
            return set()
        found = self._sync_together(rels, asked) if self._others_sync() or len(rels) > _FEW else set()
        rels = [rel for rel in rels if rel not in found]
        folders: set[tuple[str, ...]] = set()
        for rel in rels:
            names = names_of(rel)
            folders.update(tuple(names[:depth]) for depth in range(len(names)))
            with refusals_of(self._below + rel), suppress(FileNotFoundError), self._folders.find(names[:-1]) as place:
                fd = open_regular(place, names, SYNC)
                try:
                    os.fsync(fd)
                    found.add(rel)
                finally:
                    os.close(fd)
        for folder in sorted(folders, key=len, reverse=True):
            shown = self._below + "/".join(folder)
            with refusals_of(shown), suppress(FileNotFoundError), self._folders.find(folder) as place:
                if place.fd is not None:
                    os.fsync(place.fd)
        return found

    def _others_sync(self) -> bool:
        with refusals_of(self.root), self._folders.find(()) as root:
            return root.fd is not None and others_sync(root.fd)

    def _sync_together(self, rels: list[str], asked: int | None) -> set[str]:
        """The same at one go, for files on the file system of the output folder. Gives those that it reached."""
        with refusals_of(self.root), self._folders.find(()) as root:
            if root.fd is None or not sync_file_system(root.fd, asked=asked):
                return set()
            disk = os.fstat(root.fd).st_dev
            found = set()
            for rel in rels:
                with suppress(OSError):
                    info = os.stat("/".join(names_of(rel)), dir_fd=root.fd, follow_symlinks=False)
                    if info.st_dev == disk:
                        found.add(rel)
            return found

    def sweep_temporary(self, under: str = "") -> int:
        """Removes what killed runs left unfinished below the folder `under`, and nothing else. Gives their number."""
        removed = 0
        waiting = [names_of(under) if under else []]
        while waiting:
            names = waiting.pop()
            try:
                with self._folders.find(names) as place:
                    files, folders = place.contents()
                    ours = [name for name in files if TEMPORARY.fullmatch(name)]
                    for name in ours:
                        discard(place, name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise refusal(error, self._below + "/".join(names)) from error
            waiting.extend([*names, name] for name in folders)
            removed += len(ours)
        return removed

    def _new(self, place: Place) -> tuple[int, str]:
        """A new file beside those of `place`, open for writing, and its name."""
        name = f".sitemirror {self._token}{next(self._numbers):08x}.tmp"
        return os.open(place.at(name), NEW, 0o666, dir_fd=place.fd), name

    def _prune(self, names: list[str]) -> None:
        """Removes the folder and those above it for as long as they are empty."""
        for depth in range(len(names), 0, -1):
            try:
                with self._folders.find(names[: depth - 1]) as place:
                    os.rmdir(place.at(names[depth - 1]), dir_fd=place.fd)
            except (OSError, OutputError):
                return
