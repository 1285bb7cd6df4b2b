"""Rate limits, pauses, retries and outages. The only module that sleeps, so no delay is paid twice.

A host is an authority (`example.com`, `example.com:8080`). Each has one pacer for every kind of request: robots.txt,
sitemaps, pages, hops of a redirect and retries.

Failures in a row mean that a host is down, not that a page fails. The host is paused for longer and longer, asked by
one request at a time, and given up in the end. The first good answer ends the outage.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol
from weakref import WeakValueDictionary

from sitemirror.events import Listener, Waiting, Warned, nobody
from sitemirror.model import Lane
from sitemirror.settings import Settings
from sitemirror.stopwatch import IDLE, Stage, Stopwatch
from sitemirror.urls import authority

IN_A_ROW: Final = 5
"""Consecutive failures after which a host counts as down."""

FIRST_OUTAGE_PAUSE: Final = 2.0
LONGEST_OUTAGE_PAUSE: Final = 300.0
"""Seconds. The pauses double from the one to the other."""

PROBES_APART: Final = 1.0
"""Seconds between two requests to a host that is down, however fast it was asked before."""

PATIENCE: Final = 1800.0
"""Seconds after which the site itself is given up: longer than a restart, a deployment or a lost connection takes."""

PATIENCE_ELSEWHERE: Final = 60.0
"""Seconds after which another host is given up, so that one of many does not hold up the others."""

_DOWN: Final = frozenset({502, 503, 504, *range(520, 531)})


def is_outage_status(status: int) -> bool:
    """True for statuses of a gateway that cannot reach the host. 500 concerns one page only."""
    return status in _DOWN


@dataclass(slots=True)
class Outage:
    """Consecutive failures of one host. Times are the clock's monotonic seconds."""

    failures: int = 0
    since: float = 0.0
    reason: str = ""
    given_up: bool = False

    @property
    def on(self) -> bool:
        return self.failures >= IN_A_ROW

    def add(self, now: float, reason: str, patience: float) -> None:
        """Counts a failure of a request that was not delayed by a pause."""
        if not self.failures:
            self.since = now
        self.failures += 1
        self.reason = reason
        self.given_up = self.on and now - self.since >= patience

    @property
    def pause(self) -> float:
        """Seconds until the host is asked again."""
        return (
            min(FIRST_OUTAGE_PAUSE * 2.0 ** min(self.failures - IN_A_ROW, 30), LONGEST_OUTAGE_PAUSE) if self.on else 0.0
        )

    def describe(self) -> str:
        return f"{self.reason}, {self.failures} times in a row"


LONGEST_PAUSE: Final = 3600.0
"""Seconds. A host that asks for more is asked again after an hour: a typo must not stop a run for a year."""

LONGEST_CRAWL_DELAY: Final = 60.0
"""Seconds. A larger Crawl-delay is taken as this much: 10,000 pages at one an hour would never end."""

RATE_AFTER_COMPLAINT: Final = 10.0
"""Requests per second that count as "full speed" once a host without a configured limit has answered 429.
The first complaint halves it to 5; the limit is lifted when the host has recovered."""

SLOWEST: Final = 1 / 64
"""The rate is never cut below this share of the configured one."""

RECOVERY: Final = 0.05
"""Share of the configured rate that each good answer gives back."""

MANY_HOSTS: Final = 4096
"""Hosts remembered before idle ones are forgotten."""


class Clock(Protocol):
    """A source of time. Tests pass their own."""

    def monotonic(self) -> float: ...

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The system's time."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(slots=True, weakref_slot=True)
class LastRequest:
    """The last request to a host by any concurrent run, and that run's interval until its next one."""

    at: float = -math.inf
    gap: float = 0.0


class LastRequests:
    """Last requests by host, shared by concurrent runs.

    An entry lives as long as a pacer knows the host; the newest also for the runs that follow.
    """

    def __init__(self) -> None:
        self._all: WeakValueDictionary[str, LastRequest] = WeakValueDictionary()
        self._latest: deque[LastRequest] = deque(maxlen=MANY_HOSTS)

    def __len__(self) -> int:
        return len(self._all)

    def of(self, host: str) -> LastRequest:
        asked = self._all.get(host)
        if asked is None:
            asked = self._all[host] = LastRequest()
            self._latest.append(asked)
        return asked


