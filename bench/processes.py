"""What a program and everything it started used: memory while it ran, CPU time once all of it has ended.

Memory is PSS, the share of memory that is really a process' own: pages that worker processes share are counted once,
not once for each of them. Linux tells it in /proc; elsewhere there are no samples.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_PERIOD: Final = 0.25  # seconds
_SHARE: Final = 0.01  # of the time of one core: what is looked at needs it more
_STRAGGLERS: Final = 3.0  # seconds that what a program left behind may take to end
_PR_SET_CHILD_SUBREAPER: Final = 36
_LIBC: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Sample:
    """Memory of all processes of a session at a moment, in seconds since 1970."""

    time: float
    megabytes: float


class MemoryWatch:
    """Samples a session's memory up to four times a second, from a thread of its own, while a block lasts."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._samples: list[Sample] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        if (_PROC / "self/smaps_rollup").exists():
            self._thread.start()

    def stop(self) -> tuple[Sample, ...]:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        return tuple(self._samples)

    def _watch(self) -> None:
        while True:
            began = time.thread_time()
            if found := sum(_pss(pid) for pid in in_session(self._session)):
                self._samples.append(Sample(time.time(), found / 1e6))
            if self._over.wait(max(_PERIOD, (time.thread_time() - began) / _SHARE)):
                return


def in_session(session: int) -> Iterator[int]:
    """The processes that belong to it, whoever their parents are by now."""
    for entry in os.scandir(_PROC):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            text = (_PROC / entry.name / "stat").read_bytes()
            # After the name, which may contain anything: state, parent, group, session.
            if int(text[text.rindex(b")") + 2 :].split(maxsplit=4)[3]) == session:
                yield int(entry.name)


def _pss(pid: int) -> int:
    with suppress(OSError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def adopt_orphans() -> None:
    """Processes whose parents ended become ours, so that their CPU time can be asked for."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def ending_with_us(command: Sequence[str]) -> list[str]:
    """The command of a server, so that it is told to end even if we are killed before we can end it."""
    # util-linux has it on every Linux; without it a server outlives a benchmark that was killed.
    wrapper = shutil.which("setpriv")
    return [wrapper, "--pdeathsig", "TERM", *command] if wrapper else list(command)


def reap(group: int) -> float:
    """CPU seconds of what a program left behind in its process group; what does not end soon is ended."""
    deadline = time.monotonic() + _STRAGGLERS
    seconds = 0.0
    while True:
        try:
            pid, _, usage = os.wait4(-group, os.WNOHANG)
        except ChildProcessError:
            return seconds
        if pid:
            seconds += usage.ru_utime + usage.ru_stime
        elif time.monotonic() > deadline:
            kill_group(group)
            deadline = float("inf")
        else:
            time.sleep(0.005)


def kill_group(group: int) -> None:
    """Ends every process of a group at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
