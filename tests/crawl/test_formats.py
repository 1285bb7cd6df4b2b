"""Sources and formats combine freely: each command with the other's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl, mirror, verify
from sitemirror.publish.mirror_index_check import validate_index
from tests.crawl.conftest import Copy, Crawl, link, timeless
from tests.site import Site


def _site(site: Site) -> None:
    site.html_page("/", "Home", link("/a", "/b") + '<img src="/i.png">')
    site.html_page("/a", "A", link("/"))
    site.html_page("/b", "B", "<p>b</p>")
    site.html_page("/orphan", "Orphan", link("/a"))
    site.page("/i.png", b"i", type="image/png")
    site.sitemap(urls=["/", "/a", "/b", "/orphan"])


async def test_crawl_to_markdown_fetches_no_assets(site: Site, run: Crawl, copy: Copy) -> None:
    """Links are followed, pages are Markdown with front matter, and pictures stay on the site."""
    _site(site)
    report = await run(format="markdown")
    assert (report.status, report.successful) == ("ok", 3)
    assert sorted(copy.files) == ["a/index.md", "b/index.md", "index.md"]
    assert site.count("/i.png") == 0
    assert 'title: "Home"' in copy.text("index.md") or "title: Home" in copy.text("index.md")
    assert f"{site.url}/a" in copy.text("index.md")
    assert copy.depths == {"/": 0, "/a": 1, "/b": 1}


async def test_local_markdown_links_ignore_session_ids(site: Site, run: Crawl, copy: Copy) -> None:
    """A link with a session id leads to the file of the page, which was saved without it."""
    site.html_page("/", "Home", link("/a?PHPSESSID=0123456789abcdef0123"))
    site.html_page("/a", "A", link("/;jsessionid=0123456789abcdef0123"))
    await run(format="markdown", links="local")
    assert "(a/index.md)" in copy.text("index.md")
    assert "(../index.md)" in copy.text("a/index.md")


async def test_both_formats_take_one_request(site: Site, run: Crawl, copy: Copy) -> None:
    """Markdown and HTML of each page, one request each; the manifest names both files."""
    _site(site)
    await run(format="both")
    assert sorted(copy.files) == [
        "a/index.html", "a/index.md", "b/index.html", "b/index.md", "i.png", "index.html", "index.md",
    ]  # fmt: skip
    assert [site.count(path) for path in ("/a", "/b", "/i.png")] == [1, 1, 1]
    pages = {
        page["url"].removeprefix(site.url): (page["path"], page.get("html_path")) for page in copy.manifest["pages"]
    }
    assert pages == {
        "/": ("index.md", "index.html"),
        "/a": ("a/index.md", "a/index.html"),
        "/b": ("b/index.md", "b/index.html"),
        "/i.png": ("i.png", None),
    }
    assert 'href="a/index.html"' in copy.text("index.html")


async def test_relinked_stylesheet_is_not_changed(site: Site, run: Crawl, copy: Copy) -> None:
    """Its links were made local, so its bytes differ from those received."""
    site.html_page("/", "Home", '<link rel="stylesheet" href="/s.css"><p>home</p>')
    site.page("/s.css", "body { background: url(/bg.png) }", type="text/css")
    site.page("/bg.png", b"\x89PNG", type="image/png")
    await run(format="both")
    for _ in range(2):
        assert (await run(format="both", update=True)).changed == 0
    assert "url(bg.png)" in copy.text("s.css")


@pytest.mark.parametrize("order", [("/p", "/p/"), ("/p/", "/p")])
async def test_both_formats_of_a_colliding_page_move_together(
    site: Site, run: Crawl, copy: Copy, order: tuple[str, str]
) -> None:
    """Two URLs for one path: Markdown and HTML get the same new name, and links follow."""
    site.html_page("/", "Home", link(*order))
    site.html_page("/p", "Bare", "<p>bare</p>")
    site.html_page("/p/", "Slash", "<p>slash</p>")
    await run(format="both")
    pages = {page["url"].removeprefix(site.url): (page["path"], page["html_path"]) for page in copy.manifest["pages"]}
    assert pages["/p"] == ("p/index.md", "p/index.html")
    moved, moved_html = pages["/p/"]
    assert moved.startswith("p_")
    assert moved_html == moved.removesuffix(".md") + ".html"
    assert "slash" in copy.text(moved)
    assert "slash" in copy.text(moved_html)
    assert f'href="{moved_html}"' in copy.text("index.html")
    assert len(copy.files) == 6


async def test_both_formats_of_a_duplicate_are_saved_once(site: Site, run: Crawl, copy: Copy) -> None:
    """Neither Markdown nor HTML exists twice, and links lead to the one page."""
    site.html_page("/", "Home", link("/p/", "/p"))
    site.html_page("/p", "P", "<p>the same</p>")
    site.html_page("/p/", "P", "<p>the same</p>")
    await run(format="both")
    assert sorted(copy.files) == ["index.html", "index.md", "p/index.html", "p/index.md"]
    assert copy.text("index.html").count('href="p/index.html"') == 2


async def test_mirror_to_html_saves_listed_pages_with_assets(site: Site, out: Path, copy: Copy) -> None:
    """Links are not followed, but lead to saved files."""
    _site(site)
    site.html_page("/b", "B", link("/unlisted"))
    site.html_page("/unlisted", "U", "<p>u</p>")
    report = await mirror(site.url, output=out, rate_limit=0, format="html")
    assert report.status == "ok"
    assert sorted(copy.files) == ["a/index.html", "b/index.html", "i.png", "index.html", "orphan/index.html"]
    assert 'href="../a/index.html"' in copy.text("orphan/index.html")
    assert f'href="{site.url}/unlisted"' in copy.text("b/index.html")
    assert site.count("/unlisted") == 0
    assert not (copy.folder / "mirror-index.json").exists()


async def test_mirror_by_links_needs_no_sitemap(site: Site, out: Path, copy: Copy) -> None:
    """The links give Markdown pages."""
    _site(site)
    site.remove("/sitemap.xml")
    report = await mirror(site.url, output=out, rate_limit=0, discover="links")
    assert (report.status, report.successful) == ("ok", 3)
    assert sorted(copy.files) == ["a/index.md", "b/index.md", "index.md"]


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_lost_state_of_a_mirror_by_links_reads_pages_once(site: Site, out: Path, copy: Copy, format: str) -> None:
    """The manifest says what is done, but not what pages link to: each is asked for once, and then no more."""
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "discover": "links", "format": format}
    site.html_page("/", "Home", link("/a", "/old", "/missing", "http://other.example/"), etag="h")
    site.html_page("/a", "A", link("/a/b"), etag="a")
    site.html_page("/a/b", "B", link("/"), etag="b")
    site.redirect("/old", "/a")
    await mirror(site.url, **options)
    before, manifest = copy.files, copy.manifest
    (copy.folder / "_state.sqlite3").unlink()
    site.clear_log()
    report = await mirror(site.url, **options)
    asked = sorted(seen.path for seen in site.requests if seen.method == "GET")
    assert asked == ["/", "/a", "/a/b", "/missing", "/robots.txt"]
    assert (report.failed, report.skipped, report.not_reached) == (1, 1, 0)
    assert copy.files == before
    assert timeless(copy.manifest) == timeless(manifest)
    site.clear_log()
    await mirror(site.url, **options)
    assert {seen.path for seen in site.requests if seen.method == "GET"} <= {"/", "/robots.txt", "/missing"}
    assert copy.files == before
    site.html_page("/a", "A", link("/a/new"), etag="a2")
    site.html_page("/a/new", "New", "<p>new</p>")
    await mirror(site.url, **options, update=True)
    assert [row["url"].removeprefix(site.url) for row in copy.manifest["gone"]] == ["/a/b"]
    assert sorted(page["url"].removeprefix(site.url) for page in copy.manifest["pages"]) == ["/", "/a", "/a/new"]


async def test_state_lost_midway_of_a_mirror_by_links(site: Site, out: Path, copy: Copy) -> None:
    """Known but unreached pages are fetched, saved ones once to read their links, to the requested depth."""
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "discover": "links", "link_depth": 2}
    for name in "abcdef":
        site.html_page(f"/{name}", name, link(f"/{name}/1", "/"))
        site.html_page(f"/{name}/1", f"{name} 1", link(f"/{name}/2"))
        site.html_page(f"/{name}/2", f"{name} 2", "<p>too deep</p>")
    site.html_page("/", "Home", link(*(f"/{name}" for name in "abcdef")))
    await mirror(site.url, **options, max_pages=9)
    saved = {page["url"].removeprefix(site.url) for page in copy.manifest["pages"]}
    (copy.folder / "_state.sqlite3").unlink()
    site.clear_log()
    report = await mirror(site.url, **options)
    assert (report.successful, report.not_reached, report.skipped) == (13, 0, 6)
    asked = [seen.path for seen in site.requests if seen.method == "GET"]
    assert {asked.count(path) for path in saved} == {1}
    assert {row["reason"] for row in copy.manifest["skips"]} == {"deeper than --link-depth"}


async def test_crawl_by_sitemap_saves_listed_pages(site: Site, run: Crawl, copy: Copy) -> None:
    """Orphans too, as HTML with the mirror index."""
    _site(site)
    report = await run(discover="sitemap")
    assert report.status == "ok"
    assert sorted(copy.files) == ["a/index.html", "b/index.html", "i.png", "index.html", "orphan/index.html"]
    assert list(validate_index(copy.folder / "mirror-index.json")) == []
    assert f"{site.url}/orphan" in copy.index["urls"]


async def test_index_option_writes_the_mirror_index(site: Site, out: Path, copy: Copy) -> None:
    """--index makes the Markdown mirror write the mirror index as well."""
    _site(site)
    report = await mirror(site.url, output=out, rate_limit=0, index=True)
    assert report.mirror_index is not None
    assert list(validate_index(copy.folder / "mirror-index.json")) == []
    files = {item["path"] for item in copy.index["items"] if item["type"] == "file"}
    assert files == set(copy.files) == {"index.md", "a/index.md", "b/index.md", "orphan/index.md"}
    assert next(item for item in copy.index["items"] if item["path"] == "index.md")["page_meta"]["title"] == "Home"


async def test_existing_index_is_updated_without_the_option(site: Site, out: Path, copy: Copy) -> None:
    """A mirror that has an index has a current one after every run."""
    site.html_page("/a", "A", "<p>old</p>", etag='"1"')
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    await mirror(site.url, output=out, rate_limit=0, index=True)
    site.html_page("/a", "A", "<p>a good deal newer</p>", etag='"2"')
    report = await mirror(site.url, output=out, rate_limit=0, update=True)
    assert report.mirror_index == str(copy.folder / "mirror-index.json")
    assert verify(copy.folder).problems == ()


@pytest.mark.parametrize("state", ["kept", "lost"])
async def test_index_added_to_an_existing_mirror(site: Site, out: Path, state: str) -> None:
    """What a mirror without an index put beside its folder stays there; an index made later tells of the folder alone,
    and says so. What that run itself saves is in it, from whatever host."""
    main, docs = site.url_of("example.localhost"), site.url_of("docs.example.localhost")
    for path in ("/z", "/y"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap(urls=[f"{main}/z", f"{docs}/y"])
    await mirror(main, output=out, rate_limit=0)
    site.html_page("/x", "X", "<p>x</p>")
    site.sitemap(urls=[f"{main}/z", f"{docs}/y", f"{docs}/x"])
    home, other = f"example.localhost_{site.port}", f"docs.example.localhost_{site.port}"
    if state == "lost":
        (out / home / "_state.sqlite3").unlink()
    for _ in range(2):
        report = await mirror(main, output=out, rate_limit=0, index=True)

        assert (report.status, report.successful) == ("ok", 3)
        [warning] = [text for text in report.warnings if "mirror-index.json" in text]
        assert "1 file of other hosts beside it" in warning
        index = json.loads((out / home / "mirror-index.json").read_bytes())
        assert {url: row["local_path"] for url, row in index["urls"].items()} == {
            f"{main}/z": "z/index.md",
            f"{docs}/x": f"_external/{other}/x/index.md",
        }
        files = [item["target_abs_path"] for item in index["items"] if item["type"] == "file"]
        assert [Path(file).is_file() for file in files] == [True, True]
        assert (out / other / "y" / "index.md").is_file()
        assert verify(out / home).problems == ()


@pytest.mark.parametrize("dated", [True, False])
async def test_later_runs_keep_page_requisites(site: Site, out: Path, copy: Copy, dated: bool) -> None:
    """A mirror to HTML keeps its pictures and styles, and updates them with its pages."""
    site.html_page("/a", "A", '<link rel="stylesheet" href="/s.css"><p>a</p>' + link("/not-listed"))
    site.page("/s.css", "p { background: url(i.png) }", type="text/css", etag='"1"')
    site.page("/i.png", b"old", type="image/png", etag='"1"')
    site.sitemap(urls=[("/a", "2020-01-01" if dated else None)])
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": "html"}
    for update in (False, False, True):
        report = await mirror(site.url, **options, update=update)
        assert (report.successful, report.skipped, copy.manifest["gone"]) == (3, 1, [])
    site.page("/i.png", b"new", type="image/png", etag='"2"')
    report = await mirror(site.url, **options, update=True)
    assert (report.successful, report.changed, copy.files["i.png"]) == (3, 1, b"new")


async def test_later_runs_keep_requisites_behind_redirects(site: Site, out: Path, copy: Copy) -> None:
    """A listed page that redirects needs its target's assets, and a moved style sheet its own."""
    site.redirect("/a", "/real")
    site.html_page("/real", "R", '<link rel="stylesheet" href="/s.css"><img src="/pic.png">')
    site.redirect("/s.css", "/s-1.css")
    site.page("/s-1.css", "p { background: url(i.png) }", type="text/css")
    for name in ("/pic.png", "/i.png"):
        site.page(name, b"i", type="image/png")
    site.sitemap(urls=["/a"])
    for update in (False, False, True):
        await mirror(site.url, output=out, rate_limit=0, format="html", update=update)
        assert (copy.manifest["gone"], len(copy.manifest["pages"])) == ([], 4)
    assert not verify(copy.folder).problems


