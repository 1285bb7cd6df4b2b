"""Tells a host that is down from a page that fails: by failures in a row, and by how long they go on.

A host that is down is left alone for longer and longer, asked by one request at a time, and given up in the end. The
first good answer ends all that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

IN_A_ROW: Final = 5
"""Failures without an answer between them after which a host counts as down."""

FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 300.0
"""Seconds. The pauses double from the one to the other."""

PROBES_APART: Final = 1.0
"""Seconds between two requests to a host that is down, however fast it was asked before."""

PATIENCE: Final = 1800.0
"""Seconds after which the site itself is given up: longer than a restart, a deployment or a lost connection takes."""

PATIENCE_ELSEWHERE: Final = 60.0
"""Seconds after which another host is given up, so that one of many does not hold up the others."""

_DOWN: Final = frozenset({502, 503, 504, *range(520, 531)})


def says_down(status: int) -> bool:
    """Whether an answer speaks for the whole host: it comes from what stands before it. 500 is one page's trouble."""
    return status in _DOWN


@dataclass(slots=True)
class Outage:
    """What one host's failures in a row amount to. Times are the clock's monotonic seconds."""

    failures: int = 0
    since: float = 0.0
    reason: str = ""
    given_up: bool = False

    @property
    def on(self) -> bool:
        return self.failures >= IN_A_ROW

    def add(self, now: float, reason: str, patience: float) -> None:
        """One more failure, that of a request which nobody held back."""
        if not self.failures:
            self.since = now
        self.failures += 1
        self.reason = reason
        self.given_up = self.on and now - self.since >= patience

    @property
    def pause(self) -> float:
        """Seconds to leave the host alone now."""
        return min(FIRST_PAUSE * 2.0 ** min(self.failures - IN_A_ROW, 30), LONGEST_PAUSE) if self.on else 0.0

    def told(self) -> str:
        return f"{self.reason}, {self.failures} times in a row"
