"""A cancelled run finishes what it writes in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sitemirror.run.workspace import in_thread


@pytest.mark.parametrize("fails", [False, True])
async def test_second_cancellation_still_waits_for_the_writing_thread(fails: bool) -> None:
    """The folder is unlocked after the run, so nothing may write to it then; errors are swallowed."""
    may_end, ended = threading.Event(), threading.Event()
    unheard: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))

    def write() -> None:
        may_end.wait(20)
        ended.set()
        if fails:
            raise OSError

    run = asyncio.create_task(in_thread(write))
    for _ in range(2):
        await asyncio.sleep(0.05)
        run.cancel()
    await asyncio.sleep(0.05)
    assert not run.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ended.is_set()
    del run
    await asyncio.sleep(0)
    assert unheard == []
