"""Every network fault in one crawl: each page has its reason, and all others are saved."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from sitemirror import crawl, mirror
from sitemirror.publish.report import MirrorReport
from tests.crawl.conftest import Copy, link
from tests.fetch.clocks import JumpingClock
from tests.site import Site, faults

# How a page fails → what is said of it, with a limit of one second and a tenth of a megabyte.
_FAULTS = {
    "reset-before": (faults.reset(), "connection reset"),
    "dropped": (faults.drop(), "connection closed without an answer"),
    "reset-in-body": (faults.reset_in_body(), "connection reset"),
    "silence": (faults.silence(), "timed out after 1 s"),
    "stalled": (faults.stall(), "timed out after 1 s"),
    "dripping": (faults.drip(1), "timed out after 1 s"),
    "truncated": (faults.partial(), "body shorter than announced"),
    "chunks-cut": (faults.chunked_cut(), "body shorter than announced"),
    "chunks-broken": (faults.chunked_broken(), "malformed response"),
    "endless-headers": (faults.endless_headers(), "malformed response|timed out"),
    "huge-header": (faults.huge_header(), "malformed response"),
    "garbage": (faults.garbage(), "malformed response"),
    "to-itself": (faults.redirect_to("/to-itself"), "redirect loop"),
    "to-nowhere": (faults.redirect_to("http://"), "redirect that cannot be followed"),
    "to-file": (faults.redirect_to("file:///etc/passwd"), "redirect that cannot be followed"),
    "500": (faults.status(500), "HTTP 500"),
}
_SKIPPED = {
    "chunks-for-ever": (faults.chunked_forever(), "exceeds size limit"),
    "too-large": (faults.huge(10**9), "exceeds size limit"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["mirror", "crawl"])
async def test_each_fault_has_its_reason_and_other_pages_are_saved(site: Site, out: Path, command: str) -> None:
    """Eighteen kinds of broken pages among good ones, in bounded time and memory."""
    good = [f"/good/{number}" for number in range(40)]
    bad = {f"/{name}": told for name, told in (_FAULTS | _SKIPPED).items()}
    order = [path for pair in zip(good, [*bad, *good[len(bad) :]], strict=True) for path in pair]
    for path in good:
        site.html_page(path, path, f"<p>{path}</p>")
    for path, (step, _) in bad.items():
        site.page(path, b"<p>" + b"never seen whole " * 2000)
        site.fault(path, step)
    site.html_page("/", "Home", link(*order))
    for hop in range(30):
        site.redirect(f"/hop/{hop}", f"/hop/{hop + 1}")
    site.html_page("/", "Home", link(*order, "/hop/0"))
    site.sitemap(urls=["/", *order, "/hop/0"])
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    run = mirror if command == "mirror" else crawl
    report = await run(
        site.url, output=out, rate_limit=0, concurrency=4, timeout=1, max_file_size=0.1, max_retries=0
    )  # fmt: skip
    assert time.monotonic() - begun < 50
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000
    copy = Copy(out / f"127.0.0.1_{site.port}")
    failures = {row["url"].removeprefix(site.url): row["error"] for row in copy.manifest["failures"]}
    skips = {row["url"].removeprefix(site.url): row["reason"] for row in copy.manifest["skips"]}
    told = failures | skips
    for path, (_, reason) in bad.items():
        assert re.search(reason, told.get(path, "nothing at all")), (path, told.get(path))
    assert "too many redirects" in failures.values()
    assert set(failures) - set(bad) <= {f"/hop/{hop}" for hop in range(12)}
    saved = {page["url"].removeprefix(site.url) for page in copy.manifest["pages"]}
    assert saved == {"/", *good}
    assert report.status == "partial"


class _Names(AbstractResolver):
    """Knows every name, but one of them not at first."""

    def __init__(self, name: str, fails: int) -> None:
        self._name = name
        self.fails = fails

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host == self._name and self.fails:
            self.fails -= 1
            raise OSError(None, "DNS lookup failed")
        found = {"hostname": host, "host": "127.0.0.1", "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}
        return [ResolveResult(**found)]  # type: ignore[typeddict-item]

    async def close(self) -> None:
        pass


async def test_dns_failure_of_one_host_is_waited_for(site: Site, out: Path) -> None:
    """DNS fails for one of two hosts and recovers: a few pages fail, the run waits and fetches the others."""
    there = site.url_of("there.test")
    paths = [f"/{number}" for number in range(20)]
    for path in paths:
        site.html_page(path, path, f"<p>Here is {path}</p>", host="there.test")
    site.html_page("/", "Home", link(*(there + path for path in paths)))
    names = _Names("there.test", 8)
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "same_domain": False, "respect_robots": False}
    report = await crawl(site.url, resolver=names, clock=JumpingClock(), **options)
    assert names.fails == 0
    assert (report.status, report.successful + report.failed) == ("partial", 21)
    assert 4 <= report.failed <= 5
    copy = Copy(out / f"127.0.0.1_{site.port}")
    assert {row["error"] for row in copy.manifest["failures"]} == {"no such host"}
    again = await crawl(site.url, resolver=names, **options)
    assert (again.status, again.successful) == ("ok", 21)


async def test_restarted_server_is_waited_for(site: Site, out: Path) -> None:
    """Connection refused for a while, and then every page."""
    paths = site.fill(60)
    site.sitemap()
    site.latency = 0.02
    run = mirror(site.url, output=out, rate_limit=0, concurrency=2)
    task = asyncio.ensure_future(_finished(run))
    await asyncio.to_thread(site.wait_for, 20, 20.0)
    await asyncio.to_thread(site.stop)
    await asyncio.sleep(1)
    await asyncio.to_thread(site.start)
    report = await task
    assert report.successful + report.failed == len(paths)
    assert report.failed <= 8
    again = await mirror(site.url, output=out, rate_limit=0)
    assert (again.status, again.successful) == ("ok", 60)


async def _finished(run: object) -> MirrorReport:
    return await run  # type: ignore[misc, no-any-return]


async def test_silent_robots_txt_skips_its_host_only(site: Site, out: Path) -> None:
    """No page of such a host is requested, and no other host waits for it."""
    stuck = [f"stuck-{number}.test" for number in range(6)]
    for host in stuck:
        site.fault("/robots.txt", faults.silence(), host=host)
        site.html_page("/", "Never", "<p>Never seen</p>", host=host)
    good = [f"/{number}" for number in range(12)]
    for path in good:
        site.html_page(path, path, f"<p>Here is {path}</p>")
    site.html_page("/", "Home", link(*(site.url_of(host) + "/" for host in stuck), *good))
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "same_domain": False, "concurrency": 8, "timeout": 2}
    report = await crawl(site.url, resolver=_Names("", 0), **options)
    assert (report.status, report.successful, report.failed) == ("partial", 13, 6)
    failures = Copy(out / f"127.0.0.1_{site.port}").manifest["failures"]
    assert {row["error"] for row in failures} == {"robots.txt cannot be had: timed out after 2 s"}
    assert site.max_in_flight >= 6  # all the silent ones were asked at the same time
    for host in stuck:
        site.heal("/robots.txt", host=host)
    assert (await crawl(site.url, resolver=_Names("", 0), **options)).successful == 19
