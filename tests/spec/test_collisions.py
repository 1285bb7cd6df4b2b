"""Requirement: Collision resolution prevents file overwrites."""

from __future__ import annotations

from hashlib import md5
from pathlib import Path

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored


def _hash(url: str) -> str:
    return md5(url.encode()).hexdigest()[:8]


@pytest.mark.parametrize("order", [["/page", "/page/"], ["/page/", "/page"]], ids=["plain first", "slash first"])
def test_handle_path_collision(site: Site, out: Path, run_here: RunHere, order: list[str]) -> None:
    """Handle path collision: /page and /page/ that differ are both saved, the second as page_<hash>.md, and logged."""
    site.html_page("/page", "Page", "<h1>Without a slash</h1>")
    site.html_page("/page/", "Page", "<h1>With a slash</h1>")
    site.sitemap(urls=order)

    done = run_here("mirror", site.url, *FAST, "--output", out)

    mirrored = Mirrored.of(site, out)
    moved = f"page_{_hash(site.url + '/page/')}.md"
    assert mirrored.pages == {"page/index.md", moved}
    assert "Without a slash" in mirrored.text("page/index.md")
    assert "With a slash" in mirrored.text(moved)
    assert mirrored.entry(f"{site.url}/page/")["path"] == moved
    assert mirrored.entry(f"{site.url}/page")["path"] == "page/index.md"
    [warning] = [warning for warning in done.json["warnings"] if "collision" in warning]
    assert f"{site.url}/page/" in warning
    assert moved in warning
    assert "path collision" in done.stderr


async def test_handle_path_collision_of_every_kind(site: Site, out: Path) -> None:
    """Handle path collision: case, accents, extensions, clashing hashes and a file in a folder's place lose no page."""
    paths = [
        "/Guide",
        "/guide",
        "/guide.html",
        "/caf%C3%A9",  # é as one character
        "/cafe%CC%81",  # e and an accent
        "/c?page=5415",
        "/c?page=179844",  # the same eight digits of MD5
        "/a%20b",
        "/a_b",
        "/x__q_327e8aeb.md/deeper",
        "/x?page=5415",
    ]
    for path in paths:
        site.html_page(path, "Page", f"<h1>I am {path}</h1>")
    site.sitemap(urls=paths)

    report = await mirror(site.url, output=out, rate_limit=0, concurrency=3)

    mirrored = Mirrored.of(site, out)
    assert (report.status, report.successful, report.failed) == ("ok", len(paths), 0)
    entries = mirrored.manifest["pages"]
    assert {entry["path"] for entry in entries} == mirrored.pages
    assert len({entry["path"].casefold() for entry in entries}) == len(paths)
    for entry in entries:
        path = entry["url"].removeprefix(site.url)
        assert f"# I am {path}\n" in mirrored.markdown(entry["path"]).replace("\\", "")
