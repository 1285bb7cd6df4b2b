"""HTML of what sitemaps list: pages come with the files that they need, wherever those are, and with no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import mirror, verify
from sitemirror.publish.report import RunStatus
from tests.copies import path_of
from tests.crawl.conftest import Copy, Crawl, link
from tests.site import Site


async def test_a_wider_scope_takes_what_saved_pages_need(site: Site, out: Path) -> None:
    """A picture that an earlier run had to leave comes with the run that may have it; links stay unfollowed."""
    site.html_page("/a", "A", '<img src="/i.png"><a href="/x.html">x</a>')
    site.page("/i.png", b"\x89PNG", type="image/png")
    site.html_page("/x.html", "X", "<p>x</p>")
    site.sitemap(urls=["/a"])
    for include in (("/a",), ()):
        report = await mirror(site.url, output=out, rate_limit=0, format="html", include_path=include)
    assert report.successful == 2
    assert site.count("/i.png") == 1
    assert site.count("/x.html") == 0


@pytest.mark.parametrize("change", ["text", "moved"])
async def test_what_a_page_no_longer_needs_is_gone_at_once(site: Site, out: Path, change: str) -> None:
    """A page by sitemap has lost its picture: that is told in the run that has found it out, and not in the next."""
    site.html_page("/a", "A", '<p>a <img src="/both.png"></p>', etag='"1"')
    site.html_page("/b", "B", '<p>b <img src="/only.png"> <img src="/both.png"> <a href="/c">c</a></p>', etag='"1"')
    for path in ("/only.png", "/both.png"):
        site.page(path, b"\x89PNG", type="image/png")
    site.sitemap(urls=["/a", "/b", "/only.png"])  # which once was listed itself
    await mirror(site.url, output=out, rate_limit=0, format="html")
    site.sitemap(urls=["/a", "/b"])
    if change == "moved":
        site.redirect("/b", "/a")
    else:
        site.html_page("/b", "B", '<p>b <img src="/both.png"></p>', etag='"2"')
    copy = Copy(out / f"127.0.0.1_{site.port}")
    for _ in range(2):
        report = await mirror(site.url, output=out, rate_limit=0, format="html", update=True)
        assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/c", "/only.png"]
        assert report.skipped == 0
        assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["html", "both"])
async def test_a_part_of_a_site_comes_with_what_its_pages_need(site: Site, out: Path, format: str) -> None:
    """Styles and pictures lie elsewhere on most sites: without them the part does not look right. Pages stay out."""
    needs = '<link rel="stylesheet" href="/static/s.css"><img src="/moved.png">'
    site.html_page("/docs/", "Docs", f'{needs}<a href="/docs/a">a</a> <a href="/other">o</a>')
    site.html_page("/docs/a", "A", f'{needs}<a href="/static/only-linked.png">picture</a>')
    site.html_page("/other", "Other", '<img src="/other.png">')
    site.page("/static/s.css", "@font-face { src: url(f.woff2) }", type="text/css")
    site.page("/static/f.woff2", b"wOF2", type="font/woff2")
    site.redirect("/moved.png", "/static/i.png")
    for path in ("/static/i.png", "/static/only-linked.png", "/other.png"):
        site.page(path, b"\x89PNG", type="image/png")
    site.sitemap(urls=["/docs/", "/docs/a", "/other", "/static/only-linked.png"])
    copy = Copy(out / f"127.0.0.1_{site.port}")
    for update in (False, False, True):
        await mirror(f"{site.url}/docs/", output=out, rate_limit=0, format=format, update=update)
        assert {file for file in copy.files if not file.endswith(".md")} == {
            "docs/index.html",
            "docs/a/index.html",
            "static/s.css",
            "static/f.woff2",
            "static/i.png",
        }
        assert 'href="../static/s.css"' in copy.text("docs/index.html")
        assert verify(copy.folder).status is RunStatus.OK
    assert (site.count("/static/s.css"), site.count("/other"), site.count("/other.png")) == (1, 0, 0)


async def test_globs_count_for_what_a_part_of_a_site_needs(site: Site, out: Path) -> None:
    """Who says which paths to take means files, too."""
    site.html_page("/docs/", "Docs", '<link rel="stylesheet" href="/static/s.css">')
    site.page("/static/s.css", "p { color: red }", type="text/css")
    site.sitemap(urls=["/docs/"])
    report = await mirror(f"{site.url}/docs/", output=out, rate_limit=0, format="html", exclude_path=["/static/*"])
    assert (report.successful, site.count("/static/s.css")) == (1, 0)


@pytest.mark.parametrize("format", ["html", "both"])
@pytest.mark.parametrize("update", [False, True])
async def test_what_a_page_that_comes_back_needs_is_asked_for(
    site: Site, out: Path, format: str, *, update: bool
) -> None:
    """The page is as it was, so its links are not read again; its picture had failed, and was gone with it."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.html_page("/b", "B", '<p>b <img src="/i.png"></p>', etag='"1"')
    copy = Copy(out / f"127.0.0.1_{site.port}")
    for listed in (["/a", "/b"], ["/a"]):
        site.sitemap(urls=listed)
        await mirror(site.url, output=out, rate_limit=0, format=format, update=True)
    assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/b", "/i.png"]
    site.sitemap(urls=["/a", "/b"])
    site.page("/i.png", b"\x89PNG", type="image/png")
    report = await mirror(site.url, output=out, rate_limit=0, format=format, update=update)
    assert (report.status, report.successful, copy.manifest["gone"]) == ("ok", 3, [])
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("format", ["html", "both"])
async def test_what_a_copy_leads_to_for_now_keeps_what_it_needs(site: Site, out: Path, format: str) -> None:
    """The copy stays, and so does the page that its site shows instead, with its picture, as long as it does so."""
    for path in ("/a", "/b"):
        site.html_page(path, path, f"<p>{path}</p>", etag='"1"')
    site.sitemap(urls=["/a", "/b"])
    site.redirect("/there", "/notice")
    site.html_page("/notice", "Notice", '<p>n <img src="/i.png"></p>', etag='"1"')
    site.page("/i.png", b"\x89PNG", type="image/png")
    copy = Copy(out / f"127.0.0.1_{site.port}")
    await mirror(site.url, output=out, rate_limit=0, format=format)
    site.redirect("/b", "/there", 302)
    for listed in (["/a", "/b"], ["/a", "/b"], ["/a"], ["/a", "/b"]):
        site.sitemap(urls=listed)
        await mirror(site.url, output=out, rate_limit=0, format=format, update=True)
        there = ["/a", "/b", "/i.png", "/notice"] if "/b" in listed else ["/a"]
        assert sorted(path_of(row["url"]) for row in copy.manifest["pages"]) == there
        assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("name", ["/i.png", "/moved.png", "/moved-twice.png"])
