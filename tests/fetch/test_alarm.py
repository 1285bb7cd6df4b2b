"""One timer for all requests: each ends in time, none before it, and whoever is cancelled stays so."""

from __future__ import annotations

import asyncio
import time

import pytest

from sitemirror.fetch.transport import Deadlines


async def _sleep(alarms: Deadlines, seconds: float) -> float:
    begun = time.monotonic()
    with alarms.alarm():
        await asyncio.sleep(seconds)
    return time.monotonic() - begun


async def test_each_has_all_of_its_time() -> None:
    """Requests that begin one after the other end one after the other; those that were done in time do not matter."""
    alarms = Deadlines(0.3)

    async def late_at(start: float) -> float:
        await asyncio.sleep(start)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            await _sleep(alarms, 10)
        return time.monotonic() - begun

    tasks = [late_at(start) for start in (0.0, 0.1, 0.25, 0.5)]
    *took, _ = await asyncio.gather(*tasks, _sleep(alarms, 0.05))
    assert all(0.28 <= seconds < 5 for seconds in took)


async def test_what_is_over_is_forgotten() -> None:
    """A thousand requests that were done in time leave nothing behind, and their timer wakes nobody."""
    alarms = Deadlines(0.2)
    for _ in range(1000):
        with alarms.alarm():
            pass
    assert not alarms._set
    await asyncio.sleep(0.3)
    await _sleep(alarms, 0.05)


async def test_cancelling_is_no_timeout() -> None:
    """Whoever is cancelled from outside hears that and nothing else, even when its time is over at that moment."""
    alarms = Deadlines(0.05)
    task = asyncio.create_task(_sleep(alarms, 10))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    task = asyncio.create_task(_sleep(alarms, 10))
    await asyncio.sleep(0)
    alarms._set[-1].ring()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_another_error_is_not_hidden() -> None:
    """What went wrong inside is what is raised."""
    alarms = Deadlines(5)
    with pytest.raises(ZeroDivisionError), alarms.alarm():
        raise ZeroDivisionError
    alarms.close()
    alarms.close()
