"""Crawls of a changing site: pages that become files or aliases, disappear and return."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sitemirror import verify
from sitemirror.publish.report import RunStatus
from tests.copies import path_of
from tests.crawl.conftest import Copy, Crawl, link
from tests.site import Site
from tests.site.faults import status


def _gone(copy: Copy) -> list[str]:
    return [path_of(row["url"]) for row in copy.manifest["gone"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda site: site.page("/a", b"%PDF-1.7", type="application/pdf", etag="2"),
        lambda site: site.redirect("/a", "/c"),
    ],
    ids=["file", "name"],
)
async def test_links_of_a_former_page_do_not_count(
    site: Site, run: Crawl, copy: Copy, change: Callable[[Site], object]
) -> None:
    """What only a page linked to that is a file or an alias now is gone, and stays gone."""
    site.html_page("/", "Home", link("/a", "/c"), etag="1")
    site.html_page("/a", "A", link("/b"), etag="1")
    for name in "bc":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    await run()
    change(site)
    for _ in range(2):
        await run(update=True)
        assert _gone(copy) == ["/b"]
        assert f"{site.url}/a" not in copy.index["graph"]["out_edges"]
        assert verify(copy.folder).status is RunStatus.OK


async def test_returning_page_links_to_current_targets(site: Site, run: Crawl, copy: Copy) -> None:
    """A 304 brings the page back; its link targets moved while it was gone."""
    site.html_page("/", "Home", link("/a", "/b"), etag="1")
    site.html_page("/a", "A", link("/b"), etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    await run()
    site.html_page("/", "Home", link("/b"), etag="2")
    site.page("/b", b"%PDF-1.7", type="application/pdf", etag="2")
    await run(update=True)
    assert _gone(copy) == ["/a"]
    site.html_page("/", "Home", link("/a", "/b"), etag="3")
    await run(update=True)
    assert _gone(copy) == []
    assert verify(copy.folder).status is RunStatus.OK


async def test_index_lists_files_of_gone_pages_after_state_loss(site: Site, run: Crawl, copy: Copy) -> None:
    """The manifest has only their paths; the files have the rest."""
    site.html_page("/", "Home", link("/a"), etag="1")
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    await run()
    site.html_page("/", "Home", "<p>home</p>", etag="2")
    await run(update=True)
    assert _gone(copy) == ["/a"]
    (copy.folder / "_state.sqlite3").unlink()
    await run(update=True)
    assert _gone(copy) == ["/a"]
    assert verify(copy.folder).status is RunStatus.OK


async def test_page_reachable_only_by_a_gone_redirect_is_gone(site: Site, run: Crawl, copy: Copy) -> None:
    """Nothing links to the redirecting URL any more, so its target is gone too."""
    site.html_page("/", "Home", link("/a", "/c"), etag="1")
    site.redirect("/a", "/b")
    site.redirect("/b", "/b2")
    site.html_page("/b2", "B", "<p>b</p>", etag="1")
    site.html_page("/c", "C", "<p>c</p>", etag="1")
    await run()
    site.html_page("/b2", "B", "<p>new</p>", etag="2")
    assert (await run(update=True)).changed == 1
    site.html_page("/", "Home", link("/c"), etag="2")
    await run(update=True)
    assert _gone(copy) == ["/a", "/b", "/b2"]
    site.html_page("/", "Home", link("/a", "/c"), etag="3")
    await run(update=True)
    assert _gone(copy) == []
    assert verify(copy.folder).status is RunStatus.OK


async def test_links_of_a_page_that_comes_nearer_are_followed(site: Site, run: Crawl, copy: Copy) -> None:
    """A page is linked from nearer the start: what it links to is no longer too deep."""
    site.html_page("/", "Home", link("/a"), etag="1")
    for name, following in ("ab", "bc", "cd", "de"):
        site.html_page(f"/{name}", name, link(f"/{following}"), etag="1")
    await run(link_depth=2)
    assert copy.skipped == {"/c": ("filter-exclude", "deeper than --link-depth")}
    site.html_page("/", "Home", link("/a", "/b"), etag="2")
    await run(link_depth=2, update=True)
    assert copy.depths == {"/": 0, "/a": 1, "/b": 1, "/c": 2}
    assert copy.skipped == {"/d": ("filter-exclude", "deeper than --link-depth")}
    assert site.count("/c") == 1


async def test_redirect_of_an_unlinked_failure_is_gone(site: Site, run: Crawl, copy: Copy) -> None:
    """The failure is retried before the run knows that nothing links to it any more."""
    site.html_page("/", "Home", link("/failed", "/a"))
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    assert [path_of(row["url"]) for row in copy.manifest["failures"]] == ["/failed"]
    site.html_page("/", "Home", link("/a"))
    site.redirect("/failed", "/new")
    site.html_page("/new", "New", link("/newer"))
    site.html_page("/newer", "Newer", link("/new"))
    report = await run(update=True)
    assert [path_of(row["url"]) for row in copy.manifest["pages"]] == ["/", "/a"]
    assert (report.status, report.failed) == ("ok", 0)
    assert verify(copy.folder).status is RunStatus.OK


async def test_temporary_redirect_target_keeps_its_links(site: Site, run: Crawl, copy: Copy) -> None:
    """The copy stays, and so does the redirect target with all it links to."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    site.redirect("/a", "/notice", 302)
    site.html_page("/notice", "Notice", link("/more"))
    site.html_page("/more", "More", "<p>more</p>")
    for _ in range(2):
        await run(update=True)
        assert [path_of(row["url"]) for row in copy.manifest["pages"]] == ["/", "/a", "/more", "/notice"]


