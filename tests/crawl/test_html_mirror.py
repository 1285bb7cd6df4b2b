"""Pages and assets on disk: paths, links between them, and what is never written."""

from __future__ import annotations

import gzip
import os
import re
import sys
import threading
import time
from hashlib import md5
from pathlib import Path

import psutil
import pytest

from sitemirror import verify
from tests.conftest import StartCli
from tests.crawl.conftest import Copy, Crawl, link
from tests.site import Site, faults


def _h(text: str) -> str:
    return md5(text.encode()).hexdigest()[:8]


async def test_every_kind_of_url_has_its_file(site: Site, run: Crawl, copy: Copy) -> None:
    """The path map with `.html`, and assets under their own names."""
    pages = {
        "/a": "a/index.html",
        "/b/": "b/index.html",
        "/c.html": "c/index.html",
        "/d/index.php": "d/index.html",
        "/v1.2": "v1.2/index.html",
        "/search?q=test&page=2": f"search__q_{_h('q=test&page=2')}.html",
        "/b/?x=1": f"b/index__q_{_h('x=1')}.html",
        "/?x=1": f"index__q_{_h('x=1')}.html",
        "/_manifest.json": "__manifest.json/index.html",
    }
    assets = {
        "/logo.png": "logo.png",
        "/s.css?v=3": f"s__q_{_h('v=3')}.css",
        "/deep/er/x.tar.gz": "deep/er/x.tar.gz",
        "/mirror-index.json": "_mirror-index.json",
        "/data": "data",
    }
    site.html_page("/", "Home", link(*pages, *assets))
    for path in pages:
        site.html_page(path, path, f"<p>{path}</p>")
    for path in assets:
        site.page(path, path, type="text/css" if "css" in path else "application/octet-stream")
    await run()
    assert set(copy.files) == {"index.html", *pages.values(), *assets.values()}
    assert copy.files["logo.png"] == b"/logo.png"
    for path, file in (pages | assets).items():
        assert f'href="{file}"' in copy.text("index.html"), path


async def test_links_are_rewritten(site: Site, run: Crawl, copy: Copy) -> None:
    """Saved → relative, not saved → absolute, fragments kept, redirects lead to the final file, CSS too."""
    site.page(
        "/docs/guide/",
        '<title>G</title><link rel="stylesheet" href="/css/main.css?v=1">'
        '<a id="1" href="../api.html#send">a</a><a id="2" href="/missing#x">b</a><a id="3" href="#here">c</a>'
        '<a id="4" href="/old#part">d</a><a id="5" href="https://elsewhere.example/x?y=1&amp;z=2#q">e</a>'
        '<a id="6" href="mailto:a@b.org">f</a><a id="7" href=/docs/guide/#top>g</a>'
        '<img srcset="/i/1.png 1x, /i/2.png 2x" src="/i/1.png"><p style="background: url(/i/2.png)">p</p>',
    )
    site.html_page("/docs/api.html", "API", "<h2 id=send>Send</h2>")
    site.redirect("/old", "/new-place")
    site.html_page("/new-place", "New", "<h2 id=part>Part</h2>")
    site.page("/css/main.css?v=1", '@import "more.css"; p { background: url(/i/1.png) }', type="text/css")
    site.page("/css/more.css", "p { background: url('../i/gone.png') }", type="text/css")
    site.page("/i/1.png", b"1", type="image/png")
    site.page("/i/2.png", b"2", type="image/png")
    await run(f"{site.url}/docs/guide/", whole_site=True)
    text = copy.text("docs/guide/index.html")
    assert 'id="1" href="../api/index.html#send"' in text
    assert f'id="2" href="{site.url}/missing#x"' in text
    assert 'id="3" href="#here"' in text
    assert 'id="4" href="../../new-place/index.html#part"' in text
    assert 'id="5" href="https://elsewhere.example/x?y=1&amp;z=2#q"' in text
    assert 'id="6" href="mailto:a@b.org"' in text
    assert 'id="7" href=#top>' in text
    assert "../../i/1.png 1x, ../../i/2.png 2x" in text
    assert "url(../../i/2.png)" in text
    css = f"css/main__q_{_h('v=1')}.css"
    assert f'href="../../{css}"' in text
    assert "more.css" in copy.text(css)
    assert "url(../i/1.png)" in copy.text(css)
    assert f"{site.url}/i/gone.png" in copy.text("css/more.css")


