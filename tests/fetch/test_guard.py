"""No connection to an address that is not public, however it is spelled or resolved."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from sitemirror.events import Warned
from sitemirror.fetch.addresses import AddressGuard, AddressRefused, is_public
from sitemirror.model import Failed, Fetched
from sitemirror.reasons import Reason
from sitemirror.urls import InvalidUrl, normalize, parts
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import RawServer

_FORBIDDEN = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.0.9 192.0.0.10 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1
    198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
    64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 64:ff9b:1::8.8.8.8 100::1 100:0:0:1::1
    2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
    2002:7f00:1:: 2002:a00:1:: 2002:808:808:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0
    fec0::1 ff02::1 4000::1
    1.2.3 0x7f.1 2130706433 example.com
"""
_ALLOWED = """
    1.1.1.1 8.8.8.8 59.154.201.255 99.255.255.255 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.0
    192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 192.31.196.1 192.175.48.1
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2606:4700:4700::1111 2a00:1450:4001::1 2001:200::1 2001:4860:4860::8888 2003::1
    2620:4f:8000::1
"""
FORBIDDEN, ALLOWED = _FORBIDDEN.split(), _ALLOWED.split()


@pytest.mark.parametrize("address", FORBIDDEN)
def test_non_public_addresses(address: str) -> None:
    """All reserved ranges are refused, and IPv4 embedded in IPv6."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses(address: str) -> None:
    """Ordinary addresses pass, up to the edges of reserved ranges."""
    assert is_public(address)


@pytest.mark.parametrize("address", [a for a in FORBIDDEN if a[0].isdigit() and a.count(".") == 3 and ":" not in a])
async def test_literal_addresses_are_refused(client: MakeClient, address: str) -> None:
    """A link to a private address is a permanent failure that names the address."""
    found = await client()
    if address == "127.0.0.1":
        found = await client(start_url="https://example.com/")
    outcome = await found.get(f"http://{address}/")
    assert outcome == Failed(f"http://{address}/", Reason.ADDRESS_REFUSED, address, transient=False)


async def test_names_with_private_addresses_are_refused(client: MakeClient, server: RawServer) -> None:
    """A public name that resolves to a private address is refused."""
    found = await client(start_url="http://1.1.1.1/", resolver=Names({"inside.example": ["127.0.0.1"]}))
    outcome = await found.get(server.url(host="inside.example"))
    assert outcome == Failed(server.url(host="inside.example"), Reason.ADDRESS_REFUSED, "127.0.0.1", transient=False)
    assert server.connections == 0


async def test_second_address_of_a_name_is_checked_too(client: MakeClient, server: RawServer) -> None:
    """Private addresses of a name are never tried, even if the public ones fail."""
    async with RawServer(host="127.0.0.2", port=server.port) as forbidden:
        names = Names({"start.example": ["127.0.0.1"], "mixed.example": ["127.0.0.2", "127.0.0.1"]})
        found = await client(start_url=server.url(host="start.example"), resolver=names)
        outcome = await found.get(server.url(host="mixed.example"))
        assert isinstance(outcome, Fetched)
        assert (server.connections, forbidden.connections) == (1, 0)
        assert any(isinstance(event, Warned) and "mixed.example" in event.message for event in found.events)


async def test_private_start_host_exempts_itself_only(client: MakeClient, server: RawServer) -> None:
    """An intranet site is reached, and no other private address."""
    async with RawServer(host="127.0.0.2") as other:
        found = await client(
            start_url=server.url(host="intranet.example"), resolver=Names({"intranet.example": ["127.0.0.1"]})
        )
        assert isinstance(await found.get(server.url(host="intranet.example")), Fetched)
        assert isinstance(await found.get(server.url()), Fetched)
        refused = await found.get(other.url())
        assert refused == Failed(other.url(), Reason.ADDRESS_REFUSED, "127.0.0.2", transient=False)
        assert other.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "intranet.example", "localhost"])
async def test_another_port_of_the_start_address_is_refused(client: MakeClient, server: RawServer, host: str) -> None:
    """An exempt address is exempt at the start URL's port: another port is another service, such as a database."""
    async with RawServer() as other:
        names = Names({"intranet.example": ["127.0.0.1"], "start.example": ["127.0.0.1"]})
        found = await client(start_url=server.url(host="start.example"), resolver=names)
        assert isinstance(await found.get(server.url(host=host)), Fetched)
        url, detail = other.url(host=host), f"127.0.0.1:{other.port}"
        assert await found.get(url) == Failed(url, Reason.ADDRESS_REFUSED, detail, transient=False)
        assert other.connections == 0


