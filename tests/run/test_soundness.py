"""What is not known is not claimed: cut sitemaps, failed refreshes, damaged state, scopes of other commands."""

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


async def test_a_sitemap_cut_off_in_transit_is_read_again(site: Site, run: Mirror) -> None:
    """The first answer breaks off; the second is whole: nothing is lost and nothing counted twice."""
    paths = site.fill(40)
    site.sitemap(urls=paths)
    site.fault("/sitemap.xml", partial(), ok())
    report = await run()
    assert (report.status, report.successful, report.duplicates) == ("ok", 40, 0)
    assert site.count("/sitemap.xml") == 2


async def test_a_sitemap_that_always_breaks_off_makes_nothing_gone(site: Site, run: Mirror, copy: Copy) -> None:
    """What it still lists is taken, the run says partial, and pages it listed before are not called gone."""
    paths = site.fill(30)
    site.sitemap(urls=paths)
    await run()
    site.fault("/sitemap.xml", partial())
    report = await run(update=True, max_retries=0)
    assert report.status == "partial"
    assert copy.manifest["gone"] == []
    assert any("sitemap" in warning for warning in report.warnings)


async def test_a_sitemap_broken_in_the_middle_makes_nothing_gone(site: Site, run: Mirror, copy: Copy) -> None:
    """XML that breaks off may have listed more."""
    paths = site.fill(4)
    site.sitemap(urls=paths)
    await run()
    locs = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths[:2])
    site.page("/sitemap.xml", f"<urlset>{locs}<url><loc>", type="application/xml")
    report = await run(update=True)
    assert copy.manifest["gone"] == []
    assert report.successful == 4


async def test_a_guessed_sitemap_is_tried_as_patiently_as_a_named_one(site: Site, run: Mirror) -> None:
    """One HTTP 500 for /sitemap.xml is not the end."""
    site.sitemap(urls=site.fill(2))
    site.fault("/sitemap.xml", status(500), ok())
    assert (await run()).successful == 2


async def test_a_site_that_only_fails_has_no_sitemap_and_the_error_says_why(site: Site, run: Mirror) -> None:
    """When every try fails, the reason is named."""
    site.fault("/sitemap.xml", status(500))
    with pytest.raises(NoSitemap, match="HTTP 500"):
        await run(max_retries=0)


async def test_a_redirect_to_a_page_that_was_gone_brings_it_back(site: Site, run: Mirror, copy: Copy) -> None:
    """/a/ was listed, now /a is and redirects to /a/: the page is there, not gone."""
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


async def test_twins_that_part_while_a_redirect_leads_there_end(site: Site, run: Mirror) -> None:
    """A changes, its twin B answers 304 to a redirect's question: the run ends, with two pages."""
    for path in ("/p", "/p/"):
        site.html_page(path, "P", "<p>same</p>", etag='"1"')
    site.redirect("/r", "/p/")
    site.sitemap(urls=["/p", "/p/", "/r"])
    await run()
    site.html_page("/p", "P", "<p>changed</p>", etag='"2"')
    site.sitemap(urls=[("/p", "2999-01-01"), "/p/", ("/r", "2999-01-01")])
    report = await asyncio.wait_for(run(update=True), 20)
    assert report.successful == 2


async def test_another_commands_queue_is_not_this_commands_scope(site: Site, run: Mirror) -> None:
    """What a run of the whole site left over is not fetched by a run for a part of it."""
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
async def test_a_failure_elsewhere_is_none_the_less_for_a_run_over_a_part(
    site: Site, run: Mirror, copy: Copy, lists_all: bool
) -> None:
    """What the whole site's run could not have is not called unwanted by a run for a part of the site."""
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
async def test_a_file_that_is_sent_as_a_page_is_none(
    site: Site, run: Mirror, copy: Copy, body: bytes, kind: str, sent_as: str
) -> None:
    """The first bytes tell what it is, and it is skipped with that reason; what only begins with such letters stays."""
    site.page("/file", body, type=sent_as)
    site.html_page("/ok", "Ok", "<p>ok</p>")
    site.page("/gif", "GIF89a is an old format, and ftyp a box.", type="text/html")
    site.sitemap(urls=["/file", "/gif", "/ok"])
    report = await run()
    assert (report.status, report.skipped) == ("ok", 1)
    assert [row["reason"] for row in copy.manifest["skips"]] == [f"content type {kind}, sent as {sent_as}"]
    assert copy.pages.keys() == {"/gif", "/ok"}


