"""Pacing, on a clock that the tests move."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sitemirror
from sitemirror.events import Event, Waiting
from sitemirror.fetch.pace import (
    LONGEST_CRAWL_DELAY,
    LONGEST_PAUSE,
    MANY_HOSTS,
    RATE_AFTER_COMPLAINT,
    LastRequests,
    Pace,
)
from sitemirror.model import Lane
from sitemirror.settings import Settings
from tests.fetch.clocks import DrivenClock

URL = "https://example.com/a"
OTHER = "https://other.example/a"


class Starts:
    """Takes turns and notes when they came."""

    def __init__(self, **settings: float | int) -> None:
        self.clock = DrivenClock()
        self.events: list[Event] = []
        self.pace = Pace(Settings.of(settings), clock=self.clock, on_event=self.events.append)
        self.times: list[float] = []
        self.who: list[object] = []

    async def take(self, lane: Lane = Lane.CONTENT, url: str = URL, name: object = None) -> None:
        await self.pace.acquire(url, lane)
        self.times.append(self.clock.time - 1000)
        self.who.append(name)

    async def run(self, count: int, lane: Lane = Lane.CONTENT) -> None:
        await self.clock.drive(*(self.take(lane, name=n) for n in range(count)))


async def test_default_is_one_request_a_second() -> None:
    """Ten requests at the default rate start exactly a second apart."""
    starts = Starts()
    await starts.run(10)
    assert starts.times == [float(n) for n in range(10)]


async def test_slots_multiply_the_default_rate() -> None:
    """Without a content rate, five slots start five requests a second, evenly spaced."""
    starts = Starts(concurrency=5)
    await starts.run(11)
    assert starts.times == pytest.approx([n / 5 for n in range(11)])


@pytest.mark.parametrize(
    ("limit", "delay", "rate"), [(3, 1, 1), (0.5, 1, 0.5), (0, 2, 0.5), (None, 4, 0.25), (3, None, 3), (0, None, 0)]
)
def test_stricter_limit_for_pages_counts(limit: float | None, delay: float | None, rate: float) -> None:
    """A site's own delay is not overridden by a rate for all sites."""
    assert Settings(content_rate_limit=limit, delay_seconds=delay, rate_limit=50).content_rate == rate


async def test_explicit_content_rate_is_a_hard_cap() -> None:
    """A content rate applies to all slots together."""
    starts = Starts(concurrency=5, content_rate_limit=0.5)
    await starts.run(4)
    assert starts.times == [0, 2, 4, 6]


async def test_zero_is_no_limit() -> None:
    """A rate of 0 never waits."""
    starts = Starts(rate_limit=0)
    await starts.run(1000)
    assert set(starts.times) == {0.0}


async def test_lanes_share_the_host() -> None:
    """Each request waits its own lane's interval after the latest request to the host."""
    starts = Starts(rate_limit=1, content_rate_limit=0.25)
    await starts.clock.drive(
        starts.take(Lane.SITEMAP), starts.take(Lane.CONTENT), starts.take(Lane.SITEMAP), starts.take(Lane.CONTENT)
    )
    assert starts.times == [0, 4, 5, 9]


@pytest.mark.parametrize(("first", "second", "gap"), [(2, 2, 0.5), (4, 1, 0.25), (1, 0, 0)])
async def test_parallel_runs_share_the_rate_of_a_host(first: float, second: float, gap: float) -> None:
    """Together they keep the smaller interval, and each its own."""
    clock, asked = DrivenClock(), LastRequests()
    starts: tuple[list[float], list[float]] = ([], [])

    async def ask(pace: Pace, which: int) -> None:
        for _ in range(8):
            await pace.acquire(URL, Lane.CONTENT)
            starts[which].append(clock.time)

    paces = [Pace(Settings(rate_limit=rate), clock=clock, asked=asked) for rate in (first, second)]
    await clock.drive(*(ask(pace, which) for which, pace in enumerate(paces)))

    def gaps(times: list[float]) -> list[float]:
        return [later - earlier for earlier, later in itertools.pairwise(sorted(times))]

    assert min(gaps(starts[0] + starts[1])) >= gap - 1e-9
    for which, rate in enumerate((first, second)):
        assert min(gaps(starts[which])) >= (1 / rate if rate else 0) - 1e-9
    assert max(gaps(starts[0] + starts[1])) <= 1.0
    assert max(gaps(starts[1])) <= 1.5


async def test_consecutive_runs_keep_the_interval() -> None:
    """A run waits after the last request of the previous run to the same host."""
    clock, asked = DrivenClock(), LastRequests()
    times = []
    for _ in range(3):
        pace = Pace(Settings(rate_limit=2), clock=clock, asked=asked)
        await clock.drive(pace.acquire(URL, Lane.CONTENT))
        times.append(clock.time)
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == [0.5, 0.5]


