"""Forces pages onto the disk itself, and only then marks them as safe from a power cut."""

from __future__ import annotations

import asyncio
from typing import Final

from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.ledger import Ledger

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
