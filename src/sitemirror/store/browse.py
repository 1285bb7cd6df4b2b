"""Looks into a mirror without changing it and without leaving it: for checking one that others may have touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Final

from sitemirror.errors import OutputError
from sitemirror.store.safe_folders import Place, folders_of, is_link

# Not to wait for the other end of a pipe that somebody put there.
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Kind(Enum):
    """What stands at a path."""

    FILE = "a file"
    FOLDER = "a folder"
    LINK = "a symlink"
    OTHER = "not a regular file"


class Browser:
    """One folder, read only. Paths are POSIX and relative to it; no symlink below it is ever followed."""

    def __init__(self, root: Path) -> None:
        self._folders = folders_of(os.path.realpath(root))

    def kind(self, rel: str) -> Kind | None:
        """What stands at `rel`; `None` for nothing. What is reached through a symlink counts as one."""
        names = rel.split("/")
        if not contained(rel):
            return None
        try:
            with self._folders.find(names[:-1]) as place:
                return _kind(os.stat(place.at(names[-1]), dir_fd=place.fd, follow_symlinks=False))
        except OutputError:
            return Kind.LINK
        except (OSError, ValueError):
            return None

    def open(self, rel: str) -> BinaryIO:
        """The file at `rel`. Raises `OSError` where there is none, `OutputError` where it is something else."""
        if not contained(rel):
            raise OutputError("is no path inside the folder")
        names = rel.split("/")
        with self._folders.find(names[:-1]) as place:
            target = place.at(names[-1])
            found = _kind(os.stat(target, dir_fd=place.fd, follow_symlinks=False))
            if found is not Kind.FILE:
                raise OutputError(f"is {found.value}")
            fd = os.open(target, _READ, dir_fd=place.fd)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OutputError(f"is {Kind.OTHER.value}")
            return os.fdopen(fd, "rb")

    def walk(self, under: str) -> Iterator[tuple[str, Kind]]:
        """Everything below the folder `under` but the folders themselves. What cannot be read is left out."""
        waiting = [under]
        while waiting:
            folder = waiting.pop()
            try:
                with self._folders.find(folder.split("/")) as place:
                    entries = _entries(place)
            except (OSError, OutputError):
                continue
            for name, kind in entries:
                if kind is Kind.FOLDER:
                    waiting.append(f"{folder}/{name}")
                else:
                    yield f"{folder}/{name}", kind


def contained(rel: str) -> bool:
    """Whether `rel` is a plain path downwards."""
    names = rel.split("/")
    odd = "\0" in rel or (os.name == "nt" and any(sign in rel for sign in "\\:"))
    return not odd and not any(name in ("", ".", "..") for name in names)


def _entries(place: Place) -> list[tuple[str, Kind]]:
    with os.scandir(place.handle) as entries:
        return [(entry.name, _kind_of(entry)) for entry in entries]


def _kind_of(entry: os.DirEntry[str]) -> Kind:
    if os.name == "nt":  # only a look at the file itself tells what Windows has for symlinks
        return _kind(entry.stat(follow_symlinks=False))
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


def _kind(info: os.stat_result) -> Kind:
    if is_link(info):
        return Kind.LINK
    if stat.S_ISDIR(info.st_mode):
        return Kind.FOLDER
    return Kind.FILE if stat.S_ISREG(info.st_mode) else Kind.OTHER
