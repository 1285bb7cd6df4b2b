"""Requirement: Rate Limiting for Content Fetches. Exact on a clock of the test's own, and once each in real time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror
from sitemirror.events import Event, Waiting
from tests.conftest import RunHere
from tests.fetch.clocks import EPOCH, HeldClock, JumpingClock
from tests.site import Exchange, Site, faults
from tests.site.answers import http_date
from tests.spec.mirrored import FAST, ClockedLog, Everywhere, Mirrored

# The server notes a request a little after the program has sent it, and not always equally late.
JITTER = 0.2


async def test_default_rate_limiting(site: Site, out: Path) -> None:
    """Default rate limiting: with nothing said, at least a second lies between any two requests."""
    site.fill(6)
    site.sitemap()
    clock = JumpingClock()
    log = ClockedLog(site, clock)

    report = await mirror(site.url, output=out, clock=clock)

    assert report.successful == 6
    assert len(log.gaps("/page")) == 5
    assert min(log.gaps()) >= 1.0  # robots.txt and sitemaps as well


def test_default_rate_limiting_in_real_time(site: Site, out: Path, run_here: RunHere) -> None:
    """Default rate limiting, as the server sees it from the program itself."""
    site.fill(3)
    site.sitemap()

    assert run_here("mirror", site.url, "--output", out).json["successful"] == 3

    assert min(site.gaps()) >= 1.0 - JITTER
    assert site.requests[-1].time - site.requests[0].time >= len(site.requests) - 1 - JITTER


async def test_custom_rate_limit(site: Site, out: Path) -> None:
    """Custom rate limit: half a request a second is two seconds between pages, and between pages only."""
    site.fill(6)
    site.sitemap()
    clock = JumpingClock()
    log = ClockedLog(site, clock)

    await mirror(site.url, output=out, rate_limit=0, content_rate_limit=0.5, clock=clock)

    assert log.gaps("/page") == [2.0] * 5
    assert sum(clock.slept) == 10.0 + log.times("/page")[0] - log.times()[0]


@pytest.mark.parametrize("rate", [0, 1, 0.25])
@pytest.mark.parametrize("run", [mirror, crawl])
async def test_a_delay_holds_from_the_first_request_on(site: Site, out: Path, run: Any, rate: float) -> None:
    """--delay-seconds: robots.txt, the first look at the start page and sitemaps are requests as well."""
    site.html_page("/", "Home", '<a href="/page/0001">1</a>')
    site.fill(1)
    site.sitemap()
    clock = JumpingClock()
    log = ClockedLog(site, clock)

    await run(site.url, output=out, rate_limit=rate, delay_seconds=2, clock=clock)

    assert len(log.times()) >= 4
    assert min(log.gaps()) >= 2.0
    assert log.times()[1] - log.times()[0] == (4.0 if rate == 0.25 else 2.0)  # of two wishes the politer one


def test_custom_rate_limit_in_real_time(site: Site, out: Path, run_here: RunHere) -> None:
    """Custom rate limit: it holds for the host as a whole, however many slots there are."""
    site.fill(3)
    site.sitemap()

    options = ("--content-rate-limit", 0.5, "--concurrency", 4, *FAST, "--output", out)
    assert run_here("mirror", site.url, *options).json["successful"] == 3

    times = [seen.time for seen in site.requests if seen.path.startswith("/page")]
    assert len(times) == 3
    assert times[1] - times[0] >= 2.0 - JITTER
    assert times[2] - times[1] >= 2.0 - JITTER


async def test_429_response_handling(site: Site, out: Path) -> None:
    """429 response handling: waits double from try to try, each with some jitter, and the page is not a failure."""
    site.fill(2)
    site.sitemap(urls=["/busy", "/page/0001", "/page/0002"])
    clock = JumpingClock()
    log = ClockedLog(site, clock)
    refusal = log.noting(faults.status(429))
    site.fault("/busy", refusal, refusal, refusal, log.noting())

    report = await mirror(site.url, output=out, clock=clock, rate_limit=0)

    assert (report.status, report.successful, report.failed) == ("ok", 3, 0)
    waits = log.gaps("/busy")
    assert [int(wait) for wait in waits] == [1, 2, 4]
    assert all(wait != int(wait) for wait in waits)  # the jitter
    assert len({round(wait % 1, 6) for wait in waits}) == 3
    # Half the speed of a host without a limit is still five a second; nothing else is asked while it rests.
    assert log.times("/page")[0] - log.times("/busy")[-1] > 0
    assert not (Mirrored.of(site, out).folder / "_failed.log").exists()


@pytest.mark.parametrize("refusal", [faults.status(429), faults.status(503, retry_after="3")], ids=["429", "503"])
async def test_429_response_handling_of_sitemaps(site: Site, out: Path, refusal: faults.Step) -> None:
    """429 response handling: a sitemap is asked for no more often than a page, and the others are read."""
    site.sitemap(urls=site.fill(2))
    site.robots(f"Sitemap: {site.url}/busy.xml\nSitemap: {site.url}/sitemap.xml\n")
    site.fault("/busy.xml", refusal)

    report = await mirror(site.url, output=out, clock=JumpingClock(), rate_limit=0, max_retries=2)

    assert (report.status, report.successful) == ("partial", 2)
    assert site.count("/busy.xml") == 3


class Crowd:
    """Three requests at once: the first is refused when the others are there, and those have no answer for long."""

    def __init__(self, log: ClockedLog, refusal: faults.Step) -> None:
        self._log = log
        self._refusal = refusal
        self._gate = threading.Event()

    def fill(self, site: Site, refused: str, *others: str) -> None:
        site.fault(refused, self._log.noting(self._refuse), self._log.noting())
        for path in others:
            site.fault(path, self._log.noting(faults.held(self._gate)))

    async def _refuse(self, exchange: Exchange) -> None:
        while len(self._log.times("/page")) < 3:
            await exchange.pause(0.005)
        await self._refusal(exchange)

    def release(self) -> None:
        self._gate.set()


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.005)


async def _time_to_ask() -> None:
    """Whoever is free to ask has done so after this. Needed only to see it happen, not to pass."""
    for _ in range(100):
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("form", ["seconds", "date", "none"])
async def test_429_response_handling_with_retry_after(site: Site, out: Path, form: str) -> None:
    """429 response handling: Retry-After is obeyed in both its forms, and by every slot; so is a wait of our own."""
    paths = site.fill(8)
    site.sitemap()
    clock = HeldClock()
    log = ClockedLog(site, clock)
    asked = {"seconds": "30", "date": http_date(EPOCH + timedelta(seconds=30)), "none": None}[form]
    least, most = (1, 2) if asked is None else (30, 30)
    crowd = Crowd(log, faults.status(429, retry_after=asked))
    crowd.fill(site, *paths[:3])
    mirrored = Mirrored.of(site, out)

    run = asyncio.ensure_future(mirror(site.url, output=out, clock=clock, rate_limit=0, concurrency=3))
    await _until(lambda: bool(clock.asleep))
    [wait] = clock.asleep
    assert least <= wait <= most
    crowd.release()
    await _until(lambda: len(mirrored.pages) == 2)  # Two slots are free, and five pages wait for one.
    await _time_to_ask()
    assert sorted(path for path, _ in log.entries if path.startswith("/page")) == paths[:3]
    report = await clock.run_out(run)

    assert (report.status, report.successful) == ("ok", 8)
    first, second = log.times(paths[0])
    assert least <= second - first < most + 2
    assert min(log.times(path)[0] for path in paths[3:]) >= first + wait


async def test_429_response_handling_while_another_slot_waits(site: Site, out: Path) -> None:
    """429 response handling: who waits for a turn already when the host asks for time waits that time as well."""
    paths = site.fill(2)
    site.sitemap()
    clock = HeldClock()
    log = ClockedLog(site, clock)
    gate = threading.Event()
    site.fault(paths[0], log.noting(faults.held(gate, faults.status(429, retry_after="30"))), log.noting())
    refused = asyncio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, Waiting):
            refused.set()

    run = asyncio.ensure_future(
        mirror(site.url, output=out, clock=clock, on_event=hear, rate_limit=0, content_rate_limit=0.5, concurrency=2)
    )
    await _until(lambda: clock.asleep == [2])
    clock.wake()
    await _until(lambda: log.times(paths[0]) != [] and clock.asleep == [2])
    gate.set()
    await refused.wait()
    clock.wake()
    await _until(lambda: clock.asleep != [] or log.times(paths[1]) != [])
    assert clock.asleep == [28]
    report = await clock.run_out(run)

    assert (report.status, report.successful) == ("ok", 2)
    assert log.times(paths[1])[0] == log.times(paths[0])[0] + 30


async def test_429_response_handling_leaves_other_hosts_alone(site: Site, out: Path) -> None:
    """429 response handling: while one host rests, the others are asked as before."""
    busy, calm = "docs.example.com", "api.example.com"
    for number in range(6):
        site.html_page(f"/page/{number}", f"{number}", f"<h1>{number}</h1>", host=busy if number < 1 else calm)
    names = [f"http://{busy}/page/0", *(f"http://{calm}/page/{number}" for number in range(1, 6))]
    site.sitemap(urls=names, host=busy)
    clock = HeldClock()
    log = ClockedLog(site, clock)
    site.fault("/page/0", log.noting(faults.status(429, retry_after="30")), log.noting())

    run = asyncio.ensure_future(
        mirror(f"http://{busy}/", output=out, clock=clock, rate_limit=0, concurrency=2, resolver=Everywhere(site))
    )
    await _until(lambda: len(Mirrored(out / calm).pages) == 5)
    assert len(log.times("/page/0")) == 1
    assert clock.asleep == [30]
    report = await clock.run_out(run)

    assert (report.status, report.successful) == ("ok", 6)
    first, second = log.times("/page/0")
    assert second - first == 30
    assert {time for path, time in log.entries if path != "/page/0"} == {first}  # nobody else had to wait


def test_429_response_handling_in_real_time(site: Site, out: Path, run_here: RunHere) -> None:
    """429 response handling, seen from the server: with two slots nothing arrives before the second is over."""
    paths = site.fill(6)
    site.sitemap()
    site.fault(paths[0], faults.status(429, retry_after="1"), faults.ok())

    done = run_here("mirror", site.url, *FAST, "--concurrency", 2, "--output", out)

    assert (done.json["successful"], done.json["failed"]) == (6, 0)
    refused, again = site.requests_for(paths[0])
    assert again.time - refused.time >= 1.0
    pages = [seen for seen in site.requests if seen.path.startswith("/page")]
    # The other slot may have been under way already when the host asked for time.
    assert sum(refused.time < seen.time < refused.time + 1.0 for seen in pages) <= 1
