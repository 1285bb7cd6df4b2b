"""A host that keeps failing is left alone and tried again, not hammered; one that never comes back ends the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sitemirror import crawl, mirror
from sitemirror.errors import Unreachable
from sitemirror.events import Event, Waiting, Warned
from sitemirror.fetch.pace import IN_A_ROW, LONGEST_OUTAGE_PAUSE, PATIENCE, PATIENCE_ELSEWHERE, Pace
from sitemirror.model import Lane
from sitemirror.publish.report import MirrorReport
from sitemirror.settings import Settings
from tests.crawl.conftest import link
from tests.fetch.clocks import JumpingClock
from tests.site import Exchange, Site, faults

URL = "https://example.com/a"
OTHER = "https://other.example/a"


class Watched(JumpingClock):
    """Tells a test when time has passed, so that it can mend what is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.on_sleep: Callable[[float], None] = lambda _: None

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        self.on_sleep(self.time - 1000.0)


def _pace(clock: JumpingClock, events: list[Event]) -> Pace:
    pace = Pace(Settings(rate_limit=0), clock=clock, on_event=events.append)
    pace.patient_with(URL)
    return pace


async def test_pauses_grow_until_the_host_is_given_up() -> None:
    """Single failures cost nothing; from the fifth on the pauses double up to five minutes, for half an hour."""
    clock, events = JumpingClock(), list[Event]()
    pace = _pace(clock, events)
    tried = 0
    while not pace.lost:
        await pace.acquire(URL, Lane.CONTENT)
        pace.record_failure(URL, "connection refused")
        tried += 1
    pauses = [event.seconds for event in events if isinstance(event, Waiting)]
    assert pauses[:4] == [2, 4, 8, 16]
    assert max(pauses) == LONGEST_OUTAGE_PAUSE
    assert tried == IN_A_ROW + len(pauses)
    assert PATIENCE <= clock.time - 1000 <= PATIENCE + LONGEST_OUTAGE_PAUSE
    [warning] = [event.message for event in events if isinstance(event, Warned)]
    assert warning == f"example.com is given up for this run: connection refused, {tried} times in a row"


async def test_another_host_is_given_up_sooner() -> None:
    """One dead host of many holds the others up for a minute or so."""
    clock = JumpingClock()
    pace = _pace(clock, [])
    while not pace.given_up(OTHER):
        await pace.acquire(OTHER, Lane.CONTENT)
        pace.record_failure(OTHER, "no such host")
    assert PATIENCE_ELSEWHERE <= clock.time - 1000 <= 3 * PATIENCE_ELSEWHERE
    assert pace.lost == ""


async def test_one_answer_ends_an_outage() -> None:
    """After a good answer the host is asked as fast as before, and may fail as often again."""
    clock = JumpingClock()
    pace = _pace(clock, [])
    for _ in range(IN_A_ROW + 2):
        await pace.acquire(URL, Lane.CONTENT)
        pace.record_failure(URL, "connection reset")
    await pace.acquire(URL, Lane.CONTENT)
    pace.record_answer(URL)
    begun = clock.time
    for _ in range(IN_A_ROW - 1):
        await pace.acquire(URL, Lane.CONTENT)
        assert not pace.record_failure(URL, "connection reset")
    assert clock.time == begun


async def test_requests_that_fall_together_count_once() -> None:
    """Sixteen connections that break at one moment are one failure too many, not sixteen."""
    clock, events = JumpingClock(), list[Event]()
    pace = _pace(clock, events)
    for _ in range(16):
        pace.record_failure(URL, "connection reset")
    assert [event.seconds for event in events if isinstance(event, Waiting)] == [2]


async def test_a_server_that_restarts_is_waited_for(site: Site, out: Path) -> None:
    """Away for ten minutes in the middle of a run: a handful of requests meanwhile, then all the rest is fetched."""
    paths = site.fill(150)
    site.sitemap()
    clock = Watched()
    away: list[float] = []

    async def die(exchange: Exchange) -> None:
        away.append(clock.time - 1000)
        site.fault("*", faults.drop())
        await faults.drop()(exchange)

    def mend(now: float) -> None:
        if away and now - away[0] >= 600:
            site.heal("*")

    clock.on_sleep = mend
    site.fault(paths[20], die, faults.ok())
    report = await mirror(site.url, output=out, rate_limit=0, concurrency=4, clock=clock)
    assert report.status == "partial"
    assert report.failed <= IN_A_ROW + 4
    assert report.successful >= 150 - IN_A_ROW - 4
    meanwhile = [seen for seen in site.requests if seen.status is None]
    assert len(meanwhile) <= 50  # some on connections that were idle, and so are asked once more at once
    again = await mirror(site.url, output=out, rate_limit=0)
    assert (again.status, again.successful) == ("ok", 150)


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_unavailable_for_ten_minutes_then_well(site: Site, out: Path, status: int) -> None:
    """A gateway that answers for a server which is away counts like the server being away."""
    paths = site.fill(30)
    site.sitemap()
    clock = Watched()
    away: list[float] = []

    async def die(exchange: Exchange) -> None:
        away.append(clock.time - 1000)
        site.fault("*", faults.status(status))
        await faults.status(status)(exchange)

    def mend(now: float) -> None:
        if away and now - away[0] >= 600:
            site.heal("*")

    clock.on_sleep = mend
    site.fault(paths[5], die, faults.ok())
    report = await mirror(site.url, output=out, rate_limit=0, clock=clock)
    assert report.successful >= 24
    assert report.failed <= IN_A_ROW + 1
    assert len([seen for seen in site.requests if seen.status == status]) <= IN_A_ROW + 10


