"""Streams: large bodies as they come, and what arrived before trouble is kept."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from sitemirror.fetch.response import Stream
from sitemirror.model import Failed, Lane, Redirect
from sitemirror.reasons import Reason
from tests.fetch.conftest import LIMIT, Client, MakeClient
from tests.fetch.raw import RawServer, Visit, page, reply, saying, saying_then_silence

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n"


async def read(found: Client, url: str, *, limit: int = LIMIT) -> tuple[bytes, str | None]:
    async with found.fetcher.stream(url, lane=Lane.SITEMAP, limit=limit) as stream:
        assert isinstance(stream, Stream)
        assert stream.head.url == url
        chunks = [chunk async for chunk in stream.chunks()]
        return b"".join(chunks), stream.error and stream.error.text


async def test_complete_body(client: MakeClient, server: RawServer) -> None:
    """A compressed body is decoded, with its headers; the connection is reused."""
    body = b"<urlset>" + b"<url/>" * 100_000 + b"</urlset>"
    server.fallback = reply("200 OK", gzip.compress(body), "Content-Type: text/xml", "Content-Encoding: gzip")
    found = await client()
    assert await read(found, server.url()) == (body, None)
    assert await read(found, server.url()) == (body, None)
    assert server.connections == 1


async def test_chunks_arrive_before_the_end(client: MakeClient, server: RawServer) -> None:
    """Received chunks are available while the rest is still being sent."""
    go_on = asyncio.Event()

    async def script(visit: Visit) -> None:
        await visit.send(HEAD + b"Content-Length: 10\r\n\r\nfirst")
        await go_on.wait()
        await visit.send(b"later")

    server.fallback = script
    found = await client()
    async with found.fetcher.stream(server.url(), lane=Lane.SITEMAP, limit=LIMIT) as stream:
        assert isinstance(stream, Stream)
        assert (stream.head.status, stream.head.content_type, stream.head.content_length) == (200, "text/xml", 10)
        chunks = stream.chunks()
        assert await anext(chunks) == b"first"
        go_on.set()
        assert [chunk async for chunk in chunks] == [b"later"]


@pytest.mark.parametrize(
    ("sent", "kept", "error"),
    [
        (HEAD + b"Content-Length: 100\r\n\r\nhalf", b"half", "body shorter than announced"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", b"half", "body shorter than announced"),
        (
            HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"half" * 9, 0, mtime=0)[:-8],
            b"half" * 9,
            "truncated gzip body",
        ),
    ],
)
async def test_partial_body_is_kept(
    client: MakeClient, server: RawServer, sent: bytes, kept: bytes, error: str
) -> None:
    """An incomplete body gives its beginning and the reason."""
    server.fallback = saying(sent)
    found = await client()
    assert await read(found, server.url()) == (kept, error)


async def test_broken_framing_halfway(client: MakeClient, server: RawServer) -> None:
    """Malformed chunks end the stream with a reason."""
    server.fallback = saying(HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", b"nonsense\r\n")
    found = await client()
    body, error = await asyncio.wait_for(read(found, server.url()), 5)
    assert body == b"half"
    assert error is not None
    assert error.startswith("malformed response")


@pytest.mark.parametrize("announced", ["Content-Length: 5000", "Transfer-Encoding: chunked"])
async def test_stream_stops_at_the_limit(client: MakeClient, server: RawServer, announced: str) -> None:
    """Announced or not; earlier chunks are kept."""
    body = b"x" * 1000
    pieces = [b"3e8\r\n" + body + b"\r\n" if "chunked" in announced else body] * 5
    end = b"0\r\n\r\n" if "chunked" in announced else b""
    server.fallback = saying(HEAD + announced.encode() + b"\r\n\r\n", *pieces, end)
    found = await client()
    kept, error = await read(found, server.url(), limit=3500)
    assert error == "exceeds size limit"
    assert kept in (body, body * 2, body * 3)


async def test_bomb_is_cut_at_the_limit(client: MakeClient, server: RawServer) -> None:
    """A small body that decompresses far beyond the limit gives no more than the limit."""
    server.fallback = reply("200 OK", gzip.compress(bytes(50 * LIMIT)), "Content-Encoding: gzip")
    found = await client()
    kept, error = await read(found, server.url(), limit=LIMIT)
    assert error == "exceeds size limit"
    assert 0 < len(kept) <= LIMIT


@pytest.mark.slow
async def test_silence_and_drip_end(client: MakeClient, server: RawServer) -> None:
    """Silence ends a stream after the timeout, a drip after ten times that."""

    async def drip(visit: Visit) -> None:
        await visit.send(HEAD + b"Content-Length: 1000\r\n\r\n")
        while True:
            await visit.send(b"x")
            await visit.pause()

    server.replies["/silent"] = saying_then_silence(HEAD + b"Content-Length: 10\r\n\r\nhalf")
    server.replies["/drip"] = drip
    found = await client(timeout=0.1)
    assert await read(found, server.url("/silent")) == (b"half", "timed out after 0.1 s")
    began = asyncio.get_running_loop().time()
    kept, error = await read(found, server.url("/drip"))
    assert (kept.strip(b"x"), error) == (b"", "timed out after 1 s")
    assert len(kept) > 3
    assert 0.9 < asyncio.get_running_loop().time() - began < 30


async def test_slow_reader_gets_the_whole_body(client: MakeClient, server: RawServer) -> None:
    """A reader slower than the server gets every byte."""
    body = b"".join(b"%07d\n" % number for number in range(500_000))

    async def script(visit: Visit) -> None:
        await visit.send(HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(body), 100_000):
            piece = body[start : start + 100_000]
            visit.writer.write(b"%x\r\n" % len(piece) + piece + b"\r\n")
        await visit.send(b"0\r\n\r\n")
        visit.writer.close()

    server.fallback = script
    found = await client()
    read_so_far = []
    async with found.fetcher.stream(server.url(), lane=Lane.SITEMAP, limit=10 * LIMIT) as stream:
        assert isinstance(stream, Stream)
        async for chunk in stream.chunks():
            read_so_far.append(chunk)
            await asyncio.sleep(0.005)
    assert stream.error is None
    assert b"".join(read_so_far) == body


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (reply("404 Not Found"), Failed("{url}", Reason.HTTP_STATUS, "404", transient=False, status=404)),
        (
            reply("301 Moved", b"", "Location: https://example.com/s.xml"),
            Redirect("{url}", 301, "https://example.com/s.xml"),
        ),
        (reply("304 Not Modified"), Failed("{url}", Reason.HTTP_STATUS, "304", transient=False, status=304)),
        (page(b"x", "Content-Encoding: rot13"), Failed("{url}", Reason.CONTENT_ENCODING, "rot13", transient=False)),
    ],
)
async def test_failures_and_redirects_are_values(
    client: MakeClient, server: RawServer, answer: bytes, expected: Failed | Redirect
) -> None:
    """Failures and redirects are values here, too."""
    server.fallback = answer
    found = await client()
    async with found.fetcher.stream(server.url(), lane=Lane.SITEMAP, limit=LIMIT) as stream:
        assert str(stream) == str(expected).replace("{url}", server.url())


async def test_leaving_early_closes_the_connection(client: MakeClient, server: RawServer) -> None:
    """A reader that stops or raises leaves no open connection."""
    server.replies["/long"] = saying_then_silence(HEAD + b"Content-Length: 500000000\r\n\r\nstart")
    found = await client()

    async def look() -> None:
        async with found.fetcher.stream(server.url("/long"), lane=Lane.SITEMAP, limit=10**9) as stream:
            assert isinstance(stream, Stream)
            async for _ in stream.chunks():
                raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        await look()
    for _ in range(100):
        if server.open_now == 0:
            break
        await asyncio.sleep(0.01)
    assert server.open_now == 0


async def test_page_is_fetched_while_a_stream_is_open(client: MakeClient, server: RawServer) -> None:
    """With a single slot, an open stream does not block the host."""
    server.replies["/index"] = saying_then_silence(HEAD + b"Content-Length: 100\r\n\r\nstart")
    found = await client(timeout=5)
    async with found.fetcher.stream(server.url("/index"), lane=Lane.SITEMAP, limit=LIMIT):
        outcome = await asyncio.wait_for(found.get(server.url("/page")), 3)
    assert not isinstance(outcome, Failed)
