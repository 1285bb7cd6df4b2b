"""What was away for a while comes back: pages under repair, sitemaps that were empty, files that were damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import SitemirrorError, crawl, verify
from sitemirror.publish.report import RunStatus
from sitemirror.settings import OnError
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import redirect_to, status


async def test_what_redirected_or_was_no_page_may_be_one_now(site: Site, run: Mirror, copy: Copy) -> None:
    """An update asks again for undated URLs that led elsewhere, or were of another type: it has no copy of them."""
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


async def test_an_empty_sitemap_is_read_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A sitemap without a URL, or without one in scope, ends a run with an error; the next one reads it anew."""
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


async def test_where_listed_urls_lead_comes_back_with_them(site: Site, run: Mirror, copy: Copy) -> None:
    """Redirects that a sitemap leaves out once, or a scope, take what they lead to with them, and bring it back."""
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
async def test_a_file_that_was_cut_short_is_fetched_again(site: Site, run: Mirror, copy: Copy, damage: bytes) -> None:
    """A file of another size is as good as missing, whatever the dates say."""
    site.html_page("/a", "A", "<p>text</p>", etag='"1"')
    site.sitemap(urls=[("/a", "2020-01-01")])
    await run()
    whole = copy.files
    (copy.folder / "a/index.md").write_bytes(damage)
    await run(update=True)
    assert copy.files == whole


async def test_taking_everything_anew_repairs_what_was_edited(site: Site, run: Mirror, copy: Copy) -> None:
    """The server's bytes are as before, the file's are not: the file is written."""
    site.html_page("/a", "A", "<p>text</p>")
    site.sitemap(urls=["/a"])
    await run()
    whole = copy.files
    (copy.folder / "a/index.md").write_bytes(whole["a/index.md"].replace(b"text", b"tofu"))
    await run(re_download_all=True)
    assert copy.files == whole


@pytest.mark.parametrize("format", ["html", "both"])
async def test_a_crawl_repairs_its_files_too(site: Site, out: Path, format: str) -> None:
    """HTML with local links, cut short or edited, is there again with local links, beside Markdown as well."""
    site.html_page("/", "Home", "<p><a href='/a'>a</a></p>")
    site.html_page("/a", "A", "<p><a href='/'>home</a></p>")
    await crawl(site.url, output=out, rate_limit=0, format=format)
    file = out / f"127.0.0.1_{site.port}" / "a/index.html"
    whole = file.read_bytes()
    for damaged in (whole[:20], whole.replace(b"home", b"tofu")):
        file.write_bytes(damaged)
        await crawl(site.url, output=out, rate_limit=0, update=True, format=format)
        assert file.read_bytes() == whole


async def test_an_update_that_ended_early_tries_failed_pages_again(site: Site, run: Mirror, copy: Copy) -> None:
    """The same command goes on with the rest and with what had failed; another one that wants everything gets it."""
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


async def test_attempts_are_requests(site: Site, run: Mirror, copy: Copy) -> None:
    """What failed after waits has as many attempts as the server saw requests, over all runs."""
    site.html_page("/a", "A", "<p>a</p>")
    site.fault("/b", status(429, retry_after="0"))
    site.sitemap(urls=["/a", "/b"])
    for runs in (1, 2):
        await run(max_retries=2)
        (failure,) = copy.manifest["failures"]
        assert failure["attempts"] == site.count("/b") == 3 * runs
        (placeholder,) = (copy.folder / "_failed").iterdir()
        assert f"- Attempts: {3 * runs}\n" in placeholder.read_text("utf-8")


async def test_found_links_obey_robots_whoever_follows_them(site: Site, run: Mirror, copy: Copy) -> None:
    """A sitemap is an invitation; a link is not, in a mirror as little as in a crawl."""
    site.robots("User-agent: *\nDisallow: /secret")
    site.html_page("/", "Home", "<p><a href='/secret/x'>x</a> <a href='/open'>o</a></p>")
    site.html_page("/open", "O", "<p>o</p>")
    site.html_page("/secret/x", "X", "<p>x</p>")
    site.sitemap(urls=["/", "/secret/x"])
    await run(discover="links")
    assert site.count("/secret/x") == 0
    await run(discover="links", respect_robots=False)
    assert site.count("/secret/x") == 1


