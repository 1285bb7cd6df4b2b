"""What a disk has left, and its refusals put so that a person can act on them."""

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
"""Fewer inodes than this and the run stops: every page needs up to one per folder of its path."""

_FULL: Final = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_MOMENT: Final = 1.0  # seconds
_RESUME_HINT: Final = "free some space, then run the same command: it resumes"


class Space(NamedTuple):
    """What an ordinary user may still use. `files` is `None` where the file system does not count them."""

    bytes: int
    files: int | None


def space(where: int | str) -> Space:
    """The room left on the disk of a folder, given by its path or (not on Windows) its descriptor."""
    if hasattr(os, "statvfs"):
        found = os.statvfs(where)
        return Space(found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)
    import shutil  # It loads every kind of archive.

    return Space(shutil.disk_usage(where).free, None)


def sync_file_system(folder: int, *, asked: int | None = None) -> bool:
    """Returns when all that was written to the file system of an open folder is on its disk; False if none can say.

    `asked` is what `syncs_begun` said when all of it was written, if that is some time ago.
    """
    call = _syncfs()
    if call is None:
        return False
    _together(os.fstat(folder).st_dev).sync(lambda: _checked(call, folder), asked)
    return True


def syncs_begun(folder: Path) -> int:
    """How often this process has begun to sync the file system of a folder."""
    return _together(folder.stat().st_dev).begun


def others_sync(folder: int) -> bool:
    """Whether somebody in this process, most likely another site's run, asked for a sync just before."""
    return _together(os.fstat(folder).st_dev).crowded()


class Together:
    """Answers all who have asked for a sync by the next one that begins, whoever makes it.

    A hundred sites ask at the same time, and each sync makes the disk's journal wait.
    """

    def __init__(self) -> None:
        self.begun = 0
        self._answered = 0  # the last one that went well
        self._turn = Lock()
        self._asked_at = -math.inf

    def crowded(self) -> bool:
        """Whether this was asked a moment ago: then there are many with a few files each, and one sync serves all."""
        before, self._asked_at = self._asked_at, time.monotonic()
        return self._asked_at - before < _MOMENT

    def sync(self, call: Callable[[], None], asked: int | None = None) -> None:
        """Returns when `call`, whoever made it, was begun after now, or after `asked` others, and has ended well."""
        asked = self.begun if asked is None else asked
        with self._turn:
            if self._answered <= asked:
                self.begun += 1
                call()
                self._answered = self.begun


@cache
def _together(device: int) -> Together:
    return Together()


def _checked(call: Callable[[int], int], folder: int) -> None:
    if call(folder) != 0:
        import ctypes

        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@cache
def _syncfs() -> Callable[[int], int] | None:
    """Linux' own, which Python does not offer. Its call lets other threads go on."""
    if sys.platform != "linux":
        return None
    import ctypes  # Only long runs come here.

    try:
        found: Callable[[int], int] = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None
    return found


class DiskGuard:
    """Stops a run before it fills the disk. Looks every time: that costs a microsecond, and a guess can be wrong."""

    def __init__(self, shown: str, min_free_mb: int, measure: Callable[[int | str], Space] = space) -> None:
        self._shown = shown
        self._min_free_mb = min_free_mb
        self._measure = measure

    def check(self, where: int | str) -> None:
        """Raises `DiskFull` when the disk of the folder `where` has less room than asked for. 0 MB = do not look."""
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
    """Turns the operating system's refusals about `path` into `OutputError`s."""
    try:
        yield
    except OSError as error:
        raise refusal(error, path) from error


def refusal(error: OSError, path: str | Path) -> OutputError:
    """An operating system's error about `path`, with the next step."""
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
    """What tells one start of the machine from another; empty where the system has no such thing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
