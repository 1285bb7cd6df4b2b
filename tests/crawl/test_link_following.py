"""Which links are followed, how deep, and in what order."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import crawl
from tests.crawl.conftest import Copy, Crawl, asked, link
from tests.fetch.clocks import JumpingClock
from tests.site import Site, faults


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_depth_is_the_shortest_path(site: Site, run: Crawl, copy: Copy, concurrency: int) -> None:
    """A long chain and a late short cut: whichever answers first, the depth is the shortest path's."""
    site.html_page("/", "Home", link("/c1", "/late"))
    for number in range(1, 9):
        site.html_page(f"/c{number}", f"Chain {number}", link(f"/c{number + 1}"))
    site.html_page("/c9", "End", link("/deep"))
    site.html_page("/late", "Late", link("/c7"))
    site.html_page("/deep", "Deep", "<p>deep</p>")
    site.fault("/late", faults.slow(0.2))
    report = await run(concurrency=concurrency)
    assert report.status == "ok"
    assert copy.depths == {
        "/": 0, "/c1": 1, "/late": 1, "/c2": 2, "/c7": 2, "/c3": 3, "/c8": 3, "/c4": 4, "/c9": 4, "/c5": 5,
        "/deep": 5, "/c6": 6,
    }  # fmt: skip


async def test_redirect_adds_no_depth(site: Site, run: Crawl, copy: Copy) -> None:
    """Its target is as deep as the redirect, also when a page of the same level links to it directly."""
    site.html_page("/", "Home", link("/a", "/r"))
    site.html_page("/a", "A", link("/x"))
    site.redirect("/r", "/x")
    site.html_page("/x", "X", link("/y"))
    site.html_page("/y", "Y", "<p>y</p>")
    await run()
    assert copy.depths == {"/": 0, "/a": 1, "/r": 1, "/x": 1, "/y": 2}


@pytest.mark.parametrize(
    ("depth", "pages"), [(0, {"/"}), (1, {"/", "/1"}), (2, {"/", "/1", "/2"}), (-1, {"/", "/1", "/2", "/3"})]
)
async def test_link_depth_limits_the_crawl(site: Site, run: Crawl, copy: Copy, depth: int, pages: set[str]) -> None:
    """0 is the start page with its assets, each level one link more; deeper links are reported with the reason."""
    for number, path in enumerate(("/", "/1", "/2")):
        site.html_page(path, path, link(f"/{number + 1}") + f'<img src="/{number}.png">')
    site.html_page("/3", "3", '<img src="/3.png">')
    for number in range(4):
        site.page(f"/{number}.png", b"\x89PNG", type="image/png")
    await run(link_depth=depth)
    images = {f"/{0 if path == '/' else int(path[1:])}.png" for path in pages}
    assert set(asked(site)) == pages | images
    if depth >= 0:
        assert copy.skipped == {f"/{depth + 1}": ("filter-exclude", "deeper than --link-depth")}


async def test_larger_link_depth_continues_from_saved_pages(site: Site, run: Crawl, copy: Copy) -> None:
    """The second run follows links that were too deep for the first, and fetches nothing twice."""
    for number, path in enumerate(("/", "/1", "/2")):
        site.html_page(path, path, link(f"/{number + 1}"))
    site.html_page("/3", "3", "<p>end</p>")
    await run(link_depth=1)
    site.clear_log()
    report = await run(link_depth=-1)
    assert set(asked(site)) - {"/"} == {"/2", "/3"}
    assert report.successful == 4
    assert copy.skipped == {}
    assert copy.depths == {"/": 0, "/1": 1, "/2": 2, "/3": 3}