async def test_a_deleted_page_that_cannot_be_had_again_is_a_failure(site: Site, run: Mirror, copy: Copy) -> None:
    """Nothing is left of it, so it does not count as saved with an old copy; any later run tries it again."""
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
async def test_half_a_page_that_cannot_be_had_again_is_told(
    site: Site, run: Mirror, copy: Copy, deleted: str, update: bool
) -> None:
    """Of Markdown and HTML one was deleted: the other stays, and the run and the manifest say what is missing."""
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


async def test_half_a_page_stays_when_its_links_were_led_on(site: Site, run: Mirror, copy: Copy) -> None:
    """The HTML was written anew, and its Markdown is not there to be forced onto the disk: that is no power cut."""
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
async def test_half_of_a_page_that_is_gone_is_still_its_own(
    site: Site, run: Mirror, copy: Copy, deleted: str, index: bool
) -> None:
    """Its other file was deleted: this one is nobody else's, and if the page comes back, so does what is missing."""
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
async def test_pages_link_to_the_site_where_the_html_of_a_gone_page_was_deleted(
    site: Site, run: Mirror, copy: Copy, loses_state: bool
) -> None:
    """Its Markdown is still there, and still linked from Markdown; if the page comes back, its HTML does as well."""
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


async def test_twins_of_a_deleted_page_are_looked_at_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that says something else when it is fetched anew has no other names by what its lost file said."""
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


async def test_an_undated_page_is_asked_for_whatever_the_dates_of_its_other_names(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """That an old name of a page is unchanged says nothing of the page, which is listed without a date."""
    for path in ("/a", "/a/"):
        site.html_page(path, "A", "<p>the same</p>", etag="1")
    site.sitemap(urls=["/a", ("/a/", "2020-01-01")])
    await run()
    site.html_page("/a", "A", "<p>something else</p>", etag="2")
    await run(update=True)
    assert "something else" in copy.text("a/index.md")


async def test_a_link_does_not_bring_back_what_has_left_the_sitemap(site: Site, run: Mirror, copy: Copy) -> None:
    """In an HTML mirror by sitemaps links are not followed: a page that is gone stays so, whoever links to it."""
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
async def test_an_answer_without_content_replaces_no_page(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """204 says that there is nothing to show: a new URL is skipped for it, a page keeps its copy."""
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


async def test_a_page_is_asked_for_once_in_an_update(site: Site, run: Mirror, copy: Copy) -> None:
    """Not again for the sake of its other names, whether those come after it or before."""
    for page, name in (("/a", "/b"), ("/d", "/c")):
        site.html_page(page, page, f"<p>{page}</p>", etag="1")
        site.redirect(name, page)
    site.sitemap(urls=["/a", "/b", "/c", "/d"])
    await run()
    site.clear_log()
    await run(update=True)
    assert [site.count(path) for path in ("/a", "/b", "/c", "/d")] == [1, 1, 1, 1]
    assert [page["aliases"] for page in copy.pages.values()] == [[f"{site.url}/b"], [f"{site.url}/c"]]


async def test_deleted_pages_that_come_back_are_not_new(site: Site, run: Mirror, copy: Copy) -> None:
    """So --max-pages does not keep them away, and nothing counts that is not there."""
    site.sitemap(urls=site.fill(6, etag="1"))
    await run()
    for file in copy.folder.rglob("index.md"):
        file.unlink()
    report = await run(update=True, max_pages=4)
    assert (report.successful, report.new, report.changed) == (6, 0, 0)
    assert verify(copy.folder).status is RunStatus.OK


async def test_a_mirror_forgets_no_links_that_a_crawl_has_read(site: Site, run: Mirror, copy: Copy) -> None:
    """What a changed page links to is not gone because nobody looked."""
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
async def test_an_update_asks_again_for_what_could_not_be_renewed(
    site: Site, run: Mirror, copy: Copy, lastmod: str | None
) -> None:
    """However old its date in the sitemap, and also if nothing but fetching it whole could tell what it is now."""
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
