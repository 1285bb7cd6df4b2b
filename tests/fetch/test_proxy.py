"""Proxies: only when asked for, and never a way around the address guard."""

from __future__ import annotations

import asyncio

import pytest

from sitemirror.errors import UsageError
from sitemirror.fetch.identity import Proxies
from sitemirror.model import Failed, Fetched
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import Close, RawServer, Visit, page, reply

PUBLIC = Names({"site.example": ["93.184.215.14"], "inside.example": ["10.0.0.1"]})


async def test_proxies_of_the_environment_are_ignored(
    client: MakeClient, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proxy variables have no effect by themselves."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    found = await client()
    assert isinstance(await found.get(server.url()), Fetched)


async def test_requests_go_through_the_named_proxy(client: MakeClient, server: RawServer) -> None:
    """The request line has the full URL, and the proxy's password is sent."""
    found = await client(
        start_url="http://site.example/", resolver=PUBLIC, proxy=f"http://user:p%40ss@127.0.0.1:{server.port}"
    )
    assert isinstance(await found.get("http://site.example/a"), Fetched)
    (request,) = server.requests
    assert request.line == "GET http://site.example/a HTTP/1.1"
    assert request.headers["host"] == "site.example"
    assert request.headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"


async def test_https_goes_through_a_tunnel(client: MakeClient, server: RawServer) -> None:
    """A refused tunnel is a failure, and the site's credentials stay out of it."""

    async def refuse(visit: Visit) -> None:
        await visit.send(reply("403 Forbidden"))
        raise Close

    server.fallback = refuse
    found = await client(
        start_url="https://site.example/",
        resolver=PUBLIC,
        proxy=f"http://u:p@127.0.0.1:{server.port}",
        header=("X-Key: secret",),
    )
    outcome = await found.get("https://site.example/a")
    assert outcome == Failed("https://site.example/a", Reason.PROXY_FAILED, "HTTP 403", transient=False)
    (request,) = server.requests
    assert request.line == "CONNECT site.example:443 HTTP/1.1"
    assert request.headers["proxy-authorization"] == "Basic dTpw"
    assert "x-key" not in request.headers


async def test_private_targets_are_not_sent_to_the_proxy(client: MakeClient, server: RawServer) -> None:
    """Private literals, and names with private addresses, are refused."""
    found = await client(start_url="http://site.example/", resolver=PUBLIC, proxy=server.url())
    for url, address in [
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://inside.example/", "10.0.0.1"),
        ("http://x.localhost/", "127.0.0.1"),
        (server.url(), "127.0.0.1"),
    ]:
        assert await found.get(url) == Failed(url, Reason.ADDRESS_REFUSED, address, transient=False)
    assert server.requests == []


async def test_names_without_local_dns_are_sent_to_the_proxy(client: MakeClient, server: RawServer) -> None:
    """Behind a proxy without local DNS the proxy resolves names."""
    found = await client(start_url="http://site.example/", resolver=Names({}), proxy=server.url())
    assert isinstance(await found.get("http://elsewhere.example/"), Fetched)


async def test_unreachable_proxy_is_the_reason(client: MakeClient) -> None:
    """The reason names the proxy, not the site."""
    found = await client(start_url="http://site.example/", resolver=PUBLIC, proxy="http://127.0.0.1:1")
    outcome = await found.get("http://site.example/")
    assert outcome == Failed("http://site.example/", Reason.PROXY_REFUSED, transient=True)


async def test_env_uses_the_proxy_variables(
    client: MakeClient, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--proxy env uses the proxy of the scheme, and none for hosts in no_proxy."""
    for name in ("https_proxy", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with RawServer(fallback=page(b"via proxy")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url())
        monkeypatch.setenv("no_proxy", "direct.localhost")
        found = await client(start_url=server.url(host="direct.localhost"), proxy="env", resolver=PUBLIC)
        direct, through = await asyncio.gather(
            found.get(server.url(host="direct.localhost")), found.get("http://site.example/")
        )
    assert isinstance(direct, Fetched)
    assert isinstance(through, Fetched)
    assert (direct.body, through.body) == (b"<p>hello</p>", b"via proxy")


@pytest.mark.parametrize("text", ["socks5://127.0.0.1:1080", "http://", "http://a b/", "ftp://x/"])
def test_invalid_proxies_are_refused(text: str) -> None:
    """The hint does not repeat a password."""
    with pytest.raises(UsageError) as caught:
        Proxies(Settings(proxy=text))
    assert caught.value.hint