@dataclass(slots=True)
class _Host:
    """The pacing state of one host."""

    # asyncio.Lock wakes its waiters in order, which makes it fair.
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_start: float = -math.inf
    shared: LastRequest | None = None  # None if this is the only run
    paused_until: float = -math.inf
    pause_is_measured: bool = False  # One waiter reports the time; others would count it again.
    share: float = 1.0  # of the configured rate; under 1 after a 429
    crawl_delay: float = 0.0
    outage: Outage = field(default_factory=Outage)

    def interval(self, lane: Lane, rate: float) -> float:
        """Seconds between two starts in `lane`, whose configured rate is `rate` (0 = no limit)."""
        base = 1.0 / rate if rate else 0.0
        if lane is Lane.CONTENT:
            base = max(base, self.crawl_delay)
        if self.outage.on:
            base = max(base, PROBES_APART)
        if self.share < 1.0:
            return (base or 1.0 / RATE_AFTER_COMPLAINT) / self.share
        return base

    def free_at(self, interval: float) -> float:
        """The time at which a request may start.

        Between two runs the smaller interval counts, or the slower run would starve.
        """
        own, shared = self.last_start + interval, self.shared
        return own if shared is None else max(own, shared.at + min(interval, shared.gap))

    def started(self, now: float, interval: float) -> None:
        self.last_start = now
        if self.shared is not None:
            self.shared.at, self.shared.gap = now, interval


