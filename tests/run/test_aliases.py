"""One page with many URLs: redirects, duplicates and canonicals."""

from __future__ import annotations

import itertools

import pytest

from sitemirror import verify
from sitemirror.publish.report import RunStatus
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import status


async def test_redirect_makes_the_listed_url_an_alias(site: Site, run: Mirror, copy: Copy) -> None:
    """/a redirects to /b and both are listed: one page, one request for /b, one duplicate."""
    site.redirect("/a", "/b")
    site.html_page("/b", "B", "<p>body</p>")
    site.sitemap(urls=["/a", "/b"])
    report = await run()
    assert (report.total_pages, report.successful, report.duplicates) == (1, 1, 1)
    assert site.count("/b") == 1
    assert copy.pages["/b"]["aliases"] == [f"{site.url}/a"]
    assert list(copy.files) == ["b/index.md"]


async def test_unlisted_redirect_target_is_the_page(site: Site, run: Mirror, copy: Copy) -> None:
    """/a redirects to /b and only /a is listed: /b is the page, /a its alias, nothing is a duplicate."""
    site.redirect("/a", "/b")
    site.html_page("/b", "B", "<p>body</p>")
    site.sitemap(urls=["/a"])
    report = await run()
    assert (report.total_pages, report.successful, report.duplicates) == (1, 1, 0)
    assert copy.accounted() == ["/a", "/b"]


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_target_of_many_redirects_is_fetched_once(site: Site, run: Mirror, copy: Copy, concurrency: int) -> None:
    """Ten URLs redirect to one page: it is requested once and has ten aliases."""
    for number in range(10):
        site.redirect(f"/r{number}", "/middle")
    site.redirect("/middle", "/end", 302)
    site.html_page("/end", "End", "<p>the end</p>")
    site.sitemap(urls=[f"/r{number}" for number in range(10)])
    report = await run(concurrency=concurrency)
    assert (report.successful, report.duplicates) == (1, 9)
    assert site.count("/end") == site.count("/middle") == 1
    assert len(copy.pages["/end"]["aliases"]) == 11


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_redirect_loops_fail_with_a_reason(site: Site, run: Mirror, copy: Copy, concurrency: int) -> None:
    """A loop of two, a loop of one and an endless chain fail; the good page is saved."""
    site.redirect("/x", "/y")
    site.redirect("/y", "/x")
    site.redirect("/self", "/self")
    for number in range(15):
        site.redirect(f"/n{number}", f"/n{number + 1}")
    site.html_page("/good", "Good", "<p>good</p>")
    site.sitemap(urls=["/x", "/y", "/self", "/n0", "/good"])
    report = await run(concurrency=concurrency)
    assert (report.status, report.successful, report.failed) == ("partial", 1, 4)
    reasons = {row["url"].removeprefix(site.url): row["error"] for row in copy.manifest["failures"]}
    assert reasons == {
        "/x": "redirect loop",
        "/y": "redirect loop",
        "/self": "redirect loop",
        "/n0": "too many redirects",
    }


async def test_redirect_to_a_failing_page_fails_under_the_listed_url(site: Site, run: Mirror, copy: Copy) -> None:
    """/a redirects to /b, a 404: /a fails with its target; the manifest has every URL once."""
    site.redirect("/a", "/missing")
    site.html_page("/good", "Good", "<p>good</p>")
    site.sitemap(urls=["/a", "/good"])
    report = await run()
    assert (report.successful, report.failed, report.total_pages) == (1, 1, 2)
    (failure,) = copy.manifest["failures"]
    assert (failure["url"], failure["error"], failure["final_url"]) == (
        f"{site.url}/a",
        "HTTP 404",
        f"{site.url}/missing",
    )


@pytest.mark.parametrize("on_error", ["skip", "retry"])
@pytest.mark.parametrize("update", [False, True])
async def test_redirect_to_a_failed_page_does_not_request_it_again(
    site: Site, run: Mirror, copy: Copy, on_error: str, update: bool
) -> None:
    """It fails under each URL; a retry counts for all of them, which become its aliases."""
    site.html_page("/", "Home", "<p>home</p>")
    site.fault("/a", status(500))
    for name in ("/b", "/c"):
        site.redirect(name, "/a")
    site.sitemap(urls=["/", "/a", "/b", "/c"])
    for tries in range(2):
        site.clear_log()
        report = await run(on_error=on_error, max_retries=1 if on_error == "retry" else 0, update=update and tries > 0)
        assert (report.successful, report.failed) == (1, 3)
        assert [path_of(row["url"]) for row in copy.manifest["failures"]] == ["/a", "/b", "/c"]
        assert site.count("/a") == (2 if on_error == "retry" else 1)
    site.heal("/a")
    site.html_page("/a", "A", "<p>a</p>")
    assert (await run()).status == "ok"
    assert [path_of(alias) for alias in copy.pages["/a"]["aliases"]] == ["/b", "/c"]
    assert verify(copy.folder).status is RunStatus.OK