@pytest.mark.parametrize("update", [False, True])
async def test_a_picture_that_was_gone_comes_back_as_it_is_now(
    site: Site, out: Path, name: str, *, update: bool
) -> None:
    """Its turn has passed when the page is read that needs it again, by whatever name; a page that is new needs it."""
    needs = f'<p><img src="{name}"></p>'
    site.redirect("/moved-twice.png", "/moved.png")
    site.redirect("/moved.png", "/i.png")
    site.page("/i.png", b"\x89PNG 1", type="image/png", etag='"1"')
    site.page("/last.png", b"\x89PNG", type="image/png")
    site.html_page("/a", "A", needs, etag='"1"')
    site.html_page("/b", "B", '<p><img src="/last.png"></p>', etag='"1"')
    site.sitemap(urls=["/a", "/b"])
    copy = Copy(out / f"127.0.0.1_{site.port}")
    await mirror(site.url, output=out, rate_limit=0, format="html")
    site.html_page("/a", "A", "<p>a</p>", etag='"2"')
    await mirror(site.url, output=out, rate_limit=0, format="html", update=True)
    assert "/i.png" in [path_of(row["url"]) for row in copy.manifest["gone"]]
    site.page("/i.png", b"\x89PNG 2", type="image/png", etag='"2"')
    site.html_page("/a" if update else "/new", "New", needs, etag='"3"')
    site.sitemap(urls=["/a", "/b"] if update else ["/a", "/b", "/new"])
    report = await mirror(site.url, output=out, rate_limit=0, format="html", update=update)
    assert (report.status, copy.manifest["gone"]) == ("ok", [])
    if update:
        assert (copy.folder / "i.png").read_bytes() == b"\x89PNG 2"
    assert verify(copy.folder).status is RunStatus.OK


async def test_what_never_was_a_page_and_is_linked_since_it_left_the_sitemap_is_told_as_such(
    site: Site, run: Crawl, copy: Copy
) -> None:
    """It is a link that is not followed, as in a new copy, also when the page that has the link is not read again."""
    site.html_page("/", "Home", "<p>home</p>", etag="1")
    site.sitemap(urls=["/", "/missing"])
    await run(discover="sitemap")
    site.html_page("/", "Home", link("/missing"), etag="2")
    site.sitemap(urls=["/"])
    for _ in range(2):
        await run(discover="sitemap", update=True)
        assert [path_of(row["url"]) for row in copy.manifest["skips"]] == ["/missing"]
        assert copy.manifest["gone"] == []


async def test_what_has_left_the_sitemap_and_is_led_to_no_more_is_gone_at_once(
    site: Site, run: Crawl, copy: Copy
) -> None:
    """A page links to it, which was read anew in the same update: that made it stay for one run more."""
    site.html_page("/a", "A", "<p>a</p>", etag="1")
    site.html_page("/b", "B", "<p>b</p>", etag="1")
    site.redirect("/c", "/b")
    site.sitemap(urls=["/a", "/b", "/c"])
    await run(discover="sitemap")
    site.sitemap(urls=["/a", "/c"])
    await run(discover="sitemap", update=True)
    assert copy.manifest["gone"] == []
    site.html_page("/a", "A", link("/b"), etag="2")
    site.html_page("/c", "C", "<p>c</p>", etag="1")
    for _ in range(2):
        await run(discover="sitemap", update=True)
        assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/b"]
