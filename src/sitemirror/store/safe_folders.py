"""Opens a folder by one call that follows no symlink, however deep it is: `openat2` of Linux, which Python lacks.

A page's folder is four or five steps deep, and to take each by itself costs ten calls where this costs one.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Sequence
from errno import ENOENT
from functools import cache
from pathlib import Path
from struct import pack
from typing import Final, NamedTuple, Protocol

from sitemirror.errors import OutputError
from sitemirror.text import printable

MISSING: Final = -2
"""Nothing stands at the path."""

_FAILED: Final = -1
_AT_FDCWD: Final = -100
_OPENAT2: Final = 437  # on Alpha it is another, and on MIPS, where this is none at all
_RESOLVE_NO_SYMLINKS: Final = 4


def no_leap(path: str) -> int:
    """For systems that have no such call."""
    return _FAILED


def leap(path: str) -> int:
    """The descriptor of the folder at an absolute path, `MISSING`, or -1 when there is more to say than this can."""
    return _leap()(path)


@cache
def _leap() -> Callable[[str], int]:
    if sys.platform != "linux" or os.uname().machine == "alpha":
        return no_leap
    try:
        import ctypes  # Every run has it by now; `--version` and `convert` do without.

        call = ctypes.CDLL(None, use_errno=True).syscall
    except (ImportError, OSError, AttributeError):
        return no_leap
    number, here, size = ctypes.c_long(_OPENAT2), ctypes.c_int(_AT_FDCWD), ctypes.c_size_t(24)
    how = ctypes.create_string_buffer(
        pack("QQQ", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS), 24
    )
    last_error = ctypes.get_errno

    def in_one(path: str) -> int:
        fd: int = call(number, here, os.fsencode(path), how, size)
        if fd >= 0:
            return fd
        return MISSING if last_error() == ENOENT else _FAILED

    found = in_one("/")
    if found < 0:  # an old kernel, or a container that forbids it
        return no_leap
    os.close(found)
    return in_one


_OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_LINK_TAGS: Final = (
    getattr(stat, "IO_REPARSE_TAG_SYMLINK", 0xA000000C),
    getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003),
)


class Place(NamedTuple):
    """A folder to act in: `os.open(place.at(name), …, dir_fd=place.fd)` is right on every platform."""

    fd: int | None
    path: str

    def at(self, name: str) -> str:
        return name if self.fd is not None else f"{self.path}{os.sep}{name}"

    @property
    def handle(self) -> int | str:
        return self.path if self.fd is None else self.fd

    def contents(self) -> tuple[list[str], list[str]]:
        """The names of its files and of its folders."""
        files: list[str] = []
        folders: list[str] = []
        with os.scandir(self.handle) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        return files, folders

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd is not None:
            os.close(self.fd)


class Folders(Protocol):
    """Folders of one tree, given by their names from the root on."""

    def find(self, names: Sequence[str]) -> Place:
        """An existing folder, else `FileNotFoundError` or `NotADirectoryError`. Close it."""

    def make(self, names: Sequence[str]) -> Place:
        """The folder, made with its parents where missing. Close it."""


class SteppedFolders:
    """Each folder opened from the one before, and all at once by `leap` where it can. It cannot say what is wrong."""

    def __init__(self, root: str, leap: Callable[[str], int] = no_leap) -> None:
        self._root = root
        self._leap = leap

    def find(self, names: Sequence[str]) -> Place:
        fd = self._leap("/".join((self._root, *names)))
        return Place(fd, self._root) if fd >= 0 else self._walk(names, _step_into)

    def make(self, names: Sequence[str]) -> Place:
        path = "/".join((self._root, *names))
        fd, there = self._leap(path), len(names)
        while fd == MISSING and there:
            path, there = path[: path.rindex("/")], there - 1
            fd = self._leap(path)
        if fd < 0:
            return self._walk(names, _step_into_new)
        return self._go_on(fd, names, there, _make_and_step_into)

    def _walk(self, names: Sequence[str], step: Callable[[int, Sequence[str]], int]) -> Place:
        return self._go_on(os.open(self._root, _OPEN_FOLDER), names, 0, step)

    def _go_on(self, fd: int, names: Sequence[str], there: int, step: Callable[[int, Sequence[str]], int]) -> Place:
        """Steps on from the folder `fd`, which is `there` names deep, and closes all but the last."""
        try:
            for depth in range(there + 1, len(names) + 1):
                above, fd = fd, step(fd, names[:depth])
                os.close(above)  # Last: who is interrupted right behind it must not close it a second time.
        except BaseException:
            os.close(fd)
            raise
        return Place(fd, self._root)


def _step_into(fd: int, names: Sequence[str]) -> int:
    try:
        return os.open(names[-1], _OPEN_FOLDER | _NO_FOLLOW, dir_fd=fd)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise _not_a_folder(os.stat(names[-1], dir_fd=fd, follow_symlinks=False), names) from None
        raise


def _step_into_new(fd: int, names: Sequence[str]) -> int:
    try:
        return _step_into(fd, names)
    except NotADirectoryError:
        raise _in_the_way(names) from None
    except FileNotFoundError:
        return _make_and_step_into(fd, names)


def _make_and_step_into(fd: int, names: Sequence[str]) -> int:
    try:
        os.mkdir(names[-1], dir_fd=fd)
    except FileExistsError:
        pass
    return _step_into(fd, names)


class CheckedFolders:
    """Each folder looked at before it is used, for platforms that cannot step from folder to folder."""

    def __init__(self, root: str) -> None:
        self._root = _long(root)

    def find(self, names: Sequence[str]) -> Place:
        path = self._root
        for depth, name in enumerate(names, 1):
            path = f"{path}{os.sep}{name}"
            _look_at(path, names[:depth])
        return self._contained(path, names)

    def make(self, names: Sequence[str]) -> Place:
        path = self._root
        for depth, name in enumerate(names, 1):
            path = f"{path}{os.sep}{name}"
            try:
                Path(path).mkdir()
            except FileExistsError:
                try:
                    _look_at(path, names[:depth])
                except NotADirectoryError:
                    raise _in_the_way(names[:depth]) from None
        return self._contained(path, names)

    def _contained(self, path: str, names: Sequence[str]) -> Place:
        root = os.path.realpath(self._root, strict=True)
        real = os.path.realpath(path, strict=True)
        if os.path.commonpath((root, real)) != root:
            raise OutputError(f"{_shown(names)} leads outside the output folder", hint=_LINK_HINT)
        return Place(None, path)


def _look_at(path: str, names: Sequence[str]) -> None:
    info = Path(path).lstat()
    if is_link(info) or not stat.S_ISDIR(info.st_mode):
        raise _not_a_folder(info, names)


def folders_of(root: str) -> Folders:
    """The safest way into the tree at `root` that this platform has."""
    needed = {os.open, os.mkdir, os.stat, os.unlink, os.rename, os.rmdir, os.utime}
    if needed <= os.supports_dir_fd and os.scandir in os.supports_fd and _NO_FOLLOW:
        return SteppedFolders(root, leap)
    return CheckedFolders(root)


_LINK_HINT: Final = "remove it or choose another --output; links inside a mirror are never followed"


def is_link(info: os.stat_result) -> bool:
    """A symlink, or what Windows has for one."""
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) in _LINK_TAGS


def symlink_refused(names: Sequence[str]) -> OutputError:
    return OutputError(f"{_shown(names)} is a symlink in the output folder", hint=_LINK_HINT)


def _not_a_folder(info: os.stat_result, names: Sequence[str]) -> OutputError | NotADirectoryError:
    return symlink_refused(names) if is_link(info) else NotADirectoryError(errno.ENOTDIR, "not a folder")


def _in_the_way(names: Sequence[str]) -> OutputError:
    message = f"{_shown(names)} in the output folder is a file where a folder is needed"
    return OutputError(message, hint="move it away or choose another --output")


def _shown(names: Sequence[str]) -> str:
    return printable("/".join(names), limit=300)


def _long(root: str) -> str:
    """Windows takes paths of more than 260 characters only in this form."""
    if os.name != "nt" or root.startswith("\\\\"):
        return root
    return "\\\\?\\" + root
