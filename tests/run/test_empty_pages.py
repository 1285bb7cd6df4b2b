"""Pages without text: saved, with a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site

SHELL = '<div id="root"></div><script src="/app.js"></script>'


@pytest.mark.parametrize("workers", [0, 1])
def test_pages_built_by_scripts_give_a_warning(site: Site, out: Path, run_here: RunHere, workers: int) -> None:
    """The report of an application's mirror says that its pages are empty, and why."""
    for path in ("/a", "/b"):
        site.html_page(path, "App", SHELL)
    site.html_page("/c", "C", "<h1>C</h1>")
    site.sitemap(urls=["/a", "/b", "/c"])

    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, "--workers", workers)

    why = "probably rendered by JavaScript, which sitemirror does not run"
    assert done.json["warnings"] == [f"2 pages without text, such as {site.url}/a: {why}"]
    assert (done.json["status"], done.json["successful"]) == ("ok", 3)


def test_empty_pages_are_reported_by_the_run_that_fetched_them(site: Site, out: Path, run_here: RunHere) -> None:
    """A run that fetches nothing does not repeat the warning."""
    site.html_page("/a", "App", SHELL)
    site.html_page("/c", "C", "<h1>C</h1>")
    site.sitemap()

    first, second = (run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json for _ in range(2))

    assert len(first["warnings"]) == 1
    assert second["warnings"] == []


def test_empty_html_gives_no_warning(site: Site, out: Path, run_here: RunHere) -> None:
    """In an HTML copy the scripts are saved, and run in a browser."""
    site.html_page("/", "App", SHELL)
    assert run_here("crawl", site.url, "--rate-limit", 0, "--output", out).json["warnings"] == []