async def test_old_hosts_are_forgotten() -> None:
    """A crawl to any number of hosts needs bounded memory, also with parallel runs."""
    asked = LastRequests()
    pace = Pace(Settings(rate_limit=0), clock=DrivenClock(), asked=asked)
    for number in range(3 * MANY_HOSTS):
        await pace.acquire(f"https://host{number}.example/", Lane.CONTENT)
    assert len(asked) <= 2 * MANY_HOSTS


async def test_turns_are_fair() -> None:
    """Waiting requests start in order of arrival."""
    starts = Starts()
    await starts.run(20)
    assert starts.who == list(range(20))


async def test_hosts_do_not_wait_for_each_other() -> None:
    """Each host and port has its own limit."""
    starts = Starts()
    others = [URL, OTHER, "https://example.com:8443/"]
    await starts.clock.drive(*(starts.take(url=url) for url in others), *(starts.take(url=url) for url in others))
    assert sorted(starts.times) == [0, 0, 0, 1, 1, 1]


async def test_idle_time_is_not_saved_up() -> None:
    """After a pause of a minute, requests are still a second apart."""
    starts = Starts()
    await starts.run(1)
    starts.clock.time += 60
    await starts.run(3)
    assert starts.times == [0, 60, 61, 62]


async def test_cancelled_wait_is_not_counted() -> None:
    """A request cancelled while waiting does not delay the next one."""
    starts = Starts()
    await starts.run(1)
    waiting = asyncio.ensure_future(starts.take(name="gone"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await starts.run(1)
    assert starts.times == [0, 1]


async def test_pause_applies_to_all_and_is_announced() -> None:
    """During a pause nothing is sent to the host, and events give duration and reason."""
    starts = Starts(rate_limit=0)
    starts.pace.pause(URL, 30, "HTTP 429")
    await starts.run(2)
    assert starts.times == [30, 30]
    assert starts.events == [Waiting("example.com", 30, "HTTP 429")]


async def test_pause_applies_to_waiting_requests() -> None:
    """A pause also delays requests that were already waiting."""
    starts = Starts()

    async def complain() -> None:
        await starts.clock.sleep(0.5)
        starts.pace.pause(URL, 10, "HTTP 503")

    await starts.clock.drive(starts.take(), starts.take(), complain())
    assert starts.times == [0, 10.5]


async def test_of_overlapping_pauses_the_later_end_counts() -> None:
    """A shorter pause within a longer one changes nothing and is not announced."""
    starts = Starts(rate_limit=0)
    starts.pace.pause(URL, 30, "long")
    starts.pace.pause(URL, 5, "short")
    await starts.run(1)
    assert starts.times == [30]
    assert [event.reason for event in starts.events if isinstance(event, Waiting)] == ["long"]


async def test_pause_is_limited_to_an_hour() -> None:
    """No server can stop a run for longer."""
    starts = Starts(rate_limit=0)
    starts.pace.pause(URL, 10**9, "HTTP 429")
    await starts.run(1)
    assert starts.times == [LONGEST_PAUSE] == [3600]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("-inf")])
async def test_invalid_pauses_are_ignored(seconds: float) -> None:
    """Zero, negative and invalid pauses have no effect."""
    starts = Starts(rate_limit=0)
    starts.pace.pause(URL, seconds, "HTTP 429")
    await starts.run(1)
    assert (starts.times, starts.events) == ([0], [])


async def test_rate_is_halved_and_recovers_in_small_steps() -> None:
    """After a 429 the interval doubles; each success restores 5 % of the rate."""
    starts = Starts()
    starts.pace.slow_down(URL)
    await starts.run(2)
    assert starts.times == [0, 2]
    starts.pace.speed_up(URL)
    await starts.run(1)
    assert starts.times[-1] == pytest.approx(2 + 1 / 0.55)
    for _ in range(50):
        starts.pace.speed_up(URL)
    last = starts.times[-1]
    await starts.run(1)
    assert starts.times[-1] == pytest.approx(last + 1)


async def test_simultaneous_429s_halve_once() -> None:
    """Five requests in flight with a 429 halve the rate once."""
    starts = Starts()
    for _ in range(5):
        starts.pace.slow_down(URL)
        starts.pace.pause(URL, 10, "HTTP 429")
    await starts.run(2)
    assert starts.times == [10, 12]
    starts.pace.slow_down(URL)
    await starts.run(1)
    assert starts.times[-1] == 16


async def test_429_imposes_a_limit() -> None:
    """Without a limit, a 429 sets one, and enough successes remove it."""
    starts = Starts(rate_limit=0)
    starts.pace.slow_down(URL)
    await starts.run(2)
    assert starts.times == [0, pytest.approx(2 / RATE_AFTER_COMPLAINT)]
    for _ in range(10):
        starts.pace.speed_up(URL)
    last = starts.times[-1]
    await starts.run(3)
    assert set(starts.times[2:]) == {last}


