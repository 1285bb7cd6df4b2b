"""Requests look the same, and end the same, whether they are sent over a connection or by the library's session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sitemirror.errors import UsageError
from sitemirror.fetch import transport
from sitemirror.model import Failed, Fetched, Lane, Validators
from sitemirror.reasons import Reason
from sitemirror.settings import InvalidSettings
from tests.fetch.conftest import Client, MakeClient, Names
from tests.fetch.raw import Close, RawServer, Visit, page, reply

COOKIES = "localhost\tFALSE\t/docs\tFALSE\t0\ttaste\tsweet\n"


@pytest.fixture(params=["itself", "by the session"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How requests are sent; an unknown version of the library has them all sent by the session."""
    if request.param != "itself":
        monkeypatch.setattr(transport, "KNOWN", ("0.",))
    return str(request.param)


async def _all_kinds(found: Client, server: RawServer) -> None:
    for path in (
        "/",
        "/?",
        "/a?",
        "/a?b=c?d",
        "/a?q=how+are+you?",
        "/a??",
        "//a//b;c",
        "/%C3%A9%20x?q=%22|'",
        "/docs/x",
        "/docs/y?z#",
    ):
        await found.get(server.url(path, host="localhost"))
    await found.get(server.url("/docs/", host="localhost"), validators=Validators('"1"', "yesterday"))
    await found.get(server.url("/docs/", host="www.localhost."))
    await found.fetcher.head(server.url("/docs/", host="localhost"), lane=Lane.CONTENT)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"header": ("X-Odd: a:b", "accept: text/plain", "Host: elsewhere.example"), "basic_auth": "me:secret"},
        {"cookies": COOKIES, "user_agent": "Ümlaut/1"},
    ],
)
async def test_both_ways_send_the_same_request(
    client: MakeClient, server: RawServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Every line, in the same order, with headers, cookies and validators, for all URLs."""
    if "cookies" in settings:
        cookies = tmp_path / "cookies.txt"
        cookies.write_text(settings.pop("cookies"), encoding="utf-8")
        settings["cookie_file"] = cookies
    server.fallback = page(b"")  # so that there is no body after HEAD
    said = []
    for known in (transport.KNOWN, ("0.",)):
        monkeypatch.setattr(transport, "KNOWN", known)
        found = await client(start_url=server.url(host="localhost"), **settings)
        server.requests.clear()
        await _all_kinds(found, server)
        said.append([(request.line, list(request.headers.items())) for request in server.requests])
    assert len(said[0]) == 13
    assert said[0] == said[1]


async def test_url_is_sent_unchanged(client: MakeClient, server: RawServer, way: str) -> None:
    """Even the `?` of an empty query, to which a server may answer differently."""
    server.fallback = page(b"")
    found = await client(start_url=server.url(host="localhost"))
    for path in ("/q", "/q?", "/?", "/q??", "/q?a=%20", "/caf%C3%A9?", "/@x?"):
        server.requests.clear()
        await found.get(server.url(path, host="localhost"))
        assert [request.line for request in server.requests] == [f"GET {path} HTTP/1.1"]


async def test_closed_idle_connection_is_replaced(client: MakeClient, server: RawServer, way: str) -> None:
    """Also after an unsolicited response; a closed new connection is a failure."""

    async def second_time(visit: Visit) -> None:
        if sum(request.connection == visit.request.connection for request in server.requests) > 1:
            raise Close
        await visit.send(page())

    async def never(visit: Visit) -> None:
        raise Close

    async def noise(visit: Visit) -> None:
        await visit.send(page())
        await visit.pause()
        await visit.send(b"what is this\r\n\r\n")

    server.fallback = second_time
    server.replies["/twice"] = page() + page(b"poison")
    server.replies["/noise"] = noise
    server.replies["/never"] = never
    found = await client()
    for path in ("/", "/1", "/2", "/twice", "/3", "/noise", "/4"):
        outcome = await found.get(server.url(path))
        assert isinstance(outcome, Fetched), path
        assert outcome.body == b"<p>hello</p>"
    assert await found.get(server.url("/never")) == Failed(
        server.url("/never"), Reason.CONNECTION_CLOSED, transient=True
    )


async def test_both_ways_read_the_same_response(client: MakeClient, server: RawServer, way: str) -> None:
    """1xx responses, no body, chunks, a truncated body, and malformed responses."""

    async def in_pieces(visit: Visit) -> None:
        for piece in (page(b"x" * 40)[:-30], b"x" * 20, b"x" * 10):
            await visit.send(piece)
            await visit.pause()

    async def cut_short(visit: Visit) -> None:
        await visit.send(page(b"x" * 40)[:-10])
        await visit.pause()
        raise Close

    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    server.replies = {
        "/hints": hints + page(b"after"),
        "/empty": page(b""),
        "/pieces": in_pieces,
        "/short": cut_short,
        "/odd": b"SMTP ready\r\n\r\n",
        "/busy": reply("404 Not Found", b"no"),
    }
    found = await client()
    outcomes = {path: await found.get(server.url(path)) for path in server.replies}
    bodies = {path: each.body for path, each in outcomes.items() if isinstance(each, Fetched)}
    assert bodies == {"/hints": b"after", "/empty": b"", "/pieces": b"x" * 40}
    reasons = {path: each.text for path, each in outcomes.items() if isinstance(each, Failed)}
    assert reasons["/short"] == "body shorter than announced"
    assert reasons["/busy"] == "HTTP 404"
    assert reasons["/odd"].startswith("malformed response: ")


async def test_both_ways_check_addresses(client: MakeClient, server: RawServer, way: str) -> None:
    """A private address is refused before anything is sent."""
    found = await client(resolver=Names({"inside.example": ["10.0.0.1"]}))
    for url, address in (("http://inside.example/", "10.0.0.1"), ("http://10.0.0.2/", "10.0.0.2")):
        for _ in range(2):
            assert await found.get(url) == Failed(url, Reason.ADDRESS_REFUSED, address, transient=False)
    assert not server.requests


async def test_cached_headers_are_bounded(client: MakeClient, server: RawServer) -> None:
    """Headers of many hosts or validators are not cached forever."""
    found = await client(start_url=server.url(host="localhost"))
    for number in range(transport._MAX_TEMPLATES + 5):
        await found.get(server.url(host="localhost"), validators=Validators(f'"{number}"'))
    assert [request.headers["if-none-match"] for request in server.requests[-2:]] == ['"1027"', '"1028"']
    assert len(found.fetcher._sender._templates) <= transport._MAX_TEMPLATES


async def test_control_characters_are_never_sent(
    client: MakeClient, server: RawServer, way: str, tmp_path: Path
) -> None:
    """They are refused in every input."""
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\x1b[31m\n")
    for options in ({"user_agent": "a\x1b[31mb"}, {"header": ["A: b\x1b[31m"]}, {"cookie_file": cookies}):
        with pytest.raises((InvalidSettings, UsageError)):
            await client(**options)
    assert server.requests == []
