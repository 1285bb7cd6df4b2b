"""What a run that ends writes in a thread is written, whoever loses patience with it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sitemirror.run.workspace import in_thread


@pytest.mark.parametrize("fails", [False, True])
async def test_being_cancelled_twice_leaves_nobody_writing(fails: bool) -> None:
    """The folder is unlocked when the run is over, so nothing may write to it any more; an error is not heard of."""
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
