"""A mirror without its state, as in a fresh `git clone`: files and manifest have the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror, verify
from sitemirror.errors import OutputError
from sitemirror.publish.report import MirrorReport, RunStatus
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site


@pytest.mark.parametrize("format", ["html", "both"])
async def test_page_requisites_are_not_gone(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """No sitemap lists pictures and style sheets; the links of saved pages restore them."""
    site.html_page("/a", "A", '<link rel="stylesheet" href="/s.css"><img src="/i.png">', etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.page("/i.png", b"\x89PNG", type="image/png", etag="1")
    site.page("/s.css", "body { background: url(deep/wall.png) }", type="text/css", etag="1")
    site.page("/deep/wall.png", b"\x89PNG wall", type="image/png", etag="1")
    site.sitemap(urls=["/a", "/b"])
    before = await run(format=format)
    (copy.folder / "_state.sqlite3").unlink()
    site.page("/deep/wall.png", b"\x89PNG new wall", type="image/png", etag="2")
    after = await run(format=format, update=True)
    assert (after.successful, after.changed) == (before.successful, 1)
    assert copy.manifest["gone"] == []
    assert (copy.folder / "deep/wall.png").read_bytes() == b"\x89PNG new wall"
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["html", "both"])
async def test_unfollowed_links_stay_in_the_manifest(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """The manifest restores them, and the saved pages still link to them."""
    elsewhere = site.url_of("elsewhere.localhost")
    body = f'<a href="/b">b</a> <a href="mailto:a@example.com">m</a> <img src="{elsewhere}/i.png">'
    site.html_page("/a", "A", body, etag="1")
    site.page("/i.png", b"\x89PNG", type="image/png", host="elsewhere.localhost")
    site.sitemap(urls=["/a"])
    await run(format=format)
    before = copy.manifest["skips"]
    assert [path_of(row["url"]) for row in before] == ["/b", f"{elsewhere}/i.png", "mailto:a@example.com"]
    (copy.folder / "_state.sqlite3").unlink()
    for options in ({}, {"update": True}):
        await run(format=format, **options)
        assert (copy.manifest["skips"], copy.manifest["gone"]) == (before, [])
    report = await run(format=format, domain_lock=False)
    assert (report.successful, report.skipped) == (2, 2)  # What a page needs is fetched where it may be.


async def test_links_of_saved_files_are_updated(site: Site, run: Mirror, copy: Copy) -> None:
    """A page links to another one whose path has changed since."""
    site.html_page("/a", "A", '<a href="/b">b</a> <a href="/c?x=1">c</a>', etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.html_page("/c?x=1", "C", "<p>c</p>", etag="1")
    site.sitemap(urls=["/a", "/b", "/c?x=1"])
    await run(format="html")
    (copy.folder / "_state.sqlite3").unlink()
    site.page("/b", b"%PDF-1.7", type="application/pdf")
    await run(format="html", update=True)
    assert 'href="../b"' in copy.text("a/index.html")
    assert 'href="../c__q_' in copy.text("a/index.html")
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["html", "both"])
async def test_page_that_becomes_a_file_gets_a_file_path(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A PDF gets no page's path, and text that becomes a page no file's."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.page("/b.txt", "b", type="text/plain", etag="1")
    site.sitemap(urls=["/a", "/b.txt"])
    await run(format=format)
    (copy.folder / "_state.sqlite3").unlink()
    site.page("/a", b"%PDF-1.7", type="application/pdf", etag="2")
    site.html_page("/b.txt", "B", "<p>b</p>", etag="2")
    await run(format=format, update=True)
    pages = {path_of(page["url"]): page["path"] for page in copy.manifest["pages"]}
    assert pages == {"/a": "a", "/b.txt": "b.txt/index.html" if format == "html" else "b.txt/index.md"}
    assert verify(copy.folder).status is RunStatus.OK


async def test_update_requests_files_without_metadata(site: Site, run: Mirror, copy: Copy) -> None:
    """Without state and manifest a file counts as fetched, unless everything is re-downloaded or is newer."""
    site.html_page("/a", "A", "<p>old</p>", etag="1")
    site.html_page("/b", "B", "<p>old</p>", etag="1")
    site.sitemap(urls=["/a", "/b"])
    for name, options in (("a", {"update": True}), ("b", {"re_download_all": True})):
        await run(format="html")
        for file in ("_state.sqlite3", "_manifest.json"):
            (copy.folder / file).unlink()
        site.html_page(f"/{name}", name, "<p>new</p>", etag="2")
        site.sitemap(urls=[(f"/{each}", "2999-01-01") for each in "ab"])
        await run(format="html", **options)
        assert "new" in copy.text(f"{name}/index.html")


@pytest.mark.parametrize("lost", [("_state.sqlite3",), ("_state.sqlite3", "_manifest.json")])
async def test_index_of_both_formats_can_be_made(site: Site, run: Mirror, copy: Copy, lost: tuple[str, ...]) -> None:
    """Neither the manifest nor `_processed.txt` has the size of the HTML beside a page's Markdown."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.sitemap(urls=["/a"])
    await run(format="both")
    for file in lost:
        (copy.folder / file).unlink()
    assert (await run(format="both", index=True)).status == "ok"
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_other_format_is_refused(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """Its pages would be written into files of the other format."""
    site.html_page("/a", "A", '<p>a</p><img src="/i.png">', etag="1")
    site.page("/i.png", b"picture", type="image/png")
    site.page("/text", "text", type="text/plain")
    site.sitemap(urls=["/a", "/text"])
    await run(format=format)
    before = {path: path.read_bytes() for path in copy.folder.rglob("index.*")}
    (copy.folder / "_state.sqlite3").unlink()
    for other in {"markdown", "html", "both"} - {format}:
        with pytest.raises(OutputError, match=rf"another format \({format}, not {other}\)"):
            await run(format=other, update=True)
    assert (await run(format=format, update=True)).status == "ok"
    assert {path: path.read_bytes() for path in copy.folder.rglob("index.*")} == before
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_page_with_absolute_links_is_unchanged(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """Its files are as received, so equal content is recognised."""
    site.html_page("/a", "A", "<p>a</p>")
    site.sitemap(urls=[("/a", "2999-01-01")])
    await run(format=format)
    (copy.folder / "_state.sqlite3").unlink()
    again = await run(format=format, update=True)
    assert (again.successful, again.changed, site.count("/a")) == (1, 0, 2)
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "both"])
async def test_local_markdown_links_are_updated(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A local link's page is found by its file, also when that page is an alias now."""
    site.html_page("/a", "A", '<p>See <a href="/b#two">b</a>.</p>', etag="1")
    site.html_page("/b", "B", '<h1>B</h1><h2 id="two">Two</h2><p>b</p>', etag="1")
    site.html_page("/c", "C", '<h1>C</h1><h2 id="two">Two</h2><p>c</p>', etag="1")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run(links="local", format=format)
    (copy.folder / "_state.sqlite3").unlink()
    site.redirect("/b", "/c")
    await run(links="local", format=format, update=True)
    assert "See [b](../c/index.md#two)." in copy.text("a/index.md")
    assert verify(copy.folder).status is RunStatus.OK


async def test_local_markdown_links_are_updated_by_a_later_run(site: Site, run: Mirror, copy: Copy) -> None:
    """The first run after the loss had no --links local; the next one with it restores the links of files."""
    site.html_page("/a", "A", '<p>See <a href="/b">b</a>.</p>', etag="1")
    site.html_page("/b", "B", "<h1>B</h1><p>b</p>", etag="1")
    site.html_page("/c", "C", "<h1>C</h1><p>c</p>", etag="1")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run(links="local")
    (copy.folder / "_state.sqlite3").unlink()
    await run()
    site.redirect("/b", "/c")
    await run(links="local", update=True)
    assert "See [b](../c/index.md)." in copy.text("a/index.md")
    assert verify(copy.folder).status is RunStatus.OK


async def test_gone_file_is_not_taken_for_a_page(site: Site, run: Mirror, copy: Copy) -> None:
    """A file without an extension may have the name of a page's HTML."""
    site.html_page("/x", "X", "<p>x</p>", etag="1")
    site.page("/x/", "text", type="text/plain", etag="1")
    site.sitemap(urls=["/x", "/x/"])
    await run(format="html")
    site.sitemap(urls=["/x"])
    await run(format="html", update=True)
    (copy.folder / "_state.sqlite3").unlink()
    site.sitemap(urls=["/x", "/x/"])
    report = await run(format="html")
    assert report.successful == 2
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
@pytest.mark.parametrize("lastmod", [None, "2020-01-01"])
async def test_duplicates_stay_one_page(site: Site, run: Mirror, copy: Copy, format: str, lastmod: str | None) -> None:
    """The manifest does not tell redirects from duplicates; an update finds out which it is."""
    for path in ("/a", "/a/"):
        site.html_page(path, "A", "<p>the same</p>", etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.redirect("/r", "/b")
    site.sitemap(urls=[(path, lastmod) for path in ("/a", "/a/", "/b", "/r")])
    await run(format=format)
    before = copy.manifest["pages"]
    (copy.folder / "_state.sqlite3").unlink()
    report = await run(format=format, update=True)
    assert (report.successful, report.new) == (2, 0)
    after = copy.manifest["pages"]
    assert [(page["url"], page["path"], page["aliases"]) for page in after] == [
        (page["url"], page["path"], page["aliases"]) for page in before
    ]
    assert verify(copy.folder).status is RunStatus.OK


async def test_processed_url_without_a_file_gets_no_other_pages_file(site: Site, run: Mirror, copy: Copy) -> None:
    """A URL that only `_processed.txt` has may map to another page's path."""
    site.html_page("/d", "D", "<p>d</p>", etag="1")
    site.sitemap(urls=["/d"])
    await run(index=True)
    (copy.folder / "_state.sqlite3").unlink()
    with (copy.folder / "_processed.txt").open("a", encoding="utf-8") as log:
        log.write(f"{site.url}/d/\n")
    assert (await run(index=True)).successful == 1
    assert copy.pages["/d"]["path"] == "d/index.md"
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("by", [mirror, crawl])
@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_manifest_overrides_processed_txt(
    site: Site, out: Path, copy: Copy, by: Callable[..., Awaitable[MirrorReport]], format: str
) -> None:
    """A processed URL that has failed, been skipped or gone since is no page without a file."""

    async def run(**options: Any) -> MirrorReport:
        return await by(f"{site.url}/", output=out, rate_limit=0, max_retries=0, format=format, **options)

    def site_of(*names: str) -> None:
        site.html_page("/", "Home", "".join(f'<a href="{name}">{name}</a>' for name in names))
        site.sitemap(urls=["/", *names])

    site.html_page("/a", "A", "<p>a</p>")
    for name in ("/failed", "/left-out"):
        site.redirect(name, "/a")
    site.html_page("/gone", "Gone", "<p>gone</p>")
    site_of("/a", "/failed", "/left-out", "/gone")
    await run()
    site.redirect("/left-out", site.url_of("elsewhere.localhost") + "/")
    site.remove("/failed")
    site_of("/a", "/failed", "/left-out")
    await run(re_download_all=True)
    for file in copy.folder.glob("gone/*"):
        file.unlink()
    await run(re_download_all=True)
    before = copy.manifest
    assert [len(before[part]) for part in ("pages", "failures", "skips", "gone")] == [2, 1, 1, 1]
    (copy.folder / "_state.sqlite3").unlink()
    await run()
    for part in ("pages", "failures", "skips", "gone"):
        assert [row["url"] for row in copy.manifest[part]] == [row["url"] for row in before[part]], part
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("table", ["page", "link", "sitemap"])
async def test_incomplete_state_is_rebuilt(site: Site, run: Mirror, copy: Copy, table: str) -> None:
    """It is set aside like a damaged one, and nothing is fetched twice."""
    site.html_page("/a", "A", "<p>a</p>")
    site.sitemap(urls=["/a"])
    await run()
    with closing(sqlite3.connect(copy.folder / "_state.sqlite3")) as db:
        db.execute(f"DROP TABLE {table}")
    asked = len(site.requests_for("/a"))
    report = await run()
    assert (report.status, report.successful) == (RunStatus.OK, 1)
    assert len(site.requests_for("/a")) == asked
    assert verify(copy.folder).status is RunStatus.OK
