"""robots.txt in a mirror from sitemaps: its pace holds, and listed URLs that it disallows are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.run.conftest import Copy, Mirror
from tests.site import Site

RULES = "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.8\n"


def _put_pages(site: Site, *, rules: str = RULES, host: str | None = None) -> None:
    for path in ("/a", "/private/b", "/private/c"):
        site.html_page(path, path, f"<p>{path}</p>", host=host)
    site.robots(rules, host=host)


async def test_crawl_delay_holds_for_listed_pages(site: Site, run: Mirror) -> None:
    """With and without a limit of our own, and for a sitemap that was given by its own URL."""
    _put_pages(site)
    site.sitemap()
    await run(f"{site.url}/sitemap.xml")
    pages = [seen.time for seen in site.requests if seen.path in ("/a", "/private/b", "/private/c")]
    assert len(pages) == 3
    assert pages[1] - pages[0] >= 0.4
    assert pages[2] - pages[1] >= 0.4


async def test_each_host_has_its_own_crawl_delay(site: Site, run: Mirror) -> None:
    """The robots.txt of a subdomain is asked for as well, once."""
    start, other = "docs.localhost", "api.docs.localhost"
    _put_pages(site, rules="", host=start)
    _put_pages(site, host=other)
    site.sitemap("/sitemap.xml", [f"{site.url_of(other)}/a", f"{site.url_of(other)}/private/b", "/a"], host=start)
    report = await run(site.url_of(start))
    first, second = (seen.time for seen in site.requests if seen.host == other and seen.path != "/robots.txt")
    assert second - first >= 0.4
    assert [seen.path for seen in site.requests if seen.host == other].count("/robots.txt") == 1
    assert report.disallowed_urls == (f"{site.url_of(other)}/private/b",)


async def test_listed_urls_that_robots_disallows_are_counted(site: Site, run: Mirror, copy: Copy) -> None:
    """They are fetched, named in the report, and named in a warning with the option that leaves them out."""
    _put_pages(site, rules="User-agent: *\nDisallow: /private/\n")
    site.sitemap()
    report = await run()
    assert (report.status, report.successful, report.disallowed) == ("ok", 3, 2)
    assert report.disallowed_urls == (f"{site.url}/private/b", f"{site.url}/private/c")
    (warning,) = report.warnings
    assert "2 URLs fetched although robots.txt disallows them" in warning
    assert "--respect-robots" in warning
    assert report.to_dict()["disallowed"] == 2
    assert copy.manifest["skips"] == []


async def test_nothing_is_counted_where_nothing_is_disallowed(site: Site, run: Mirror) -> None:
    """The report leaves the members out."""
    _put_pages(site, rules="User-agent: *\nDisallow: /elsewhere/\n")
    site.sitemap()
    report = await run()
    assert report.disallowed is None
    assert not {"disallowed", "disallowed_urls"} & report.to_dict().keys()
    assert report.warnings == ()


@pytest.mark.timeout(30)
def test_ignored_robots_txt_neither_delays_nor_counts(site: Site, out: Path, run_here: RunHere) -> None:
    """`--ignore-robots`: a Crawl-delay of a minute is not waited for."""
    _put_pages(site, rules="User-agent: *\nDisallow: /\nCrawl-delay: 60\n")
    site.sitemap()
    done = run_here("mirror", site.url, "--ignore-robots", "--rate-limit", 0, "--output", out)
    assert done.json["successful"] == 3
    assert "disallowed" not in done.json
    assert done.json["warnings"] == []


async def test_respected_robots_txt_leaves_listed_urls_out(site: Site, run: Mirror) -> None:
    """`--respect-robots`: nothing disallowed is fetched, so none is counted."""
    _put_pages(site)
    site.sitemap()
    report = await run(respect_robots=True)
    assert (report.successful, report.skipped, report.disallowed) == (1, 2, None)
    assert not site.requests_for("/private/b")


async def test_unavailable_robots_txt_does_not_stop_listed_pages(site: Site, run: Mirror) -> None:
    """A sitemap given by its own URL is an invitation even where robots.txt fails."""
    _put_pages(site)
    site.sitemap()
    site.page("/robots.txt", "no", status=500)
    report = await run(f"{site.url}/sitemap.xml", max_retries=0)
    assert (report.status, report.successful, report.disallowed) == ("ok", 3, None)