async def test_max_pages_stops_and_the_next_run_continues(site: Site, run: Crawl, copy: Copy) -> None:
    """Pages count, assets do not; the next run fetches exactly the rest."""
    paths = site.fill(12)
    site.html_page("/", "Home", link(*paths) + '<img src="/a.png"><img src="/b.png">')
    site.page("/a.png", b"a", type="image/png")
    site.page("/b.png", b"b", type="image/png")
    report = await run(max_pages=5, concurrency=4)
    assert (report.status, len([page for page in copy.manifest["pages"] if page["path"].endswith(".html")])) == (
        "partial",
        5,
    )
    assert len(copy.accounted()) == 15
    report = await run(max_pages=0, concurrency=4)
    assert (report.status, report.successful, report.not_reached) == ("ok", 15, 0)
    assert max(site.count(path) for path in paths) == 1


async def test_links_of_every_form_are_followed(site: Site, run: Crawl) -> None:
    """Every element, attribute and CSS form: each target is requested once."""
    head = """<base href="/base/"><link rel="stylesheet" href="link.css"><link rel="icon" href="icon.ico">
      <link rel="canonical" href="/canonical"><link rel="next" href="next-page">
      <style>@import "style-import.css"; p { background: url('style-url.png') }</style>"""
    body = """<a href="a-page">a</a><map name="m"><area href="area-page"></map><iframe src="iframe-page"></iframe>
      <img src="img.png" srcset="img-1x.png 1x, img-2x.png 2x"><picture><source srcset="picture.webp 2x">
      <img src="picture.png"></picture><video src="video.mp4" poster="poster.jpg"><source src="video-source.webm">
      <track src="track.vtt"></video><audio src="audio.mp3"><source src="audio-source.ogg"></audio>
      <object data="object.svg"></object><embed src="embed.svg"><p style="background: url(inline.png)">x</p>
      <script src="script.js"></script>"""
    site.page("/", f"<html><head><title>All</title>{head}</head><body>{body}</body></html>")
    site.page("/base/link.css", '@import url(css-import.css); a { background: url("css-url.png") }', type="text/css")
    site.page("/base/css-import.css", "@font-face { src: url(font.woff2) }", type="text/css")
    site.html_page("/base/a-page", "A", link("/base/frameset"))
    site.page("/base/frameset", '<frameset><frame src="frame-page"></frameset>')
    site.page("/base/frame-page", '<meta http-equiv="refresh" content="30; url=refresh-page"><p>frame</p>')
    for page in ("area-page", "iframe-page", "next-page", "refresh-page"):
        site.html_page(f"/base/{page}", page, f"<p>{page}</p>")
    site.html_page("/canonical", "Canonical", "<p>canonical</p>")
    assets = words("""icon.ico style-import.css style-url.png img.png img-1x.png img-2x.png picture.webp picture.png
      video.mp4
      poster.jpg video-source.webm track.vtt audio.mp3 audio-source.ogg object.svg embed.svg inline.png script.js
      css-url.png font.woff2""")
    for name in assets:
        site.page(f"/base/{name}", name, type="text/css" if name.endswith(".css") else "application/octet-stream")
    report = await run(concurrency=4)
    pages = words("link.css css-import.css a-page frameset frame-page area-page iframe-page next-page refresh-page")
    wanted = {f"/base/{name}" for name in (*assets, *pages)} | {"/", "/canonical"}
    assert set(asked(site)) == wanted
    assert max(site.count(path) for path in wanted - {"/"}) == 1
    assert (report.failed, report.skipped) == (0, 0)


async def test_other_schemes_are_reported_not_requested(site: Site, run: Crawl, copy: Copy) -> None:
    """mailto, javascript and file links are in the index with the format's reasons."""
    site.html_page(
        "/", "Home", link("mailto:a@example.org", "javascript:void(0)", "file:///etc/passwd", "ftp://x.org/f")
    )
    await run()
    reasons = {row["url"]: row["reason"] for row in copy.index["skipped_urls"]}
    assert reasons["mailto:a@example.org"] == reasons["ftp://x.org/f"] == "non-http(s) scheme"
    assert reasons["file:///etc/passwd"] == "file-scheme"
    assert {row["from"] for row in copy.index["skipped_urls"]} == {f"{site.url}/"}


