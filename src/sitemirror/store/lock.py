"""Locks of a mirror's folders. They belong to the process and die with it, however it ends.

A run holds the lock file of its own host's folder. A sitemap can name thousands of other hosts, and a process may have
only so many open files, so all other folders of a run share one file beside them, with one locked byte for each.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from sitemirror.errors import FolderLocked, OutputError
from sitemirror.store.disk import refusal, refusals_of
from sitemirror.store.safe_folders import OpenFolder, is_link
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


_HAS_BYTE_LOCKS: Final = sys.platform == "linux" and sys.maxsize > 2**32
"""True where bytes of a file can be locked for one open file, instead of for all of a process."""

if sys.platform == "linux":

    def _lock_byte(fd: int, folder: str) -> None:
        """Lock the byte of a folder. Raises OSError if another open file has it."""
        byte = int.from_bytes(blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=7).digest())
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0))


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
                    with self._open_folder() as parent:
                        self._try(parent)
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

    def keep_file(self) -> bool:
        """Release the lock but leave its file, which names this process. True if the folder is new."""
        _held.discard(self)
        self._close()
        return self._made_folder

    def __enter__(self) -> FolderLock:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _try(self, parent: OpenFolder) -> None:
        try:
            fd = os.open(parent.at(LOCK_NAME), _FLAGS, 0o666, dir_fd=parent.fd)
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
            if os.path.samestat(os.fstat(fd), os.stat(parent.at(LOCK_NAME), dir_fd=parent.fd, follow_symlinks=False)):
                if _is_locked_as_other_host(self.folder):
                    raise self._locked_by(_read_pid(fd))
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

    def _open_folder(self) -> OpenFolder:
        if is_link(self.folder.lstat()):
            raise _symlink_refused(self.folder)
        if os.open in os.supports_dir_fd:
            return OpenFolder(os.open(self.folder, _FOLDER_FLAGS), str(self.folder))
        return OpenFolder(None, str(self.folder))

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


class OtherHostLocks:
    """Locks of folders of other hosts, which exclude other runs from them.

    All of them cost one open file, where the system can lock bytes; else one each.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._fd = -1
        self._marked: dict[Path, bool] = {}  # folders whose lock file names us; True: created for it
        self._single: list[FolderLock] = []

    def acquire(self, name: str) -> None:
        """Lock a folder or raise `FolderLocked`; never wait."""
        lock = FolderLock(self._root / name).acquire()  # excludes the run of that host, as long as the byte is locked
        if not _HAS_BYTE_LOCKS:
            self._single.append(lock)
            return
        try:
            with refusals_of(self._root):
                if self._fd < 0:
                    self._fd = _open_shared(self._root / LOCK_NAME)
                    _shared.add(self)
                _lock_byte(self._fd, name)
        except BaseException:
            lock.release()
            raise
        self._marked[lock.folder] = lock.keep_file()

    def release(self) -> None:
        """Release all of them."""
        for lock in self._single:
            lock.release()
        for folder, is_ours in self._marked.items():
            with suppress(OSError):
                (folder / LOCK_NAME).unlink()
                if is_ours:
                    folder.rmdir()
        self._single.clear()
        self._marked.clear()
        if self._fd >= 0:
            with suppress(OSError):  # Another run has it open, and removes it.
                _lock(self._fd)
                (self._root / LOCK_NAME).unlink()
        self.close()

    def close(self) -> None:
        """Close the shared file without a trace."""
        _shared.discard(self)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> OtherHostLocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _open_shared(path: Path) -> int:
    """Open the file that all runs share for folders of other hosts."""
    while True:
        fd = os.open(path, _FLAGS, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH)  # Whoever has it alone may remove it.
            if os.path.samestat(os.fstat(fd), path.lstat()):
                return fd
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _is_locked_as_other_host(folder: Path) -> bool:
    """True if a run for another host writes to this folder."""
    if not _HAS_BYTE_LOCKS:
        return False
    try:
        fd = os.open(folder.parent / LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        _lock_byte(fd, folder.name)
    except OSError as error:
        return error.errno in _BUSY
    finally:
        os.close(fd)
    return False


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
    while _shared:
        _shared.pop().close()


# A forked worker inherits the open file and would hold the lock after its parent was killed.
_held: Final[set[FolderLock]] = set()
_shared: Final[set[OtherHostLocks]] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
