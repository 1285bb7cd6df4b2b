"""Untrusted certificates in the middle of a run: each is named, and all other pages are saved."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import ResolveResult

from sitemirror import crawl, mirror
from tests.conftest import RunCli
from tests.crawl.conftest import Copy, link
from tests.fetch.conftest import Names
from tests.site import NoOpenssl, Site, certificate


class _Ports(Names):
    """All names are this machine. The start host has the plain site at port 80, and those over TLS at 443."""

    def __init__(self, plain: Site, *secured: Site) -> None:
        super().__init__({"start.test": ["127.0.0.1"], "wrong.test": ["127.0.0.1"]})
        self._ports = {80: [plain.port], 443: [site.port for site in secured]}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        (found,) = await super().resolve(host, port, family)
        return [ResolveResult(**found | {"port": each}) for each in self._ports.get(port, [port])]


class _Secured:
    """Sites over TLS, one with each certificate."""

    def __init__(self, start: ExitStack) -> None:
        self.good, self.stranger, self.expired = (
            start.enter_context(Site(tls=made()))
            for made in (certificate.good, certificate.stranger, certificate.expired)
        )

    def trusted(self, folder: Path) -> Path:
        """A --ca-file with the good one and the one that was good once."""
        file = folder / "trusted.pem"
        file.write_bytes(b"".join(made().pem.read_bytes() for made in (certificate.good, certificate.expired)))
        return file


@pytest.fixture
def secured() -> Iterator[_Secured]:
    with ExitStack() as start:
        try:
            found = _Secured(start)
        except NoOpenssl as missing:
            pytest.skip(str(missing))
        yield found


@pytest.mark.parametrize("command", ["mirror", "crawl"])
async def test_bad_certificates_fail_their_own_pages_only(
    site: Site, secured: _Secured, out: Path, tmp_path: Path, command: str
) -> None:
    """Expired, unknown, or for another name: a reason for each page, and none is fetched."""
    numbers = range(4)  # One more failure in a row, and the host would be left alone for a while.
    for number in numbers:
        for one in (site, secured.good, secured.stranger, secured.expired):
            one.html_page(f"/{number}", f"Page {number}", f"<p>Of {one.port}: {number}</p>")
    reasons = {
        secured.expired.url: "TLS failure: certificate has expired",
        secured.stranger.url: "TLS failure: self-signed certificate",
        secured.good.url_of("wrong.test"): "TLS failure: Hostname mismatch",
    }
    start, names = "http://start.test/", _Ports(site, secured.good, secured.stranger, secured.expired)
    paths = [f"{origin}/{number}" for number in numbers for origin in (*reasons, start[:-1], secured.good.url)]
    site.html_page("/", "Home", link(*paths))
    site.sitemap(urls=[start, *paths])
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "concurrency": 4, "ca_file": secured.trusted(tmp_path)}
    if command == "mirror":
        report = await mirror(start, resolver=names, domain_lock=False, **options)
    else:
        report = await crawl(start, resolver=names, same_domain=False, **options)
    assert (report.status, report.successful, report.failed) == ("partial", 9, 12)
    failures = {row["url"]: row["error"] for row in Copy(out / "start.test").manifest["failures"]}
    for origin, reason in reasons.items():
        told = reason if command == "mirror" else f"robots.txt cannot be had: {reason}"  # A crawl asks for it first.
        assert {failures[f"{origin}/{number}"][: len(told)] for number in numbers} == {told}, origin
    assert secured.stranger.requests == secured.expired.requests == []
    assert {seen.host for seen in secured.good.requests} == {"127.0.0.1"}


def test_start_page_with_a_bad_certificate_ends_the_run(secured: _Secured, out: Path, run_cli: RunCli) -> None:
    """The error has the certificate's fault and a hint."""
    done = run_cli("crawl", secured.stranger.url, "--rate-limit", 0, "--output", out)
    assert done.returncode == 1
    assert "self-signed certificate" in done.json["error"]
    assert done.json["hint"]
    assert secured.stranger.requests == []