async def test_redirect_to_a_gone_page_is_requested_when_linked_again(site: Site, run: Crawl, copy: Copy) -> None:
    """Also by a run that is no update."""
    site.html_page("/", "Home", link("/old", "/later"))
    site.redirect("/old", "/new")
    site.html_page("/new", "New", "<p>new</p>")
    await run()
    site.html_page("/", "Home", link("/later"))
    await run(update=True)
    assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/new", "/old"]
    site.html_page("/later", "Later", link("/old"))
    await run()
    assert [path_of(row["url"]) for row in copy.manifest["pages"]] == ["/", "/later", "/new"]
    assert copy.manifest["gone"] == []


@pytest.mark.parametrize("format", ["markdown", "html"])
async def test_targets_of_unknown_links_are_not_gone(site: Site, run: Crawl, copy: Copy, format: str) -> None:
    """State and index were deleted, and the page fails: its links are unknown until it answers again."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", link("/b"))
    site.html_page("/b", "B", "<p>b</p>")
    await run(format=format)
    (copy.folder / "_state.sqlite3").unlink()
    (copy.folder / "mirror-index.json").unlink(missing_ok=True)
    site.fault("/a", status(500))
    for _ in range(2):
        await run(format=format, update=True, max_retries=0)
        assert [path_of(row["url"]) for row in copy.manifest["pages"]] == ["/", "/a", "/b"]
    site.heal("/a")
    site.html_page("/a", "A", "<p>a</p>", etag='"2"')
    await run(format=format, update=True)
    assert _gone(copy) == ["/b"]


@pytest.mark.parametrize("discover", ["links", "sitemap"])
async def test_links_of_a_failing_deleted_page_are_not_gone(site: Site, run: Crawl, copy: Copy, discover: str) -> None:
    """The page is not gone while it fails, so nothing that only it links to is gone."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", link("/b") + '<img src="/i.png">')
    site.html_page("/b", "B", "<p>b</p>")
    site.page("/i.png", b"\x89PNG\r\n\x1a\n", type="image/png")
    site.sitemap(urls=["/", "/a", "/b"])
    await run(discover=discover)
    (copy.folder / "a/index.html").unlink()
    site.fault("/a", status(500))
    for _ in range(2):
        await run(discover=discover, update=True)
        assert [path_of(row["url"]) for row in copy.manifest["pages"]] == ["/", "/b", "/i.png"]
        assert [path_of(row["url"]) for row in copy.manifest["failures"]] == ["/a"]
        assert verify(copy.folder).status is RunStatus.OK
    site.fault("/a", status(410))
    await run(discover=discover, update=True)
    assert _gone(copy) == (["/b", "/i.png"] if discover == "links" else ["/i.png"])
