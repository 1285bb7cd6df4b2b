"""Lock of a mirror's folder. It belongs to the process and dies with it, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Final

from sitemirror.errors import FolderLocked, OutputError
from sitemirror.store.disk import refusal, refusals_of
from sitemirror.store.safe_folders import Place, is_link
from sitemirror.text import printable

LOCK_NAME: Final = "_lock"

_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER_FLAGS: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BUSY: Final = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}

if sys.platform == "win32":
    import msvcrt

    # Windows blocks reads of locked bytes, so the lock is far behind the process id, which others read.
    _LOCKED_BYTE: Final = 1 << 30

    def _lock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FolderLock:
    """`with FolderLock(folder):` excludes other runs from `folder`, which is created if needed.

    Releasing removes the lock file; after a kill it stays, and the next run takes it over.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._fd = -1
        self._made_folder = False

    def acquire(self) -> FolderLock:
        """Take the lock or raise `FolderLocked`; never wait."""
        if self._fd >= 0:
            raise self._locked_by(os.getpid())
        with refusals_of(self.folder):
            # The locked file may be one that its last holder was removing: then it guards nothing, so try again.
            while self._fd < 0:
                self._made_folder = self._make_folder() or self._made_folder
                try:
                    with self._open_folder() as place:
                        self._try(place)
                except FileNotFoundError:
                    continue
        _held.add(self)
        return self

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._fd < 0:
            return
        _held.discard(self)
        try:
            if sys.platform == "win32":
                # Windows cannot remove an open file, so nobody can lock it between these two.
                self._close()
                (self.folder / LOCK_NAME).unlink()
            else:
                # Remove before closing: else a file that another run has locked meanwhile would be removed.
                (self.folder / LOCK_NAME).unlink()
            if self._made_folder:
                self.folder.rmdir()
        except OSError:
            pass
        finally:
            self._close()
            self._made_folder = False

    def __enter__(self) -> FolderLock:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _try(self, place: Place) -> None:
        try:
            fd = os.open(place.at(LOCK_NAME), _FLAGS, 0o666, dir_fd=place.fd)
        except IsADirectoryError as error:
            raise refusal(error, self.folder / LOCK_NAME) from error
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _symlink_refused(self.folder / LOCK_NAME) from None
            raise  # The error is about the folder.
        try:
            try:
                _lock(fd)
            except OSError as error:
                if error.errno in _BUSY:
                    raise self._locked_by(_read_pid(fd)) from None
                raise OutputError(
                    f"cannot lock {_shown(self.folder)}: {error.strerror}",
                    hint="its file system has no locks; choose an --output on a local disk",
                ) from error
            if os.path.samestat(os.fstat(fd), os.stat(place.at(LOCK_NAME), dir_fd=place.fd, follow_symlinks=False)):
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)
                os.write(fd, f"{os.getpid()}\n".encode())
                self._fd, fd = fd, -1
        finally:
            if fd >= 0:
                os.close(fd)

    def _make_folder(self) -> bool:
        try:
            self.folder.mkdir()
        except FileExistsError:
            return False
        return True

    def _open_folder(self) -> Place:
        if is_link(self.folder.lstat()):
            raise _symlink_refused(self.folder)
        if os.open in os.supports_dir_fd:
            return Place(os.open(self.folder, _FOLDER_FLAGS), str(self.folder))
        return Place(None, str(self.folder))

    def _locked_by(self, pid: int | None) -> FolderLocked:
        process = "" if pid is None else f" (process {pid})"
        return FolderLocked(
            f"another run{process} is writing to {_shown(self.folder)}",
            hint="wait for it to end or stop it, then run the same command; or choose another --output",
            folder=self.folder,
            pid=pid,
        )

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _read_pid(fd: int) -> int | None:
    os.lseek(fd, 0, os.SEEK_SET)
    try:
        return int(os.read(fd, 20))
    except (OSError, ValueError):
        return None


def _symlink_refused(path: Path) -> OutputError:
    hint = "remove it or choose another --output; links are not followed"
    return OutputError(f"{_shown(path)} is a symlink", hint=hint)


def _shown(folder: Path) -> str:
    return printable(str(folder), limit=300)


def _close_in_child() -> None:
    while _held:
        _held.pop()._close()


# A forked worker inherits the open file and would hold the lock after its parent was killed.
_held: Final[set[FolderLock]] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
