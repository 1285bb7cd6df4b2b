"""Requirement: Update mode correctly compares timestamps."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored


def _mirror_with_mtime(site: Site, out: Path, run_here: RunHere, mtime: str, lastmod: str) -> Path:
    """A mirror of `/docs/page` and of a page after it, the first with the given time, local if it names no zone."""
    site.html_page("/docs/page", "Page", "<h1>Page</h1><p>first</p>")
    site.html_page("/docs/next", "Next", "<h1>Next</h1><p>first</p>")
    site.sitemap(urls=["/docs/page", "/docs/next"])
    run_here("mirror", site.url, *FAST, "--output", out)
    file = Mirrored.of(site, out).folder / "docs" / "page" / "index.md"
    stamp = datetime.fromisoformat(mtime).astimezone().timestamp()
    os.utime(file, (stamp, stamp))
    site.html_page("/docs/page", "Page", "<h1>Page</h1><p>second</p>")
    site.sitemap(urls=[("/docs/page", lastmod), "/docs/next", "/docs/added"])
    site.html_page("/docs/added", "Added", "<h1>Added</h1>")
    site.clear_log()
    return file


@pytest.mark.parametrize(
    ("mtime", "lastmod"),
    [("2025-01-01 10:00:00", "2026-01-02"), ("2025-01-01 10:00:00+00:00", "2025-01-01T08:30:00-02:00")],
    ids=["a year", "half an hour, elsewhere"],
)
def test_re_fetch_outdated_local_copy(site: Site, out: Path, run_here: RunHere, mtime: str, lastmod: str) -> None:
    """Re-fetch outdated local copy: a file of 2025 against a date of 2026 is fetched, and is of today then."""
    file = _mirror_with_mtime(site, out, run_here, mtime, lastmod)
    began = time.time()

    run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert site.count("/docs/page") == 1
    assert "second" in file.read_text(encoding="utf-8")
    assert file.stat().st_mtime >= began - 2  # file systems count in steps of up to two seconds

    site.clear_log()
    run_here("mirror", site.url, *FAST, "--output", out, "--update")
    assert site.count("/docs/page") == 0  # it is current now


@pytest.mark.parametrize(
    ("mtime", "lastmod"),
    [("2026-01-03 10:00:00", "2026-01-02"), ("2026-01-03 10:00:00+00:00", "2026-01-03T12:00:00+02:00")],
    ids=["a day", "the same moment, elsewhere"],
)
def test_skip_up_to_date_local_copy(site: Site, out: Path, run_here: RunHere, mtime: str, lastmod: str) -> None:
    """Skip up-to-date local copy: a file that no date is newer than is left alone, and the run goes on after it."""
    file = _mirror_with_mtime(site, out, run_here, mtime, lastmod)
    before = file.stat().st_mtime_ns

    done = run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert site.count("/docs/page") == 0
    assert "first" in file.read_text(encoding="utf-8")
    assert file.stat().st_mtime_ns == before
    assert site.count("/docs/added") == 1
    assert (done.json["status"], done.json["successful"]) == ("ok", 3)


@pytest.mark.parametrize(("days", "asked"), [(6, 0), (8, 1)])
def test_page_without_date_and_validator(site: Site, out: Path, run_here: RunHere, days: int, asked: int) -> None:
    """No lastmod, no validator: a copy is fine for seven days and counted as unchecked, then it is fetched."""
    site.html_page("/docs/page", "Page", "<p>first</p>")
    site.html_page("/docs/tagged", "Tagged", "<p>tagged</p>", etag='"1"')
    site.sitemap(urls=["/docs/page", "/docs/tagged"])
    run_here("mirror", site.url, *FAST, "--output", out)
    file = Mirrored.of(site, out).folder / "docs" / "page" / "index.md"
    stamp = time.time() - days * 86_400
    os.utime(file, (stamp, stamp))
    site.html_page("/docs/page", "Page", "<p>second</p>")
    site.clear_log()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert (site.count("/docs/page"), site.count("/docs/tagged")) == (asked, 1)
    assert ("second" in file.read_text(encoding="utf-8")) is bool(asked)
    assert done.json.get("unchecked", 0) == 1 - asked
    assert done.json["status"] == "ok"
