"""URLs that a later run requests again: failures, redirects, damaged files, empty sitemaps."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from sitemirror import SitemirrorError, crawl, verify
from sitemirror.publish.report import RunStatus
from sitemirror.settings import OnError
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import redirect_to, status


async def test_undated_redirects_and_skips_are_requested_again(site: Site, run: Mirror, copy: Copy) -> None:
    """An update has no copy of a URL that redirected or was no page, so it requests it again."""
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/b", b"%PDF-1.4", type="application/pdf")
    site.html_page("/c", "C", "<p>c</p>")
    site.fault("/a", redirect_to("/c", 301))
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    assert set(copy.files) == {"c/index.md"}
    site.heal("/a")
    site.html_page("/b", "B", "<p>b</p>")
    await run(update=True)
    assert set(copy.files) == {"a/index.md", "b/index.md", "c/index.md"}


async def test_empty_sitemap_is_read_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A sitemap without a URL in scope ends a run with an error; the next run reads it again."""
    site.sitemap(urls=[])
    with pytest.raises(SitemirrorError, match="lists no URL"):
        await run()
    paths = site.fill(3)
    site.sitemap(urls=paths)
    with pytest.raises(SitemirrorError, match="in scope"):
        await run(include_path=["/nowhere/*"])
    assert (await run()).successful == 3
    site.sitemap(urls=[])
    with pytest.raises(SitemirrorError, match="lists no URL"):
        await run(update=True)
    site.sitemap(urls=paths[:2])
    report = await run(update=True)
    assert (report.status, report.successful, len(copy.manifest["gone"])) == ("ok", 2, 1)


async def test_redirect_targets_return_with_their_listed_urls(site: Site, run: Mirror, copy: Copy) -> None:
    """Redirects that a sitemap or a scope leaves out once take their targets with them, and bring them back."""
    site.html_page("/", "Home", "<p>home</p>")
    site.html_page("/target", "T", "<p>t</p>")
    site.page("/file", b"%PDF-1.4", type="application/pdf")
    listed = ["/", "/to-page", "/to-file", "/to-nothing"]
    for path, target in zip(listed[1:], ("/target", "/file", "/missing"), strict=True):
        site.fault(path, redirect_to(target, 301))
    site.sitemap(urls=listed)
    first = await run()
    told = copy.accounted()
    assert (first.successful, first.skipped, first.failed) == (2, 1, 1)
    site.sitemap(urls=["/"])
    assert (await run()).total_pages == 1
    site.sitemap(urls=listed)
    again = await run()
    assert (again.successful, again.skipped, again.failed) == (2, 1, 1)
    assert (copy.accounted(), copy.manifest["gone"]) == (told, [])
    await run(include_path=["/"])
    again = await run()
    assert (again.successful, again.skipped, again.failed) == (2, 1, 1)


@pytest.mark.parametrize("damage", [b"", b"xxxx"], ids=["emptied", "cut"])
async def test_truncated_file_is_fetched_again(site: Site, run: Mirror, copy: Copy, damage: bytes) -> None:
    """A file of another size counts as missing, whatever lastmod says."""
    site.html_page("/a", "A", "<p>text</p>", etag='"1"')
    site.sitemap(urls=[("/a", "2020-01-01")])
    await run()
    whole = copy.files
    (copy.folder / "a/index.md").write_bytes(damage)
    await run(update=True)
    assert copy.files == whole


async def test_re_download_all_restores_edited_files(site: Site, run: Mirror, copy: Copy) -> None:
    """The server's bytes are unchanged, the file's are not: the file is written."""
    site.html_page("/a", "A", "<p>text</p>")
    site.sitemap(urls=["/a"])
    await run()
    whole = copy.files
    (copy.folder / "a/index.md").write_bytes(whole["a/index.md"].replace(b"text", b"tofu"))
    await run(re_download_all=True)
    assert copy.files == whole


@pytest.mark.parametrize("format", ["html", "both"])
async def test_crawl_restores_damaged_files(site: Site, out: Path, format: Literal["markdown", "html", "both"]) -> None:
    """Truncated or edited HTML is restored with local links, beside Markdown as well."""
    site.html_page("/", "Home", "<p><a href='/a'>a</a></p>")
    site.html_page("/a", "A", "<p><a href='/'>home</a></p>")
    await crawl(site.url, output=out, rate_limit=0, format=format)
    file = out / f"127.0.0.1_{site.port}" / "a/index.html"
    whole = file.read_bytes()
    for damaged in (whole[:20], whole.replace(b"home", b"tofu")):
        file.write_bytes(damaged)
        await crawl(site.url, output=out, rate_limit=0, update=True, format=format)
        assert file.read_bytes() == whole