async def test_slowest_rate_is_bounded() -> None:
    """At the default rate the interval never exceeds about a minute."""
    starts = Starts()
    for _ in range(1000):
        starts.pace.slow_down(URL)
    await starts.run(2)
    assert starts.times == [0, 64]


async def test_crawl_delay_slows_pages_only_and_is_capped() -> None:
    """Crawl-delay applies to pages, not to sitemaps, up to the documented limit."""
    starts = Starts()
    starts.pace.set_crawl_delay(URL, 5)
    await starts.run(3)
    await starts.run(1, Lane.SITEMAP)
    assert starts.times == [0, 5, 10, 11]
    starts.pace.set_crawl_delay(URL, 86400)
    await starts.run(1)
    assert starts.times[-1] == 11 + LONGEST_CRAWL_DELAY


async def test_crawl_delay_never_speeds_up() -> None:
    """A Crawl-delay shorter than our interval has no effect."""
    starts = Starts(content_rate_limit=0.1)
    starts.pace.set_crawl_delay(URL, 1)
    await starts.run(2)
    assert starts.times == [0, 10]


@pytest.mark.parametrize("seconds", [0.0, -3.0, float("nan")])
async def test_invalid_crawl_delay_is_ignored(seconds: float) -> None:
    """A Crawl-delay that is not a number is ignored."""
    starts = Starts()
    starts.pace.set_crawl_delay(URL, seconds)
    await starts.run(2)
    assert starts.times == [0, 1]


async def test_slowdown_and_pause_survive_a_resume() -> None:
    """A snapshot as JSON restores the reduced rate and the rest of the pause."""
    first = Starts()
    first.pace.slow_down(URL)
    first.pace.pause(URL, 100, "HTTP 429")
    await first.pace.acquire(OTHER, Lane.CONTENT)
    kept = json.loads(json.dumps(first.pace.snapshot()))
    assert list(kept) == ["example.com"]
    second = Starts()
    second.clock.time += 40
    second.pace.restore(kept)
    await second.run(2)
    assert second.times == [100, 102]


async def test_snapshot_without_slowdown_is_empty() -> None:
    """Hosts at full rate are not saved."""
    starts = Starts()
    await starts.run(3)
    assert starts.pace.snapshot() == {}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(_JSON | st.dictionaries(st.just("example.com"), st.fixed_dictionaries({"share": _JSON, "paused_until": _JSON})))
def test_damaged_snapshot_is_harmless(data: object) -> None:
    """No damaged snapshot raises, pauses too long, or raises the rate."""

    async def run() -> None:
        starts = Starts()
        starts.pace.restore(data)
        await starts.run(2)
        assert starts.times[0] <= LONGEST_PAUSE
        assert 1 <= starts.times[1] - starts.times[0] <= 64

    asyncio.run(run())


@given(
    rates=st.tuples(st.floats(0.01, 1000), st.floats(0.01, 1000)),
    lanes=st.lists(st.sampled_from(list(Lane)), min_size=2, max_size=12),
)
def test_spacing_holds_for_every_rate(rates: tuple[float, float], lanes: list[Lane]) -> None:
    """No request starts earlier than its interval, nor noticeably later."""

    async def run() -> None:
        starts = Starts(rate_limit=rates[0], content_rate_limit=rates[1])
        await starts.clock.drive(*(starts.take(lane) for lane in lanes))
        interval = {Lane.SITEMAP: 1 / rates[0], Lane.CONTENT: 1 / rates[1]}
        for before, after, lane in zip(starts.times, starts.times[1:], lanes[1:], strict=False):
            assert after - before == pytest.approx(interval[lane], rel=1e-6)

    asyncio.run(run())


async def test_many_hosts_do_not_pile_up() -> None:
    """Ten thousand hosts are forgotten, except one with a pause."""
    starts = Starts()
    starts.pace.pause(OTHER, 3000, "HTTP 429")
    for number in range(10_000):
        starts.clock.time += 0.1
        await starts.pace.acquire(f"https://h{number}.example/", Lane.CONTENT)
    assert len(starts.pace._hosts) < 5000
    assert "other.example" in starts.pace.snapshot()


def test_no_other_stage_sleeps() -> None:
    """`pace.py` is the only module of the stages that sleeps, so delays do not add up."""
    root = Path(sitemirror.__file__).parent
    sleepers = [
        path.relative_to(root).as_posix()
        for stage in ("discover", "frontier", "fetch", "convert", "store", "publish")
        for path in (root / stage).rglob("*.py")
        if re.search(r"\bsleep\(", path.read_text("utf-8"))
    ]
    assert sleepers == ["fetch/pace.py"]