@pytest.mark.parametrize("format", ["html", "both"])
async def test_page_that_becomes_a_file_gets_a_file_path(site: Site, run: Crawl, copy: Copy, format: str) -> None:
    """A page becomes a PDF and back: each time paths and links are those of a new copy."""
    site.html_page("/", "Home", link("/doc", "/two.pdf"))

    async def twice(one: str, two: str) -> None:
        for path, kind in (("/doc", one), ("/two.pdf", two)):
            if kind == "page":
                site.html_page(path, path, f"<p>A page at {path}.</p>")
            else:
                site.page(path, b"%PDF-1.4", type="application/pdf")
        await run(format=format, update=True)
        endings = ("html", "md") if format == "both" else ("html",)
        expected = {f"index.{ending}" for ending in endings}
        for path, kind in (("doc", one), ("two.pdf", two)):
            expected |= {f"{path}/index.{ending}" for ending in endings} if kind == "page" else {path}
        assert set(copy.files) == expected
        assert verify(copy.folder).problems == ()
        places = {"page": "/index.html", "file": ""}
        for place in (f"doc{places[one]}", f"two.pdf{places[two]}"):
            assert f'href="{place}"' in copy.text("index.html")

    await twice("page", "file")
    await twice("file", "page")
    await twice("page", "file")