async def test_a_site_that_stays_away_ends_the_run_with_the_reason(site: Site, out: Path) -> None:
    """Half an hour of nothing: the run stops with an error, what was saved is published, and the next run goes on."""
    paths = site.fill(50)
    site.sitemap()

    async def die(exchange: Exchange) -> None:
        site.fault("*", faults.drop())
        await faults.drop()(exchange)

    site.fault(paths[10], die, faults.drop())
    with pytest.raises(Unreachable) as caught:
        await mirror(site.url, output=out, rate_limit=0, clock=JumpingClock())
    assert "does not answer any more: connection closed without an answer" in caught.value.message
    report = caught.value.report
    assert isinstance(report, MirrorReport)
    assert (report.successful, report.total_pages) == (10, 50)
    assert report.not_reached >= 50 - 10 - 2 * IN_A_ROW
    assert len([seen for seen in site.requests if seen.status is None]) < 30
    site.heal("*")
    site.heal(paths[10])
    again = await mirror(site.url, output=out, rate_limit=0)
    assert (again.status, again.successful) == ("ok", 50)


@pytest.mark.parametrize("fault", [faults.drop(), faults.status(504)], ids=["dropped", "504"])
async def test_pages_that_fail_in_a_row_are_no_outage(site: Site, out: Path, fault: faults.Step) -> None:
    """A section that is broken while the rest of the site answers costs its own pages and a few short pauses."""
    paths = site.fill(60)
    site.sitemap()
    for path in paths[10:50]:
        site.fault(path, fault)
    clock = JumpingClock()
    report = await mirror(site.url, output=out, rate_limit=0, clock=clock)
    assert (report.status, report.successful, report.failed) == ("partial", 20, 40)
    assert clock.time - 1000 < 120


async def test_a_dead_host_among_others_costs_its_own_pages_only(site: Site, out: Path) -> None:
    """A crawl over several hosts gives the dead one up, says so of each of its pages, and fetches all others."""
    dead = [f"http://dead.localhost:{site.port}/{number}" for number in range(40)]
    live = [f"/live/{number}" for number in range(10)]
    site.html_page("/", "Home", link(*dead, *live))
    for path in live:
        site.html_page(path, path, f"<p>{path}</p>")
    site.fault("*", faults.drop(), host="dead.localhost")
    report = await crawl(
        site.url, output=out, rate_limit=0, same_domain=False, respect_robots=False, clock=JumpingClock()
    )
    assert (report.status, report.successful, report.failed) == ("partial", 11, 40)
    folder = out / f"127.0.0.1_{site.port}"
    log = (folder / "_failed.log").read_text("utf-8")
    assert log.count("host given up: connection closed without an answer") >= 25
    assert len([seen for seen in site.requests if seen.status is None]) <= 20


@pytest.mark.parametrize("asked", ["0", "1000000000", "soon", "", "-5", "Thu, 01 Jan 1970 00:00:00 GMT"])
async def test_a_storm_of_429_is_bounded(site: Site, out: Path, asked: str) -> None:
    """Whatever Retry-After says: the pages come to a named end, and few requests are sent to get there."""
    paths = site.fill(12)
    site.sitemap()
    for path in paths[2:]:
        site.fault(path, faults.status(429, retry_after=asked))
    clock = JumpingClock()
    report: object
    try:
        report = await mirror(site.url, output=out, rate_limit=0, clock=clock)
    except Unreachable as gone:
        report = gone.report
    assert isinstance(report, MirrorReport)
    assert report.error is None or "HTTP 429" in report.error
    assert report.successful == 2
    assert len([seen for seen in site.requests if seen.status == 429]) <= 40
    assert clock.time - 1000 < 14 * 3600


@pytest.mark.slow
async def test_stopping_does_not_wait_for_a_pause(site: Site, out: Path) -> None:
    """Ctrl+C in the middle of a long pause ends the run within seconds."""
    paths = site.fill(30)
    site.sitemap()
    for path in paths:
        site.fault(path, faults.drop())
    run = mirror(site.url, output=out, rate_limit=0)
    async for event in run:
        if isinstance(event, Waiting):
            break
    run.stop()
    async with asyncio.timeout(20):
        assert (await run).status == "interrupted"
