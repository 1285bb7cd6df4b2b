"""What a run has used of the machine, and what the machine kept from it, as far as the system tells."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_KILOBYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds and MB. None where the system does not say."""

    cpu_sec: float
    workers_cpu_sec: float | None
    peak_memory_mb: float | None
    workers_peak_memory_mb: float | None


def usage(workers: Iterable[int]) -> Usage:
    """Of this process since it began, and of the workers with these process ids, together."""
    pids = list(workers)
    processor, memory = [_cpu_of(pid) for pid in pids], [_peak_of(pid) for pid in pids]
    return Usage(time.process_time(), _sum(processor), _own_peak(), _sum(memory))


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _own_peak() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / _KILOBYTES / (_KILOBYTES if sys.platform == "darwin" else 1)  # bytes there, elsewhere KB


def _cpu_of(pid: int) -> float | None:
    """From `/proc`, so on Linux only: elsewhere nobody tells of a process that still runs."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None


def _peak_of(pid: int) -> float | None:
    try:
        for line in Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / _KILOBYTES
    except (OSError, ValueError):
        pass
    return None


class RunQueue:
    """How long the thread that makes this was ready but got no processor. Only Linux tells; elsewhere it is always 0.

    Without it, a crowded machine looks like a slow disk.
    """

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
            return int(os.pread(self._file, 100, 0).split()[1]) * 1e-9
        except (OSError, ValueError, IndexError):
            return 0.0

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)
