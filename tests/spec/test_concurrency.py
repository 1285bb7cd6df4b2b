"""Requirement: Async I/O provides 3-5× speedup with concurrency."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.fetch.clocks import JumpingClock
from tests.site import Exchange, Site, faults
from tests.spec.mirrored import FAST


class CrawlLoop:
    """Answers nobody before `size` requests wait: whoever fetches one by one gets no answer in time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._arrived = 0
        self.given_up = 0

    async def __call__(self, exchange: Exchange) -> None:
        self._arrived += 1
        full = -(-self._arrived // self._size) * self._size
        for _ in range(2000):
            if self._arrived >= full:
                break
            await exchange.pause(0.005)
        else:
            self.given_up += 1
        await faults.ok()(exchange)


def test_parallel_page_fetching(site: Site, out: Path, run_here: RunHere) -> None:
    """Parallel page fetching: 100 URLs in 20 rounds of 5 requests in flight, where one by one would need 100."""
    paths = site.fill(100)
    site.sitemap()
    rounds = CrawlLoop(5)
    for path in paths:
        site.fault(path, rounds)

    done = run_here("mirror", site.url, *FAST, "--concurrency", 5, "--output", out)

    assert done.json["successful"] == 100
    assert rounds.given_up == 0  # each round filled up: never fewer than five
    assert site.max_in_flight == 5  # and never more
    assert site.connections <= 5 + 1


@pytest.mark.parametrize(("concurrency", "seconds"), [(1, 100), (5, 20)])
async def test_parallel_page_fetching_at_the_default_rate(
    site: Site, out: Path, concurrency: int, seconds: float
) -> None:
    """Parallel page fetching: one request a second and slot makes 100 URLs 20 seconds with five, 100 with one."""
    site.fill(100)
    site.sitemap()
    clock = JumpingClock()

    report = await mirror(site.url, output=out, concurrency=concurrency, clock=clock)

    assert report.successful == 100
    before = len(site.requests) - 100  # robots.txt and the like, at one a second
    assert sum(clock.slept) == pytest.approx(seconds + before - 1, abs=1.01)
