"""Folders of a mirror, opened without following a symlink and without leaving the tree."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from sitemirror.errors import OutputError
from sitemirror.text import printable

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_OPEN_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_LINK_TAGS: Final = (
    getattr(stat, "IO_REPARSE_TAG_SYMLINK", 0xA000000C),
    getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0xA0000003),
)
_NOT_DOWNWARDS: Final = frozenset(("", ".", ".."))
_NOT_ON_WINDOWS: Final = re.compile(r'[\\:*?"<>|]')
_LINK_HINT: Final = "remove it or choose another --output; links inside a mirror are never followed"


def is_contained(rel: str) -> bool:
    """True if `rel` is a relative POSIX path that only leads downwards."""
    if "\0" in rel or (os.name == "nt" and _NOT_ON_WINDOWS.search(rel)):
        return False
    return _NOT_DOWNWARDS.isdisjoint(rel.split("/"))


class Kind(Enum):
    """Type of a directory entry."""

    FILE = "a file"
    FOLDER = "a folder"
    LINK = "a symlink"
    OTHER = "not a regular file"


def is_link(info: os.stat_result) -> bool:
    """True for a symlink and for its equivalents on Windows."""
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) in _LINK_TAGS


def kind_of(info: os.stat_result) -> Kind:
    """Type of the entry that `lstat` described."""
    if is_link(info):
        return Kind.LINK
    if stat.S_ISDIR(info.st_mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_ISREG(info.st_mode) else Kind.OTHER


class NotAFile(Exception):
    """A path that should be a regular file is something else."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.value)
        self.kind = kind


class OpenFolder(NamedTuple):
    """An open folder: `os.open(folder.at(name), …, dir_fd=folder.fd)` is right on every platform."""

    fd: int | None  # None where the platform has no `dir_fd`
    path: str

    def at(self, name: str) -> str:
        return name if self.fd is not None else f"{self.path}{os.sep}{name}"

    @property
    def handle(self) -> int | str:
        return self.path if self.fd is None else self.fd

    def stat(self, name: str) -> os.stat_result:
        return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)

    def open(self, name: str, flags: int) -> int:
        """Open a regular file. Raises `NotAFile` for anything else."""
        # Before opening: not every platform has O_NOFOLLOW, and to open a device may have effects.
        with suppress(FileNotFoundError):
            if (kind := kind_of(self.stat(name))) in (Kind.LINK, Kind.OTHER):
                raise NotAFile(kind)
        fd = os.open(self.at(name), flags, 0o666, dir_fd=self.fd)
        if (kind := kind_of(os.fstat(fd))) is not Kind.FILE:
            os.close(fd)
            raise NotAFile(kind)
        return fd

    def entries(self) -> list[tuple[str, Kind]]:
        """Names and types of all entries."""
        with os.scandir(self.handle) as entries:
            return [(entry.name, _kind_of_entry(entry)) for entry in entries]

    def __enter__(self) -> OpenFolder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd is not None:
            os.close(self.fd)


def _kind_of_entry(entry: os.DirEntry[str]) -> Kind:
    if os.name == "nt":  # Only stat shows the reparse tag.
        return kind_of(entry.stat(follow_symlinks=False))
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


class Folders(Protocol):
    """Folders of one tree, given by their names from the root on."""

    def find(self, names: Sequence[str]) -> OpenFolder:
        """Open an existing folder; else `FileNotFoundError` or `NotADirectoryError`. Close it."""

    def make(self, names: Sequence[str]) -> OpenFolder:
        """Open a folder, creating it and its parents where missing. Close it."""


def folders_of(root: str) -> Folders:
    """The safest access to the tree at `root` that this platform has."""
    needed = {os.open, os.mkdir, os.stat, os.unlink, os.rename, os.rmdir, os.utime}
    if needed <= os.supports_dir_fd and os.scandir in os.supports_fd and _NO_FOLLOW:
        return SteppedFolders(root)
    return CheckedFolders(root)


class SteppedFolders:
    """Access by descriptors: each folder is opened from the one above it."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find(self, names: Sequence[str]) -> OpenFolder:
        return self._walk(names, _open_folder)

    def make(self, names: Sequence[str]) -> OpenFolder:
        return self._walk(names, _open_or_make_folder)

    def _walk(self, names: Sequence[str], step: Callable[[int, Sequence[str]], int]) -> OpenFolder:
        fd = os.open(self._root, _OPEN_FOLDER)
        try:
            for depth in range(1, len(names) + 1):
                above, fd = fd, step(fd, names[:depth])
                os.close(above)  # Last: an interruption right after it must not close it a second time.
        except BaseException:
            os.close(fd)
            raise
        return OpenFolder(fd, self._root)


def _open_folder(above: int, names: Sequence[str]) -> int:
    try:
        return os.open(names[-1], _OPEN_FOLDER | _NO_FOLLOW, dir_fd=above)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise _not_a_folder(os.stat(names[-1], dir_fd=above, follow_symlinks=False), names) from None
        raise


def _open_or_make_folder(above: int, names: Sequence[str]) -> int:
    try:
        return _open_folder(above, names)
    except NotADirectoryError:
        raise _in_the_way(names) from None
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(names[-1], dir_fd=above)
        return _open_folder(above, names)


class CheckedFolders:
    """Access by paths that are checked before use, for platforms without `dir_fd`."""

    def __init__(self, root: str) -> None:
        self._root = _long(root)

    def find(self, names: Sequence[str]) -> OpenFolder:
        path = self._root
        for depth, name in enumerate(names, 1):
            path = f"{path}{os.sep}{name}"
            _check_folder(path, names[:depth])
        return self._contained(path, names)

    def make(self, names: Sequence[str]) -> OpenFolder:
        path = self._root
        for depth, name in enumerate(names, 1):
            path = f"{path}{os.sep}{name}"
            try:
                Path(path).mkdir()
            except FileExistsError:
                try:
                    _check_folder(path, names[:depth])
                except NotADirectoryError:
                    raise _in_the_way(names[:depth]) from None
        return self._contained(path, names)

    def _contained(self, path: str, names: Sequence[str]) -> OpenFolder:
        root = os.path.realpath(self._root, strict=True)
        real = os.path.realpath(path, strict=True)
        if os.path.commonpath((root, real)) != root:
            raise OutputError(f"{_shown(names)} leads outside the output folder", hint=_LINK_HINT)
        return OpenFolder(None, path)


def _check_folder(path: str, names: Sequence[str]) -> None:
    info = Path(path).lstat()
    if kind_of(info) is not Kind.FOLDER:
        raise _not_a_folder(info, names)


def _long(root: str) -> str:
    """The form in which Windows accepts paths of more than 260 characters."""
    if os.name != "nt" or root.startswith("\\\\"):
        return root
    return "\\\\?\\" + root


def symlink_refused(names: Sequence[str]) -> OutputError:
    """The error for a symlink inside a mirror."""
    return OutputError(f"{_shown(names)} is a symlink in the output folder", hint=_LINK_HINT)


def _not_a_folder(info: os.stat_result, names: Sequence[str]) -> OutputError | NotADirectoryError:
    return symlink_refused(names) if is_link(info) else NotADirectoryError(errno.ENOTDIR, "not a folder")


def _in_the_way(names: Sequence[str]) -> OutputError:
    message = f"{_shown(names)} in the output folder is a file where a folder is needed"
    return OutputError(message, hint="move it away or choose another --output")


def _shown(names: Sequence[str]) -> str:
    return printable("/".join(names), limit=300)
