"""A mirror whose state is lost, as in a fresh `git clone`: what its files and its manifest still know."""

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
async def test_what_pages_need_is_not_gone(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """No sitemap lists pictures and style sheets: the saved pages tell that they are needed, and by whom."""
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
async def test_links_that_were_not_followed_stay_accounted_for(
    site: Site, run: Mirror, copy: Copy, format: str
) -> None:
    """No sitemap tells of them again; the manifest does, and the saved pages still link to them."""
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


async def test_links_of_saved_files_are_led_on(site: Site, run: Mirror, copy: Copy) -> None:
    """A page whose state was lost links to another one, which is a file of another name by now."""
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
async def test_a_page_that_becomes_a_file_gets_a_files_name(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A PDF takes no page's name, and text that becomes a page no file's."""
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


async def test_files_that_nothing_is_known_of_are_asked_for_by_an_update(site: Site, run: Mirror, copy: Copy) -> None:
    """Without state and manifest a file is as good as fetched, but not if everything is wanted anew, or is newer."""
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
async def test_an_index_can_be_made_of_a_mirror_of_both(
    site: Site, run: Mirror, copy: Copy, lost: tuple[str, ...]
) -> None:
    """Neither the manifest nor `_processed.txt` tells how large the HTML beside a page's Markdown is."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.sitemap(urls=["/a"])
    await run(format="both")
    for file in lost:
        (copy.folder / file).unlink()
    assert (await run(format="both", index=True)).status == "ok"
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_another_format_is_refused_as_before(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """Its pages would be written into files of the other format, and links made between them."""
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
async def test_a_page_without_local_links_that_is_sent_again_has_not_changed(
    site: Site, run: Mirror, copy: Copy, format: str
) -> None:
    """Its files are as they were received, and so tell by themselves that it is the same."""
    site.html_page("/a", "A", "<p>a</p>")
    site.sitemap(urls=[("/a", "2999-01-01")])
    await run(format=format)
    (copy.folder / "_state.sqlite3").unlink()
    again = await run(format=format, update=True)
    assert (again.successful, again.changed, site.count("/a")) == (1, 0, 2)
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["markdown", "both"])
async def test_local_links_of_markdown_are_led_on(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """Which page a link between files meant is known by the file, also when that page is only a name by now."""
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


async def test_local_links_of_markdown_are_led_on_by_a_later_run(site: Site, run: Mirror, copy: Copy) -> None:
    """The first run after the loss did without --links local: the links of files are recalled by the next with it."""
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


@pytest.mark.parametrize("format", ["markdown", "both"])
async def test_links_to_a_gone_page_whose_file_was_deleted_lead_to_the_site(
    site: Site, run: Mirror, copy: Copy, format: str
) -> None:
    """The manifest alone knows which page that was; what is left of it is no stranger."""
    site.html_page("/a", "A", '<p>See <a href="/b">b</a>.</p>', etag="1")
    site.html_page("/b", "B", "<h1>B</h1><p>b</p>", etag="1")
    site.sitemap(urls=["/a", "/b"])
    await run(links="local", format=format)
    site.sitemap(urls=["/a"])
    await run(links="local", format=format, update=True)
    (copy.folder / "_state.sqlite3").unlink()
    (copy.folder / "b/index.md").unlink()
    await run(links="local", format=format)
    assert f"See [b]({site.url}/b)." in copy.text("a/index.md")
    assert verify(copy.folder).status is RunStatus.OK


async def test_a_gone_file_is_not_taken_for_a_page_beside_it(site: Site, run: Mirror, copy: Copy) -> None:
    """A file without an ending may have the name of a page's HTML but for that."""
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
async def test_twins_stay_one_page(site: Site, run: Mirror, copy: Copy, format: str, lastmod: str | None) -> None:
    """The manifest has one name for what redirects and for what says the same; an update finds out which it is."""
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


async def test_a_processed_url_without_a_file_takes_no_other_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """`_processed.txt` alone knows a URL whose path is another page's: that file is not its own."""
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
async def test_the_manifest_is_newer_than_a_line_of_processed(
    site: Site, out: Path, copy: Copy, by: Callable[..., Awaitable[MirrorReport]], format: str
) -> None:
    """What was done once, and has failed, been left out or been gone since, is no page without a file."""

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


@pytest.mark.parametrize("table", ["page", "edge", "sitemap"])
async def test_a_state_that_lacks_a_part_is_made_anew(site: Site, run: Mirror, copy: Copy, table: str) -> None:
    """It is put aside as a damaged one is, and nothing is fetched twice."""
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
