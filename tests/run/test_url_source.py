"""Where a mirror takes its URLs from: sitemaps, links, or links because there are no sitemaps."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sitemirror import crawl, mirror
from sitemirror.errors import EmptySitemap, NoSitemap
from sitemirror.events import Event, PageSaved, RunStarted
from sitemirror.publish.file_names import STATE
from tests.conftest import RunHere
from tests.run.conftest import Copy, Mirror
from tests.site import Site
from tests.site.faults import status

LINKS_INSTEAD = "no sitemap found, so links are followed; --discover sitemap prevents it"


def _linked(site: Site, *names: str) -> None:
    """A home page that links to some pages, and no sitemap."""
    for name in names:
        site.html_page(f"/{name}", name, f"<p>The page {name}.</p>")
    links = " ".join(f'<a href="/{name}">{name}</a>' for name in names)
    site.html_page("/", "Home", f"<p>Welcome to this site. {links}</p>")


def _modes(copy: Copy) -> list[str]:
    with sqlite3.connect(copy.folder / STATE) as db:
        return [mode for (mode,) in db.execute("SELECT mode FROM run ORDER BY id")]


# --- auto ------------------------------------------------------------------------------------------------------------


async def test_without_a_sitemap_links_are_followed(site: Site, run: Mirror, copy: Copy) -> None:
    """As a crawl of Markdown: robots.txt is obeyed, other hosts are left alone, the start page is fetched once more."""
    _linked(site, "a", "private/b")
    elsewhere = site.url_of("sub.localhost")
    site.html_page(
        "/", "Home", f'<p>Home <a href="/a">a</a> <a href="/private/b">b</a> <a href="{elsewhere}/">c</a></p>'
    )
    site.robots("User-agent: *\nDisallow: /private/\n")
    report = await run()
    assert (report.status, report.successful) == ("ok", 2)
    assert sorted(copy.pages) == ["/", "/a"]
    assert report.warnings.count(LINKS_INSTEAD) == 1
    assert site.count("/private/b") == 0
    assert site.count("/robots.txt") == 1
    assert sum(seen.method == "GET" for seen in site.requests_for("/")) == 1
    assert _modes(copy)[-1] == "links:markdown"


async def test_with_a_sitemap_no_link_is_followed(site: Site, run: Mirror, copy: Copy) -> None:
    """What the sitemap lists, and nothing is said."""
    _linked(site, "a", "b")
    site.sitemap(urls=["/", "/a"])
    report = await run()
    assert (sorted(copy.pages), report.warnings) == (["/", "/a"], ())
    assert _modes(copy) == ["sitemap:markdown"]


@pytest.mark.parametrize("discover", ["sitemap", "links"])
async def test_a_source_can_be_forced(site: Site, run: Mirror, copy: Copy, discover: str) -> None:
    """`sitemap` is an error without one, `links` asks for none."""
    _linked(site, "a")
    if discover == "sitemap":
        with pytest.raises(NoSitemap, match="no sitemap found"):
            await run(discover=discover)
        assert site.count("/a") == 0
    else:
        report = await run(discover=discover)
        assert (report.successful, report.warnings, site.count("/sitemap.xml")) == (2, (), 0)


async def test_a_crawl_can_look_for_sitemaps_first(site: Site, out: Path, copy: Copy) -> None:
    """Source and format are independent."""
    _linked(site, "a")
    report = await crawl(site.url, output=out, rate_limit=0, discover="auto")
    assert (report.successful, _modes(copy)[-1]) == (2, "links:html")


async def test_a_sitemap_that_fails_is_an_error(site: Site, run: Mirror) -> None:
    """The site has one: its links would be another selection of pages."""
    _linked(site, "a")
    site.fault("/sitemap.xml", status(500))
    with pytest.raises(NoSitemap, match="HTTP 500"):
        await run(max_retries=0)
    assert site.count("/a") == 0


async def test_a_sitemap_without_urls_in_scope_is_an_error(site: Site, run: Mirror) -> None:
    """The globs are wrong, not the sitemap."""
    _linked(site, "a")
    site.sitemap(urls=["/a"])
    with pytest.raises(EmptySitemap):
        await run(include_path=["/nowhere/*"])


async def test_links_of_a_start_page_that_robots_txt_disallows(site: Site, run: Mirror) -> None:
    """Neither way leads on, and the error has both reasons."""
    _linked(site, "a")
    site.robots("User-agent: *\nDisallow: /\n")
    with pytest.raises(NoSitemap, match=r"no sitemap found .* links cannot be followed: .* disallowed by robots.txt"):
        await run()
    assert site.count("/a") == 0
    assert (await run(respect_robots=False)).successful == 2


async def test_links_of_a_start_page_that_fails(site: Site, run: Mirror) -> None:
    """The same for HTTP 404."""
    with pytest.raises(NoSitemap, match=r"no sitemap found .* links cannot be followed: .* HTTP 404"):
        await run()


# --- going on --------------------------------------------------------------------------------------------------------


async def test_an_interrupted_run_resumes_with_links(site: Site, out: Path, copy: Copy) -> None:
    """It looks for no sitemap again, although there is one by now."""
    names = [f"page{number}" for number in range(20)]
    _linked(site, *names)
    first = mirror(site.url, output=out, rate_limit=0, concurrency=1)
    async for event in first:
        if isinstance(event, PageSaved):
            first.stop()
    assert first.result.status == "interrupted"
    assert first.result.successful < 21
    site.sitemap(urls=["/page0"])
    site.clear_log()

    events: list[Event] = []
    report = await mirror(site.url, output=out, rate_limit=0, on_event=events.append)

    assert report.successful == 21
    assert [event.resumed for event in events if isinstance(event, RunStarted)] == [True]
    assert site.count("/sitemap.xml") == 0
    assert _modes(copy)[-1] == "links:markdown"


async def test_an_update_keeps_the_links(site: Site, run: Mirror, copy: Copy) -> None:
    """A sitemap that the site has by now would leave most pages without an update."""
    _linked(site, "a")
    await run()
    _linked(site, "a", "new")
    site.sitemap(urls=["/a"])
    report = await run(update=True)
    assert (report.new, report.successful) == (1, 3)
    assert report.warnings == ()
    assert _modes(copy)[-1] == "links:markdown:update"


@pytest.mark.parametrize("is_state_lost", [False, True])
async def test_a_mirror_by_sitemaps_is_never_continued_by_links(
    site: Site, run: Mirror, copy: Copy, is_state_lost: bool
) -> None:
    """A sitemap that is missing for a night makes no crawl of it."""
    _linked(site, "a", "b")
    site.sitemap(urls=["/a"])
    await run()
    site.remove("/sitemap.xml")
    if is_state_lost:
        (copy.folder / STATE).unlink()
    with pytest.raises(NoSitemap):
        await run(update=True)
    assert sorted(copy.pages) == ["/a"]
    assert site.count("/b") == 0


async def test_a_start_url_that_redirects_is_remembered(site: Site, out: Path) -> None:
    """The mirror is in the folder of the other host, and goes on by links there."""
    start, home = f"{site.url_of('a.localhost')}/", site.url_of("www.a.localhost")
    site.redirect("/", f"{home}/", host="a.localhost")
    site.html_page("/", "Home", '<p>Home <a href="/p">p</a></p>', host="www.a.localhost")
    site.html_page("/p", "P", "<p>p</p>", host="www.a.localhost")
    assert (await mirror(start, output=out, rate_limit=0)).successful == 2
    site.clear_log()
    report = await mirror(start, output=out, rate_limit=0, update=True)
    assert (report.successful, report.warnings, site.count("/sitemap.xml")) == (2, (), 0)


def test_the_command_update_keeps_the_links(site: Site, run_here: RunHere, out: Path, copy: Copy) -> None:
    """The manifest has no such option; the mirror itself knows."""
    _linked(site, "a")
    done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
    assert done.returncode == 0
    assert done.stderr.count(LINKS_INSTEAD) == 1
    site.sitemap(urls=["/a"])
    _linked(site, "a", "new")
    updated = run_here("update", copy.folder)
    assert (updated.json["new"], updated.json["successful"]) == (1, 3), updated.stderr
    assert LINKS_INSTEAD not in updated.stderr
