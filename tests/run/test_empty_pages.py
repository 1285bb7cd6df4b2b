"""Pages without text: saved as they are, and told, since an empty file counts like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site

SHELL = '<div id="root"></div><script src="/app.js"></script>'


@pytest.mark.parametrize("workers", [0, 1])
def test_pages_that_a_browser_builds_are_told(site: Site, out: Path, run_here: RunHere, workers: int) -> None:
    """Whoever mirrors an application hears that its pages came out empty, and why, and not only that all is well."""
    for path in ("/a", "/b"):
        site.html_page(path, "App", SHELL)
    site.html_page("/c", "C", "<h1>C</h1>")
    site.sitemap(urls=["/a", "/b", "/c"])

    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out, "--workers", workers)

    why = "it may be JavaScript that writes it, which is not run"
    assert done.json["warnings"] == [f"2 pages without text, such as {site.url}/a: {why}"]
    assert (done.json["status"], done.json["successful"]) == ("ok", 3)


def test_pages_without_text_are_told_by_the_run_that_fetched_them(site: Site, out: Path, run_here: RunHere) -> None:
    """A run that looks at nothing new has nothing new to say."""
    site.html_page("/a", "App", SHELL)
    site.html_page("/c", "C", "<h1>C</h1>")
    site.sitemap()

    first, second = (run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json for _ in range(2))

    assert len(first["warnings"]) == 1
    assert second["warnings"] == []


def test_html_is_not_judged_by_its_text(site: Site, out: Path, run_here: RunHere) -> None:
    """In a copy of the HTML the scripts are there, and do in a browser what they do on the site."""
    site.html_page("/", "App", SHELL)
    assert run_here("crawl", site.url, "--rate-limit", 0, "--output", out).json["warnings"] == []