async def test_a_file_that_is_sent_as_a_page_is_copied_as_it_is(site: Site, run: Mirror, copy: Copy) -> None:
    """In a copy with its assets it is one of them, and nobody looks for links in it."""
    site.html_page("/", "Home", '<img src="/picture">')
    site.page("/picture", _PNG, type="text/html")
    site.sitemap(urls=["/"])
    await run(format="html")
    assert (copy.folder / copy.pages["/picture"]["path"]).read_bytes() == _PNG
    assert copy.pages["/picture"]["path"] == "picture"
    assert verify(copy.folder).status is RunStatus.OK


async def test_retries_reach_what_a_redirect_leads_to(site: Site, run: Mirror) -> None:
    """--on-error retry tries a redirect's target again, like any other page."""
    site.redirect("/a", "/target")
    site.html_page("/target", "T", "<p>t</p>")
    site.fault("/target", status(500), ok())
    site.html_page("/good", "G", "<p>g</p>")
    site.sitemap(urls=["/a", "/good"])
    report = await run(on_error="retry")
    assert (report.status, report.successful) == ("ok", 2)
    assert site.count("/target") == 2


async def test_retries_reach_refreshes_of_saved_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that could not be refreshed at first is tried again in the same run."""
    site.html_page("/a", "A", "<p>old</p>")
    site.sitemap(urls=[("/a", "2999-01-01")])
    await run()
    site.html_page("/a", "A", "<p>new</p>")
    site.fault("/a", status(503), ok())
    report = await run(update=True, on_error="retry")
    assert report.status == "ok"
    assert "new" in copy.text("a/index.md")
    assert "refresh_error" not in copy.pages["/a"]


async def test_failures_put_off_are_logged_when_they_are_given_up(site: Site, run: Mirror, copy: Copy) -> None:
    """What still fails after the last try is in `_failed.log`, once."""
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
async def test_what_redirects_to_a_page_that_comes_at_the_second_try_is_a_name_of_it(
    site: Site, run: Mirror, copy: Copy, listed: tuple[str, ...], hop: str, then: str
) -> None:
    """--on-error retry: the old copy of what redirects goes when the page is there, in the same run."""
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


async def test_a_state_damaged_inside_is_set_aside_and_rebuilt(site: Site, run: Mirror, copy: Copy) -> None:
    """Damage that shows only when rows are read ends one run with a clear error; the next one is well."""
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


async def test_a_run_without_its_manifest_is_no_success(site: Site, run: Mirror, copy: Copy) -> None:
    """A folder that stands where the manifest goes is an error, not a detail."""
    site.sitemap(urls=site.fill(2))
    (copy.folder / "_manifest.json").mkdir(parents=True)
    report = await run()
    assert (report.status, report.manifest) == ("error", None)


async def test_a_page_that_became_something_else_keeps_its_copy(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that is a PDF now, or redirects to an error, stays on disk and in the manifest with the reason."""
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


async def test_every_processed_page_has_its_line_also_at_the_edge_of_a_batch(
    site: Site, run: Mirror, copy: Copy
) -> None:
    """Pages that fill a batch exactly are in `_processed.txt` like all others."""
    paths = site.fill(64)
    site.sitemap(urls=paths)
    await run(concurrency=16)
    lines = (copy.folder / "_processed.txt").read_text("utf-8").split()
    assert sorted(lines) == sorted(f"{site.url}{path}" for path in paths)


async def test_a_redirect_to_a_gone_page_that_redirects_leaves_no_file(site: Site, run: Mirror, copy: Copy) -> None:
    """/a has left the sitemap; /b redirects there, and /a on to /c: its old file goes when it is a name of /c."""
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


async def test_a_redirect_to_a_page_whose_file_was_deleted_fetches_it(site: Site, run: Mirror, copy: Copy) -> None:
    """What is not there is not asked for conditionally: a 304 would be no help, and must not end the run."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.redirect("/r", "/a")
    site.sitemap(urls=["/r"])
    await run()
    (copy.folder / "a/index.md").unlink()
    site.sitemap(urls=[("/r", "2999-01-01")])
    report = await run(update=True)
    assert (str(report.status), set(copy.files)) == ("ok", {"a/index.md"})