async def test_honor_nofollow_skips_nofollow_links(site: Site, run: Crawl, copy: Copy) -> None:
    """rel=nofollow is followed by default; with --honor-nofollow only if a plain link leads there too."""
    shy = '<a rel="nofollow" href="/shy">s</a> <a rel="nofollow ugc" href="/both">b</a> <a href="/both">b</a>'
    site.html_page("/", "Home", shy)
    site.html_page("/shy", "Shy", "<p>shy</p>")
    site.html_page("/both", "Both", "<p>both</p>")
    await run(honor_nofollow=True)
    assert set(asked(site)) == {"/", "/both"}
    assert copy.skipped["/shy"][0] == "filter-exclude"
    assert "nofollow" in (copy.skipped["/shy"][1] or "")
    await run()
    assert set(asked(site)) == {"/", "/both", "/shy"}


async def test_meta_nofollow_skips_all_links_of_a_page(site: Site, run: Crawl, copy: Copy) -> None:
    """The page is saved with its assets."""
    site.html_page("/", "Home", link("/private"))
    site.page("/private", '<meta name="ROBOTS" content="noindex, NoFollow"><a href="/x">x</a><img src="/i.png">')
    site.page("/i.png", b"i", type="image/png")
    site.html_page("/x", "X", "<p>x</p>")
    await run()
    assert set(asked(site)) == {"/", "/private", "/i.png"}
    assert copy.skipped["/x"][0] == "filter-exclude"
    await run(respect_robots=False)
    assert "/x" in asked(site)


async def test_nofollow_is_kept_for_deeper_runs(site: Site, run: Crawl, copy: Copy) -> None:
    """A nofollow link that was too deep is not followed by a later, deeper run."""
    site.page("/", '<meta name="robots" content="nofollow"><a href="/x">x</a><p>home</p>')
    site.html_page("/x", "X", "<p>x</p>")
    await run(link_depth=0)
    first = copy.skipped["/x"]
    await run(link_depth=0)
    assert copy.skipped["/x"] == first
    await run()
    assert "/x" not in asked(site)
    assert "nofollow" in (copy.skipped["/x"][1] or "")


# --- robots.txt


async def test_robots_rules_are_applied(site: Site, run: Crawl, copy: Copy) -> None:
    """The longest match wins, wildcards and `$` count, our own group replaces the general one, assets obey too."""
    site.robots(
        "User-agent: *\nDisallow: /\n\nUser-agent: Sitemirror\nDisallow: /private/\nAllow: /private/open/\n"
        "Disallow: /*.pdf$\nDisallow: /*?print=\n"
    )
    paths = ("/private/a", "/private/open/b", "/doc.pdf", "/doc.pdf.html", "/c?print=1", "/c")
    site.html_page("/", "Home", link(*paths) + '<img src="/private/i.png">')
    for path in paths:
        site.html_page(path, path, f"<p>{path}</p>")
    await run()
    assert set(asked(site)) == {"/", "/private/open/b", "/doc.pdf.html", "/c"}
    assert site.count("/robots.txt") == 1
    refused = {"/private/a", "/doc.pdf", "/c?print=1", "/private/i.png"}
    assert copy.skipped == dict.fromkeys(refused, ("robots-disallow", None))
    site.clear_log()
    await run(respect_robots=False)
    assert refused <= set(asked(site))


async def test_missing_robots_txt_allows_everything(site: Site, run: Crawl) -> None:
    """404 for robots.txt allows everything."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", "<p>a</p>")
    assert (await run()).successful == 2


async def test_crawl_delay_spaces_requests(site: Site, out: Path) -> None:
    """Crawl-delay of our group spaces the requests, whatever the rate limit allows."""
    site.robots("User-agent: *\nCrawl-delay: 7\n")
    site.html_page("/", "Home", link("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    clock = JumpingClock()
    await crawl(site.url, output=out, rate_limit=0, concurrency=4, clock=clock)
    assert clock.time - 1000 >= 3 * 7