@pytest.mark.parametrize("start", ["http://10.0.0.1/", "https://10.0.0.1/"])
async def test_default_ports_of_the_start_address_are_one_site(start: str) -> None:
    """An intranet site redirects from http to https; its other ports stay closed."""
    guard = AddressGuard(start, Names({}))
    await guard.admit_start()
    assert [guard.allows("10.0.0.1", port) for port in (80, 443, 8080, 22)] == [True, True, False, False]
    assert not guard.allows("10.0.0.2", 80)


async def test_public_start_host_exempts_nothing(client: MakeClient, server: RawServer) -> None:
    """With a public start URL not even loopback is reachable."""
    found = await client(start_url="https://example.com/", resolver=Names({"example.com": ["93.184.215.14"]}))
    assert await found.get(server.url()) == Failed(server.url(), Reason.ADDRESS_REFUSED, "127.0.0.1", transient=False)


async def test_dns_rebinding_of_start_host_is_refused(client: MakeClient, server: RawServer) -> None:
    """A name that was public at the start and private later gets no connection."""
    names = Names({"rebind.example": ["93.184.215.14"]})
    found = await client(start_url=server.url(host="rebind.example"), resolver=names)
    names.names["rebind.example"] = ["127.0.0.1"]
    outcome = await found.get(server.url(host="rebind.example"))
    assert outcome == Failed(server.url(host="rebind.example"), Reason.ADDRESS_REFUSED, "127.0.0.1", transient=False)
    assert server.connections == 0


async def test_socket_creation_is_guarded(client: MakeClient, server: RawServer) -> None:
    """A socket to a private address is refused, whatever was checked before."""
    guard = AddressGuard("https://example.com/", Names({}))
    for family, endpoint in [(socket.AF_INET, ("10.0.0.1", 80)), (socket.AF_INET6, ("::1", 80, 0, 0))]:
        with pytest.raises(AddressRefused):
            guard.open_socket((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", endpoint))
    opened = guard.open_socket((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("1.1.1.1", 80)))
    opened.close()


async def test_localhost_names_never_reach_dns(client: MakeClient, server: RawServer) -> None:
    """Names under .localhost are resolved locally."""
    names = Names({})
    found = await client(start_url=server.url(host="docs.localhost"), resolver=names)
    assert isinstance(await found.get(server.url(host="docs.localhost")), Fetched)
    assert isinstance(await found.get(server.url(host="localhost")), Fetched)
    assert names.asked == []


async def test_localhost_is_refused_from_a_public_start(client: MakeClient, server: RawServer) -> None:
    """A public page cannot reach this machine by name."""
    found = await client(start_url="https://example.com/", resolver=Names({"example.com": ["93.184.215.14"]}))
    outcome = await found.get(server.url(host="x.localhost"))
    assert outcome == Failed(server.url(host="x.localhost"), Reason.ADDRESS_REFUSED, "127.0.0.1", transient=False)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "nowhere.example", "a..b.example"])
async def test_names_that_do_not_exist(client: MakeClient, host: str) -> None:
    """A name without an address, or an invalid one, is a transient failure."""
    found = await client()
    assert await found.get(f"http://{host}/") == Failed(f"http://{host}/", Reason.NO_SUCH_HOST, transient=True)


async def test_resolver_accepts_invalid_names(server: RawServer) -> None:
    """Names that Python refuses to resolve are failures like any other."""
    from sitemirror.fetch.client import Fetcher
    from sitemirror.fetch.pace import Pace
    from sitemirror.model import Lane
    from sitemirror.settings import Settings
    from tests.fetch.clocks import JumpingClock

    clock, settings = JumpingClock(), Settings(rate_limit=0)
    url = f"http://{'a' * 64}.localdomain/"
    async with Fetcher(settings, start_url=server.url(), pace=Pace(settings, clock=clock), clock=clock) as fetcher:
        assert await fetcher.get(url, lane=Lane.CONTENT, limit=10) == Failed(url, Reason.NO_SUCH_HOST, transient=True)


@pytest.mark.vectors
async def test_vectors_of_request_forgery(client: MakeClient, vectors: Path) -> None:
    """Every URL to a private address is refused; the public one is not."""
    lines = (vectors / "ssrf/urls.jsonl").read_text("utf-8").splitlines()
    names = Names({})
    found = await client(start_url="https://start.test/", resolver=names)
    wrong = []
    for case in map(json.loads, lines):
        try:
            url = normalize(case["url"])
        except InvalidUrl:
            if case["expect"] not in ("block", "reject", "resolve-then-check"):
                wrong.append(case)
            continue  # Refused before any address is looked at; URLs with credentials are among them.
        match case["expect"]:
            case "reject":
                wrong.append(case)
            case "public":
                assert is_public(parts(url).host)
            case _:
                names.names[parts(url).host] = ["10.0.0.1"]
                outcome = await found.get(url)
                if not (isinstance(outcome, Failed) and outcome.text.startswith("address not allowed: ")):
                    wrong.append(case)
    assert not wrong
