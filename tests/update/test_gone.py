"""What is still there: what is listed or linked, and where that leads. What stands behind a redirect goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitemirror import crawl, verify
from sitemirror.events import DiscoveryFinished, Event
from sitemirror.publish.report import MirrorReport, RunStatus
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import redirect_to, status


def told(copy: Copy, part: str) -> list[str]:
    """The paths of the URLs that one list of the manifest has."""
    return [path_of(row["url"]) for row in copy.manifest[part]]


def placeholders(copy: Copy) -> int:
    return sum(1 for folder in ("_failed", "_skipped") for _ in (copy.folder / folder).glob("*"))


async def crawl_site(site: Site, copy: Copy, **options: Any) -> MirrorReport:
    options.setdefault("format", "markdown")
    return await crawl(f"{site.url}/", output=copy.folder.parent, rate_limit=0, **options)


@pytest.fixture
def found() -> tuple[list[int], Callable[[Event], None]]:
    """How many URLs runs say that they have found, and what listens for it."""
    totals: list[int] = []

    def hear(event: Event) -> None:
        if isinstance(event, DiscoveryFinished):
            totals.append(event.total)

    return totals, hear


@pytest.mark.parametrize("code", [301, 302])
async def test_where_a_copy_leads_is_no_failure_of_its_own(site: Site, run: Mirror, copy: Copy, code: int) -> None:
    """Nobody has listed it: the page says why its copy is old, and is the one that is told."""
    paths = site.fill(2, etag='"1"')
    site.sitemap(urls=paths)
    await run()
    kept = copy.files
    site.redirect("/step", "/nowhere")
    site.fault(paths[1], redirect_to("/step", code))
    for _ in range(2):
        report = await run(update=True)
        assert (report.status, report.total_pages, report.successful, report.failed) == ("partial", 2, 2, 0)
        assert (told(copy, "failures"), told(copy, "gone"), placeholders(copy)) == ([], [], 0)
        assert copy.pages[paths[1]]["refresh_error"].startswith("redirects")
        assert copy.files == kept
        assert verify(copy.folder).status is RunStatus.OK
    site.heal(paths[1])
    site.clear_log()
    assert (await run(update=True)).status == "ok"
    assert (told(copy, "failures"), told(copy, "gone"), site.count("/nowhere")) == ([], [], 0)


async def test_where_a_copy_leads_is_asked_for_by_no_later_crawl(site: Site, copy: Copy) -> None:
    """Once the page is back, in no run of any kind."""
    site.html_page("/", "Start", "<a href=/a>a</a>", etag="1")
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    await crawl_site(site, copy)
    site.fault("/a", redirect_to("/nowhere", 301))
    report = await crawl_site(site, copy, update=True)
    assert (report.total_pages, report.failed) == (2, 0)
    site.heal("/a")
    site.clear_log()
    for options in ({"update": True}, {}, {"re_download_all": True}):
        report = await crawl_site(site, copy, **options)
        assert (report.status, report.total_pages) == ("ok", 2)
    assert (site.count("/nowhere"), copy.manifest["gone"]) == (0, [])
    assert verify(copy.folder).status is RunStatus.OK


async def test_a_listed_name_of_where_a_copy_leads_is_a_failure(site: Site, run: Mirror, copy: Copy) -> None:
    """The copy's own way there changes nothing for the other."""
    paths = site.fill(2, etag='"1"')
    site.redirect("/r", "/nowhere")
    site.sitemap(urls=[*paths, "/r"])
    await run()
    site.fault(paths[1], redirect_to("/nowhere", 301))
    report = await run(update=True)
    assert (report.total_pages, report.failed, told(copy, "failures")) == (3, 1, ["/r"])
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_a_failure_behind_a_redirect_goes_with_the_link(site: Site, copy: Copy, steps: int, format: str) -> None:
    """Like a failure that was linked itself: it is gone, and nobody asks for it again, until it is linked again."""
    site.html_page("/", "Start", "<a href=/a>a</a><a href=/r>r</a><a href=/missing>m</a>", etag="1")
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.redirect("/r", "/nowhere" if steps == 1 else "/step")
    site.redirect("/step", "/nowhere")
    assert (await crawl_site(site, copy, format=format)).failed == 2
    site.html_page("/", "Start", "<a href=/a>a</a>", etag="2")
    report = await crawl_site(site, copy, format=format, update=True)
    assert (report.status, report.failed, report.total_pages) == ("ok", 0, 2)
    assert (told(copy, "gone"), placeholders(copy)) == (["/missing", "/r"], 0)
    site.clear_log()
    assert (await crawl_site(site, copy, format=format, update=True)).status == "ok"
    assert [site.count(path) for path in ("/missing", "/r", "/nowhere")] == [0, 0, 0]
    assert verify(copy.folder).status is RunStatus.OK
    site.html_page("/", "Start", "<a href=/a>a</a><a href=/r>r</a>", etag="3")
    site.html_page("/nowhere", "Back", "<p>back</p>", etag="1")
    await crawl_site(site, copy, format=format, update=True)
    assert copy.pages["/nowhere"]["aliases"] == sorted(f"{site.url}{path}" for path in ("/r", "/step")[:steps])