async def test_no_post_process_keeps_bytes_as_received(site: Site, run: Crawl, copy: Copy) -> None:
    """Every byte of page and stylesheet, odd ones too; a later run with rewriting makes the links local."""
    page = b'<html><body>\r\n<a  HREF="/a?x=1">caf\xe9</a><img src=/i.png></body>\x00'
    css = b"p{background:url(/i.png)}\r\n"
    site.page("/", page, type="text/html; charset=iso-8859-1")
    site.html_page("/a?x=1", "A", '<link rel=stylesheet href="/s.css">')
    site.page("/s.css", css, type="text/css")
    site.page("/i.png", b"i", type="image/png")
    await run(post_process=False)
    assert copy.files["index.html"] == page
    assert copy.files["s.css"] == css
    assert copy.index["meta"]["args"]["post_process"] is False
    await run()
    assert f"a__q_{_h('x=1')}.html".encode() in copy.files["index.html"]
    assert b"caf\xe9" in copy.files["index.html"]
    assert b"url(i.png)" in copy.files["s.css"]


@pytest.mark.parametrize("again", ["update", "re_download_all"])
@pytest.mark.parametrize("format", ["html", "both"])
@pytest.mark.parametrize("state", ["kept", "lost"])
async def test_no_post_process_restores_received_bytes(
    site: Site, run: Crawl, copy: Copy, format: str, again: str, state: str
) -> None:
    """What is sent again is kept as received, though its content is that of a copy whose links were made local; that
    is no change of the page, and a later run may make them local once more."""
    sent = {"index.html": b'<a href="/a">a</a><link rel=stylesheet href=/s.css>', "s.css": b"p{background:url(/i.png)}"}
    site.page("/", sent["index.html"])
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/s.css", sent["s.css"], type="text/css")
    site.page("/i.png", b"i", type="image/png")
    await run(format=format)
    local = copy.files
    assert all(local[name] != data for name, data in sent.items())
    if state == "lost":
        (copy.folder / "_state.sqlite3").unlink()

    report = await run(format=format, post_process=False, **{again: True})

    assert {name: copy.files[name] for name in sent} == sent
    assert report.new == 0
    assert state == "lost" or report.changed == 0
    assert verify(copy.folder).problems == ()
    await run(format=format)
    assert copy.files == local


async def test_links_to_a_page_saved_later_become_local(site: Site, run: Crawl, copy: Copy) -> None:
    """First the link leads to the site, then to the file; one to a page that is never saved stays."""
    site.html_page("/", "Home", link("/late#frag", "/never"))
    site.html_page("/late", "Late", link("/"))
    site.fault("/late", faults.status(500))
    report = await run()
    assert report.status == "partial"
    assert f'href="{site.url}/late#frag"' in copy.text("index.html")
    site.heal("/late")
    await run()
    assert 'href="late/index.html#frag"' in copy.text("index.html")
    assert f'href="{site.url}/never"' in copy.text("index.html")
    assert 'href="../index.html"' in copy.text("late/index.html")


async def test_links_with_session_ids_become_local_later(site: Site, run: Crawl, copy: Copy) -> None:
    """The page was saved without the session id, after the page with the link; CSS as well."""
    ids = "0123456789abcdef0123"
    links = link(f"/late?PHPSESSID={ids}#part", f"/late;jsessionid={ids}", f"/never?sid={ids}&x=1")
    site.html_page("/", "Home", f'{links}<link rel="stylesheet" href="/s.css?PHPSESSID={ids}">')
    site.page("/s.css", f"p {{ background: url(/i.png?sid={ids}) }}", type="text/css")
    site.page("/i.png", b"i", type="image/png")
    site.html_page("/late", "Late", link("/"))
    for path in ("/late", "/i.png"):
        site.fault(path, faults.status(500))
    await run()
    assert f'href="{site.url}/late?PHPSESSID={ids}#part"' in copy.text("index.html")
    for path in ("/late", "/i.png"):
        site.heal(path)
    await run()
    assert 'href="late/index.html#part"' in copy.text("index.html")
    assert 'href="late/index.html"' in copy.text("index.html")
    assert "url(i.png)" in copy.text("s.css")
    assert f'href="{site.url}/never?sid={ids}&amp;x=1"' in copy.text("index.html").replace("&x", "&amp;x")


async def test_assets_are_stored_decoded(site: Site, run: Crawl, copy: Copy) -> None:
    """Content-Encoding is decoded on disk; a file that is itself gzip stays one."""
    packed = b"\x1f\x8b\x08 not really"
    site.html_page(
        "/", "Home", '<img src="/a.svg"><a href="/b.tar.gz">b</a><script src="/c.js"></script>', encoding="gzip"
    )
    site.page("/a.svg", "<svg/>" * 100, type="image/svg+xml", encoding="gzip")
    site.page("/c.js", "let a = 1;" * 100, type="text/javascript", encoding="br")
    site.page("/b.tar.gz", packed, type="application/gzip")
    await run()
    assert copy.files["a.svg"] == b"<svg/>" * 100
    assert copy.files["c.js"] == b"let a = 1;" * 100
    assert copy.files["b.tar.gz"] == packed
    assert "<title>Home</title>" in copy.text("index.html")


