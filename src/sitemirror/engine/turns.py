"""Turns at the network: as many as --concurrency allows, held only while a request is under way.

There are more slots than turns. While a page is being converted its slot has no turn, so the next request goes out.
"""

from __future__ import annotations

import asyncio
from typing import Final

BEYOND: Final = 16
"""Pages that may be on their way from the network to the disk beside those being fetched. What a kill can cost."""


class Turn:
    """One slot's share of the network: held or not."""

    def __init__(self, all_turns: asyncio.Semaphore) -> None:
        self._all = all_turns
        self._held = False

    async def take(self) -> None:
        """Waits for a turn, unless this slot has one."""
        if not self._held:
            await self._all.acquire()
            self._held = True

    def give_back(self) -> None:
        if self._held:
            self._held = False
            self._all.release()