async def test_resumed_update_retries_failed_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """The same command continues with the rest and the failures; --re-download-all fetches everything."""
    paths = site.fill(5)
    site.sitemap(urls=[(path, "2999-01-01") for path in paths])
    await run()
    site.fault(paths[1], status(500))
    with pytest.raises(SitemirrorError):
        await run(update=True, on_error=OnError.ABORT)
    site.clear_log()
    with pytest.raises(SitemirrorError):
        await run(update=True, on_error=OnError.ABORT)
    assert site.count(paths[1]) == 1
    site.clear_log()
    await run(re_download_all=True)
    assert [site.count(path) for path in paths] == [1] * 5
    with pytest.raises(SitemirrorError):
        await run(update=True, on_error=OnError.ABORT)
    site.heal(paths[1])
    site.html_page("/brand-new", "New", "<p>new</p>")
    site.sitemap(urls=[*[(path, "2999-01-01") for path in paths], "/brand-new"])
    report = await run(update=True, on_error=OnError.ABORT)
    assert (report.status, report.successful) == ("ok", 6)
    assert "brand-new/index.md" in copy.files


async def test_attempts_count_requests(site: Site, run: Mirror, copy: Copy) -> None:
    """A failure has as many attempts as the server saw requests, over all runs."""
    site.html_page("/a", "A", "<p>a</p>")
    site.fault("/b", status(429, retry_after="0"))
    site.sitemap(urls=["/a", "/b"])
    for runs in (1, 2):
        await run(max_retries=2)
        (failure,) = copy.manifest["failures"]
        assert failure["attempts"] == site.count("/b") == 3 * runs
        (placeholder,) = (copy.folder / "_failed").iterdir()
        assert f"- Attempts: {3 * runs}\n" in placeholder.read_text("utf-8")


async def test_links_obey_robots_in_mirror_and_crawl(site: Site, run: Mirror, copy: Copy) -> None:
    """robots.txt does not apply to listed URLs; it applies to links in both commands."""
    site.robots("User-agent: *\nDisallow: /secret")
    site.html_page("/", "Home", "<p><a href='/secret/x'>x</a> <a href='/open'>o</a></p>")
    site.html_page("/open", "O", "<p>o</p>")
    site.html_page("/secret/x", "X", "<p>x</p>")
    site.sitemap(urls=["/", "/secret/x"])
    await run(discover="links")
    assert site.count("/secret/x") == 0
    await run(discover="links", respect_robots=False)
    assert site.count("/secret/x") == 1


async def test_deleted_page_that_fails_is_a_failure(site: Site, run: Mirror, copy: Copy) -> None:
    """It has no old copy to count; any later run tries it again."""
    for name in "ab":
        site.html_page(f"/{name}", name, f"<p>{name}</p>", etag="1")
    site.sitemap(urls=["/a", "/b"])
    await run()
    (copy.folder / "a/index.md").unlink()
    site.fault("/a", status(500))
    report = await run(update=True)
    assert (report.status, report.successful, report.failed) == ("partial", 1, 1)
    assert [path_of(failure["url"]) for failure in copy.manifest["failures"]] == ["/a"]
    assert verify(copy.folder).status is RunStatus.OK
    site.heal("/a")
    assert (await run()).successful == 2
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("deleted", ["md", "html"])
async def test_page_with_one_deleted_file_that_fails_is_reported(
    site: Site, run: Mirror, copy: Copy, deleted: str, update: bool
) -> None:
    """Of Markdown and HTML one was deleted: the other stays; run and manifest report the missing one."""
    site.html_page("/a", "A", "<p>a</p>")
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    await run(format="both")
    (copy.folder / f"a/index.{deleted}").unlink()
    site.fault("/a", status(500))
    report = await run(format="both", update=update)
    assert report.status == "partial"
    missing = f"HTTP 500; {copy.folder.name}/a/index.{deleted} was deleted, and cannot be had"
    assert copy.pages["/a"]["refresh_error"] == missing
    assert f"{site.url}/a: {missing}" in report.warnings
    assert [problem.kind for problem in verify(copy.folder).problems] == ["missing"]
    site.heal("/a")
    report = await run(format="both", update=update)
    assert (report.status, report.new) == ("ok", 0)
    assert (copy.folder / f"a/index.{deleted}").exists()
    assert verify(copy.folder).status is RunStatus.OK


