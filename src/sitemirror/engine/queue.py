"""The URLs still to visit, read from the state a few hundred at a time so that a million cost no memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from sitemirror.store.known import Known, Lookup
from sitemirror.store.selection import Selection
from sitemirror.urls import authority

_AT_A_TIME: Final = 256

_LOOK_AHEAD: Final = 2048
"""URLs that may be set aside because their hosts have to wait: no more are looked at for one that can be asked."""


class Queue:
    """One pass over the URLs of a selection, in the order of discovery."""

    def __init__(self, ledger: Lookup, which: Selection, must_wait: Callable[[str], bool] = lambda _: False) -> None:
        """`must_wait` says of a URL that its host has asked for time: others go before it."""
        self._must_wait = must_wait
        self._ledger = ledger
        self._which = which
        self._waiting: deque[Known] = deque()
        self._last = 0
        self._is_read = False
        self._changes = -1  # of the state when it was read
        self._aside: dict[str, deque[Known]] = {}  # by host, so that a host's pause is asked about once, not per URL
        self._held_back = 0
        self._hosts: set[str] = set()

    def next(self) -> Known | None:
        """The first whose host can be asked. None if there is none, which may change while it `has_to_wait`.

        Where all are of one host there is nothing to choose: its URLs come in their order, paused or not.
        """
        for aside in self._aside.values():
            if not self._must_wait(aside[0].url):
                return self._take_back(aside)
        while self._held_back < _LOOK_AHEAD and (self._waiting or self._read_on()):
            found = self._waiting.popleft()
            if not self._must_wait(found.url):
                return found
            self._aside.setdefault(authority(found.url), deque()).append(found)
            self._held_back += 1
        if len(self._hosts) == 1 and self._aside:
            return self._take_back(*self._aside.values())
        return None

    @property
    def has_to_wait(self) -> bool:
        """Whether there are URLs whose hosts had to wait when it was asked for the next."""
        return bool(self._aside)

    def has_others(self, url: str) -> bool:
        """Whether there are, or were, URLs of other hosts than this one's, not too far off."""
        host = authority(url)
        while not (others := len(self._hosts) > (host in self._hosts)):
            if self._is_read or len(self._waiting) + self._held_back >= _LOOK_AHEAD:
                break
            self._read_on()
        return others

    def grew(self) -> None:
        """URLs were added since, which may be of the selection."""
        self._is_read = False

    def _take_back(self, aside: deque[Known]) -> Known:
        found = aside.popleft()
        self._held_back -= 1
        if not aside:
            del self._aside[authority(found.url)]
        return found

    def _read_on(self) -> bool:
        changes = self._ledger.changes
        if self._is_read and (self._aside or changes == self._changes):  # asked again and again
            return False
        self._changes = changes
        found = self._ledger.take(self._which, self._last, _AT_A_TIME)
        self._is_read = len(found) < _AT_A_TIME
        if found:
            self._waiting.extend(found)
            self._hosts.update(authority(known.url) for known in found)
            self._last = found[-1].id
        return bool(found)
