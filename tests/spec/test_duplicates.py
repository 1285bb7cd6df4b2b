"""Requirement: Duplicate URL Detection. What was asked for, and how often, is the server's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import mirror
from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored


def test_explicit_duplicate(site: Site, out: Path, run_here: RunHere) -> None:
    """Explicit duplicate: a URL that sitemaps list again and again, in any spelling, is asked for once."""
    one, two = site.fill(2)
    loud = site.url.replace("http://", "HTTP://")
    site.sitemap("/a.xml", urls=[one, one, site.url + "/x/.." + one, two])
    site.sitemap("/b.xml", urls=[f"{loud}{one}", one + "#part", f"  {site.url}{two}  "])
    site.sitemap_index("/sitemap.xml", ["/a.xml", "/b.xml", "/a.xml"])

    done = run_here("mirror", site.url, *FAST, "--concurrency", 4, "--output", out)

    assert (site.count(one), site.count(two)) == (1, 1)
    assert (site.count("/a.xml"), site.count("/b.xml")) == (1, 1)
    counts = [done.json[name] for name in ("status", "total_pages", "successful", "duplicates")]
    assert counts == ["ok", 2, 2, 5]
    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {f"{one[1:]}/index.md", f"{two[1:]}/index.md"}
    assert mirrored.processed == [site.url + one, site.url + two]


@pytest.mark.parametrize("order", [["/a", "/b", "/far"], ["/b", "/far", "/a"]], ids=["A first", "B first"])
async def test_redirect_deduplication(site: Site, out: Path, order: list[str]) -> None:
    """Redirect deduplication: where A leads to B, B is the page, fetched once, and A another name of it."""
    site.redirect("/a", "/b", 301)
    site.redirect("/far", "/a", 307)
    page = site.html_page("/b", "B", "<h1>The page</h1>")
    site.sitemap(urls=order)

    report = await mirror(site.url, output=out, rate_limit=0)

    assert [site.count(path) for path in ("/a", "/b")] == [1, 1]
    assert (report.status, report.total_pages, report.successful, report.duplicates) == ("ok", 1, 1, 2)
    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"b/index.md"}
    [entry] = mirrored.manifest["pages"]
    assert (entry["url"], entry["final_url"]) == (page, page)
    assert entry["aliases"] == [f"{site.url}/a", f"{site.url}/far"]
    assert sorted(mirrored.processed) == [f"{site.url}/a", f"{site.url}/b", f"{site.url}/far"]

    site.clear_log()
    await mirror(site.url, output=out, rate_limit=0)
    assert not {"/a", "/b", "/far"} & set(site.paths())


async def test_canonical_url_detection(site: Site, out: Path) -> None:
    """Canonical URL detection: equal pages that name one canonical are one; a page that differs is kept, and logged."""
    link = '<link rel="canonical" href="/canonical">'
    same = "<h1>An article</h1><p>Its only text.</p>"
    document = f"<!DOCTYPE html><html><head><title>Article</title>{link}</head><body>{same}</body></html>"
    for path in ("/article?ref=mail", "/canonical", "/print/article"):
        site.page(path, document)
    other = document.replace("Its only text.", "Quite another text.")
    site.page("/chapter-2", other)
    site.sitemap(urls=["/article?ref=mail", "/print/article", "/chapter-2", "/canonical"])

    report = await mirror(site.url, output=out, rate_limit=0)

    mirrored = Mirrored.of(site, out)
    assert mirrored.pages == {"canonical/index.md", "chapter-2/index.md"}
    assert (report.total_pages, report.successful, report.duplicates) == (2, 2, 2)
    entry = mirrored.entry(f"{site.url}/canonical")
    assert entry["aliases"] == [f"{site.url}/article?ref=mail", f"{site.url}/print/article"]
    assert entry["canonical_url"] == f"{site.url}/canonical"
    assert "Quite another text." in mirrored.text("chapter-2/index.md")
    assert any("canonical" in warning and "/chapter-2" in warning for warning in report.warnings)