async def test_page_with_one_deleted_file_survives_relinking(site: Site, run: Mirror, copy: Copy) -> None:
    """The HTML was rewritten and its Markdown cannot be synced: that is not a power cut."""
    site.html_page("/a", "A", '<p><a href="/b">b</a></p>', etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.sitemap(urls=["/a"])
    await run(format="both")
    (copy.folder / "a/index.md").unlink()
    site.fault("/a", status(404))
    site.sitemap(urls=["/a", "/b"])
    for _ in range(3):
        assert (await run(format="both", update=True)).status == "partial"
        assert 'href="../b/index.html"' in copy.text("a/index.html")
        assert "was deleted" in copy.pages["/a"]["refresh_error"]
        assert [problem.kind for problem in verify(copy.folder).problems] == ["missing"]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("deleted", ["md", "html"])
async def test_gone_page_keeps_the_path_of_its_deleted_file(
    site: Site, run: Mirror, copy: Copy, deleted: str, index: bool
) -> None:
    """No other page takes its path, and a page that returns gets the missing file."""
    for name in "ab":
        site.html_page(f"/{name}", name, f"<p>{name}</p>")
    site.sitemap(urls=["/a", "/b"])
    await run(format="both", index=index)
    site.sitemap(urls=["/b"])
    await run(format="both", update=True)
    (copy.folder / f"a/index.{deleted}").unlink()
    assert (await run(format="both", update=True)).status == "ok"
    assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/a"]
    assert verify(copy.folder).status is RunStatus.OK
    site.sitemap(urls=["/a", "/b"])
    report = await run(format="both")
    assert (report.status, report.successful) == ("ok", 2)
    assert (copy.folder / f"a/index.{deleted}").exists()
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("loses_state", [False, True])
async def test_html_links_to_the_site_where_a_gone_pages_html_was_deleted(
    site: Site, run: Mirror, copy: Copy, loses_state: bool
) -> None:
    """Its Markdown is still linked from Markdown; a page that returns gets its HTML."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.html_page("/b", "B", '<p><a href="/a">a</a></p>', etag="1")
    site.sitemap(urls=["/a", "/b"])
    options = {"format": "both", "links": "local"}
    await run(**options)
    site.sitemap(urls=["/b"])
    await run(**options, update=True)
    assert 'href="../a/index.html"' in copy.text("b/index.html")
    (copy.folder / "a/index.html").unlink()
    if loses_state:
        (copy.folder / "_state.sqlite3").unlink()
    assert (await run(**options, update=True)).status == "ok"
    assert f'href="{site.url}/a"' in copy.text("b/index.html")
    assert "](../a/index.md)" in copy.text("b/index.md")
    assert verify(copy.folder).status is RunStatus.OK
    site.sitemap(urls=["/a", "/b"])
    await run(**options, update=True)
    assert 'href="../a/index.html"' in copy.text("b/index.html")
    assert copy.text("a/index.html")
    assert verify(copy.folder).status is RunStatus.OK


async def test_duplicates_of_a_deleted_page_are_compared_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that changed when it is fetched again loses the duplicates of its lost file."""
    for path in ("/a", "/a/"):
        site.html_page(path, "A", "<p>the same</p>", etag="1")
    site.sitemap(urls=["/a", "/a/"])
    await run()
    assert [page["aliases"] for page in copy.manifest["pages"]] == [[f"{site.url}/a/"]]
    (copy.folder / "a/index.md").unlink()
    site.html_page("/a", "A", "<p>something else</p>", etag="2")
    await run(update=True)
    assert copy.pages.keys() == {"/a", "/a/"}
    assert verify(copy.folder).status is RunStatus.OK


async def test_undated_page_is_requested_whatever_its_aliases_lastmod(site: Site, run: Mirror, copy: Copy) -> None:
    """The lastmod of an alias says nothing about a page that is listed without one."""
    for path in ("/a", "/a/"):
        site.html_page(path, "A", "<p>the same</p>", etag="1")
    site.sitemap(urls=["/a", ("/a/", "2020-01-01")])
    await run()
    site.html_page("/a", "A", "<p>something else</p>", etag="2")
    await run(update=True)
    assert "something else" in copy.text("a/index.md")


async def test_link_does_not_restore_a_gone_page_in_a_sitemap_mirror(site: Site, run: Mirror, copy: Copy) -> None:
    """An HTML mirror by sitemaps follows no links: a gone page stays gone, whoever links to it."""
    site.html_page("/a", "A", '<a href="/b">old</a>', etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.sitemap(urls=["/a", "/b"])
    await run(format="html")
    site.sitemap(urls=["/a"])
    site.html_page("/a", "A", '<a href="/b">new</a>', etag="2")
    report = await run(format="html", update=True)
    assert report.successful == 1
    assert [path_of(gone["url"]) for gone in copy.manifest["gone"]] == ["/b"]
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "html"])
async def test_no_content_response_replaces_no_page(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """204 skips a new URL, and a saved page keeps its copy."""
    site.html_page("/a", "A", "<p>text</p>", etag="1")
    site.page("/b", "", status=204)
    site.sitemap(urls=["/a", "/b"])
    report = await run(format=format)
    assert (report.status, report.successful, report.skipped) == ("ok", 1, 1)
    (placeholder,) = (copy.folder / "_skipped").iterdir()
    content = placeholder.read_bytes()
    placeholder.unlink()
    assert [problem.kind for problem in verify(copy.folder).problems] == ["missing"]
    placeholder.write_bytes(content)
    site.page("/a", "", status=204)
    assert (await run(format=format, update=True)).status == "partial"
    (page,) = copy.manifest["pages"]
    assert page["refresh_error"] == "HTTP 204: no content"
    assert "text" in copy.text(page["path"])
    assert verify(copy.folder).status is RunStatus.OK


async def test_page_is_requested_once_in_an_update(site: Site, run: Mirror, copy: Copy) -> None:
    """Not again for its aliases, whether they come before or after it."""
    for page, name in (("/a", "/b"), ("/d", "/c")):
        site.html_page(page, page, f"<p>{page}</p>", etag="1")
        site.redirect(name, page)
    site.sitemap(urls=["/a", "/b", "/c", "/d"])
    await run()
    site.clear_log()
    await run(update=True)
    assert [site.count(path) for path in ("/a", "/b", "/c", "/d")] == [1, 1, 1, 1]
    assert [page["aliases"] for page in copy.pages.values()] == [[f"{site.url}/b"], [f"{site.url}/c"]]


async def test_restored_pages_are_not_new(site: Site, run: Mirror, copy: Copy) -> None:
    """--max-pages does not limit them, and a missing page is not counted."""
    site.sitemap(urls=site.fill(6, etag="1"))
    await run()
    for file in copy.folder.rglob("index.md"):
        file.unlink()
    report = await run(update=True, max_pages=4)
    assert (report.successful, report.new, report.changed) == (6, 0, 0)
    assert verify(copy.folder).status is RunStatus.OK


async def test_mirror_keeps_the_links_that_a_crawl_found(site: Site, run: Mirror, copy: Copy) -> None:
    """What a changed page links to is not gone because a mirror reads no links."""
    site.html_page("/", "Start", "<a href=/a>a</a>", etag="1")
    site.html_page("/a", "A", "<p>a</p><a href=/b>b</a>", etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    await crawl(f"{site.url}/", output=copy.folder.parent, rate_limit=0, format="markdown")
    site.html_page("/a", "A", "<p>changed</p><a href=/b>b</a>", etag="2")
    site.sitemap(urls=["/", "/a"])
    await run(update=True)
    await crawl(f"{site.url}/", output=copy.folder.parent, rate_limit=0, format="markdown", update=True)
    assert copy.pages.keys() == {"/", "/a", "/b"}


@pytest.mark.parametrize("lastmod", [None, "2020-01-01"])
async def test_update_retries_failed_refreshes(site: Site, run: Mirror, copy: Copy, lastmod: str | None) -> None:
    """Whatever its lastmod, and also if only an unconditional request can tell its state."""
    paths = site.fill(3)
    site.sitemap(urls=[(path, lastmod) if lastmod else path for path in paths])
    await run()
    site.fault(paths[1], status(500))
    assert (await run(re_download_all=True)).status == "partial"
    assert copy.pages[paths[1]]["refresh_error"] == "HTTP 500"
    site.heal(paths[1])
    site.clear_log()
    report = await run(update=True)
    assert (report.status, [site.count(path) for path in paths]) == ("ok", [0, 1, 0])
    assert "refresh_error" not in copy.pages[paths[1]]