async def test_missing_html_beside_markdown_is_fetched_again(site: Site, out: Path, copy: Copy) -> None:
    """With both formats an update restores either file, although lastmod is not newer."""
    for path in ("/a", "/b"):
        site.html_page(path, path, f"<p>{path}</p>", etag='"1"')
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2020-01-01")])
    await mirror(site.url, output=out, rate_limit=0, format="both")
    before = copy.files
    (copy.folder / "a/index.html").unlink()
    (copy.folder / "b/index.html").write_bytes(b"<p>")
    await mirror(site.url, output=out, rate_limit=0, format="both", update=True)
    assert copy.files == before


async def test_crawl_ignores_lastmod_of_an_earlier_sitemap(site: Site, out: Path, copy: Copy) -> None:
    """A crawl reads the links of such pages, so nothing is gone because they are fresh."""
    _site(site)
    site.sitemap(urls=[(path, "2020-01-01") for path in ("/", "/a", "/b")])
    options: dict[str, Any] = {"output": out, "rate_limit": 0, "format": "html", "update": True}
    await mirror(site.url, **options)
    for _ in range(2):
        report = await crawl(site.url, **options)
        assert (report.successful, copy.manifest["gone"]) == (4, [])


async def test_links_of_pages_out_of_scope_stay(site: Site, run: Crawl, copy: Copy) -> None:
    """An update with a narrower scope leaves saved pages alone, with their pictures and linked pages."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", '<img src="/i.png">' + link("/b"))
    site.html_page("/b", "B", "<p>b</p>")
    site.page("/i.png", b"i", type="image/png")
    await run()
    report = await run(update=True, exclude_path=("/a",))
    assert (report.successful, copy.manifest["gone"]) == (4, [])


def test_mirror_site_accepts_the_older_options(site: Site, tmp_path: Path) -> None:
    """`mirror-site` accepts the spellings of the tool it replaces, and its index repeats them."""
    _site(site)
    door = "import sys; from sitemirror.cli import mirror_site; sys.argv[0] = 'mirror-site'; sys.exit(mirror_site())"
    options = ["--link-depth", "1", "--same-domain", "--delay-seconds", "0.01", "--timeout", "5", "--post-process"]
    options += ["--user-agent", "Door/1.0"]
    finished = subprocess.run(
        [sys.executable, "-c", door, site.url, *options, "--re-download-all", "--concurrency", "2", "--no-hash"],
        cwd=tmp_path, capture_output=True, text=True, timeout=40, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["command"] == "crawl"
    copy = Copy(tmp_path / "output" / f"127.0.0.1_{site.port}")
    assert copy.index["meta"]["args"] == {
        "link_depth": 1, "same_domain": True, "delay_seconds": 0.01, "timeout": 5, "user_agent": "Door/1.0",
        "post_process": True, "re_download_all": True, "concurrency": 2,
    }  # fmt: skip
    assert {seen.headers["user-agent"] for seen in site.requests} == {"Door/1.0"}
    assert not any("sha256" in item for item in copy.index["items"])


@pytest.mark.parametrize("first", ["page", "other"])
async def test_both_formats_beside_a_url_below_index_html(site: Site, run: Crawl, copy: Copy, first: str) -> None:
    """`/x` needs `x/index.html` as a file and `/x/index.html/y` as a folder: both are saved, in any order."""
    pair = ["/x", "/x/index.html/y"]
    site.html_page("/", "Home", link(*(pair if first == "page" else reversed(pair))))
    for path in pair:
        site.html_page(path, path, f"<p>This is {path}</p>")
    report = await run(format="both")
    assert (report.status, report.successful) == ("ok", 3)
    pages = {page["title"]: page for page in copy.manifest["pages"]}
    for path in pair:
        for name in (pages[path]["path"], pages[path]["html_path"]):
            assert f"This is {path}".encode() in copy.files[name]
    # The URL that sorts first keeps its name, whichever came first.
    assert (pages["/x"]["path"], pages["/x"]["html_path"]) == ("x/index.md", "x/index.html")
    assert pages["/x/index.html/y"]["path"].startswith("x/index.html_")
    again = await run(format="both", update=True)
    assert (again.status, again.successful) == ("ok", 3)


@pytest.mark.parametrize("first", ["page", "asset"])
async def test_both_formats_beside_an_asset_named_index_html(site: Site, run: Crawl, copy: Copy, first: str) -> None:
    """An asset at `/a/index.html` does not overwrite the HTML of `/a`, nor the other way round."""
    picture = '<img src="/a/index.html">'
    page = link("/a")
    site.html_page("/", "Home", page + picture if first == "page" else picture + page)
    site.html_page("/a", "A", "<p>This is a</p>")
    site.page("/a/index.html", b"\x89PNG\r\n\x1a\n", type="image/png")
    report = await run(format="both")
    assert report.status == "ok"
    [found] = [page for page in copy.manifest["pages"] if page["title"] == "A"]
    assert b"This is a" in copy.files[found["path"]]
    assert b"This is a" in copy.files[found["html_path"]]
    # The URL that sorts first keeps its name, whichever came first.
    assert (found["path"], found["html_path"]) == ("a/index.md", "a/index.html")
    assert sum(data.startswith(b"\x89PNG") for data in copy.files.values()) == 1
