"""Turns at the network: as many as are allowed at once, held only while a request is under way.

Whoever has to wait because a host asked for it has none meanwhile, so that other hosts are not kept waiting with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Turn:
    """One asker's share of the network: held or not."""

    def __init__(self, all_turns: asyncio.Semaphore, is_wanted: Callable[[str], bool] = lambda _: False) -> None:
        """`is_wanted` says whether others may want it while this URL's host has to wait."""
        self.is_wanted = is_wanted
        self._all = all_turns
        self._held = False

    async def take(self) -> None:
        """Waits for a turn, unless this asker has one."""
        if not self._held:
            await self._all.acquire()
            self._held = True

    def give_back(self) -> None:
        if self._held:
            self._held = False
            self._all.release()


class Leaving(Turn):
    """Another's turn, for one who goes on without it once it was given back."""

    def __init__(self, turn: Turn) -> None:
        self.is_wanted = turn.is_wanted
        self._turn = turn

    async def take(self) -> None:
        """Waits for nothing."""

    def give_back(self) -> None:
        self._turn.give_back()
