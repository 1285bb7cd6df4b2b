"""Files that are written piece by piece: logs that grow by whole lines, and drafts that appear only when complete."""

from __future__ import annotations

import os
from typing import Final

from sitemirror.store.disk import DiskGuard, refusals_of
from sitemirror.store.folders import Place

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
