"""The URLs still to visit, read from the state a few hundred at a time so that a million cost no memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from sitemirror.store.known import Known
from sitemirror.store.ledger import Ledger
from sitemirror.store.selection import Selection

_AT_A_TIME: Final = 256

_LOOK_AHEAD: Final = 2048
"""URLs among which one is looked for whose host can be asked, while the first ones have to wait."""


class Queue:
    """One pass over the URLs of a selection, in the order of discovery."""

    def __init__(self, ledger: Ledger, which: Selection, must_wait: Callable[[str], bool] = lambda _: False) -> None:
        """`must_wait` says of a URL that its host has asked for time: others go before it."""
        self._must_wait = must_wait
        self._ledger = ledger
        self._which = which
        self._waiting: deque[Known] = deque()
        self._last = 0

    def next(self) -> Known | None:
        found = self.peek()
        if found is None:
            return None
        if not self._must_wait(found.url):
            return self._waiting.popleft()
        place = self._first_that_can_be_asked() or 0
        found = self._waiting[place]
        del self._waiting[place]
        return found

    def peek(self) -> Known | None:
        return self._waiting[0] if self._waiting or self._read_on() else None

    def has_others(self) -> bool:
        """Whether there are URLs, not too far off, whose host can be asked."""
        return self._first_that_can_be_asked() is not None

    def _first_that_can_be_asked(self) -> int | None:
        """Where it stands."""
        place = 0
        while place < len(self._waiting) or (place < _LOOK_AHEAD and self._read_on()):
            if not self._must_wait(self._waiting[place].url):
                return place
            place += 1
        return None

    def _read_on(self) -> bool:
        found = self._ledger.take(self._which, self._last, _AT_A_TIME)
        if found:
            self._waiting.extend(found)
            self._last = found[-1].id
        return bool(found)
