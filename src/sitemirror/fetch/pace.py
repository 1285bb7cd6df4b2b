"""Rate limits, pauses, retries and outages. The only module that sleeps, so no delay is paid twice and none is lost.

A host is an authority (`example.com`, `example.com:8080`). Each has one pacer for every kind of request: robots.txt,
sitemaps, pages, hops of a redirect and retries.

A host that is down is told from a page that fails by failures in a row. It is paused for longer and longer, asked by
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
"""Failures without an answer between them after which a host counts as down."""

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
        return (
            min(FIRST_OUTAGE_PAUSE * 2.0 ** min(self.failures - IN_A_ROW, 30), LONGEST_OUTAGE_PAUSE) if self.on else 0.0
        )

    def told(self) -> str:
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
"""Pacers kept before those with nothing left to remember are dropped."""


class Clock(Protocol):
    """Where time comes from. Tests bring their own."""

    def monotonic(self) -> float: ...

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The real time."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(slots=True, weakref_slot=True)
class LastAsked:
    """When any of the runs that go at once has asked a host, and how long that one leaves until its next."""

    at: float = -math.inf
    gap: float = 0.0


class LastAskedByHost:
    """Kept while a pacer remembers the host; the latest also for the run that comes after its own."""

    def __init__(self) -> None:
        self._all: WeakValueDictionary[str, LastAsked] = WeakValueDictionary()
        self._latest: deque[LastAsked] = deque(maxlen=MANY_HOSTS)

    def __len__(self) -> int:
        return len(self._all)

    def of(self, host: str) -> LastAsked:
        asked = self._all.get(host)
        if asked is None:
            asked = self._all[host] = LastAsked()
            self._latest.append(asked)
        return asked


@dataclass(slots=True)
class _Host:
    """What is remembered of one host."""

    # asyncio.Lock wakes its waiters in the order they came, which makes turns fair.
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_start: float = -math.inf
    by_any: LastAsked | None = None  # where other runs go beside this one
    paused_until: float = -math.inf
    is_sat_out: bool = False  # somebody who waits for the end of the pause is counted
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
        """When a request may start. Between two runs the smaller gap counts, or the slower would never have a turn."""
        own, any_ = self.last_start + interval, self.by_any
        return own if any_ is None else max(own, any_.at + min(interval, any_.gap))

    def started(self, now: float, interval: float) -> None:
        self.last_start = now
        if self.by_any is not None:
            self.by_any.at, self.by_any.gap = now, interval


class Pace:
    """Says when a request may start. One for the whole run.

    Runs that go at once share a `room`: each request has a place in it from its turn until `ended`. They also share
    when each host was `asked` last: one that several of them lead to is asked as fast as by the fastest, not by all.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        on_event: Listener = nobody,
        room: asyncio.Semaphore | None = None,
        asked: LastAskedByHost | None = None,
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
        """This is the host that the run is about: it is given up only after long."""
        self._site = authority(url)

    async def turn(self, url: str, lane: Lane, *, leave_if: Callable[[str], bool] | None = None) -> bool:
        """Returns when a request to `url` may start: one lane interval after the last start, and after any pause.

        False, without a turn, where the host is paused and `leave_if` says that somebody else could go on meanwhile.
        """
        host = self._host(url)
        room = self._room
        if not host.queue.locked() and self._ready_at(host, lane) <= (now := self._clock.monotonic()):
            if room is None:
                self._start(host, lane, now)
                return True
            if not room.locked():
                self._start(host, lane, now)
                await room.acquire()  # which is had at once
                return True
        async with host.queue:
            while True:
                # Asked again after each sleep: a 429 may have come in meanwhile.
                while (ready := self._ready_at(host, lane)) > (now := self._clock.monotonic()):
                    if leave_if is not None and host.paused_until > now and leave_if(url):
                        return False
                    with self._watch.waiting(self._reason(host, lane)):
                        await self._clock.sleep(ready - now)
                if room is None:
                    break
                # Still at the head of the host's queue: those who wait for a place must not start all at once.
                await room.acquire()
                if self._ready_at(host, lane) <= self._clock.monotonic():
                    break
                room.release()
            self._start(host, lane, self._clock.monotonic())
        return True

    def _start(self, host: _Host, lane: Lane, now: float) -> None:
        host.started(now, host.interval(lane, self._rates[lane]) if host.by_any is not None else 0.0)

    def is_paused(self, url: str) -> bool:
        """Whether the host has asked for time, or is given some, and it is not over."""
        host = self._hosts.get(authority(url))
        return host is not None and host.paused_until > self._clock.monotonic()

    async def rest(self, url: str) -> None:
        """Returns when no pause of the host is left. Nobody has a turn by that."""
        host = self._host(url)
        while host.paused_until > self._clock.monotonic():
            await self._sit_out(host)

    async def first_pause_over(self) -> None:
        """Returns when the first of all pauses ends; at once if there is none."""
        now = self._clock.monotonic()
        paused = (host for host in self._hosts.values() if host.paused_until > now)
        if (first := min(paused, key=lambda host: host.paused_until, default=None)) is not None:
            await self._sit_out(first)

    async def _sit_out(self, host: _Host) -> None:
        """Of all who do so for a host, one is counted."""
        left = host.paused_until - self._clock.monotonic()
        if host.is_sat_out:
            await self._clock.sleep(left)
            return
        host.is_sat_out = True
        try:
            with self._watch.waiting(Stage.ASKED_TO_WAIT):
                await self._clock.sleep(left)
        finally:
            host.is_sat_out = False

    def ended(self) -> None:
        """A request that had its turn is over, with its body."""
        if self._room is not None:
            self._room.release()

    def _ready_at(self, host: _Host, lane: Lane) -> float:
        return max(host.free_at(host.interval(lane, self._rates[lane])), host.paused_until)

    def _reason(self, host: _Host, lane: Lane) -> Stage:
        """Whether the wait is our own wish or the host's."""
        rate = self._rates[lane]
        own = host.free_at(1.0 / rate if rate else 0.0)
        return Stage.RATE_LIMIT if own >= self._ready_at(host, lane) else Stage.ASKED_TO_WAIT

    def pause(self, url: str, seconds: float, reason: str) -> None:
        """Sends nothing to the host for `seconds`. Of overlapping pauses the later end counts."""
        if not seconds > 0:
            return
        seconds = min(seconds, LONGEST_PAUSE)
        host = self._host(url)
        until = self._clock.monotonic() + seconds
        if until > host.paused_until:
            host.paused_until = until
            self._tell(Waiting(authority(url), seconds, reason))

    def stumbled(self, url: str, reason: str, asked: float | None = None) -> bool:
        """A request came to nothing because of the host, which may have `asked` for time.

        True when the host is paused, so that the same request may be worth another try.
        """
        host, now = self._host(url), self._clock.monotonic()
        outage = host.outage
        if host.paused_until <= now and not outage.given_up:  # else it fell with one that is counted
            site = authority(url)
            outage.add(now, reason, PATIENCE if site == self._site else PATIENCE_ELSEWHERE)
            if outage.given_up:
                self._tell(Warned(f"{site} is given up for this run: {outage.told()}"))
            elif outage.on and asked is None:
                self.pause(url, outage.pause, outage.told())
        if asked is not None and not outage.given_up:
            self.pause(url, asked, reason)
        return outage.on and not outage.given_up

    def given_up(self, url: str) -> str:
        """Why nothing more is sent to the host in this run; empty while there is hope."""
        host = self._hosts.get(authority(url))
        return host.outage.told() if host is not None and host.outage.given_up else ""

    @property
    def lost(self) -> str:
        """Why the run can come to nothing more: its own host was given up."""
        host = self._hosts.get(self._site)
        return host.outage.told() if host is not None and host.outage.given_up else ""

    def answered(self, url: str) -> None:
        """The host is there, whatever it thinks of the request."""
        host = self._hosts.get(authority(url))
        if host is not None and host.outage.failures and not host.outage.given_up:
            host.outage = Outage()

    def slow_down(self, url: str) -> None:
        """Halves the host's rate. Once for each pause: the other requests in flight complain about the same thing."""
        host = self._host(url)
        if host.paused_until <= self._clock.monotonic():
            host.share = max(host.share / 2, SLOWEST)

    def recovered(self, url: str) -> None:
        """Gives back a little of the rate after a good answer."""
        host = self._hosts.get(authority(url))
        if host is not None and host.share < 1.0:
            # Rounded, so that twenty steps of 0.05 make exactly 1.
            host.share = min(round(host.share + RECOVERY, 9), 1.0)

    def set_crawl_delay(self, url: str, seconds: float) -> None:
        """Obeys robots.txt's Crawl-delay for pages, up to `LONGEST_CRAWL_DELAY`."""
        if seconds > 0:
            self._host(url).crawl_delay = min(seconds, LONGEST_CRAWL_DELAY)

    def snapshot(self) -> dict[str, object]:
        """What a resumed run must know, as JSON-able data: who is slowed down, and until when who is paused."""
        now, wall = self._clock.monotonic(), self._clock.now().timestamp()
        found: dict[str, object] = {}
        for name, host in self._hosts.items():
            left = host.paused_until - now
            if host.share < 1.0 or left > 0:
                found[name] = {"share": host.share, "paused_until": math.ceil(wall + left) if left > 0 else None}
        return found

    def restore(self, data: object) -> None:
        """Takes up a snapshot. Whatever in it makes no sense is ignored: the file may be damaged."""
        if not isinstance(data, Mapping):
            return
        now, wall = self._clock.monotonic(), self._clock.now().timestamp()
        for name, kept in data.items():
            if not isinstance(name, str) or not isinstance(kept, Mapping):
                continue
            host = self._hosts.setdefault(name, self._new(name))
            share, until = _number(kept.get("share")), _number(kept.get("paused_until"))
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
        return _Host(by_any=None if self._asked is None else self._asked.of(name))

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
