"""Which answers are worth another try, and how long to wait before it. Decides; never waits itself."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

from sitemirror.fetch.pace import LONGEST_PAUSE

_DIGITS: Final = re.compile(r"[0-9]+")

# 52x and 530 are what CDNs say when the site behind them is down for a moment.
_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, *range(520, 528), 529, 530})


def is_transient(status: int) -> bool:
    """Whether the same request may well succeed later."""
    return status in _TRANSIENT


def asks_to_wait(status: int, retry_after: str | None) -> bool:
    """Whether the answer is a request to come back rather than a failure."""
    return status == 429 or (status == 503 and retry_after is not None)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, at most `LONGEST_PAUSE`; `None` where it makes no sense."""
    if value is None:
        return None
    value = value.strip()
    if _DIGITS.fullmatch(value):
        # Python refuses to read numbers of thousands of digits.
        return min(float(value), LONGEST_PAUSE) if len(value) < 20 else LONGEST_PAUSE
    try:
        when = parsedate_to_datetime(value)
        # A zone of "-0000" gives a naive time; HTTP dates are UTC whatever they say.
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(seconds, LONGEST_PAUSE) if seconds >= 0 and math.isfinite(seconds) else None


class Chance(Protocol):
    """Where randomness comes from: `random.Random`, or a test's own."""

    def uniform(self, a: float, b: float, /) -> float: ...


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits of 1, 2, 4 … seconds, each with up to a second of jitter, none over a minute."""

    base: float = 1.0
    ceiling: float = 60.0
    chance: Chance = field(default_factory=random.SystemRandom)

    def seconds(self, tries: int) -> float:
        """The wait after `tries` earlier waits for the same URL."""
        wait = min(self.base * 2.0 ** min(tries, 64), self.ceiling)
        return min(wait + self.chance.uniform(0, 1), self.ceiling)