@pytest.mark.parametrize("update", [{"update": True}, {"re_download_all": True}])
async def test_a_skip_behind_a_redirect_goes_with_the_link(site: Site, copy: Copy, update: dict[str, bool]) -> None:
    """Whether robots.txt forbids where it leads, or that is no page."""
    site.robots("User-agent: *\nDisallow: /secret\n")
    site.html_page("/", "Start", "<a href=/s>s</a><a href=/p>p</a><a href=/a>a</a>", etag="1")
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.redirect("/s", "/secret")
    site.redirect("/p", "/picture")
    site.page("/picture", b"\x89PNG", type="image/png")
    await crawl_site(site, copy)
    assert told(copy, "skips") == ["/p", "/s"]
    site.html_page("/", "Start", "<a href=/a>a</a>", etag="2")
    for _ in range(2):
        await crawl_site(site, copy, **update)
        assert (told(copy, "skips"), told(copy, "gone"), placeholders(copy)) == ([], ["/p", "/s"], 0)
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("then", ["missing", "page"])
async def test_where_a_page_had_moved_is_gone_when_it_is_back(site: Site, run: Mirror, copy: Copy, then: str) -> None:
    """In the very run that finds it back: nobody leads to the other any more."""
    for name in ("/", "/m"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/", "/m"])
    await run()
    site.html_page("/moved", "/m", "<p>moved</p>", etag="1")
    site.fault("/m", redirect_to("/moved", 301))
    await run(update=True)
    assert {*copy.pages} == {"/", "/moved"}
    site.heal("/m")
    if then == "missing":
        site.remove("/moved")
    for _ in range(2):
        report = await run(update=True)
        assert (report.status, report.total_pages, report.successful) == ("ok", 2, 2)
        assert ({*copy.pages}, told(copy, "gone")) == ({"/", "/m"}, ["/moved"])
        assert "moved" in copy.text("moved/index.md")
        assert verify(copy.folder).status is RunStatus.OK


async def test_where_a_page_had_moved_is_gone_from_a_crawl_too(site: Site, copy: Copy) -> None:
    """In the very run that finds it back."""
    site.html_page("/", "Start", "<a href=/m>m</a>", etag="1")
    site.html_page("/moved", "Moved", "<p>moved</p>", etag="1")
    site.redirect("/m", "/moved")
    await crawl_site(site, copy)
    assert {*copy.pages} == {"/", "/moved"}
    site.html_page("/m", "M", "<p>back</p>")
    for concurrency in (4, 1):
        report = await crawl_site(site, copy, update=True, concurrency=concurrency)
        assert (report.status, {*copy.pages}, told(copy, "gone")) == ("ok", {"/", "/m"}, ["/moved"])
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("left", ["/b", "/t"])
@pytest.mark.parametrize("format", ["markdown", "html"])
async def test_one_of_two_names_that_leaves_the_sitemap_counts_no_more(
    site: Site, run: Mirror, copy: Copy, left: str, format: str, found: tuple[list[int], Callable[[Event], None]]
) -> None:
    """The page stays for the sake of the other; the numbers are those of a mirror made anew."""
    totals, hear = found
    for name in ("/", "/b"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.redirect("/t", "/b")
    site.sitemap(urls=["/", "/b", "/t"])
    assert (await run(format=format)).duplicates == 1
    site.sitemap(urls=["/", *({"/b", "/t"} - {left})])
    for _ in range(2):
        report = await run(format=format, update=True, on_event=hear)
        assert (report.successful, report.duplicates, totals.pop()) == (2, 0, 2)
        assert (copy.pages["/b"]["aliases"], told(copy, "gone")) == ([f"{site.url}/t"], [])
    assert verify(copy.folder).status is RunStatus.OK
    site.sitemap(urls=["/", "/b", "/t"])
    assert (await run(format=format, update=True)).duplicates == 1


async def test_a_page_that_left_the_sitemap_is_brought_up_to_date_for_its_other_name(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """Nobody gives a date for it any more: the one of long ago does not call it fresh."""
    site.html_page("/b", "B", "<p>first</p>", etag="1")
    site.redirect("/t", "/b")
    site.sitemap(urls=[("/b", "2001-01-01"), "/t"])
    await run()
    site.html_page("/b", "B", "<p>second</p>", etag="2")
    site.sitemap(urls=["/t"])
    await run(update=True)
    assert "second" in copy.text("b/index.md")


@pytest.mark.parametrize("end", ["missing", "page"])
async def test_a_redirect_that_leaves_the_sitemap_is_not_found(
    site: Site, run: Mirror, copy: Copy, end: str, found: tuple[list[int], Callable[[Event], None]]
) -> None:
    """Whether it led to a page or to nothing; it comes back with the sitemap."""
    totals, hear = found
    site.html_page("/", "Start", "<p>start</p>", etag="1")
    if end == "page":
        site.html_page("/end", "End", "<p>end</p>", etag="1")
    site.redirect("/r", "/end")
    site.sitemap(urls=["/", "/r"])
    before = (await run()).total_pages
    site.sitemap(urls=["/"])
    for _ in range(2):
        report = await run(update=True, on_event=hear)
        assert (report.status, report.total_pages, totals.pop()) == ("ok", 1, 1)
        assert told(copy, "gone") == (["/end", "/r"] if end == "page" else ["/r"])
        assert placeholders(copy) == 0
    assert verify(copy.folder).status is RunStatus.OK
    site.sitemap(urls=["/", "/r"])
    assert (await run(update=True)).total_pages == before
    assert copy.manifest["gone"] == []


async def test_a_failure_that_leaves_the_sitemap_is_told_by_its_other_name(site: Site, run: Mirror, copy: Copy) -> None:
    """As in a mirror made anew: by that alone; and it is gone with that, since it was listed once."""
    site.html_page("/", "Start", "<p>start</p>", etag="1")
    site.redirect("/r", "/missing")
    site.sitemap(urls=["/", "/r", "/missing"])
    assert (await run()).failed == 2
    site.sitemap(urls=["/", "/r"])
    assert (await run(update=True)).failed == 1
    assert (told(copy, "failures"), placeholders(copy)) == (["/r"], 1)
    assert verify(copy.folder).status is RunStatus.OK
    site.sitemap(urls=["/"])
    assert (await run(update=True)).status == "ok"
    assert (told(copy, "gone"), placeholders(copy)) == (["/missing", "/r"], 0)
    assert verify(copy.folder).status is RunStatus.OK


async def test_a_skip_that_is_listed_itself_by_now_has_a_placeholder(site: Site, run: Mirror, copy: Copy) -> None:
    """Also in a run that does not ask for it, and where nothing leads to it any more."""
    site.html_page("/", "Start", "<p>start</p>", etag="1")
    site.page("/archive", b"\x00\x01", type="application/octet-stream")
    site.redirect("/r", "/archive")
    site.sitemap(urls=["/", "/r"])
    await run()
    site.sitemap(urls=["/", "/archive"])
    await run()
    assert (told(copy, "skips"), told(copy, "gone"), placeholders(copy)) == (["/archive"], ["/r"], 1)
    assert verify(copy.folder).status is RunStatus.OK


async def test_what_redirects_led_to_is_not_gone_for_another_part_of_the_site(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """A run for one folder has no say in what the other's redirects lead to."""
    for name in ("/a/", "/a/end", "/b/"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.redirect("/a/r", "/a/end")
    site.sitemap("/a/sitemap.xml", urls=["/a/", "/a/r"])
    site.sitemap("/b/sitemap.xml", urls=["/b/"])
    await run(f"{site.url}/a/")
    assert {*copy.pages} == {"/a/", "/a/end"}
    await run(f"{site.url}/b/")
    assert ({*copy.pages}, told(copy, "gone")) == ({"/a/", "/a/end", "/b/"}, [])


async def test_where_a_copy_leads_for_now_is_a_page_as_long_as_it_does(site: Site, run: Mirror, copy: Copy) -> None:
    """With what its own copy leads to for now in turn; when the page is back, nobody leads there."""
    for name in ("/", "/p", "/notice", "/further"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/", "/p"])
    await run()
    site.fault("/p", redirect_to("/notice", 302))
    for _ in range(2):
        await run(update=True)
        assert {*copy.pages} == {"/", "/p", "/notice"}
    site.fault("/notice", redirect_to("/further", 302))
    for _ in range(2):
        await run(update=True)
        assert {*copy.pages} == {"/", "/p", "/notice", "/further"}
        assert verify(copy.folder).status is RunStatus.OK
    site.heal("/p")
    assert (await run(update=True)).status == "ok"
    assert ({*copy.pages}, told(copy, "gone")) == ({"/", "/p"}, ["/further", "/notice"])


async def test_a_placeholder_of_one_kind_gives_way_to_the_other(site: Site, run: Mirror, copy: Copy) -> None:
    """What was no page, and cannot be had now, is told once; and not at all when it is one."""
    site.html_page("/", "Start", "<p>start</p>", etag="1")
    site.page("/x", b"\x00\x01", type="application/octet-stream")
    site.sitemap(urls=["/", "/x"])
    await run()
    site.fault("/x", status(404))
    await run(update=True)
    assert (told(copy, "failures"), placeholders(copy)) == (["/x"], 1)
    site.heal("/x")
    await run(update=True)
    assert (told(copy, "skips"), placeholders(copy)) == (["/x"], 1)


async def test_a_name_told_as_a_failure_earlier_in_the_run_has_no_placeholder_as_a_page(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """It led to something that cannot be had any more, and is asked for itself only then."""
    for name in ("/", "/a"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.redirect("/b", "/a")
    site.redirect("/z", "/b")
    site.sitemap(urls=["/", "/a", "/b", "/z"])
    await run()
    site.fault("/b", status(404))
    site.html_page("/z", "Z", "<p>z</p>", etag="1")
    await run(update=True)
    assert ({*copy.pages}, told(copy, "failures"), placeholders(copy)) == ({"/", "/a", "/z"}, ["/b"], 1)
