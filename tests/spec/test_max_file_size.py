"""Requirement: Max file size prevents memory exhaustion."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunHere
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored, only_announced

FIFTY_MEGABYTES = 52_428_800


def test_skip_oversized_page(site: Site, out: Path, run_here: RunHere) -> None:
    """Skip oversized page: 50 MB announced under a limit of 10 are refused unread, and the next page is fetched."""
    site.html_page("/huge", "Huge", "<h1>Huge</h1>")
    site.fault("/huge", only_announced(FIFTY_MEGABYTES))
    site.html_page("/next", "Next", "<h1>Next</h1>")
    site.sitemap(urls=["/huge", "/next"])

    done = run_here("mirror", site.url, *FAST, "--max-file-size", 10, "--timeout", 10, "--output", out)

    counts = [done.json[name] for name in ("status", "successful", "skipped", "failed")]
    assert counts == ["ok", 1, 1, 0]
    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"next/index.md"}
    [skip] = mirrored.manifest["skips"]
    assert skip["url"] == f"{site.url}/huge"
    assert (skip["reason"], skip["size_bytes"]) == ("exceeds size limit", FIFTY_MEGABYTES)
    [placeholder] = mirrored.placeholders["_skipped"]
    assert "exceeds size limit" in placeholder
    assert site.count("/huge") == 1


def test_a_limit_that_no_file_reaches(site: Site, out: Path, run_here: RunHere) -> None:
    """However large a number somebody writes for "no limit", it is one."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.sitemap()
    for most in ("1e300", "1e308"):
        done = run_here(
            "crawl", site.url + "/a", *FAST, "--max-file-size", most, "--max-sitemap-size", most, "--output", out
        )
        assert done.json["status"] == "ok"


def test_skip_oversized_page_that_does_not_say_so(site: Site, out: Path, run_here: RunHere) -> None:
    """Skip oversized page: without a length, without an end or packed small, it is found out on the way."""
    hidden = {
        "/unannounced": faults.huge_unannounced(FIFTY_MEGABYTES),
        "/endless": faults.chunked_forever(),
        "/bomb": faults.bomb(FIFTY_MEGABYTES),
    }
    for path, fault in hidden.items():
        site.html_page(path, "Large", "<h1>Large</h1>")
        site.fault(path, fault)
    just_fits = "<h1>Fits</h1>" + "<p>" + "word " * 180_000 + "</p>"  # 0.9 MB
    site.html_page("/fits", "Fits", just_fits, encoding="gzip")
    site.sitemap(urls=[*hidden, "/fits"])

    done = run_here("mirror", site.url, *FAST, "--max-file-size", 1, "--output", out)

    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"fits/index.md"}
    skips = {skip["url"].removeprefix(site.url): skip["reason"] for skip in mirrored.manifest["skips"]}
    assert skips == dict.fromkeys(hidden, "exceeds size limit")
    assert (done.json["successful"], done.json["failed"]) == (1, 0)
    for path in ("/unannounced", "/endless"):
        assert site.requests_for(path)[0].finished is None