async def test_immediate_meta_refresh_is_a_redirect(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that is only a refresh is an alias of its target."""
    site.page("/old", '<html><head><meta http-equiv="refresh" content="0; url=/new"></head><body></body></html>')
    site.html_page("/new", "New", "<p>new</p>")
    site.sitemap(urls=["/old", "/new"])
    report = await run()
    assert (report.successful, report.duplicates) == (1, 1)
    assert copy.pages["/new"]["aliases"] == [f"{site.url}/old"]


async def test_urls_that_differ_in_a_slash_with_equal_content_are_one_page(site: Site, run: Mirror, copy: Copy) -> None:
    """/p and /p/ with the same Markdown: the one that sorts first stays, in one file."""
    site.html_page("/p", "P", "<p>same</p>")
    site.html_page("/p/", "P", "<p>same</p>")
    site.sitemap(urls=["/p/", "/p"])
    report = await run()
    assert (report.successful, report.duplicates) == (1, 1)
    assert copy.pages["/p"]["aliases"] == [f"{site.url}/p/"]
    assert list(copy.files) == ["p/index.md"]


async def test_canonical_with_equal_content_names_the_page(site: Site, run: Mirror, copy: Copy) -> None:
    """Three URLs with one canonical and equal content: the canonical's own page stays."""
    head = f'<link rel="canonical" href="{site.url}/z">'
    for path in ("/a", "/b?print=1", "/z"):
        site.page(path, f"<html><head><title>T</title>{head}</head><body><p>same</p></body></html>")
    site.sitemap(urls=["/a", "/b?print=1", "/z"])
    report = await run()
    assert (report.successful, report.duplicates) == (1, 2)
    assert copy.pages["/z"]["aliases"] == [f"{site.url}/a", f"{site.url}/b?print=1"]


async def test_canonical_with_other_content_is_ignored(site: Site, run: Mirror, copy: Copy) -> None:
    """A site with one canonical for all pages keeps all of them."""
    for number in range(3):
        site.page(
            f"/{number}",
            f'<html><head><link rel="canonical" href="/"></head><body><p>page {number}</p></body></html>',
        )
    site.sitemap(urls=["/0", "/1", "/2"])
    report = await run()
    assert (report.successful, report.duplicates) == (3, 0)


async def test_equal_content_alone_makes_no_alias(site: Site, run: Mirror) -> None:
    """Two empty stubs are two pages."""
    site.html_page("/a", "T", "<p>coming soon</p>")
    site.html_page("/b", "T", "<p>coming soon</p>")
    site.sitemap(urls=["/a", "/b"])
    report = await run()
    assert (report.successful, report.duplicates) == (2, 0)


async def test_collisions_do_not_depend_on_fetch_order(site: Site, run: Mirror, copy: Copy) -> None:
    """/p, /p/ and /p.html with different content: both orders give the same files with the same bytes."""
    for path in ("/p", "/p/", "/p.html", "/P"):
        site.html_page(path, path, f"<p>content of {path}</p>")
    trees = []
    for order in itertools.islice(itertools.permutations(["/p", "/p/", "/p.html", "/P"]), 0, 24, 7):
        site.sitemap(urls=list(order))
        report = await run()
        assert report.successful == 4
        trees.append(copy.files)
        for found in sorted(copy.folder.rglob("*"), reverse=True):
            found.unlink() if found.is_file() else found.rmdir()
    assert len(trees[0]) == 4
    assert all(tree == trees[0] for tree in trees)
    assert b"content of /P\n" in trees[0]["P/index.md"]  # sorts before /p


async def test_published_path_never_moves(site: Site, run: Mirror, copy: Copy) -> None:
    """A new page that sorts first does not get the path that a completed run published."""
    site.html_page("/p/", "slash", "<p>slash</p>")
    site.sitemap(urls=["/p/"])
    await run()
    site.html_page("/p", "bare", "<p>bare</p>")
    site.sitemap(urls=["/p", "/p/"])
    report = await run()
    assert report.successful == 2
    assert copy.pages["/p/"]["path"] == "p/index.md"
    assert copy.pages["/p"]["path"].startswith("p_")
    assert any("collision" in warning for warning in report.warnings)


async def test_saved_page_that_redirects_to_an_unchanged_one_is_its_alias(site: Site, run: Mirror, copy: Copy) -> None:
    """/a redirects to /b, which answers 304: the file of /a is removed."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.html_page("/b", "B", "<p>b</p>", etag='"2"')
    site.sitemap(urls=["/a", "/b"])
    await run()
    assert len(copy.files) == 2
    site.redirect("/a", "/b")
    await run(update=True)
    assert list(copy.files) == ["b/index.md"]
    assert copy.pages["/b"]["aliases"] == [f"{site.url}/a"]


async def test_failure_that_redirects_now_leaves_no_placeholder(site: Site, run: Mirror, copy: Copy) -> None:
    """A failed URL that is an alias now is reported as a failure in no file."""
    site.page("/a", "broken", status=500)
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    assert (await run()).failed == 1
    assert list((copy.folder / "_failed").iterdir())
    site.redirect("/a", "/b")
    assert (await run()).failed == 0
    assert not (copy.folder / "_failed").exists() or not list((copy.folder / "_failed").iterdir())


@pytest.mark.parametrize("order", [["/foo", "/foo/index.md/bar"], ["/foo/index.md/bar", "/foo"]])
async def test_file_and_folder_of_one_name_are_both_saved(
    site: Site, run: Mirror, copy: Copy, order: list[str]
) -> None:
    """`/foo` needs a file where `/foo/index.md/bar` needs a folder: same files in either order."""
    site.html_page("/foo", "Foo", "<p>the page</p>")
    site.html_page("/foo/index.md/bar", "Bar", "<p>below it</p>")
    site.sitemap(urls=order)
    report = await run(concurrency=1)
    assert (report.status, report.successful) == ("ok", 2)
    assert copy.pages["/foo"]["path"] == "foo/index.md"
    assert copy.pages["/foo/index.md/bar"]["path"].startswith("foo/index.md_")
    assert {name: b"below it" in text for name, text in copy.files.items()} == {
        "foo/index.md": False,
        copy.pages["/foo/index.md/bar"]["path"]: True,
    }
