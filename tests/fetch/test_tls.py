"""TLS: certificates are checked, more can be trusted, and a failure says why."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sitemirror.errors import UsageError
from sitemirror.fetch.client import Fetcher
from sitemirror.fetch.pace import Pace
from sitemirror.model import Failed, Fetched
from sitemirror.settings import Settings
from tests.fetch.clocks import JumpingClock
from tests.fetch.conftest import MakeClient, Names
from tests.fetch.raw import RawServer

TLS = Path(__file__).parent / "tls"
NAMES = Names({"site.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]})


@pytest.fixture
async def secure() -> AsyncIterator[RawServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem", TLS / "server.key")
    async with RawServer(tls=context) as found:
        yield found


async def test_ca_file_is_trusted(client: MakeClient, secure: RawServer) -> None:
    """With --ca-file a site with a private authority is reached, over a reused connection."""
    found = await client(start_url=secure.url(host="site.test"), resolver=NAMES, ca_file=TLS / "ca.pem")
    for number in range(3):
        assert isinstance(await found.get(secure.url(f"/{number}", host="site.test")), Fetched)
    assert secure.connections == 1


async def test_unknown_authority_is_a_permanent_failure(client: MakeClient, secure: RawServer) -> None:
    """An untrusted certificate is not retried."""
    found = await client(start_url=secure.url(host="site.test"), resolver=NAMES)
    outcome = await found.get(secure.url(host="site.test"))
    assert isinstance(outcome, Failed)
    assert outcome.text == "TLS failure: unable to get local issuer certificate"
    assert not outcome.transient
    assert secure.requests == []


async def test_wrong_name_is_a_permanent_failure(client: MakeClient, secure: RawServer) -> None:
    """A certificate for another name fails, and no request is sent."""
    found = await client(start_url=secure.url(host="other.test"), resolver=NAMES, ca_file=TLS / "ca.pem")
    outcome = await found.get(secure.url(host="other.test"))
    assert isinstance(outcome, Failed)
    assert outcome.text.startswith("TLS failure: Hostname mismatch")
    assert not outcome.transient
    assert secure.requests == []


async def test_https_to_a_plain_server(client: MakeClient, server: RawServer) -> None:
    """A server without TLS gives a readable reason."""
    url = server.url().replace("http:", "https:")
    found = await client(start_url=url, timeout=0.5)
    outcome = await found.get(url)
    assert isinstance(outcome, Failed)
    assert outcome.text.isprintable()


async def test_plain_to_a_tls_server(client: MakeClient, secure: RawServer) -> None:
    """http to a TLS port gives a reason, not an exception."""
    url = secure.url().replace("https:", "http:")
    found = await client(start_url=url, timeout=0.5)
    outcome = await found.get(url)
    assert isinstance(outcome, Failed)
    assert outcome.transient


@pytest.mark.parametrize("content", [None, b"no certificate in here"])
def test_invalid_ca_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """A missing file, or one without certificates, is wrong usage with a hint."""
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    settings, clock = Settings(ca_file=file), JumpingClock()
    with pytest.raises(UsageError) as caught:
        Fetcher(settings, start_url="https://example.com/", pace=Pace(settings, clock=clock), clock=clock)
    assert caught.value.hint
    assert "ca.pem" in caught.value.message
