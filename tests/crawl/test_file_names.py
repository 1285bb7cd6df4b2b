"""Paths that are a file to one page and a folder to another, and extensions of assets."""

from __future__ import annotations

import pytest

from tests.crawl.conftest import Copy, Crawl
from tests.site import Site, faults


async def test_folder_needed_where_a_file_is_in_flight(site: Site, run: Crawl, copy: Copy) -> None:
    """/data trickles in while /data/x arrives: both are saved, under their own names."""
    site.html_page("/", "Home", '<img src="/data"><a href="/data/x">x</a>')
    site.page("/data", b"\x00" * 4000, type="application/octet-stream")
    site.fault("/data", faults.drip(4000))
    site.html_page("/data/x", "X", "<p>x</p>")
    report = await run(concurrency=4)
    assert report.status == "ok"
    assert {path.partition("/")[0].partition("_")[0] for path in copy.files} >= {"data", "index.html"}
    assert sum(len(data) == 4000 for data in copy.files.values()) == 1


@pytest.mark.parametrize("format", ["html", "markdown"])
async def test_page_below_index_html_fetched_first(site: Site, run: Crawl, format: str) -> None:
    """/x/index.html/deep makes a folder where /x needs a file: both are saved."""
    site.html_page("/", "Home", '<a href="/x/index.html/deep">deep</a><a href="/late">late</a>')
    site.html_page("/x/index.html/deep", "Deep", "<p>deep</p>")
    site.html_page("/late", "Late", '<a href="/x">x</a>')
    site.html_page("/x", "X", "<p>x</p>")
    report = await run(format=format)
    assert (report.status, report.successful) == ("ok", 4)


async def test_stylesheets_and_svg_files_get_an_extension(site: Site, run: Crawl, copy: Copy) -> None:
    """Browsers recognise local files by it; the names survive updates and a lost state."""
    site.page(
        "/",
        '<title>Home</title><link rel="stylesheet" href="/css2?family=Inter"><link rel="stylesheet" href="/load.php">'
        '<img src="/badge/passing"><img src="/photo">',
    )
    site.page("/css2?family=Inter", "p { background: url(/badge/passing) }", type="text/css; charset=utf-8")
    site.page("/load.php", "p { color: red }", type="text/css")
    site.page("/badge/passing", "<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml")
    site.page("/photo", b"\x89PNG\r\n\x1a\n", type="image/png")
    await run()
    sheet = next(name for name in copy.files if name.startswith("css2__q_"))
    assert set(copy.files) == {"index.html", sheet, "load.php.css", "badge/passing.svg", "photo"}
    assert sheet.endswith(".css")
    assert "url(badge/passing.svg)" in copy.text(sheet)
    assert f'href="{sheet}"' in copy.text("index.html")
    files = copy.files
    for part in copy.folder.glob("_state.sqlite3*"):
        part.unlink()
    report = await run(update=True)
    assert copy.files == files
    assert not [warning for warning in report.warnings if "collision" in warning]


async def test_files_with_an_added_extension_are_found_after_state_loss(site: Site, run: Crawl, copy: Copy) -> None:
    """With only files and `_processed.txt` left: what may have links is requested once, and replaces its file."""
    site.page("/", '<title>Home</title><link rel="stylesheet" href="/css"><img src="/badge">')
    site.page("/css", "p { color: red }", type="text/css")
    site.page("/badge", "<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml")
    await run(post_process=False)
    for pattern in ("_state.sqlite3*", "*.json", "_index.md"):
        for part in copy.folder.glob(pattern):
            part.unlink()
    site.clear_log()
    await run()
    assert (site.count("/css"), site.count("/badge")) == (1, 1)
    assert set(copy.files) == {"index.html", "css.css", "badge.svg"}


async def test_published_asset_without_extension_does_not_move(site: Site, run: Crawl, copy: Copy) -> None:
    """Although its type asks for an extension now; and it is no collision."""
    site.page("/", '<title>Home</title><img src="/badge">')
    site.page("/badge", "<svg/>", type="application/octet-stream")
    await run()
    site.page("/badge", "<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml")
    report = await run(re_download_all=True)
    assert (set(copy.files), report.warnings) == ({"index.html", "badge"}, ())
    assert b"xmlns" in copy.files["badge"]


async def test_asset_that_changes_its_type_does_not_move(site: Site, run: Crawl, copy: Copy) -> None:
    """Nor is a collision reported."""
    site.page("/", '<title>Home</title><img src="/p">')
    for kind in ("image/svg+xml", "text/css", "image/png"):
        site.page("/p", f"/* {kind} */", type=kind)
        report = await run(re_download_all=True)
        assert (set(copy.files), report.warnings) == ({"index.html", "p.svg"}, ())


async def test_redirect_does_not_get_its_targets_file_after_state_loss(site: Site, run: Crawl, copy: Copy) -> None:
    """/badge redirects to /badge.svg, the path that an SVG at /badge would have."""
    site.page("/", '<title>Home</title><img src="/badge">')
    site.redirect("/badge", "/badge.svg")
    site.page("/badge.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml")
    await run()
    for part in (*copy.folder.glob("_state.sqlite3*"), *copy.folder.glob("*.json")):
        part.unlink()
    report = await run()
    assert "badge.svg" in copy.files
    assert not [warning for warning in report.warnings if "collision" in warning]


@pytest.mark.parametrize("format", ["html", "both"])
@pytest.mark.parametrize("charset", ["windows-1252", "shift_jis", "utf-8"])
async def test_queries_are_sent_in_the_encoding_of_the_page(
    site: Site, run: Crawl, copy: Copy, charset: str, format: str
) -> None:
    """A query uses the page's encoding, as in browsers, a path UTF-8; links lead to the saved files."""
    word = {"windows-1252": "é€", "shift_jis": "表ー"}.get(charset, "é語")
    query = "".join(f"%{byte:02X}" for byte in word.encode(charset)).replace("%5B", "[").replace("%5C", "\\")
    text = f'<title>Home</title><p><a href="/{word}?q={word}&amp;x=1#{word}">One</a> <img src="i?{word}"></p>'
    site.page("/", text, type=f"text/html; charset={charset}")
    path = "".join(f"%{byte:02X}" for byte in word.encode())
    site.html_page(f"/{path}?q={query}&x=1", "One", "<p>One</p>")
    site.page(f"/i?{query}", b"\x89PNG\r\n\x1a\n", type="image/png")

    report = await run(format=format)

    assert (report.status, report.successful) == ("ok", 3), report
    assert site.count(f"/{path}?q={query}&x=1") == 1
    assert site.count(f"/i?{query}") == 1
    page = (copy.folder / "index.html").read_bytes().decode(charset)
    assert "http" not in page
    if format == "both":
        assert f"{site.url}/{path}?q={query}&x=1#" in copy.text("index.md").replace("\\\\", "\\")