async def test_gzip_files_stay_gzip_files(site: Site, run: Crawl, copy: Copy) -> None:
    """Whether a server labels `a.tar.gz` as encoded or encodes it once more."""
    packed = gzip.compress(b"many files " * 1000)
    for path, body, type, encoding in (
        ("/said.tar.gz", packed, "application/x-tar", "x-gzip"),
        ("/said.tgz", packed, "application/x-gzip", "gzip"),
        ("/twice.tar.gz", gzip.compress(packed), "application/gzip", "gzip"),
        ("/empty.gz", gzip.compress(b"", mtime=0), "text/plain", "gzip"),
        ("/unnamed.GZ", packed, "", "gzip"),
        ("/plain.txt", packed, "text/plain", "gzip"),
        ("/page.gz", gzip.compress(b"<title>Page</title><p>Text"), "text/html", "gzip"),
    ):
        site.page(path, body, type=type, headers={"Content-Encoding": encoding})
        site.fault(path, faults.chunked(7))
    names = ("said.tar.gz", "said.tgz", "twice.tar.gz", "unnamed.GZ")
    site.html_page("/", "Home", link(*(f"/{name}" for name in (*names, "empty.gz", "plain.txt", "page.gz"))))
    await run()
    assert {name: copy.files[name] for name in names} == dict.fromkeys(names, packed)
    assert copy.files["empty.gz"] == gzip.compress(b"", mtime=0)
    assert copy.files["plain.txt"] == b"many files " * 1000
    assert copy.files["page.gz/index.html"].startswith(b"<title>Page")


async def test_media_type_needs_more_than_the_first_packet(site: Site, run: Crawl, copy: Copy) -> None:
    """A body without a type is sniffed from its beginning, however few bytes arrive first."""
    page = "<!doctype html><title>Page</title><h1>Page</h1><p>Some text.</p>"
    site.page("/", page + link("/a"), type="")
    site.page("/a", page + link("/logo"), type="")
    site.page("/logo", b"\x89PNG\r\n\x1a\n" + bytes(100), type="text/html")
    site.fault("/", faults.ok(), faults.drip(200))  # HEAD comes first.
    for path in ("/a", "/logo"):
        site.fault(path, faults.drip(200))
    await run()
    assert set(copy.files) == {"index.html", "a/index.html", "logo"}


async def test_too_large_assets_are_skipped(site: Site, run: Crawl, copy: Copy) -> None:
    """By header, by count or once decoded: not saved but reported; a larger limit fetches them."""
    names = ("/announced.bin", "/unannounced.bin", "/bomb.bin")
    site.html_page("/", "Home", link(*names))
    for name in names:
        site.page(name, b"x", type="application/octet-stream")
    site.fault(names[0], faults.huge(3_000_000))
    site.fault(names[1], faults.huge_unannounced(3_000_000))
    site.fault(names[2], faults.bomb(3_000_000))
    await run(max_file_size=1)
    assert list(copy.files) == ["index.html"]
    assert {path: detail for path, (_, detail) in copy.skipped.items()} == dict.fromkeys(names, "exceeds size limit")
    await run(max_file_size=5)
    assert [len(copy.files[name[1:]]) for name in names] == [3_000_000] * 3
    assert copy.skipped == {}
    assert not list((copy.folder / "_skipped").glob("*"))


async def test_truncated_asset_leaves_no_file(site: Site, run: Crawl, copy: Copy) -> None:
    """Half a picture is a failure; the next run fetches all of it."""
    site.html_page("/", "Home", '<img src="/i.png">')
    site.page("/i.png", b"i" * 100_000, type="image/png")
    site.fault("/i.png", faults.partial())
    report = await run()
    assert (report.status, list(copy.files)) == ("partial", ["index.html"])
    assert [(row["stage"], row["url"]) for row in copy.index["errors"]] == [("asset-download", f"{site.url}/i.png")]
    assert not list(copy.folder.rglob("*.tmp"))
    site.heal("/i.png")
    assert (await run()).status == "ok"
    assert copy.files["i.png"] == b"i" * 100_000


async def test_private_addresses_are_refused(site: Site, run: Crawl, copy: Copy) -> None:
    """Even with --any-domain a page cannot send us to a private network that we did not start on."""
    site.html_page("/", "Home", link("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/"))
    report = await run(same_domain=False, timeout=5)
    assert report.successful == 1
    told = [row["url"] for row in (*copy.index["errors"], *copy.index["skipped_urls"])]
    assert sorted(told) == ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/"]


