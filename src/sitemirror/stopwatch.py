"""Attribute the time of a run to what limited it, for `--profile`.

Without the option the stopwatch is idle. Stages overlap, so each moment of wall-clock time is attributed to the one
cause that limited the run; these shares add up to the whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """The phases of a run, one after the other."""

    START_UP = "start_up"
    DISCOVERY = "discovery"
    PAGES = "pages"
    PUBLISHING = "publishing"


class Stage(StrEnum):
    """Operations and waits of a page."""

    # Waits, which overlap.
    RATE_LIMIT = "rate_limit"
    ASKED_TO_WAIT = "asked_to_wait"
    ANSWER = "answer"
    BODY = "body"
    CONVERSION = "conversion"
    LINKS = "links"
    FLUSH = "flush"

    # Work of the main process, which does one thing at a time.
    CONVERTING = "converting"
    SAVING = "saving"
    STATE = "state"
    PUBLISHING = "publishing"


class Limit(StrEnum):
    """Causes that can limit a run."""

    RATE_LIMIT = "rate_limit"
    ASKED_TO_WAIT = "asked_to_wait"
    SITE = "site"
    NETWORK = "network"
    CONVERTER = "converter"
    DISK = "disk"
    SITEMIRROR = "sitemirror"
    MACHINE = "machine"
    OTHER = "other"


@dataclass(slots=True)
class Times:
    """Count and total time of a stage."""

    seconds: float = 0.0
    count: int = 0
    greatest: float = 0.0

    def add(self, seconds: float, count: int = 1) -> None:
        self.seconds += seconds
        self.count += count
        self.greatest = max(self.greatest, seconds / count)


_NOTHING: Final = nullcontext()


class Stopwatch:
    """Measures nothing, at next to no cost."""

    def waiting(self, stage: Stage, count: int = 1) -> AbstractContextManager[None]:
        """Measure an await for `count` files, which share its time."""
        return _NOTHING

    def working(self, stage: Stage) -> AbstractContextManager[None]:
        """Measure work without an await. Of nested ones the inner one counts."""
        return _NOTHING

    def worked(self, seconds: float) -> None:
        """Record the time a worker spent on a page."""

    def begin(self, phase: Phase) -> None:
        """Begin a phase and end the one before."""

    def look_at(self, workers: int) -> None:
        """Record the number of running workers."""


IDLE: Final = Stopwatch()


@dataclass(slots=True)
class Running(Stopwatch):
    """Measures one thread: `cpu` is its time on a processor, `queued` its time waiting for one."""

    concurrency: int
    wall: Callable[[], float] = time.perf_counter
    cpu: Callable[[], float] = time.thread_time
    queued: Callable[[], float] = lambda: 0.0
    phases: dict[Phase, float] = field(default_factory=dict)
    stages: dict[Stage, Times] = field(default_factory=lambda: {stage: Times() for stage in Stage})
    limits: dict[Limit, float] = field(default_factory=lambda: dict.fromkeys(Limit, 0.0))
    most: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(Stage, 0))
    most_requests: int = 0
    most_workers: int = 0
    begun: float = field(init=False)
    _looks: int = field(init=False, default=0)
    _workers_seen: int = field(init=False, default=0)
    _phase: Phase = field(init=False, default=Phase.START_UP)
    _phase_begun: float = field(init=False)
    _now: dict[Stage, int] = field(init=False, default_factory=lambda: dict.fromkeys(Stage, 0))
    _at_work: list[Stage] = field(init=False, default_factory=list)
    _marked: float = field(init=False)
    _marked_cpu: float = field(init=False)
    _marked_queued: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self._marked = self._phase_begun = self.wall()
        self._marked_cpu, self._marked_queued = self.cpu(), self.queued()

    @contextmanager
    def waiting(self, stage: Stage, count: int = 1) -> Iterator[None]:
        entered, now = self.mark(), self._now
        now[stage] += 1
        self.most[stage] = max(self.most[stage], now[stage])
        if stage is Stage.ANSWER or stage is Stage.BODY:
            self.most_requests = max(self.most_requests, now[Stage.ANSWER] + now[Stage.BODY])
        try:
            yield
        finally:
            self.stages[stage].add(self.mark() - entered, count)
            now[stage] -= 1

    @contextmanager
    def working(self, stage: Stage) -> Iterator[None]:
        begun = self.mark()
        self._at_work.append(stage)
        try:
            yield
        finally:
            self.stages[stage].add(self.mark() - begun)
            self._at_work.pop()

    def worked(self, seconds: float) -> None:
        self.stages[Stage.CONVERTING].add(seconds)

    def begin(self, phase: Phase) -> None:
        now = self.mark()
        self.phases[self._phase] = self.phases.get(self._phase, 0.0) + now - self._phase_begun
        self._phase, self._phase_begun = phase, now

    def look_at(self, workers: int) -> None:
        self.most_workers = max(self.most_workers, workers)
        self._looks += 1
        self._workers_seen += workers

    @property
    def mean_workers(self) -> float:
        return self._workers_seen / max(self._looks, 1)

    def end(self) -> float:
        """End the last phase; return the seconds since the start."""
        self.begin(self._phase)
        return self._marked - self.begun

    def mark(self) -> float:
        """Attribute the time since the last mark to its cause."""
        now, cpu, queued = self.wall(), self.cpu(), self.queued()
        crowded, busy = queued - self._marked_queued, cpu - self._marked_cpu
        passed = now - self._marked - crowded
        self._marked, self._marked_cpu, self._marked_queued = now, cpu, queued
        limits = self.limits
        limits[Limit.MACHINE] += crowded
        if self._at_work and self._at_work[-1] is Stage.CONVERTING:
            limits[Limit.CONVERTER] += passed
            return now
        limits[Limit.SITEMIRROR] += busy
        idle = passed - busy  # may be below 0 for one moment, as the clocks differ; the sums are right
        if self._at_work:
            limits[Limit.DISK] += idle  # such work waits for nothing else
            return now
        found = self._waited_for()
        if found is not Limit.SITE:
            limits[found] += idle
            return now
        answers, bodies = self._now[Stage.ANSWER], self._now[Stage.BODY]
        limits[Limit.SITE] += idle * answers / (answers + bodies)
        limits[Limit.NETWORK] += idle * bodies / (answers + bodies)
        return now

    def _waited_for(self) -> Limit:
        """Return what the run waits for. `SITE` includes the network."""
        now = self._now
        if now[Stage.RATE_LIMIT]:
            return Limit.RATE_LIMIT
        if now[Stage.ASKED_TO_WAIT]:
            return Limit.ASKED_TO_WAIT
        requests = now[Stage.ANSWER] + now[Stage.BODY]
        if requests < self.concurrency and (now[Stage.CONVERSION] or now[Stage.LINKS]):
            return Limit.CONVERTER  # More requests are allowed, but pages wait for conversion.
        if requests:
            return Limit.SITE
        return Limit.DISK if now[Stage.FLUSH] else Limit.OTHER
