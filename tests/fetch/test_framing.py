"""Responses that browsers read are repaired before the parser sees them, and no response passes for another one."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.fetch.framing import MAX_HEAD, FramingRepair
from sitemirror.model import Failed, Fetched
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import RawServer, Visit, page, saying_then_silence

HEAD = b"HTTP/1.1 200 OK\r\nServer: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
WELL_FORMED = [
    HEAD + b"Content-Length: 5\r\n\r\nTest.",
    HEAD + b"\r\nuntil the end",
    b"HTTP/1.0 404 Not Found\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Length: 5\r\n\r\nTest.",
    CHUNKED + b"5;x=y\r\nTest.\r\n0a\r\n0123456789\r\n0\r\n\r\n",
    b"not HTTP\r\n\r\nat all",
]
ODD = [
    (CHUNKED + b"5\nTest.\n0\nX: y\n\nmore", CHUNKED + b"5\r\nTest.\r\n0\r\n\r\n"),
    (HEAD + b"Content-Length : 5\r\n: x\r\n\r\nTest.more", HEAD + b"Content-Length: 5\r\n\r\nTest."),
    (HEAD + b"Content-Length: 9\r\n" + CHUNKED[len(HEAD) :] + b"1\r\nx\r\n0\r\n\r\n", CHUNKED + b"1\r\nx\r\n0\r\n\r\n"),
]


def _in_pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places)]


@given(st.sampled_from([*((raw, raw) for raw in WELL_FORMED), *ODD]), st.lists(st.integers(0, 200), max_size=8))
def test_repair_is_the_same_wherever_the_network_cuts(case: tuple[bytes, bytes], cuts: list[int]) -> None:
    """A well-formed response passes unchanged, an odd one is repaired, whatever arrives together."""
    raw, expected = case
    repair = FramingRepair()
    found = b"".join(repair.feed(piece) for piece in _in_pieces(raw, cuts)) + repair.flush()
    assert found == expected
    assert repair.must_close == (raw.endswith(b"more") or b"Content-Length: 9" in raw)


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_pass(data: bytes, has_body: bool) -> None:
    """No bytes raise, and what follows the head of a chunked response is never more than was sent."""
    assert len(FramingRepair(has_body=has_body).feed(CHUNKED + data)) <= 2 * len(CHUNKED + data)
    FramingRepair(has_body=has_body).feed(data)


def test_endless_heads_are_left_to_the_parser() -> None:
    """No more than `MAX_HEAD` bytes are held back."""
    repair = FramingRepair()
    assert repair.feed(b"HTTP/1.1 200 OK\r\nX: " + b"x" * MAX_HEAD)
    assert repair.feed(b"yyy") == b"yyy"


@pytest.mark.parametrize(
    "raw",
    [
        HEAD + b"Content-Length: 5\r\n\r\nTest." + page(b"<p>forged</p>"),
        HEAD + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nTest.\r\n0\r\n\r\n",
        CHUNKED + b"5\nTest.\n0\n\n" + page(b"<p>forged</p>"),
    ],
)
@pytest.mark.parametrize("proxied", [False, True])
async def test_contradictory_connections_are_not_used_again(
    client: MakeClient, server: RawServer, raw: bytes, proxied: bool
) -> None:
    """What a server sends beyond its response is never taken for the response to the next request."""
    server.fallback = saying_then_silence(raw)
    start = "http://start.example/"
    options = {"start_url": start, "resolver": Names({"start.example": ["1.1.1.1"]}), "proxy": server.url()}
    found = await client(**(options if proxied else {}))
    url = start if proxied else server.url()
    for expected in range(1, 4):
        outcome = await asyncio.wait_for(found.get(url), 10)
        assert isinstance(outcome, Fetched)
        assert outcome.body == b"Test."
        assert server.connections == expected


async def test_late_surplus_does_not_reach_the_next_response(client: MakeClient, server: RawServer) -> None:
    """The connection is idle when a forged response arrives: it is given up, and the next page is the real one."""
    forged = asyncio.Event()

    async def late(visit: Visit) -> None:
        await visit.send(HEAD + b"Content-Length: 5\r\n\r\nTest.")
        await visit.pause()
        await visit.send(page(b"<p>forged</p>"))
        forged.set()

    server.replies["/first"] = late
    found = await client()
    await found.get(server.url("/first"))
    await forged.wait()
    await asyncio.sleep(0.05)
    outcome = await found.get(server.url("/second"))
    assert isinstance(outcome, Fetched)
    assert outcome.body == b"<p>hello</p>"


async def test_floods_after_a_response_end_the_connection(client: MakeClient, server: RawServer) -> None:
    """A server that never stops sending after its page is cut off; the page counts."""
    ended = asyncio.Event()

    async def flood(visit: Visit) -> None:
        try:
            await visit.send(HEAD + b"Content-Length: 5\r\n\r\nTest.")
            while True:
                await visit.send(b"x" * 65536)
        finally:
            ended.set()

    server.replies["/"] = flood
    found = await client()
    outcome = await asyncio.wait_for(found.get(server.url()), 10)
    assert isinstance(outcome, Fetched | Failed)
    await asyncio.wait_for(ended.wait(), 10)
