"""The URLs still to visit, read from the state a few hundred at a time so that a million cost no memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sitemirror.store.ledger import Known


class Queue:
    """One pass over the state. `more` gives the next rows after an id."""

    def __init__(self, more: Callable[[int], list[Known]]) -> None:
        self._more = more
        self._waiting: deque[Known] = deque()
        self._last = 0

    def next(self) -> Known | None:
        found = self.peek()
        if found is not None:
            self._waiting.popleft()
        return found

    def peek(self) -> Known | None:
        if not self._waiting:
            self._waiting.extend(self._more(self._last))
            if not self._waiting:
                return None
            self._last = self._waiting[-1].id
        return self._waiting[0]
