"""429, and 503 with Retry-After, are waits: the host pauses, and the URL is asked for again."""

from __future__ import annotations

import asyncio

import pytest

from sitemirror.events import Waiting
from sitemirror.model import Failed, Fetched, Lane
from sitemirror.reasons import Reason
from tests.fetch.conftest import MakeClient
from tests.fetch.raw import RawServer, page, reply

BUSY = reply("429 Too Many Requests", b"slow down")


def busy(status: str, retry_after: str) -> bytes:
    return reply(status, b"later", f"Retry-After: {retry_after}")


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
@pytest.mark.parametrize("asked", ["30", "Sat, 03 Jan 2026 20:00:30 GMT"])
async def test_retry_after_pauses_the_host(client: MakeClient, server: RawServer, status: str, asked: str) -> None:
    """Both forms of Retry-After; then the page is fetched."""
    server.fallback = [busy(status, asked), page()]
    found = await client()
    assert isinstance(await found.get(server.url()), Fetched)
    assert found.clock.slept[0] == pytest.approx(30)
    assert found.events == [Waiting(f"127.0.0.1:{server.port}", 30, f"HTTP {status[:3]}")]
    assert len(server.requests) == 2


async def test_backoff_without_retry_after(client: MakeClient, server: RawServer) -> None:
    """The waits double, with jitter."""
    server.fallback = [BUSY, BUSY, BUSY, page()]
    found = await client()
    assert isinstance(await found.get(server.url()), Fetched)
    waits = [event.seconds for event in found.events if isinstance(event, Waiting)]
    assert waits == [1.5, 2.5, 4.5]


@pytest.mark.parametrize("rubbish", ["-1", "soon", "Sat, 03 Jan 2025 20:00:30 GMT"])
async def test_invalid_retry_after_uses_backoff(client: MakeClient, server: RawServer, rubbish: str) -> None:
    """As if there were no Retry-After."""
    server.fallback = [busy("503 Service Unavailable", rubbish), page()]
    found = await client()
    assert isinstance(await found.get(server.url()), Fetched)
    assert [event.seconds for event in found.events if isinstance(event, Waiting)] == [1.5]


async def test_gives_up_after_max_retries(client: MakeClient, server: RawServer) -> None:
    """After the allowed retries the result is a transient failure."""
    server.fallback = BUSY
    found = await client(max_retries=2)
    outcome = await found.get(server.url())
    assert outcome == Failed(
        server.url(), Reason.STILL_BUSY, "429 after 3 tries", transient=True, status=429, tries=3, busy=True
    )
    assert len(server.requests) == 3


async def test_no_retries_still_pauses_the_host(client: MakeClient, server: RawServer) -> None:
    """With --max-retries 0 the URL fails at once, and the next one waits as long as asked."""
    server.replies["/a"] = busy("429 Too Many Requests", "60")
    found = await client(max_retries=0)
    outcome = await found.get(server.url("/a"))
    assert outcome == Failed(server.url("/a"), Reason.HTTP_STATUS, "429", transient=True, status=429, busy=True)
    assert found.clock.slept == []
    assert isinstance(await found.get(server.url("/b")), Fetched)
    assert found.clock.slept == [60]


async def test_503_without_retry_after_is_a_failure(client: MakeClient, server: RawServer) -> None:
    """It is not awaited."""
    server.fallback = reply("503 Service Unavailable")
    found = await client()
    assert await found.get(server.url()) == Failed(server.url(), Reason.HTTP_STATUS, "503", transient=True, status=503)
    assert len(server.requests) == 1
    assert found.clock.slept == []


async def test_rate_is_halved_after_429_and_not_after_503(client: MakeClient, server: RawServer) -> None:
    """429 halves the rate; an outage does not."""
    for status, interval in [("429 Too Many Requests", 2.0), ("503 Service Unavailable", 1.0)]:
        server.replies[f"/{status[:3]}"] = [busy(status, "10"), page()]
        found = await client(rate_limit=1)
        await found.get(server.url(f"/{status[:3]}"))
        found.clock.slept.clear()
        await found.get(server.url("/b"))
        # One good answer has already given 5 % back.
        assert sum(found.clock.slept) == pytest.approx(interval if interval == 1.0 else 1 / 0.55)


async def test_retries_are_paced(client: MakeClient, server: RawServer) -> None:
    """Retries are spaced like any other request."""
    server.fallback = [busy("503 Service Unavailable", "0")] * 3 + [page()]
    found = await client(rate_limit=0.5)
    assert isinstance(await found.get(server.url()), Fetched)
    assert found.clock.slept == [2, 2, 2]


async def test_pause_applies_to_all_slots(client: MakeClient, server: RawServer) -> None:
    """During a pause nothing is sent to the host."""
    server.replies["/busy"] = [busy("429 Too Many Requests", "100"), page()]
    found = await client(concurrency=5)
    await asyncio.gather(*(found.get(server.url(path)) for path in ("/busy", "/a", "/b")))
    later = [await found.get(server.url("/c"))]
    assert all(isinstance(outcome, Fetched) for outcome in later)
    assert sum(found.clock.slept) >= 100
    assert server.paths.count("/busy") == 2


async def test_lanes_have_their_own_rates(client: MakeClient, server: RawServer) -> None:
    """Sitemaps and pages have separate intervals."""
    found = await client(rate_limit=1, content_rate_limit=0.1)
    await found.get(server.url("/1"))
    await found.get(server.url("/2"), lane=Lane.SITEMAP)
    await found.get(server.url("/3"), lane=Lane.CONTENT)
    assert found.clock.slept == [1, 10]


async def test_streams_wait(client: MakeClient, server: RawServer) -> None:
    """Sitemaps wait as pages do."""
    server.fallback = [busy("429 Too Many Requests", "7"), page(b"<urlset/>")]
    found = await client()
    async with found.fetcher.stream(server.url(), lane=Lane.SITEMAP, limit=100) as stream:
        assert not isinstance(stream, Failed)
    assert found.clock.slept[0] == 7
