"""The URLs still to visit, read from the state a few hundred at a time so that a million cost no memory."""

from __future__ import annotations

from collections import deque
from typing import Final

from sitemirror.store.ledger import Known, Ledger
from sitemirror.store.selection import Selection

_AT_A_TIME: Final = 256


class Queue:
    """One pass over the URLs of a selection, in the order of discovery."""

    def __init__(self, ledger: Ledger, which: Selection) -> None:
        self._ledger = ledger
        self._which = which
        self._waiting: deque[Known] = deque()
        self._last = 0

    def next(self) -> Known | None:
        found = self.peek()
        if found is not None:
            self._waiting.popleft()
        return found

    def peek(self) -> Known | None:
        if not self._waiting:
            self._waiting.extend(self._ledger.take(self._which, self._last, _AT_A_TIME))
            if not self._waiting:
                return None
            self._last = self._waiting[-1].id
        return self._waiting[0]
