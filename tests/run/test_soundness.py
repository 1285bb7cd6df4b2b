"""Incomplete information is not treated as complete: sitemaps, refreshes, state, scopes."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from sitemirror import verify
from sitemirror.errors import NoSitemap, OutputError
from sitemirror.publish.report import RunStatus
from tests.run.conftest import Copy, Mirror
from tests.site import Site
from tests.site.faults import ok, partial, redirect_to, status


async def test_sitemap_truncated_in_transit_is_read_again(site: Site, run: Mirror) -> None:
    """The second response is complete: nothing is lost and nothing counted twice."""
    paths = site.fill(40)
    site.sitemap(urls=paths)
    site.fault("/sitemap.xml", partial(), ok())
    report = await run()
    assert (report.status, report.successful, report.duplicates) == ("ok", 40, 0)
    assert site.count("/sitemap.xml") == 2


async def test_truncated_sitemap_makes_nothing_gone(site: Site, run: Mirror, copy: Copy) -> None:
    """Its entries are used, the run is partial, and pages it listed before are not gone."""
    paths = site.fill(30)
    site.sitemap(urls=paths)
    await run()
    site.fault("/sitemap.xml", partial())
    report = await run(update=True, max_retries=0)
    assert report.status == "partial"
    assert copy.manifest["gone"] == []
    assert any("sitemap" in warning for warning in report.warnings)


async def test_sitemap_with_broken_xml_makes_nothing_gone(site: Site, run: Mirror, copy: Copy) -> None:
    """XML that breaks off may have listed more."""
    paths = site.fill(4)
    site.sitemap(urls=paths)
    await run()
    locs = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths[:2])
    site.page("/sitemap.xml", f"<urlset>{locs}<url><loc>", type="application/xml")
    report = await run(update=True)
    assert copy.manifest["gone"] == []
    assert report.successful == 4


async def test_guessed_sitemap_is_retried(site: Site, run: Mirror) -> None:
    """One HTTP 500 for /sitemap.xml is not the end."""
    site.sitemap(urls=site.fill(2))
    site.fault("/sitemap.xml", status(500), ok())
    assert (await run()).successful == 2


async def test_error_says_why_no_sitemap_was_found(site: Site, run: Mirror) -> None:
    """When every try fails, the reason is named."""
    site.fault("/sitemap.xml", status(500))
    with pytest.raises(NoSitemap, match="HTTP 500"):
        await run(max_retries=0)


async def test_redirect_to_a_gone_page_restores_it(site: Site, run: Mirror, copy: Copy) -> None:
    """/a/ was listed, now /a is and redirects to /a/: the page is not gone."""
    site.html_page("/a/", "A", "<p>a</p>")
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a/", "/b"])
    await run()
    site.redirect("/a", "/a/")
    site.sitemap(urls=["/a", "/b"])
    report = await run(update=True)
    assert report.successful == 2
    assert copy.pages["/a/"]["aliases"] == [f"{site.url}/a"]
    assert copy.manifest["gone"] == []


async def test_diverging_duplicates_behind_a_redirect_end_as_two_pages(site: Site, run: Mirror) -> None:
    """/a changes; its duplicate /b answers 304 to a request from a redirect."""
    for path in ("/p", "/p/"):
        site.html_page(path, "P", "<p>same</p>", etag='"1"')
    site.redirect("/r", "/p/")
    site.sitemap(urls=["/p", "/p/", "/r"])
    await run()
    site.html_page("/p", "P", "<p>changed</p>", etag='"2"')
    site.sitemap(urls=[("/p", "2999-01-01"), "/p/", ("/r", "2999-01-01")])
    report = await asyncio.wait_for(run(update=True), 20)
    assert report.successful == 2


async def test_queue_of_a_wider_run_is_not_fetched_by_a_narrower_one(site: Site, run: Mirror) -> None:
    """Pages left over by a run of the whole site are out of scope in a run for a part."""
    paths = site.fill(5)
    site.sitemap(urls=paths)
    await run(max_pages=2)
    part = site.fill(2, folder="/part")
    site.sitemap("/part/sitemap.xml", urls=part)
    site.clear_log()
    await run(f"{site.url}/part/")
    assert not [path for path in site.paths() if path.startswith("/page")]
    report = await run(max_pages=0)
    assert report.not_reached == 0
    assert report.successful == 7


@pytest.mark.parametrize("lists_all", [True, False])
async def test_partial_run_keeps_failures_out_of_its_scope(
    site: Site, run: Mirror, copy: Copy, lists_all: bool
) -> None:
    """They are not reported as out of scope."""
    site.html_page("/a", "A", "<p>a</p>")
    site.html_page("/part/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/bad", "/part/b", "/part/bad"])
    await run()
    if not lists_all:
        site.sitemap("/part/sitemap.xml", urls=["/part/b", "/part/bad"])
    site.clear_log()
    report = await run(f"{site.url}/part/")
    assert (report.status, report.failed, report.skipped) == ("partial", 2, 0)
    assert not site.requests_for("/bad")
    assert site.requests_for("/part/bad")
    assert verify(copy.folder).status is RunStatus.OK
    for path in ("/bad", "/part/bad"):
        site.html_page(path, path, f"<p>{path}</p>")
    assert (await run(f"{site.url}/part/")).failed == 1
    report = await run(exclude_path=("/bad",))
    assert (report.status, report.failed, report.skipped) == ("ok", 0, 1)
    assert (await run()).successful == 4


_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR<p>not a paragraph</p>"
_PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"


@pytest.mark.parametrize(("body", "kind"), [(_PNG, "image/png"), (_PDF, "application/pdf")])
@pytest.mark.parametrize("sent_as", ["text/html", "text/plain"])
async def test_binary_file_sent_as_html_is_skipped(
    site: Site, run: Mirror, copy: Copy, body: bytes, kind: str, sent_as: str
) -> None:
    """Its first bytes identify it; text that only begins like one stays a page."""
    site.page("/file", body, type=sent_as)
    site.html_page("/ok", "Ok", "<p>ok</p>")
    site.page("/gif", "GIF89a is an old format, and ftyp a box.", type="text/html")
    site.sitemap(urls=["/file", "/gif", "/ok"])
    report = await run()
    assert (report.status, report.skipped) == ("ok", 1)
    assert [row["reason"] for row in copy.manifest["skips"]] == [f"unreadable: {kind}, sent as {sent_as}"]
    assert copy.pages.keys() == {"/gif", "/ok"}


async def test_binary_file_sent_as_html_is_copied_as_an_asset(site: Site, run: Mirror, copy: Copy) -> None:
    """A copy with assets has its bytes, and reads no links from it."""
    site.html_page("/", "Home", '<img src="/picture">')
    site.page("/picture", _PNG, type="text/html")
    site.sitemap(urls=["/"])
    await run(format="html")
    assert (copy.folder / copy.pages["/picture"]["path"]).read_bytes() == _PNG
    assert copy.pages["/picture"]["path"] == "picture"
    assert verify(copy.folder).status is RunStatus.OK


async def test_on_error_retry_covers_redirect_targets(site: Site, run: Mirror) -> None:
    """--on-error retry tries a redirect's target again, like any other page."""
    site.redirect("/a", "/target")
    site.html_page("/target", "T", "<p>t</p>")
    site.fault("/target", status(500), ok())
    site.html_page("/good", "G", "<p>g</p>")
    site.sitemap(urls=["/a", "/good"])
    report = await run(on_error="retry")
    assert (report.status, report.successful) == ("ok", 2)
    assert site.count("/target") == 2


