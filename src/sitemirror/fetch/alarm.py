"""Ends requests that take too long, by one timer for all of them.

A request has the same time as every other, so the first to begin is the first to be late. A timer each, as
`asyncio.timeout` sets, costs more than all else that is done about the time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType


class Alarms:
    """The requests under way, each of which has `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._set: deque[Alarm] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def alarm(self) -> Alarm:
        """Around what has to be done in time. Raises `TimeoutError` there if it is not."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        alarm = Alarm(self, task, loop.time())
        self._set.append(alarm)
        if self._timer is None:
            self._timer = loop.call_at(alarm.begun + self._seconds, self._ring, loop)
        return alarm

    def tidy(self) -> None:
        """Forgets what is over."""
        alarms = self._set
        while alarms and alarms[0].task is None:
            alarms.popleft()

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        late, alarms = loop.time() - self._seconds, self._set
        while alarms and (alarms[0].task is None or alarms[0].begun <= late):
            alarms.popleft().ring()
        self._timer = loop.call_at(alarms[0].begun + self._seconds, self._ring, loop) if alarms else None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Alarm:
    """Of one request, which `task` makes."""

    __slots__ = ("_alarms", "_cancelled_before", "_rang", "begun", "task")

    def __init__(self, alarms: Alarms, task: asyncio.Task[object], begun: float) -> None:
        self.begun = begun  # by the loop's clock
        self.task: asyncio.Task[object] | None = task  # None: over
        self._alarms = alarms
        self._cancelled_before = task.cancelling()
        self._rang = False

    def ring(self) -> None:
        if self.task is not None:
            self._rang = True
            self.task.cancel()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        task, self.task = self.task, None
        self._alarms.tidy()
        if self._rang:
            assert task is not None
            # Else somebody else wants the task to end, too, and has the last word.
            if task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
                raise TimeoutError from error
