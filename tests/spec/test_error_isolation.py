"""Requirement: Error Isolation Strategy."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.fetch.clocks import JumpingClock
from tests.site import Site, faults
from tests.spec.mirrored import FAST, ClockedLog, Mirrored


def test_skip_mode(site: Site, out: Path, run_here: RunHere) -> None:
    """Skip mode (default): failures are logged and get placeholders, the rest is saved, the next run tries them."""
    site.html_page("/first", "First", "<h1>First</h1>")
    site.html_page("/last", "Last", "<h1>Last</h1>")
    broken = {
        "/missing": ("HTTP 404", faults.status(404)),
        "/error": ("HTTP 500", faults.status(500)),
        "/dropped": ("", faults.drop()),
        "/cut": ("", faults.partial()),
        "/loop": ("redirect loop", faults.redirect_to("/loop")),
        "/garbage": ("", faults.garbage()),
    }
    for path, (_, fault) in broken.items():
        site.fault(path, fault)
    site.sitemap(urls=["/first", *broken, "/last"])

    done = run_here("mirror", site.url, *FAST, "--output", out)

    assert done.returncode == 0
    assert (done.json["status"], done.json["successful"], done.json["failed"]) == ("partial", 2, len(broken))
    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"first/index.md", "last/index.md"}
    logged = [line.split("\t") for line in mirrored.text("_failed.log").splitlines()]
    assert [url for _, url, _ in logged] == [site.url + path for path in broken]
    for (at, _, error), (expected, _) in zip(logged, broken.values(), strict=True):
        assert datetime.fromisoformat(at).tzinfo is not None
        assert error
        assert expected in error
    placeholders = mirrored.placeholders["_failed"]
    assert len(placeholders) == len(broken)
    for at, url, error in logged:
        [text] = [text for text in placeholders if f"({url})" in text]
        assert error in text
        assert f"- Last tried: {at}\n" in text
        assert "next run" in text
    assert [failure["url"] for failure in mirrored.manifest["failures"]] == sorted(site.url + path for path in broken)
    assert site.count("/error") == 1  # this mode does not insist

    for path in broken:
        site.heal(path)
    site.clear_log()
    again = run_here("mirror", site.url, *FAST, "--output", out)

    assert (again.json["status"], again.json["successful"]) == ("ok", 2 + len(broken))
    assert site.count("/first") == 0
    assert mirrored.placeholders["_failed"] == []


def test_abort_mode(site: Site, out: Path, run_here: RunHere) -> None:
    """Abort mode: the first failure saves everything and exits 1; the same command goes on from there."""
    paths = site.fill(6)
    site.fault(paths[3], faults.status(500))
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--on-error", "abort")

    assert done.returncode == 1
    assert done.json["status"] == "error"
    assert f"{site.url}{paths[3]} failed: HTTP 500" in done.json["error"]
    assert (done.json["successful"], done.json["failed"], done.json["not_reached"]) == (3, 1, 2)
    assert site.paths()[-1] == paths[3]
    mirrored = Mirrored.of(site, out)
    assert mirrored.checkpoint["source_url"] == site.url + "/"
    assert (mirrored.checkpoint["total_processed"], mirrored.checkpoint["total_expected"]) == (4, 6)
    progress = mirrored.progress
    assert (progress["processed"], progress["failed"], progress["total"]) == (4, 1, 6)
    assert mirrored.processed == [site.url + path for path in paths[:3]]
    assert (mirrored.manifest["complete"], mirrored.manifest["crawl_completed"]) == (False, None)

    site.heal(paths[3])
    site.clear_log()
    again = run_here("mirror", site.url, *FAST, "--output", out, "--on-error", "abort")

    assert (again.returncode, again.json["status"], again.json["successful"]) == (0, "ok", 6)
    assert [path for path in site.paths() if path.startswith("/page")] == paths[3:]


async def test_transient_error_retry(site: Site, out: Path) -> None:
    """Transient error retry: a 503 is put back, tried up to three times after all other pages, and no 404 is."""
    paths = site.fill(3)
    clock = JumpingClock()
    log = ClockedLog(site, clock)
    bad = log.noting(faults.status(503))
    site.fault("/once", bad, log.noting())
    site.fault("/thrice", bad, bad, bad, log.noting())
    site.fault("/always", bad)
    site.fault("/missing", log.noting(faults.status(404)))
    site.sitemap(urls=["/once", "/thrice", "/always", "/missing", *paths])

    report = await mirror(site.url, output=out, rate_limit=0, on_error="retry", clock=clock)

    assert (report.status, report.successful, report.failed) == ("partial", 5, 2)
    counts = {path: site.count(path) for path in ("/once", "/thrice", "/always", "/missing")}
    assert counts == {"/once": 2, "/thrice": 4, "/always": 4, "/missing": 1}
    content = [path for path, _ in log.entries if path not in ("/", "/robots.txt", "/sitemap.xml")]
    main, later = content[:7], content[7:]
    assert main == ["/once", "/thrice", "/always", "/missing", *paths]
    assert later == ["/once", "/thrice", "/always", "/thrice", "/always", "/thrice", "/always"]
    mirrored = Mirrored.of(site, out)
    lines = [line.split("\t")[1:] for line in mirrored.text("_failed.log").splitlines()]
    assert lines == [[site.url + "/missing", "HTTP 404"], [site.url + "/always", "HTTP 503"]]
    [failure] = [found for found in mirrored.manifest["failures"] if found["url"].endswith("/always")]
    assert failure["attempts"] == 4
    assert len(mirrored.placeholders["_failed"]) == 2


def test_transient_error_retry_by_the_program(site: Site, out: Path, run_here: RunHere) -> None:
    """Transient error retry: the program itself mends a bad moment, where skipping would leave a hole."""
    paths = site.fill(3)
    site.fault(paths[0], faults.status(503), faults.ok())
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--on-error=retry")

    assert (done.json["status"], done.json["successful"], done.json["failed"]) == ("ok", 3, 0)
    assert [path for path in site.paths() if path.startswith("/page")] == [*paths, paths[0]]
    assert not (Mirrored.of(site, out).folder / "_failed.log").exists()


@pytest.mark.parametrize("policy", ["skip", "retry"])
@pytest.mark.parametrize("end", [429, 404, 500])
async def test_attempts_are_the_requests_that_were_made(
    site: Site, out: Path, policy: Literal["skip", "retry", "abort"], end: int
) -> None:
    """A failure's attempts are what the server saw: those that it put off as well, in the manifest and on disk."""
    site.fill(1)
    site.sitemap(urls=["/page/0001", "/busy"])
    site.fault("/busy", faults.status(429), faults.status(429, retry_after="7"), faults.status(end))

    report = await mirror(site.url, output=out, clock=JumpingClock(), rate_limit=0, on_error=policy)

    assert (report.status, report.failed) == ("partial", 1)
    requests = site.count("/busy")
    assert requests >= 3
    mirrored = Mirrored.of(site, out)
    [failure] = mirrored.manifest["failures"]
    assert failure["attempts"] == requests
    [placeholder] = mirrored.placeholders["_failed"]
    assert f"- Attempts: {requests}\n" in placeholder