async def test_on_error_retry_covers_refreshes(site: Site, run: Mirror, copy: Copy) -> None:
    """A failed refresh is retried in the same run."""
    site.html_page("/a", "A", "<p>old</p>")
    site.sitemap(urls=[("/a", "2999-01-01")])
    await run()
    site.html_page("/a", "A", "<p>new</p>")
    site.fault("/a", status(503), ok())
    report = await run(update=True, on_error="retry")
    assert report.status == "ok"
    assert "new" in copy.text("a/index.md")
    assert "refresh_error" not in copy.pages["/a"]


async def test_retried_failures_are_logged_once(site: Site, run: Mirror, copy: Copy) -> None:
    """A URL that fails the last try is in `_failed.log`, once."""
    site.fault("/a", status(500))
    site.html_page("/good", "G", "<p>g</p>")
    site.sitemap(urls=["/a", "/good"])
    await run(on_error="retry", max_retries=1)
    lines = (copy.folder / "_failed.log").read_text("utf-8").splitlines()
    assert [line.split("\t")[1:] for line in lines] == [[f"{site.url}/a", "HTTP 500"]]
    assert site.count("/a") == 2


@pytest.mark.parametrize("listed", [("/a",), ("/a", "/b"), ("/b", "/a"), ("/a", "/hop", "/b", "/c")])
@pytest.mark.parametrize("hop", ["/b", "/hop"])
@pytest.mark.parametrize("then", ["", "/c"])
async def test_redirect_to_a_page_that_succeeds_on_retry_is_its_alias(
    site: Site, run: Mirror, copy: Copy, listed: tuple[str, ...], hop: str, then: str
) -> None:
    """--on-error retry: the old copy of the redirecting URL is removed in the same run."""
    site.html_page("/a", "A", "<p>old</p>")
    site.html_page("/c", "C", "<p>c</p>")
    site.sitemap(urls=["/a"])
    await run()
    site.sitemap(urls=listed)
    site.redirect("/a", hop)
    site.redirect("/hop", "/b")
    site.html_page("/b", "B", "<p>b</p>")
    site.fault("/b", status(500), status(500), redirect_to(then, 301) if then else ok())
    report = await run(update=True, on_error="retry", concurrency=4, re_download_all=True, max_retries=2)
    assert report.status == "ok"
    end = then or "/b"
    assert f"{site.url}/a" in copy.pages[end]["aliases"]
    assert "a/index.md" not in copy.files
    assert "refresh_error" not in copy.pages[end]