@pytest.mark.parametrize("concurrency", [1, 6])
async def test_file_where_a_folder_is_needed(site: Site, run: Crawl, copy: Copy, concurrency: int) -> None:
    """`/data` is a file and `/data/x` a page below it: the page has its plain name, the file one with a hash."""
    site.html_page("/", "Home", link("/data/x", "/data/y", "/data"))
    site.page("/data", b"{}", type="application/json")
    site.html_page("/data/x", "X", link("/data"))
    site.html_page("/data/y", "Y", link("/data/x"))
    site.fault("/data", faults.slow(0.1 if concurrency > 1 else 0))
    await run(concurrency=concurrency)
    assert len(copy.files) == 4
    where = {path: page["path"] for page in copy.manifest["pages"] for path in [page["url"].split("/", 3)[3]]}
    for path, file in where.items():
        assert f'href="{file}"' in copy.text("index.html") or not path
    assert (where["data/x"], where["data/y"]) == ("data/x/index.html", "data/y/index.html")
    assert copy.files[where["data"]] == b"{}"
    assert re.fullmatch("data_[0-9a-f]{8}", where["data"])
    assert copy.text(where["data/x"]).count(f'href="../../{where["data"]}"') == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="measures memory as Linux counts it")
def test_large_asset_is_streamed_to_disk(site: Site, start_cli: StartCli, out: Path) -> None:
    """Memory grows by far less than the asset's 30 MB."""
    site.html_page("/", "Home", link("/small.bin", "/big.bin"))
    site.page("/small.bin", b"x" * 1000, type="application/octet-stream")
    site.page("/big.bin", b"", type="application/octet-stream")
    gate = threading.Event()
    site.fault("/big.bin", faults.held(gate, faults.huge(30 * 1024 * 1024)))
    process = start_cli("crawl", site.url, "--output", out, "--rate-limit", 0, "--max-file-size", 50, "--quiet")
    deadline = time.monotonic() + 20
    while not site.count("/big.bin") and time.monotonic() < deadline:
        time.sleep(0.01)
    program = psutil.Process(process.pid)
    before = peak = program.memory_info().rss
    gate.set()
    while process.poll() is None and time.monotonic() < deadline:
        try:
            peak = max(peak, program.memory_info().rss)
        except psutil.Error:
            break
        time.sleep(0.002)
    assert process.wait(20) == 0
    assert (out / f"127.0.0.1_{site.port}" / "big.bin").stat().st_size == 30 * 1024 * 1024
    assert peak - before < 12 * 1024 * 1024


async def test_files_of_a_batch_are_relinked_independently(site: Site, run: Crawl, copy: Copy) -> None:
    """Files are rewritten in batches; the links of one do not affect the others."""
    pages = [f"/p{number}" for number in range(12)]
    site.html_page("/", "Home", link(*pages))
    site.html_page("/search", "Search", "<p>search</p>")
    for path in pages:
        # A crawl does not follow this kind of link, so no page has to do with it but the one that has another.
        other = link("/search") if path == "/p0" else ""
        site.page(path, f'<title>{path}</title><link rel="search" href="/search"><p>{path}</p>{other}')
    await run()
    local = [path for path in pages if f'href="{site.url}/search"' not in copy.text(f"{path[1:]}/index.html")]
    assert local == ["/p0"]


async def test_file_of_unknown_size_is_relinked(site: Site, run: Crawl, copy: Copy) -> None:
    """The state is rebuilt from a manifest with pages that the older mirror index lacks."""
    site.html_page("/", "Home", link("/a", "/b", "/c"))
    for name in "abc":
        site.html_page(f"/{name}", name, "<p>without links</p>")
    await run(max_pages=2)
    older = (copy.folder / "mirror-index.json").read_bytes()
    await run()
    whole = copy.files
    (copy.folder / "mirror-index.json").write_bytes(older)
    for part in copy.folder.glob("_state.sqlite3*"):
        part.unlink()
    report = await run()
    assert (report.status, report.failed) == ("ok", 0)
    assert copy.files == whole


async def test_contents_separate_pages_from_assets(site: Site, run: Crawl, copy: Copy) -> None:
    """Assets are saved, but are no pages."""
    site.html_page("/", "Home", '<a href="/a">a</a><img src="/i.png">')
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/i.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", type="image/png")
    await run()
    head = (copy.folder / "_index.md").read_text(encoding="utf-8")
    assert "- Pages: 2 and 1 other file, of 3 (failed: 0, skipped: 0, not reached: 0)\n" in head
