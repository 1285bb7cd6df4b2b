"""How many requests and sites are under way at once."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from sitemirror import mirror_sites
from sitemirror.fetch.pace import Pace, SystemClock
from sitemirror.model import Lane
from sitemirror.settings import Settings
from sitemirror.sites import capacity
from sitemirror.sites.capacity import FILES_BESIDE, FILES_PER_SITE, Capacity
from tests.site import Site, faults
from tests.sites.towns import Heard, settle


async def test_no_more_requests_than_connections(site: Site, out: Path) -> None:
    """A site with eight slots under a cap of three has three requests under way, never more, and loses nothing."""
    (url,) = settle(site, "busy", pages=30)
    site.latency = 0.02
    report = await mirror_sites([url], output=out, rate_limit=0, concurrency=8, max_connections=3)
    assert report.successful == 30
    assert site.max_in_flight == 3


async def test_sites_wait_their_turn(site: Site, out: Path) -> None:
    """Seven sites with two slots each and five connections: two at a time, robots.txt and sitemaps included."""
    urls = settle(site, *"abcdefg", pages=4)
    site.latency = 0.02
    report = await mirror_sites(urls, output=out, rate_limit=0, concurrency=2, max_connections=5)
    assert (report.status, report.successful) == ("ok", 28)
    assert site.max_in_flight <= 4
    ends = {host: max(seen.time for seen in site.requests if seen.host == host) for host in _hosts(site)}
    begins = {host: min(seen.time for seen in site.requests if seen.host == host) for host in _hosts(site)}
    for begin in begins.values():
        assert sum(begins[host] <= begin <= ends[host] for host in ends) <= 2


def _hosts(site: Site) -> set[str]:
    return {seen.host for seen in site.requests}


async def test_few_open_files_mean_fewer_sites_at_once(site: Site, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that may open few files begins as many sites as it can feed, and mirrors all of them."""
    monkeypatch.setattr("sitemirror.sites.run.open_files", lambda: FILES_BESIDE + 2 * (FILES_PER_SITE + 1))
    site.latency = 0.02
    heard = Heard()
    report = await mirror_sites(settle(site, *"abcde"), output=out, rate_limit=0, on_event=heard)
    assert (report.status, report.successful) == ("ok", 15)
    assert site.max_in_flight <= 2
    assert [end.done for end in heard.finished] == [1, 2, 3, 4, 5]


def test_what_a_site_takes_is_given_back() -> None:
    """Connections and files are counted separately; a site that is too large for both still fits alone."""
    room = Capacity(connections=10, files=FILES_BESIDE + 3 * (FILES_PER_SITE + 1))
    assert [room.acquire(1) for _ in range(4)] == [True, True, True, False]
    room.release(1)
    assert room.acquire(1)
    for _ in range(3):
        room.release(1)
    assert [room.acquire(200), room.acquire(1)] == [True, False]
    room.release(200)
    assert room.acquire(1)


def test_the_limit_on_open_files_is_raised_as_far_as_it_goes() -> None:
    """Afterwards the soft limit is what it was at least, or large enough, and the hard one is untouched."""
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    which = resource.RLIMIT_NOFILE
    before = resource.getrlimit(which)
    try:
        resource.setrlimit(which, (256, before[1]))
        assert capacity.open_files() == 256
        capacity.allow_more_files()
        assert capacity.open_files() >= min(before[0], 10_240)
        assert resource.getrlimit(which)[1] == before[1]
    finally:
        resource.setrlimit(which, before)


async def test_waiting_for_a_place_does_not_break_the_pace() -> None:
    """Requests that wait for room start one interval apart when there is some, not all at once."""
    room = asyncio.Semaphore(1)
    pace = Pace(Settings(rate_limit=20), clock=SystemClock(), room=room)
    loop = asyncio.get_running_loop()
    starts: list[float] = []

    async def request() -> None:
        await pace.acquire("https://a.example/", Lane.CONTENT)
        starts.append(loop.time())
        pace.release()

    await room.acquire()
    waiting = [asyncio.create_task(request()) for _ in range(4)]
    await asyncio.sleep(0.3)
    assert starts == []
    room.release()
    await asyncio.gather(*waiting)
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(starts))
    assert not room.locked()


async def test_places_are_given_back_whatever_happens(site: Site, out: Path) -> None:
    """Refusals, redirects, cut bodies and drops give their place back: with one place only, the run still ends."""
    (url,) = settle(site, "odd", pages=8)
    odd = (faults.drop(), faults.partial(), faults.status(500), faults.redirect_to("/page/0008"), faults.huge(40 << 20))
    for number, fault in enumerate(odd, 1):
        site.fault(f"/page/{number:04d}", fault, host="odd.localhost")
    async with asyncio.timeout(30):
        report = await mirror_sites([url], output=out, rate_limit=0, max_connections=1, on_error="retry", max_retries=1)
    assert report.status == "partial"
    assert report.successful == 3


@pytest.mark.parametrize("files", [0, 32, FILES_BESIDE, FILES_BESIDE + 1])
def test_a_process_that_may_open_next_to_nothing_takes_one_site_at_a_time(files: int) -> None:
    """Too few files for two are no reason to begin all of them."""
    room = Capacity(connections=100, files=files)
    assert [room.acquire(2) for _ in range(3)] == [True, False, False]
    room.release(2)
    assert room.acquire(2)
