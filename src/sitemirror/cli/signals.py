"""Ctrl+C and termination: the first asks the run to finish tidily, the second ends the process at once.

Both are safe at any moment, because a page counts only when it is on disk.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from sitemirror.cli.progress import Level, Reporter

STOPPING: Final = "stopping… (press Ctrl+C again to stop at once)"
STOPPED_AT_ONCE: Final = b"stopped at once; run the same command to go on\n"

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # The last is Windows' Ctrl+Break.


class Stoppable(Protocol):
    """What a run offers to those who want it to end."""

    def stop(self) -> None: ...


class Interrupts:
    """Installed around a run. Plain signal handlers, not the loop's: the second one must work in a busy loop too."""

    def __init__(self, talk: Reporter, report: Callable[[], str]) -> None:
        """`report` makes what goes to stdout when there is no time for a real one."""
        self.received: int | None = None
        self._talk = talk
        self._report = report
        self._run: Stoppable | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}
        self._leaving = False

    @property
    def exit_code(self) -> int:
        """What the shell expects of a process that a signal ended."""
        return 128 + self.received if self.received is not None else 1

    def __enter__(self) -> Self:
        for name in _NAMES:
            number = getattr(signal, name, None)
            # Under nohup a closed terminal is to be ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            # None: it was not set by Python and cannot be set again by it.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def watch(self, run: Stoppable) -> None:
        """From now on a signal stops `run`; one that came earlier does so at once. Called inside the event loop."""
        self._run, self._loop = run, asyncio.get_running_loop()
        if self.received is not None:
            self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._leave(number)
        self.received = number
        if self._loop is not None and not self._loop.is_closed():  # else the run is over, and only has to be told
            # Not here: the interrupted code may be in the middle of writing to the same stream.
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._talk.level is not Level.QUIET:
            self._talk.say(STOPPING)
        if self._run is not None:
            self._run.stop()

    def _leave(self, number: int) -> None:
        if not self._leaving:
            self._leaving = True
            _end_children()
            _write(2, self._talk.abandon() + STOPPED_AT_ONCE)
            _write(1, self._report().encode())
        os._exit(128 + number)


def _write(descriptor: int, data: bytes) -> None:
    try:
        os.write(descriptor, data)
    except OSError:
        pass


def _end_children() -> None:
    """Workers would finish the page that they are at: `os._exit` skips what usually ends them."""
    try:
        children = Path("/proc/thread-self/children").read_text("ascii").split()
    except OSError:  # Only Linux names them. Elsewhere they end with their page.
        return
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
