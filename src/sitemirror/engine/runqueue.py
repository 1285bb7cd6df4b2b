"""How long this thread was ready but got no processor. Not knowing it, a crowded machine looks like a slow disk."""

from __future__ import annotations

import os
import threading
from typing import Final

_NANOSECONDS: Final = 1e-9


class RunQueue:
    """Of the thread that makes it. Linux says so; elsewhere it is always 0."""

    __slots__ = ("_file",)

    def __init__(self) -> None:
        try:
            self._file = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        except OSError:
            self._file = -1

    def seconds(self) -> float:
        if self._file < 0:
            return 0.0
        try:
            return int(os.pread(self._file, 100, 0).split()[1]) * _NANOSECONDS
        except (OSError, ValueError, IndexError):
            return 0.0

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)
