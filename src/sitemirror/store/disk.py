"""Free space, syncing, and disk errors with the next step for the user."""

from __future__ import annotations

import errno
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from sitemirror.errors import MORE_FILES, DiskFull, OutputError
from sitemirror.text import printable

MEGABYTE: Final = 1024 * 1024

MIN_FREE_FILES: Final = 1_000
"""A run stops below so many free inodes: a page needs up to one for each folder of its path."""

_FULL: Final = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_MOMENT: Final = 1.0  # seconds
_RESUME_HINT: Final = "free some space, then run the same command: it resumes"


class Space(NamedTuple):
    """Room left for an ordinary user. `files` is `None` if the file system does not count inodes."""

    bytes: int
    files: int | None


def space(where: int | str) -> Space:
    """Room left on the disk of a folder, given by its path or (not on Windows) its descriptor."""
    if hasattr(os, "statvfs"):
        found = os.statvfs(where)
        return Space(found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)
    import shutil  # Slow to load: it brings every kind of archive.

    return Space(shutil.disk_usage(where).free, None)


def sync_file_system(folder: int, *, asked: int | None = None) -> bool:
    """Force everything written to a folder's file system onto its disk; False if the system cannot.

    `asked` is the value of `syncs_begun` when all of it was written, if that is some time ago.
    """
    call = _syncfs()
    if call is None:
        return False
    _shared_sync(os.fstat(folder).st_dev).sync(lambda: _checked(call, folder), asked)
    return True


def syncs_begun(folder: Path) -> int:
    """Number of syncs that this process has begun of the folder's file system."""
    return _shared_sync(folder.stat().st_dev).begun


def others_sync(folder: int) -> bool:
    """True if another run in this process asked for a sync less than a second ago."""
    return _shared_sync(os.fstat(folder).st_dev).crowded()


class SharedSync:
    """One sync for all who asked before it began.

    A hundred sites ask at the same time, and each sync stalls the disk's journal (`bench.hosts`: 3,700 → 200 syncs).
    """

    def __init__(self) -> None:
        self.begun = 0
        self._answered = 0  # number of the last successful one
        self._turn = Lock()
        self._asked_at = -math.inf

    def crowded(self) -> bool:
        """True if this was called a moment ago: many runs with a few files each, so one sync serves all."""
        before, self._asked_at = self._asked_at, time.monotonic()
        return self._asked_at - before < _MOMENT

    def sync(self, call: Callable[[], None], asked: int | None = None) -> None:
        """Return once a `call`, by any thread, that began after now (or after `asked` others) has succeeded."""
        asked = self.begun if asked is None else asked
        with self._turn:
            if self._answered <= asked:
                self.begun += 1
                call()
                self._answered = self.begun


@cache
def _shared_sync(device: int) -> SharedSync:
    return SharedSync()


def _checked(call: Callable[[int], int], folder: int) -> None:
    if call(folder) != 0:
        import ctypes

        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def _syncfs() -> Callable[[int], int] | None:
    """Linux' `syncfs`, which Python lacks. The call releases the GIL."""
    if sys.platform != "linux":
        return None
    import ctypes  # Loaded late: only long runs need it.

    try:
        found: Callable[[int], int] = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None
    return found


class DiskGuard:
    """Stops a run before it fills the disk. Measures each time: that costs a microsecond."""

    def __init__(self, shown: str, min_free_mb: int, measure: Callable[[int | str], Space] = space) -> None:
        self._shown = shown
        self._min_free_mb = min_free_mb
        self._measure = measure

    def check(self, where: int | str) -> None:
        """Raise `DiskFull` if the disk of the folder `where` is below the limit. 0 MB: no limit."""
        if not self._min_free_mb:
            return
        left = self._measure(where)
        if left.bytes < self._min_free_mb * MEGABYTE:
            raise DiskFull(
                f"Insufficient disk space: {left.bytes // MEGABYTE} MB free in {self._shown}, "
                f"{self._min_free_mb} MB needed",
                hint=f"{_RESUME_HINT} (or lower --min-free-mb)",
            )
        if left.files is not None and left.files < MIN_FREE_FILES:
            raise DiskFull(
                f"Insufficient disk space: {left.files} free inodes in {self._shown}, {MIN_FREE_FILES} needed",
                hint="delete files you do not need (many small ones), then run the same command: it resumes",
            )


@contextmanager
def refusals_of(path: str | Path) -> Iterator[None]:
    """Turn `OSError`s about `path` into `OutputError`s."""
    try:
        yield
    except OSError as error:
        raise refusal(error, path) from error


def refusal(error: OSError, path: str | Path) -> OutputError:
    """The `OutputError` for an `OSError` about `path`, with the next step."""
    shown = printable(str(path), limit=300)
    if error.errno in _FULL:
        return DiskFull(f"Insufficient disk space: the disk is full, {shown} was not written", hint=_RESUME_HINT)
    if error.errno == errno.EROFS:
        return OutputError(f"cannot write {shown}: the disk is read-only", hint="choose another --output")
    if isinstance(error, PermissionError):
        return OutputError(
            f"cannot write {shown}: permission denied", hint="change its permissions or choose another --output"
        )
    if isinstance(error, FileExistsError | IsADirectoryError | NotADirectoryError) or error.errno == errno.ENOTEMPTY:
        return OutputError(
            f"cannot write {shown}: something else is in its place", hint="move it away or choose another --output"
        )
    if error.errno == errno.ENAMETOOLONG:
        return OutputError(f"cannot write {shown}: the path is too long here", hint="choose a shorter --output")
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return OutputError(f"cannot write {shown}: too many open files", hint=MORE_FILES)
    reason = error.strerror or type(error).__name__
    hint = "check the disk, then run the same command: it resumes (or choose another --output)"
    return OutputError(f"cannot write {shown}: {reason}", hint=hint)


def boot_id() -> str:
    """Identifier of this start of the machine; empty if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
