"""Context that all parts of a run share: settings, clock, network, events, the request to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

from sitemirror.events import Listener, Warned
from sitemirror.fetch.client import Fetcher
from sitemirror.fetch.pace import Backoff, Clock, Pace
from sitemirror.settings import Settings
from sitemirror.stopwatch import IDLE, Stopwatch
from sitemirror.text import printable
from sitemirror.workers.pool import Pool

_MAX_WARNINGS: Final = 100
T = TypeVar("T")


class Stopped(Exception):
    """The user or the system asked the run to end. Everything saved so far stays."""


@dataclass(slots=True)
class Session:
    """Collaborators of one run, passed to every part of it."""

    settings: Settings
    clock: Clock
    pace: Pace
    fetcher: Fetcher
    pool: Pool
    emit: Listener
    stop: asyncio.Event
    started: float
    watch: Stopwatch = IDLE
    backoff: Backoff = field(default_factory=Backoff)
    warnings: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Emit a warning and record it for the report."""
        message = printable(message)
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(message)
        elif len(self.warnings) == _MAX_WARNINGS:
            self.warnings.append("more warnings were shown than are kept here")
        self.emit(Warned(message))

    def check_stop(self) -> None:
        if self.stop.is_set():
            raise Stopped

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`; a request to stop cancels it at once."""
        task = asyncio.ensure_future(work)
        stop = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Stopped
        finally:
            for each in (task, stop):
                each.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    @property
    def elapsed(self) -> float:
        return self.clock.monotonic() - self.started

    def now(self) -> str:
        return stamp(self.clock.now())


def stamp(moment: datetime) -> str:
    """Format a time as in all files: `2026-01-03T20:00:00Z`."""
    return moment.isoformat(timespec="seconds").removesuffix("+00:00") + "Z"


def unstamp(text: str | None) -> datetime | None:
    """Parse a time from a file; `None` if it is missing or invalid."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
