"""Turns at the network: as many as are allowed at once, held only while a request is under way.

Whoever has to wait because a host asked for it has none meanwhile, so that other hosts are not kept waiting with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from sitemirror.fetch.pace import Pace
from sitemirror.model import Lane


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


async def host_turn(pace: Pace, url: str, lane: Lane, held: Sequence[Turn]) -> None:
    """Waits until the host may be asked. Nothing is `held` in a pause that others could use, also where it comes while
    one is in line already."""
    while not await pace.turn(url, lane, leave_if=held[0].is_wanted if held else None):
        for each in held:
            each.give_back()
        await pace.rest(url)
        for each in held:
            await each.take()
