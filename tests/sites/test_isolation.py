"""One slow or dead site never slows the others."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror_sites
from sitemirror.events import Event, SiteFinished
from tests.site import Site, faults
from tests.sites.towns import Heard, saved, settle


class UntilDone(Heard):
    """Opens a gate when so many sites have ended."""

    def __init__(self, gate: threading.Event, sites: int) -> None:
        super().__init__()
        self._gate = gate
        self._sites = sites

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if isinstance(event, SiteFinished) and event.done == self._sites:
            self._gate.set()


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


async def test_a_hanging_and_a_dead_site_hold_up_nobody(site: Site, out: Path) -> None:
    """While one site answers nothing and one refuses connections, four others end as they would alone."""
    gate = threading.Event()
    hanging, *good = settle(site, "hanging", "a", "b", "c", "d", pages=5)
    site.fault("*", faults.held(gate), host="hanging.localhost")
    dead = f"http://127.0.0.1:{closed_port()}/"
    heard = UntilDone(gate, 5)

    async with asyncio.timeout(30):
        report = await mirror_sites(
            [hanging, dead, *good],
            output=out,
            rate_limit=0,
            max_connections=8,
            timeout=25,
            max_retries=0,
            on_event=heard,
        )

    assert [end.url for end in heard.finished][-1] == hanging
    by_url = {entry.url: entry for entry in report.sites}
    assert {by_url[url].status for url in good} == {"ok"}
    assert "refused" in (by_url[dead].error or "")
    assert (report.status, report.sites_ok, report.sites_failed) == ("error", 5, 1)
    assert report.error == f"1 of 6 sites failed: {dead}"
    for name in "abcd":
        assert len(saved(out, site, name)) == 5
        assert sum(seen.host == f"{name}.localhost" for seen in site.requests) == 5 + 3  # start, robots.txt, sitemap


async def test_a_site_that_dies_on_the_way_holds_up_nobody(site: Site, out: Path) -> None:
    """A site whose pages hang from some page on holds its own requests only, with as many places as it may have."""
    gate = threading.Event()
    dying, *good = settle(site, "dying", "a", "b", pages=10)
    for number in range(3, 11):
        site.fault(f"/page/{number:04d}", faults.held(gate), host="dying.localhost")
    heard = UntilDone(gate, 2)

    async with asyncio.timeout(30):
        report = await mirror_sites(
            [{"url": dying, "concurrency": 6}, *good], output=out, rate_limit=0, max_connections=8, on_event=heard
        )

    assert [end.url for end in heard.finished][-1] == dying
    assert (report.status, report.successful) == ("ok", 30)


async def test_a_site_that_redirects_to_another_waits_for_that_one_alone(site: Site, out: Path) -> None:
    """While a third site hangs, two of which one leads to the other end one after the other."""
    gate = threading.Event()
    hanging, new = settle(site, "hanging", "new", pages=2)
    old = f"{site.url_of('old.localhost')}/"
    site.fault("*", faults.redirect_to(new), host="old.localhost")
    site.fault("/page/0002", faults.slow(0.3), host="new.localhost")
    site.fault("/page/0002", faults.held(gate), host="hanging.localhost")
    heard = UntilDone(gate, 2)

    async with asyncio.timeout(30):
        report = await mirror_sites([hanging, new, old], output=out, rate_limit=0, timeout=25, on_event=heard)

    assert [end.url for end in heard.finished] == [new, old, hanging]
    assert report.status == "ok"


async def test_names_that_nobody_answers_for_hold_up_nobody(
    site: Site, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty dead names, more than an event loop has threads for, do not delay the lookup of the thirty-first."""
    gate = threading.Event()
    asked: list[str] = []
    real = socket.getaddrinfo

    def lookup(host: str, *arguments: Any, **options: Any) -> Any:
        asked.append(host)
        if host.startswith("dead"):
            gate.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return real("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    site.fill(3, host="alive.test")
    site.sitemap(host="alive.test")
    dead = [f"http://dead{number}.test/" for number in range(30)]
    heard = UntilDone(gate, 1)

    async with asyncio.timeout(30):
        report = await mirror_sites(
            [*dead, site.url_of("alive.test")], output=out, rate_limit=0, timeout=20, max_retries=0, on_event=heard
        )

    assert heard.finished[0].url == f"{site.url_of('alive.test')}/"
    assert (report.sites_ok, report.sites_failed) == (1, 30)
    assert set(asked) >= {f"dead{number}.test" for number in range(30)}


async def test_a_bug_on_one_site_is_that_sites_failure(site: Site, out: Path) -> None:
    """An exception that nobody expected becomes an entry of the report, and the others end well."""
    bad, good = settle(site, "bad", "good")

    def stumble(event: Event) -> None:
        if "bad.localhost" in str(getattr(event, "folder", "")):
            raise ZeroDivisionError("listener")

    report = await mirror_sites([bad, good], output=out, rate_limit=0, on_event=stumble)

    assert [entry.status for entry in report.sites] == ["error", "ok"]
    assert report.sites[0].error == "unexpected ZeroDivisionError: listener"
