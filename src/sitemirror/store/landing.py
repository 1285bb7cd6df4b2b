"""How a file that is written beside its place gets its name: over what stands there, or beside it."""

from __future__ import annotations

import os
from itertools import count
from typing import Final

from sitemirror.store.folders import Place

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
