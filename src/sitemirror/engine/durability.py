"""Forces pages onto the disk itself, and only then marks them as safe from a power cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, suppress
from typing import Final

from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.ledger import Ledger
from sitemirror.store.streams import Draft

AT_ONCE: Final = 1_000
"""Pages that are forced onto the disk at one time: their names are held in memory meanwhile."""


async def force_to_disk(tree: Tree, ledger: Ledger, watch: Stopwatch) -> None:
    """Returns when all pages that were saved before are on the disk. What is saved meanwhile has to wait."""
    after, last = -1, ledger.last_not_durable()
    while after < last and (fresh := list(ledger.not_yet_durable(after, AT_ONCE))):
        after = fresh[-1][0]
        with watch.waiting(Stage.FLUSH):
            synced = await asyncio.to_thread(tree.syncing([path for _, path, _ in fresh]))
        ledger.durable(fresh, but={id for id, path, _ in fresh if path not in synced})


@asynccontextmanager
async def written(draft: AbstractContextManager[Draft], watch: Stopwatch) -> AsyncIterator[Draft]:
    """A draft to write to in one go. When the block ends, a thread forces it onto the disk."""
    with watch.working(Stage.PUBLISHING), ExitStack() as files:
        yield files.enter_context(draft)
        complete = files.pop_all()
    with watch.waiting(Stage.FLUSH):
        await in_thread(complete.close)


async def in_thread(call: Callable[[], None]) -> None:
    """Calls it in a thread, while other sites' runs go on. Cancelled, it waits: the folder's lock goes with the run."""
    ending = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        while not ending.done():
            with suppress(asyncio.CancelledError):  # Being cancelled twice makes it no faster.
                await asyncio.wait([ending])
        ending.exception()  # The run is told as cancelled, whatever came of this.
        raise
