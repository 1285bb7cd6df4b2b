"""What may be opened in a mirror: a path that stays inside it, and at its end a file, no symlink, pipe or device."""

from __future__ import annotations

import os
import re
import stat
from typing import Final

from sitemirror.errors import OutputError
from sitemirror.store.folders import Place, is_link, symlink_refused
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
