"""Requirement: Rate limiting applies only once per request."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import mirror
from tests.fetch.clocks import JumpingClock
from tests.site import Site
from tests.spec.mirrored import ClockedLog


async def test_sequential_request_timing(site: Site, out: Path) -> None:
    """Sequential request timing: ten URLs at one a second take ten seconds, not twenty: one sleep a URL, not two."""
    site.fill(10)
    site.sitemap()
    clock = JumpingClock()
    log = ClockedLog(site, clock)

    report = await mirror(site.url, output=out, rate_limit=1.0, clock=clock)

    assert report.successful == 10
    pages = log.times("/page")
    assert pages[-1] - pages[0] == pytest.approx(9)
    assert log.gaps("/page") == [1.0] * 9
    # The very first request goes at once; every other is paid for once, with a second.
    assert len(clock.slept) == len(site.requests) - 1
    assert clock.slept == pytest.approx([1.0] * len(clock.slept))


async def test_a_redirect_is_paid_for_once_a_hop(site: Site, out: Path) -> None:
    """Hops of a redirect are requests like any other: each waits its turn, and none waits twice."""
    site.redirect("/a", "/b")
    site.redirect("/b", "/c")
    site.html_page("/c", "C", "<h1>C</h1>")
    site.sitemap(urls=["/a"])
    clock = JumpingClock()
    log = ClockedLog(site, clock)

    await mirror(site.url, output=out, rate_limit=1.0, clock=clock)

    assert [path for path, _ in log.entries][-3:] == ["/a", "/b", "/c"]
    assert set(log.gaps()) == {1.0}
    assert len(clock.slept) == len(site.requests) - 1
