"""Everything a network can do to a request becomes a reason in words, in bounded time."""

from __future__ import annotations

import asyncio
import socket

import pytest

from sitemirror.model import Failed, Fetched, Lane, Outcome
from sitemirror.reasons import Reason
from tests.fetch.conftest import MakeClient
from tests.fetch.raw import RawServer, Reply, Visit, saying, saying_then_silence

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


async def fetch(client: MakeClient, server: RawServer, script: Reply, **settings: float) -> Outcome:
    server.fallback = script
    found = await client(**settings)
    return await found.get(server.url())


async def test_connection_refused(client: MakeClient) -> None:
    """No server listens on the port."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}/"
        found = await client(start_url=url)
        assert await found.get(url) == Failed(url, Reason.CONNECTION_REFUSED, transient=True)


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b"HTTP/1.1 20"],
        [HEAD],
    ],
)
async def test_closed_before_end_of_headers(client: MakeClient, server: RawServer, pieces: list[bytes]) -> None:
    """A connection that closes before the end of the headers is a failure."""
    outcome = await fetch(client, server, saying(*pieces))
    assert outcome == Failed(server.url(), Reason.CONNECTION_CLOSED, transient=True)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        HEAD + b"\r\nhalf",
        HEAD + b"Connection: close\r\n\r\nhalf",
    ],
)
async def test_reset(client: MakeClient, server: RawServer, sent: bytes) -> None:
    """A reset is a failure at any point, also in a body without a length."""

    async def script(visit: Visit) -> None:
        await visit.send(sent)
        await visit.pause()
        visit.reset()

    outcome = await fetch(client, server, script)
    assert outcome == Failed(server.url(), Reason.CONNECTION_RESET, transient=True)


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"Content-Length: 100\r\n\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n",
    ],
)
async def test_incomplete_body_is_a_failure(client: MakeClient, server: RawServer, sent: bytes) -> None:
    """A body shorter than announced is never a page."""
    outcome = await fetch(client, server, saying(sent))
    assert outcome == Failed(server.url(), Reason.BODY_TOO_SHORT, transient=True)


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense\r\n"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", b"nonsense\r\n", b"more"],
        [b"SSH-2.0-OpenSSH_9.2\r\n"],
        [b"220 mail.example ESMTP\r\n"],
        [b"<html>no head at all</html>\r\n\r\n"],
        [HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n"],
        [HEAD + b"X: y\r\n" * 5000 + b"\r\n"],
        [HEAD + b"x" * 100_000 + b": y\r\n\r\n"],
        [b"HTTP/1.1 200 " + b"OK" * 100_000],
        [HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
        [HEAD + b"Content-Length: -5\r\n\r\nhello"],
        [HEAD + b"Content-Length: 99999999999999999999999999\r\n\r\nhello"],
    ],
)
async def test_malformed_responses(client: MakeClient, server: RawServer, pieces: list[bytes]) -> None:
    """Responses that violate the protocol fail at once with a readable reason."""
    outcome = await asyncio.wait_for(fetch(client, server, saying(*pieces)), 10)
    assert isinstance(outcome, Failed)
    assert outcome.text.startswith("malformed response: ")
    assert outcome.transient
    assert outcome.text.isprintable()
    assert len(outcome.text) < 320


async def test_endless_headers(client: MakeClient, server: RawServer) -> None:
    """Headers without end are cut off."""
    sent = 0

    async def script(visit: Visit) -> None:
        nonlocal sent
        await visit.send(HEAD)
        while True:
            await visit.send(b"X-More: and more\r\n" * 1000)
            sent += 18_000

    outcome = await asyncio.wait_for(fetch(client, server, script), 10)
    assert outcome == Failed(server.url(), Reason.MALFORMED, "too many headers received", transient=True)
    assert sent < 20_000_000


@pytest.mark.parametrize(
    "script",
    [
        saying_then_silence(b""),
        saying_then_silence(b"HTTP/1.1 200 OK\r\nContent-Ty"),
        saying_then_silence(HEAD + b"Content-Length: 100\r\n\r\nhalf"),
        saying_then_silence(HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
    ],
)
async def test_silence_ends_at_the_timeout(client: MakeClient, server: RawServer, script: Reply) -> None:
    """A silent server fails after the timeout."""
    outcome = await fetch(client, server, script, timeout=0.3)
    assert outcome == Failed(server.url(), Reason.TIMED_OUT, "0.3", transient=True)


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", HEAD + b"Content-Length: 1000\r\n\r\n"])
async def test_slow_drip_ends_at_the_timeout(client: MakeClient, server: RawServer, start: bytes) -> None:
    """One byte at a time, in headers or body, does not extend the timeout."""

    async def drip(visit: Visit) -> None:
        await visit.send(start)
        for byte in HEAD * 20:
            await visit.send(bytes([byte]))
            await visit.pause()

    began = asyncio.get_running_loop().time()
    outcome = await fetch(client, server, drip, timeout=0.4)
    assert outcome == Failed(server.url(), Reason.TIMED_OUT, "0.4", transient=True)
    assert asyncio.get_running_loop().time() - began < 5


async def test_endless_early_hints_end_at_the_timeout(client: MakeClient, server: RawServer) -> None:
    """Endless 1xx responses do not extend the timeout."""

    async def script(visit: Visit) -> None:
        while True:
            await visit.send(b"HTTP/1.1 102 Processing\r\n\r\n")
            await visit.pause()

    outcome = await fetch(client, server, script, timeout=0.3)
    assert outcome == Failed(server.url(), Reason.TIMED_OUT, "0.3", transient=True)


async def test_switching_protocols_is_refused(client: MakeClient, server: RawServer) -> None:
    """An unrequested 101 is a failure."""
    outcome = await fetch(
        client, server, saying(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nxx")
    )
    assert isinstance(outcome, Failed)


async def test_cancelled_request_ends_at_once(client: MakeClient, server: RawServer) -> None:
    """The client can be used afterwards."""
    server.replies["/slow"] = saying_then_silence(b"")
    found = await client()
    task = asyncio.ensure_future(found.get(server.url("/slow")))
    while not server.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(await found.get(server.url("/fine")), Fetched)


async def test_exception_in_callback_is_a_failure(client: MakeClient, server: RawServer) -> None:
    """An exception in the caller's callback fails the page only."""
    found = await client()
    outcome = await found.fetcher.get(server.url(), lane=Lane.CONTENT, limit=10, wanted=lambda head: 1 // 0)  # type: ignore[arg-type, return-value]
    assert outcome == Failed(server.url(), Reason.FETCH_ERROR, "ZeroDivisionError", transient=True)
