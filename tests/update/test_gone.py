"""URLs that are neither listed nor linked any more, and what their redirects led to."""

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
async def test_failed_target_of_a_copys_redirect_is_not_a_failure(
    site: Site, run: Mirror, copy: Copy, code: int
) -> None:
    """The target is not listed: only the page with the old copy reports the failure."""
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


async def test_target_of_a_copys_redirect_is_not_requested_later(site: Site, copy: Copy) -> None:
    """Once the page answers again, no run requests the former target."""
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


async def test_listed_alias_of_a_failed_target_is_a_failure(site: Site, run: Mirror, copy: Copy) -> None:
    """A copy that redirects to the same target changes nothing."""
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
async def test_failure_behind_a_redirect_is_gone_with_the_link(site: Site, copy: Copy, steps: int, format: str) -> None:
    """It is not requested again until it is linked again."""
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
async def test_skip_behind_a_redirect_is_gone_with_the_link(site: Site, copy: Copy, update: dict[str, bool]) -> None:
    """Whether robots.txt disallows the target or it is not a page."""
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
async def test_former_redirect_target_is_gone_when_the_page_returns(
    site: Site, run: Mirror, copy: Copy, then: str
) -> None:
    """In the same run that finds the page again."""
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


async def test_former_redirect_target_is_gone_in_a_crawl(site: Site, copy: Copy) -> None:
    """In the same run that finds the page again."""
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
async def test_alias_that_leaves_the_sitemap_is_not_counted(
    site: Site, run: Mirror, copy: Copy, left: str, format: str, found: tuple[list[int], Callable[[Event], None]]
) -> None:
    """The page stays because of its other URL; the counts are those of a new mirror."""
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


async def test_unlisted_page_with_a_listed_alias_is_updated(site: Site, run: Mirror, copy: Copy) -> None:
    """Its old lastmod does not make it fresh."""
    site.html_page("/b", "B", "<p>first</p>", etag="1")
    site.redirect("/t", "/b")
    site.sitemap(urls=[("/b", "2001-01-01"), "/t"])
    await run()
    site.html_page("/b", "B", "<p>second</p>", etag="2")
    site.sitemap(urls=["/t"])
    await run(update=True)
    assert "second" in copy.text("b/index.md")


@pytest.mark.parametrize("end", ["missing", "page"])
async def test_redirect_that_leaves_the_sitemap_is_not_in_the_manifest(
    site: Site, run: Mirror, copy: Copy, end: str, found: tuple[list[int], Callable[[Event], None]]
) -> None:
    """Whether it led to a page or to a failure; it returns with the sitemap."""
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


async def test_unlisted_failure_is_reported_under_its_listed_alias(site: Site, run: Mirror, copy: Copy) -> None:
    """As in a new mirror; it is gone together with that alias."""
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


async def test_skipped_url_gets_a_placeholder_once_listed(site: Site, run: Mirror, copy: Copy) -> None:
    """Also in a run that does not request it, and where no redirect leads to it any more."""
    site.html_page("/", "Start", "<p>start</p>", etag="1")
    site.page("/archive", b"\x00\x01", type="application/octet-stream")
    site.redirect("/r", "/archive")
    site.sitemap(urls=["/", "/r"])
    await run()
    site.sitemap(urls=["/", "/archive"])
    await run()
    assert (told(copy, "skips"), told(copy, "gone"), placeholders(copy)) == (["/archive"], ["/r"], 1)
    assert verify(copy.folder).status is RunStatus.OK


async def test_partial_run_keeps_redirect_targets_of_other_parts(site: Site, run: Mirror, copy: Copy) -> None:
    """A run for one folder does not decide about redirects of another folder."""
    for name in ("/a/", "/a/end", "/b/"):
        site.html_page(name, name, f"<p>{name}</p>", etag="1")
    site.redirect("/a/r", "/a/end")
    site.sitemap("/a/sitemap.xml", urls=["/a/", "/a/r"])
    site.sitemap("/b/sitemap.xml", urls=["/b/"])
    await run(f"{site.url}/a/")
    assert {*copy.pages} == {"/a/", "/a/end"}
    await run(f"{site.url}/b/")
    assert ({*copy.pages}, told(copy, "gone")) == ({"/a/", "/a/end", "/b/"}, [])


async def test_temporary_redirect_target_is_a_page_while_the_redirect_lasts(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """So is the target's own temporary target; when the page returns, both are gone."""
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


async def test_placeholder_is_replaced_by_one_of_another_kind(site: Site, run: Mirror, copy: Copy) -> None:
    """A skipped URL that fails now is reported once, and not at all once it is a page."""
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


async def test_placeholder_of_a_redirect_is_removed_when_it_is_a_page(site: Site, run: Mirror, copy: Copy) -> None:
    """A URL that redirected to a failure is requested itself later in the same run."""
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
