"""HTML of listed pages comes with the assets they need, wherever those are, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from sitemirror import mirror, verify
from sitemirror.publish.report import RunStatus
from tests.copies import path_of
from tests.crawl.conftest import Copy, Crawl, link
from tests.site import Site


async def test_wider_scope_fetches_requisites_of_saved_pages(site: Site, out: Path) -> None:
    """A picture that was out of scope is fetched by the wider run; links stay unfollowed."""
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
async def test_asset_that_is_no_longer_needed_is_gone_at_once(site: Site, out: Path, change: str) -> None:
    """The run that finds it out reports it, not the next one."""
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
async def test_requisites_outside_the_start_path_are_fetched(
    site: Site, out: Path, format: Literal["markdown", "html", "both"]
) -> None:
    """Styles and pictures are elsewhere on most sites; pages there stay out of scope."""
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


async def test_globs_apply_to_requisites(site: Site, out: Path) -> None:
    """--include and --exclude are about files, too."""
    site.html_page("/docs/", "Docs", '<link rel="stylesheet" href="/static/s.css">')
    site.page("/static/s.css", "p { color: red }", type="text/css")
    site.sitemap(urls=["/docs/"])
    report = await mirror(f"{site.url}/docs/", output=out, rate_limit=0, format="html", exclude_path=["/static/*"])
    assert (report.successful, site.count("/static/s.css")) == (1, 0)


@pytest.mark.parametrize("format", ["html", "both"])
@pytest.mark.parametrize("update", [False, True])
async def test_requisites_of_a_returning_page_are_requested(
    site: Site, out: Path, format: Literal["markdown", "html", "both"], *, update: bool
) -> None:
    """The page is unchanged, so its links are not read again; its failed picture is requested."""
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
async def test_temporary_redirect_target_keeps_its_requisites(
    site: Site, out: Path, format: Literal["markdown", "html", "both"]
) -> None:
    """The copy stays, and so does the redirect target with its picture, while the redirect lasts."""
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
async def test_gone_picture_is_refetched_when_needed_again(site: Site, out: Path, name: str, *, update: bool) -> None:
    """Its turn has passed when the page that needs it is read, under whatever URL."""
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


async def test_unlisted_skip_that_is_linked_is_an_unfollowed_link(site: Site, run: Crawl, copy: Copy) -> None:
    """As in a new copy, also when the page with the link is not read again."""
    site.html_page("/", "Home", "<p>home</p>", etag="1")
    site.sitemap(urls=["/", "/missing"])
    await run(discover="sitemap")
    site.html_page("/", "Home", link("/missing"), etag="2")
    site.sitemap(urls=["/"])
    for _ in range(2):
        await run(discover="sitemap", update=True)
        assert [path_of(row["url"]) for row in copy.manifest["skips"]] == ["/missing"]
        assert copy.manifest["gone"] == []


async def test_unlisted_and_unlinked_page_is_gone_at_once(site: Site, run: Crawl, copy: Copy) -> None:
    """The page that linked to it was updated in the same run."""
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
