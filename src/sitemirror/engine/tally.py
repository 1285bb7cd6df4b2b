"""Counts a run while it goes: how far, how fast, how much longer."""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import Final

_WINDOW: Final = 60.0


@dataclass(slots=True)
class Tally:
    """`processed` of `total` URLs are decided, earlier runs included."""

    total: int = 0
    processed: int = 0
    started: int = 0
    saved: int = 0
    failed: int = 0
    skipped: int = 0
    new: int = 0  # pages that this run added, for --max-pages
    added: array[int] = field(default_factory=lambda: array("q"))  # ids of those and of other files
    changed: array[int] = field(default_factory=lambda: array("q"))
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=5000))

    def done(self, now: float) -> None:
        """One more URL is decided."""
        self.processed += 1
        self.total = max(self.total, self.processed)
        self._times.append(now)

    def rate(self, now: float) -> float:
        """URLs a second over the last minute (or the last 5,000 URLs)."""
        while self._times and now - self._times[0] > _WINDOW:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(now - self._times[0], 1e-6)

    def left(self, rate: float) -> float | None:
        """Seconds until all is processed at so many a second; None while nobody can tell."""
        return (self.total - self.processed) / rate if rate else None
