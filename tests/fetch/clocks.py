"""Clocks for tests: one that jumps, one that moves when all sleep, one that the test moves. None ever waits."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

_Result = TypeVar("_Result")

EPOCH = datetime(2026, 1, 3, 20, 0, 0, tzinfo=UTC)


class JumpingClock:
    """Sleeping costs nothing: the time simply is later. For tests with real sockets."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.time

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time - 1000.0)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class DrivenClock:
    """Time stands still until everybody sleeps, then moves to the first who wakes. For tests of pacing alone."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def monotonic(self) -> float:
        return self.time

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time - 1000.0)

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, self._count, future))
        await future

    async def drive(self, *work: Coroutine[Any, Any, Any]) -> None:
        """Runs `work` to its end, moving the time as needed."""
        tasks = [asyncio.ensure_future(one) for one in work]
        while True:
            for _ in range(20):
                await asyncio.sleep(0)
            if all(task.done() for task in tasks):
                break
            assert self._sleepers, "somebody waits for something that is not time"
            wake, _, future = heapq.heappop(self._sleepers)
            self.time = max(self.time, wake)
            if not future.done():
                future.set_result(None)
        for task in tasks:
            task.result()


class HeldClock:
    """Whoever sleeps is seen sleeping until the test wakes it. For what others do meanwhile, with real sockets."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.time

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time - 1000.0)

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.time + seconds, future))
        await future

    @property
    def asleep(self) -> list[float]:
        """The seconds that sleepers still have."""
        return [wake - self.time for wake, future in self._sleepers if not future.done()]

    def wake(self) -> None:
        """It is time for the first of them."""
        self._sleepers = sorted((one for one in self._sleepers if not one[1].done()), key=lambda one: one[0])
        wake, future = self._sleepers.pop(0)
        self.time = max(self.time, wake)
        future.set_result(None)

    async def run_out(self, run: asyncio.Future[_Result]) -> _Result:
        """Holds nobody any more, until `run` is done."""
        while not run.done():
            if self.asleep:
                self.wake()
            await asyncio.sleep(0.001)
        return run.result()
