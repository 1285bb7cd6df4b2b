"""Hosts of one mirror, of which one asks to wait."""

from __future__ import annotations

import pytest

from tests.engine.conftest import Mirror
from tests.site import Site
from tests.site.faults import ok, status


@pytest.mark.parametrize("format", ["markdown", "html"])
@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_host_that_asks_to_wait_keeps_no_other_waiting(
    site: Site, run: Mirror, concurrency: int, format: str
) -> None:
    """Its URLs come first, and are more than there are slots: the other host's pages are fetched in its pause."""
    main, busy = site.url_of("site.localhost"), site.url_of("busy.site.localhost")
    first = site.fill(40, "/first", host="busy.site.localhost")
    others = site.fill(40, "/other", host="site.localhost")
    site.sitemap(urls=[*(busy + path for path in first), *(main + path for path in others)], host="site.localhost")
    site.fault(first[0], status(429, retry_after="2"), ok(), host="busy.site.localhost")
    report = await run(main, format=format, concurrency=concurrency)
    assert (report.status, report.successful) == ("ok", 80)
    begun = site.requests_for(first[0])[0].time
    before = [request for request in site.requests if request.time < begun + 2]
    assert {request.path for request in before} >= set(others)
    assert not [request for request in before if request.path in first and request.time > begun + 1]