async def test_state_with_damaged_rows_is_set_aside_and_rebuilt(site: Site, run: Mirror, copy: Copy) -> None:
    """Damage found while reading rows ends one run with an error; the next one rebuilds."""
    paths = site.fill(300)
    site.sitemap(urls=paths)
    await run(concurrency=8)
    state = copy.folder / "_state.sqlite3"
    data = bytearray(state.read_bytes())
    data[20_000 : len(data) - 5_000] = b"\xab" * (len(data) - 25_000)
    state.write_bytes(data)
    site.clear_log()
    with suppress(OutputError):
        await run()
    report = await run()
    assert report.successful == 300
    assert not [path for path in site.paths() if path.startswith("/page")]


async def test_unwritable_manifest_is_an_error(site: Site, run: Mirror, copy: Copy) -> None:
    """A folder in the manifest's place ends the run with an error."""
    site.sitemap(urls=site.fill(2))
    (copy.folder / "_manifest.json").mkdir(parents=True)
    report = await run()
    assert (report.status, report.manifest) == ("error", None)


async def test_page_that_became_a_file_or_failure_keeps_its_copy(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that is a PDF now, or redirects to an error, stays in the manifest with the reason."""
    for name in "ab":
        site.html_page(f"/{name}", name, f"<p>{name}</p>")
    site.sitemap(urls=[("/a", "2999-01-01"), ("/b", "2999-01-01")])
    await run()
    site.page("/a", b"%PDF-1.7", type="application/pdf")
    site.redirect("/b", "/broken")
    site.fault("/broken", status(500))
    await run(update=True)
    assert sorted(copy.files) == ["a/index.md", "b/index.md"]
    assert copy.pages["/a"]["refresh_error"] == "content type application/pdf"
    assert "HTTP 500" in copy.pages["/b"]["refresh_error"]


async def test_pages_that_fill_a_batch_are_in_processed_txt(site: Site, run: Mirror, copy: Copy) -> None:
    """A batch that is exactly full loses no line."""
    paths = site.fill(64)
    site.sitemap(urls=paths)
    await run(concurrency=16)
    lines = (copy.folder / "_processed.txt").read_text("utf-8").split()
    assert sorted(lines) == sorted(f"{site.url}{path}" for path in paths)


async def test_gone_page_that_becomes_an_alias_leaves_no_file(site: Site, run: Mirror, copy: Copy) -> None:
    """/b redirects to /a, which left the sitemap and redirects to /c: the file of /a is removed."""
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run()
    site.redirect("/b", "/a")
    site.redirect("/a", "/c")
    site.sitemap(urls=[("/b", "2999-01-01"), "/c"])
    report = await run(update=True)
    assert (report.successful, set(copy.files)) == (1, {"c/index.md"})
    assert verify(copy.folder).problems == ()


async def test_redirect_to_a_page_with_deleted_file_fetches_it(site: Site, run: Mirror, copy: Copy) -> None:
    """The request is unconditional: a 304 would not restore the file."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.redirect("/r", "/a")
    site.sitemap(urls=["/r"])
    await run()
    (copy.folder / "a/index.md").unlink()
    site.sitemap(urls=[("/r", "2999-01-01")])
    report = await run(update=True)
    assert (str(report.status), set(copy.files)) == ("ok", {"a/index.md"})


async def test_crawl_over_a_mirror_is_complete(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that only the sitemap names is none of its business, and not gone either."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    site.html_page("/lonely", "Lonely", "<p>lonely</p>")
    site.sitemap(urls=["/", "/a", "/lonely"])
    for discover, update in (("sitemap", False), ("links", False), ("links", True), ("sitemap", True)):
        report = await run(discover=discover, update=update)
        assert (report.status, report.successful, copy.manifest["gone"]) == ("ok", 3, [])
    assert verify(copy.folder).status is RunStatus.OK
