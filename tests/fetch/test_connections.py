"""Connections are few and used again, as seen from the server's side."""

from __future__ import annotations

import asyncio

import pytest

from sitemirror.fetch import response
from sitemirror.model import Failed, Fetched, Skipped
from sitemirror.reasons import Reason
from tests.fetch.conftest import LIMIT, MakeClient
from tests.fetch.raw import Close, RawServer, Visit, page, reply, saying_then_silence


@pytest.mark.parametrize("slots", [1, 5])
async def test_connections_do_not_exceed_slots(client: MakeClient, server: RawServer, slots: int) -> None:
    """1,000 URLs requested at once open no more connections than there are slots."""
    found = await client(concurrency=slots)
    outcomes = await asyncio.gather(*(found.get(server.url(f"/{n}")) for n in range(1000)))
    assert all(isinstance(outcome, Fetched) for outcome in outcomes)
    assert server.connections <= slots
    assert server.most_open <= slots
    assert len(server.requests) == 1000


async def test_waiting_for_a_slot_does_not_count_as_timeout(client: MakeClient, server: RawServer) -> None:
    """A request that waited longer than the timeout still has its full time."""

    async def slow(visit: Visit) -> None:
        await asyncio.sleep(0.3)
        await visit.send(page())

    server.fallback = slow
    found = await client(timeout=2)
    outcomes = await asyncio.gather(*(found.get(server.url(f"/{n}")) for n in range(8)))
    assert all(isinstance(outcome, Fetched) for outcome in outcomes)


@pytest.mark.parametrize(
    "answer",
    [
        reply("404 Not Found", b"x" * 60_000),
        reply("500 Oops", b"x" * 1000),
        reply("302 Found", b"moved", "Location: /x"),
        b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsorry\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        reply("200 OK", b"x" * 1000, "Content-Type: image/png"),
    ],
)
async def test_small_bodies_are_drained(client: MakeClient, server: RawServer, answer: bytes) -> None:
    """Bodies of errors, redirects and small refused files are read, so the connection is reused."""
    head, blank, body = answer.partition(b"\r\n\r\n")

    async def head_first(visit: Visit) -> None:
        await visit.send(head + blank)
        await visit.pause()
        await visit.send(body)

    server.fallback = head_first
    found = await client()
    for number in range(3):
        await found.get(
            server.url(f"/{number}"),
            wanted=lambda head: (
                Skipped(head.url, Reason.OTHER, "no images") if head.content_type == "image/png" else None
            ),
        )
    assert (server.connections, len(server.requests)) == (1, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 500000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 500000000\r\n\r\n",
    ],
)
async def test_large_bodies_are_not_drained(
    monkeypatch: pytest.MonkeyPatch, client: MakeClient, server: RawServer, head: bytes
) -> None:
    """A large refused body costs the connection and not the download."""
    monkeypatch.setattr(response, "DRAIN_SECONDS", 30.0)
    server.replies["/film"] = saying_then_silence(head)
    found = await client()
    began = asyncio.get_running_loop().time()
    outcome = await found.get(server.url("/film"), wanted=lambda head: Skipped(head.url, Reason.OTHER, "no images"))
    assert isinstance(outcome, Skipped | Failed)
    assert isinstance(await found.get(server.url("/page")), Fetched)
    assert asyncio.get_running_loop().time() - began < 10
    assert server.connections == 2


async def test_slow_error_page_is_not_awaited(client: MakeClient, server: RawServer) -> None:
    """The result is 404 whether or not its body ever arrives."""
    server.fallback = saying_then_silence(b"HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\n")
    found = await client()
    outcome = await asyncio.wait_for(found.get(server.url()), 5)
    assert outcome == Failed(server.url(), Reason.HTTP_STATUS, "404", transient=False, status=404)


async def test_closed_idle_connection_is_replaced(client: MakeClient, server: RawServer) -> None:
    """If the server closes an idle connection during a request, the request is repeated."""
    seen: set[int] = set()

    async def once_each(visit: Visit) -> None:
        if visit.request.connection in seen:
            raise Close
        seen.add(visit.request.connection)
        await visit.send(page())

    server.fallback = once_each
    found = await client(rate_limit=1)
    outcomes = [await found.get(server.url(f"/{number}")) for number in range(4)]
    assert all(isinstance(outcome, Fetched) for outcome in outcomes)
    assert server.connections == 4
    assert server.paths == ["/0", "/1", "/1", "/2", "/2", "/3", "/3"]
    # Each of the six further requests took its turn, those sent again too.
    assert found.clock.slept == [1.0] * 6


async def test_all_idle_connections_closed_at_once(client: MakeClient, server: RawServer) -> None:
    """After a restart of the server, every slot opens a new connection."""
    seen: dict[int, int] = {}

    async def twice_each(visit: Visit) -> None:
        await asyncio.sleep(0.02)
        seen[visit.request.connection] = seen.get(visit.request.connection, 0) + 1
        if seen[visit.request.connection] == 2 and visit.request.connection <= 4:
            visit.reset()
            return
        await visit.send(page())

    server.fallback = twice_each
    found = await client(concurrency=4)
    for _ in range(3):
        outcomes = await asyncio.gather(*(found.get(server.url(f"/{number}")) for number in range(4)))
        assert all(isinstance(outcome, Fetched) for outcome in outcomes)


async def test_closed_new_connection_is_not_retried(client: MakeClient, server: RawServer) -> None:
    """A server that closes without an answer is asked once."""

    async def never(visit: Visit) -> None:
        raise Close

    server.fallback = never
    found = await client()
    outcome = await found.get(server.url())
    assert outcome == Failed(server.url(), Reason.CONNECTION_CLOSED, transient=True)
    assert len(server.requests) == 1


async def test_unsolicited_response_is_not_used(client: MakeClient, server: RawServer) -> None:
    """A second response on the same connection is never used for the next page."""

    async def two_answers(visit: Visit) -> None:
        await visit.send(page(b"first"))
        await visit.pause()
        await visit.send(page(b"poison"))

    server.replies["/1"] = two_answers
    server.replies["/2"] = page(b"second")
    found = await client()
    first = await found.get(server.url("/1"))
    await asyncio.sleep(0.2)
    second = await found.get(server.url("/2"))
    assert isinstance(first, Fetched)
    assert isinstance(second, Fetched)
    assert (first.body, second.body) == (b"first", b"second")


async def test_connection_close_is_obeyed(client: MakeClient, server: RawServer) -> None:
    """A server that closes after each response gets a connection per request."""
    server.close_after_each = True
    server.fallback = page(b"x", "Connection: close")
    found = await client()
    outcomes = [await found.get(server.url(f"/{number}"), limit=LIMIT) for number in range(5)]
    assert all(isinstance(outcome, Fetched) for outcome in outcomes)
    assert server.connections == 5