class Pace:
    """Delays requests until they may start. One for the whole run.

    Concurrent runs share `room`, a semaphore that each request holds from `acquire` to `release`. They also share
    when each host was `asked` last, so that a host of several runs gets the requests of the fastest, not their sum.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        on_event: Listener = nobody,
        room: asyncio.Semaphore | None = None,
        asked: LastRequests | None = None,
        watch: Stopwatch = IDLE,
    ) -> None:
        self._watch = watch
        self._rates = {Lane.SITEMAP: settings.sitemap_rate, Lane.CONTENT: settings.content_rate}
        self._clock = clock
        self._tell = on_event
        self._room = room
        self._asked = asked
        self._hosts: dict[str, _Host] = {}
        self._site = ""

    def patient_with(self, url: str) -> None:
        """Names the site of the run, which is given up later than other hosts."""
        self._site = authority(url)

    async def acquire(self, url: str, lane: Lane, *, yield_if: Callable[[str], bool] | None = None) -> bool:
        """Waits until a request to `url` may start: one lane interval after the last one, and after any pause.

        Returns False at once if the host is paused and `yield_if` says that another host could be asked meanwhile.
        """
        host = self._host(url)
        room = self._room
        if not host.queue.locked() and self._ready_at(host, lane) <= (now := self._clock.monotonic()):
            if room is None:
                self._start(host, lane, now)
                return True
            if not room.locked():
                self._start(host, lane, now)
                await room.acquire()  # returns at once
                return True
        async with host.queue:
            while True:
                # Computed again after each sleep: a 429 may have arrived meanwhile.
                while (ready := self._ready_at(host, lane)) > (now := self._clock.monotonic()):
                    if yield_if is not None and host.paused_until > now and yield_if(url):
                        return False
                    with self._watch.waiting(self._reason(host, lane)):
                        await self._clock.sleep(ready - now)
                if room is None:
                    break
                # Still at the head of the host's queue, so that those who wait for room do not start all at once.
                await room.acquire()
                if self._ready_at(host, lane) <= self._clock.monotonic():
                    break
                room.release()
            self._start(host, lane, self._clock.monotonic())
        return True

    def _start(self, host: _Host, lane: Lane, now: float) -> None:
        host.started(now, host.interval(lane, self._rates[lane]) if host.shared is not None else 0.0)

    def is_paused(self, url: str) -> bool:
        """True while nothing is sent to the host."""
        host = self._hosts.get(authority(url))
        return host is not None and host.paused_until > self._clock.monotonic()

    async def wait_for_pause(self, url: str) -> None:
        """Waits until the host is not paused any more. Grants no request."""
        host = self._host(url)
        while host.paused_until > self._clock.monotonic():
            await self._wait_for_pause(host)

    async def first_pause_over(self) -> None:
        """Waits until the first of all pauses ends; returns at once if there is none."""
        now = self._clock.monotonic()
        paused = (host for host in self._hosts.values() if host.paused_until > now)
        if (first := min(paused, key=lambda host: host.paused_until, default=None)) is not None:
            await self._wait_for_pause(first)

    async def _wait_for_pause(self, host: _Host) -> None:
        """Sleeps until the pause ends; of all waiters one reports the time."""
        left = host.paused_until - self._clock.monotonic()
        if host.pause_is_measured:
            await self._clock.sleep(left)
            return
        host.pause_is_measured = True
        try:
            with self._watch.waiting(Stage.ASKED_TO_WAIT):
                await self._clock.sleep(left)
        finally:
            host.pause_is_measured = False

    def release(self) -> None:
        """Ends a request, its body included."""
        if self._room is not None:
            self._room.release()

    def _ready_at(self, host: _Host, lane: Lane) -> float:
        return max(host.free_at(host.interval(lane, self._rates[lane])), host.paused_until)

    def _reason(self, host: _Host, lane: Lane) -> Stage:
        """Tells our own rate limit from a delay that the host asked for."""
        rate = self._rates[lane]
        own = host.free_at(1.0 / rate if rate else 0.0)
        return Stage.RATE_LIMIT if own >= self._ready_at(host, lane) else Stage.ASKED_TO_WAIT

    def pause(self, url: str, seconds: float, reason: str) -> None:
        """Stops requests to the host for `seconds`. Of overlapping pauses the later end counts."""
        if not seconds > 0:
            return
        seconds = min(seconds, LONGEST_PAUSE)
        host = self._host(url)
        until = self._clock.monotonic() + seconds
        if until > host.paused_until:
            host.paused_until = until
            self._tell(Waiting(authority(url), seconds, reason))

    def record_failure(self, url: str, reason: str, asked: float | None = None) -> bool:
        """Records a failure caused by the host, which may have `asked` for a pause in seconds.

        True if the host is down but not given up: the same request may be worth a retry.
        """
        host, now = self._host(url), self._clock.monotonic()
        outage = host.outage
        if host.paused_until <= now and not outage.given_up:  # Else it was in flight with one that is counted.
            site = authority(url)
            outage.add(now, reason, PATIENCE if site == self._site else PATIENCE_ELSEWHERE)
            if outage.given_up:
                self._tell(Warned(f"{site} is given up for this run: {outage.describe()}"))
            elif outage.on and asked is None:
                self.pause(url, outage.pause, outage.describe())
        if asked is not None and not outage.given_up:
            self.pause(url, asked, reason)
        return outage.on and not outage.given_up

    def given_up(self, url: str) -> str:
        """The reason why the host was given up for this run; empty if it was not."""
        host = self._hosts.get(authority(url))
        return host.outage.describe() if host is not None and host.outage.given_up else ""

    @property
    def lost(self) -> str:
        """The reason why the site of the run was given up; empty if it was not."""
        host = self._hosts.get(self._site)
        return host.outage.describe() if host is not None and host.outage.given_up else ""

    def record_answer(self, url: str) -> None:
        """Ends an outage: the host answered, whatever the status."""
        host = self._hosts.get(authority(url))
        if host is not None and host.outage.failures and not host.outage.given_up:
            host.outage = Outage()

    def slow_down(self, url: str) -> None:
        """Halves the host's rate, once for each pause: other requests in flight get the same 429."""
        host = self._host(url)
        if host.paused_until <= self._clock.monotonic():
            host.share = max(host.share / 2, SLOWEST)

    def speed_up(self, url: str) -> None:
        """Raises a reduced rate a little, after a good response."""
        host = self._hosts.get(authority(url))
        if host is not None and host.share < 1.0:
            # Rounded, so that twenty steps of 0.05 make exactly 1.
            host.share = min(round(host.share + RECOVERY, 9), 1.0)

    def set_crawl_delay(self, url: str, seconds: float) -> None:
        """Obeys robots.txt's Crawl-delay for pages, up to `LONGEST_CRAWL_DELAY`."""
        if seconds > 0:
            self._host(url).crawl_delay = min(seconds, LONGEST_CRAWL_DELAY)

    def snapshot(self) -> dict[str, object]:
        """Reduced rates and pauses as JSON data, for a resumed run."""
        now, wall = self._clock.monotonic(), self._clock.now().timestamp()
        found: dict[str, object] = {}
        for name, host in self._hosts.items():
            left = host.paused_until - now
            if host.share < 1.0 or left > 0:
                found[name] = {"share": host.share, "paused_until": math.ceil(wall + left) if left > 0 else None}
        return found

    def restore(self, data: object) -> None:
        """Restores a snapshot; ignores what is invalid, since the file may be damaged."""
        if not isinstance(data, Mapping):
            return
        now, wall = self._clock.monotonic(), self._clock.now().timestamp()
        for name, entry in data.items():
            if not isinstance(name, str) or not isinstance(entry, Mapping):
                continue
            host = self._hosts.setdefault(name, self._new(name))
            share, until = _number(entry.get("share")), _number(entry.get("paused_until"))
            if share is not None and 0 < share < 1:
                host.share = max(share, SLOWEST)
            if until is not None and until > wall:
                left = min(until - wall, LONGEST_PAUSE)
                if now + left > host.paused_until:
                    host.paused_until = now + left
                    self._tell(Waiting(name, left, "asked for in the last run"))

    def _host(self, url: str) -> _Host:
        name = authority(url)
        host = self._hosts.get(name)
        if host is None:
            if len(self._hosts) >= MANY_HOSTS:
                self._forget_idle()
            host = self._hosts[name] = self._new(name)
        return host

    def _new(self, name: str) -> _Host:
        return _Host(shared=None if self._asked is None else self._asked.of(name))

    def _forget_idle(self) -> None:
        now = self._clock.monotonic()
        self._hosts = {
            name: host
            for name, host in self._hosts.items()
            if host.queue.locked()
            or host.share < 1.0
            or host.crawl_delay
            or host.outage.failures
            or max(self._ready_at(host, lane) for lane in Lane) > now
        }


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


class Slot:
    """A request slot, acquired or not.

    A slot is released while its host is paused, so that other hosts can be asked meanwhile.
    """

    def __init__(self, semaphore: asyncio.Semaphore, is_needed: Callable[[str], bool] = lambda _: False) -> None:
        """`is_needed` says whether other hosts could use the slot while the host of a URL is paused."""
        self.is_needed = is_needed
        self._semaphore = semaphore
        self._held = False

    async def acquire(self) -> None:
        """Waits for the slot, unless it is acquired."""
        if not self._held:
            await self._semaphore.acquire()
            self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._semaphore.release()


class BorrowedSlot(Slot):
    """The slot of another request. Once released it is not acquired again."""

    def __init__(self, slot: Slot) -> None:
        self.is_needed = slot.is_needed
        self._slot = slot

    async def acquire(self) -> None:
        """Does not wait."""

    def release(self) -> None:
        self._slot.release()


async def wait_for_host(pace: Pace, url: str, lane: Lane, held: Sequence[Slot]) -> None:
    """Waits until the host may be asked.

    Releases the `held` slots during a pause that others could use, even one that begins while this request queues.
    """
    while not await pace.acquire(url, lane, yield_if=held[0].is_needed if held else None):
        for each in held:
            each.release()
        await pace.wait_for_pause(url)
        for each in held:
            await each.acquire()


# Fractions, and several headers joined, are no valid Retry-After, but clear.
_SECONDS: Final = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[ \t]*,[ \t]*[0-9]+(?:\.[0-9]*)?)*")

# 52x and 530 are what CDNs say when the site behind them is down for a moment.
_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, *range(520, 528), 529, 530})


def is_transient(status: int) -> bool:
    """True if the same request may succeed later."""
    return status in _TRANSIENT


def asks_to_wait(status: int, retry_after: str | None) -> bool:
    """True if the response asks for a later retry rather than reporting a failure."""
    return status == 429 or (status == 503 and retry_after is not None)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, at most `LONGEST_PAUSE`; None if it is invalid.

    Of several values the longest counts.
    """
    if value is None:
        return None
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return max(min(float(each), LONGEST_PAUSE) for each in value.split(","))
    try:
        when = parsedate_to_datetime(value)
        # A zone of "-0000" gives a naive time; HTTP dates are UTC whatever they say.
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(seconds, LONGEST_PAUSE) if seconds >= 0 and math.isfinite(seconds) else None


class RandomSource(Protocol):
    """A source of randomness: `random.Random`, or a test's own."""

    def uniform(self, a: float, b: float, /) -> float: ...


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits of 1, 2, 4 … seconds, each with up to a second of jitter, none over a minute."""

    base: float = 1.0
    ceiling: float = 60.0
    chance: RandomSource = field(default_factory=random.SystemRandom)

    def seconds(self, tries: int) -> float:
        """The next wait, after `tries` earlier ones for the same URL."""
        wait = min(self.base * 2.0 ** min(tries, 64), self.ceiling)
        return min(wait + self.chance.uniform(0, 1), self.ceiling)
