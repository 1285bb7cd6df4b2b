"""Which links are followed, how deep, and in what order."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror import crawl, mirror
from sitemirror.frontier.traps import Limits
from tests.crawl.conftest import Copy, Crawl, link
from tests.fetch.clocks import JumpingClock
from tests.site import Site, faults


def words(text: str) -> list[str]:
    return text.split()


def _pages(site: Site) -> list[str]:
    return [path for path in site.paths() if path != "/robots.txt"]


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_depth_is_that_of_the_shortest_way(site: Site, run: Crawl, copy: Copy, concurrency: int) -> None:
    """A long chain meets a late short cut: whoever answers first, a page has the depth of the shortest way."""
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


async def test_a_redirect_is_no_step_whoever_finds_its_end_first(site: Site, run: Crawl, copy: Copy) -> None:
    """The end of a redirect is as deep as the redirect, also when a page of the same level links to it directly."""
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
async def test_link_depth(site: Site, run: Crawl, copy: Copy, depth: int, pages: set[str]) -> None:
    """0 is the start page with its assets, each further level one link more; what is deeper is told with its reason."""
    for number, path in enumerate(("/", "/1", "/2")):
        site.html_page(path, path, link(f"/{number + 1}") + f'<img src="/{number}.png">')
    site.html_page("/3", "3", '<img src="/3.png">')
    for number in range(4):
        site.page(f"/{number}.png", b"\x89PNG", type="image/png")
    await run(link_depth=depth)
    images = {f"/{0 if path == '/' else int(path[1:])}.png" for path in pages}
    assert set(_pages(site)) == pages | images
    if depth >= 0:
        assert copy.skipped == {f"/{depth + 1}": ("filter-exclude", "deeper than --link-depth")}


async def test_a_larger_link_depth_goes_on_from_what_is_saved(site: Site, run: Crawl, copy: Copy) -> None:
    """The second run follows the links that the first one found too deep, and fetches nothing twice."""
    for number, path in enumerate(("/", "/1", "/2")):
        site.html_page(path, path, link(f"/{number + 1}"))
    site.html_page("/3", "3", "<p>end</p>")
    await run(link_depth=1)
    site.clear_log()
    report = await run(link_depth=-1)
    assert set(_pages(site)) - {"/"} == {"/2", "/3"}
    assert report.successful == 4
    assert copy.skipped == {}
    assert copy.depths == {"/": 0, "/1": 1, "/2": 2, "/3": 3}


async def test_same_domain_is_the_start_host_and_its_www_twin(site: Site, out: Path, run: Crawl, copy: Copy) -> None:
    """The twin's pages are taken; another host, another port and a subdomain are not even asked for robots.txt."""
    with Site() as other:
        other.html_page("/", "Other", "<p>other port</p>")
        host = f"docs.localhost:{site.port}"
        targets = (
            f"http://www.{host}/twin",
            f"http://api.{host}/sub",
            f"http://other.localhost:{site.port}/o",
            other.url,
        )
        site.html_page("/", "Home", link("/here", *targets), host="docs.localhost")
        site.html_page("/here", "Here", "<p>here</p>", host="docs.localhost")
        site.html_page("/twin", "Twin", "<p>twin</p>", host="www.docs.localhost")
        await run(f"http://{host}/")
        assert {(seen.host, seen.path) for seen in site.requests if seen.path != "/robots.txt"} == {
            ("docs.localhost", "/"), ("docs.localhost", "/here"), ("www.docs.localhost", "/twin"),
        }  # fmt: skip
        assert {seen.host for seen in site.requests} == {"docs.localhost", "www.docs.localhost"}
        assert other.requests == []
    copy = Copy(out / f"docs.localhost_{site.port}")
    assert sorted(copy.files) == [
        f"_external/www.docs.localhost_{site.port}/twin/index.html",
        "here/index.html",
        "index.html",
    ]
    assert {reason for reason, _ in copy.skipped.values()} == {"out-of-domain"}
    assert len(copy.skipped) == 3


async def test_any_domain_goes_to_external(site: Site, run: Crawl, copy: Copy) -> None:
    """Pages and assets of other hosts stand in `_external/<host>/` inside the run's folder, linked from the pages."""
    with Site() as other:
        other.html_page("/page", "Page", '<img src="pic.png">')
        other.page("/pic.png", b"\x89PNG", type="image/png")
        site.html_page("/", "Home", link(f"{other.url}/page"))
        report = await run(same_domain=False)
    assert report.status == "ok"
    folder = f"_external/127.0.0.1_{other.port}"
    assert sorted(copy.files) == [f"{folder}/page/index.html", f"{folder}/pic.png", "index.html"]
    assert f'href="{folder}/page/index.html"' in copy.text("index.html")
    assert 'src="../pic.png"' in copy.text(f"{folder}/page/index.html")


async def test_off_site_page_requisites_need_any_domain(site: Site, run: Crawl, copy: Copy) -> None:
    """By default an image on another host is not fetched, stays linked by its URL, and is reported."""
    with Site() as other:
        other.page("/pic.png", b"\x89PNG", type="image/png")
        site.html_page("/", "Home", f'<img src="{other.url}/pic.png">')
        await run()
        assert other.requests == []
    assert f'src="{other.url}/pic.png"' in copy.text("index.html")
    assert [row["reason"] for row in copy.index["skipped_urls"]] == ["out-of-domain"]


async def test_include_and_exclude(site: Site, run: Crawl, copy: Copy) -> None:
    """Globs cut links by path, `*` crosses slashes, and each cut says which option made it."""
    site.html_page("/docs/", "Docs", link("/docs/a/b", "/docs/old/x", "/blog/"))
    for path in ("/docs/a/b", "/docs/old/x", "/blog/"):
        site.html_page(path, path, f"<p>{path}</p>")
    await run(f"{site.url}/docs/", include_path=("/docs/*",), exclude_path=("*/old/*",))
    assert set(_pages(site)) == {"/docs/", "/docs/a/b"}
    assert copy.skipped == {
        "/docs/old/x": ("filter-exclude", "matched by --exclude-path"),
        "/blog/": ("filter-exclude", "not matched by --include-path"),
    }


async def test_another_scope_judges_what_is_known_anew(site: Site, run: Crawl, copy: Copy) -> None:
    """What the first run queued or cut is judged by the second run's globs, without its pages being fetched again."""
    site.html_page("/", "Home", link("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    await run(exclude_path=("/a",), max_pages=2)
    assert set(copy.accounted()) == {"/", "/a", "/b", "/c"}
    site.clear_log()
    await run(exclude_path=("/c",))
    assert set(_pages(site)) - {"/"} == {"/a"}
    assert set(copy.depths) == {"/", "/a", "/b"}
    assert copy.skipped == {"/c": ("filter-exclude", "matched by --exclude-path")}


async def test_max_pages_stops_and_the_next_run_goes_on(site: Site, run: Crawl, copy: Copy) -> None:
    """Pages count, assets do not; the rest is not reached, and the next run fetches exactly that."""
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


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"exclude_path": ("/new/*",)}, {}),
        ({"include_path": ("/old*",)}, {"include_path": ("/old*", "/new/*")}),
    ],
    ids=["excluded", "not included"],
)
async def test_a_redirect_out_of_scope_is_judged_again(
    site: Site, run: Crawl, copy: Copy, narrow: dict[str, object], wide: dict[str, object]
) -> None:
    """Where a link led when the scope was narrow it leads again when the scope is wider, and not before."""
    site.html_page("/", "Home", link("/old"))
    site.redirect("/old", "/new/place")
    site.html_page("/new/place", "New", "<p>new</p>")
    for _ in range(2):
        await run(**narrow)
        assert (copy.skipped["/old"][1] or "").startswith(f"redirects out of scope: {site.url}/new/place")
    assert site.count("/old") == 1
    await run(**wide)
    assert copy.skipped == {}
    assert copy.depths == {"/": 0, "/old": 1, "/new/place": 1}
    assert not list((copy.folder / "_skipped").glob("*"))
    assert 'href="new/place/index.html"' in copy.text("index.html")


async def test_a_redirect_to_another_host_is_judged_again(site: Site, run: Crawl, copy: Copy) -> None:
    """With --any-domain, what redirected to another host is fetched from there."""
    with Site() as other:
        site.html_page("/", "Home", link("/away"))
        site.redirect("/away", f"{other.url}/there")
        other.html_page("/there", "There", "<p>there</p>")
        await run()
        assert list(copy.skipped) == ["/away"]
        await run(same_domain=False)
    assert copy.skipped == {}
    assert f"_external/127.0.0.1_{other.port}/there/index.html" in copy.files


async def test_a_redirect_of_a_sitemap_mirror_is_judged_again(site: Site, out: Path) -> None:
    """The same without links: a redirect out of the start path is followed with --whole-site."""
    site.html_page("/docs/", "Docs", "<p>docs</p>")
    site.redirect("/docs/moved", "/elsewhere")
    site.html_page("/elsewhere", "Elsewhere", "<p>elsewhere</p>")
    site.sitemap(urls=["/docs/", "/docs/moved"])
    report = await mirror(f"{site.url}/docs/", output=out, rate_limit=0)
    assert (report.successful, report.skipped) == (1, 1)
    report = await mirror(f"{site.url}/docs/", output=out, rate_limit=0, whole_site=True)
    assert (report.successful, report.skipped) == (2, 0)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"exclude_path": ("/a",)}, {}),
        ({"include_path": ("/x",)}, {"include_path": ("/a", "/x")}),
        ({"link_depth": 0}, {"link_depth": 1}),
        ({"honor_nofollow": True}, {}),
        ({"max_file_size": 0.001}, {"max_file_size": 1}),
        ({}, {"respect_robots": False}),
    ],
    ids=lambda settings: "+".join(settings) if settings else "default",
)
async def test_what_settings_left_out_others_let_in(
    site: Site, run: Crawl, copy: Copy, narrow: dict[str, object], wide: dict[str, object]
) -> None:
    """Each cut that a setting made is judged again by the next run's settings, without asking for any page twice."""
    if not narrow:
        site.robots("User-agent: *\nDisallow: /a\n")
    site.html_page("/", "Home", '<a rel="nofollow" href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>" * 500)
    await run(**narrow)
    await run(**narrow)
    assert set(copy.depths) == {"/"}
    await run(**wide)
    assert copy.depths == {"/": 0, "/a": 1}
    assert copy.skipped == {}
    assert len([seen for seen in site.requests if seen.method == "GET" and seen.path == "/"]) == 1


async def test_traps_are_judged_again(site: Site, run: Crawl, copy: Copy) -> None:
    """What an earlier version took for endless, by limits of its own, is fetched if it is within today's."""
    site.html_page("/", "Home", link("/list?q=1", "/x/x/x/x"))
    site.html_page("/list?q=1", "List", "<p>list</p>")
    await run(exclude_path=("/list",))
    with closing(sqlite3.connect(copy.folder / "_state.sqlite3")) as state, state:
        state.execute("UPDATE url SET reason = 'trap: more than 500 queries of one path' WHERE reason LIKE 'matched%'")
    await run()
    assert set(copy.depths) == {"/", "/list?q=1"}
    assert "trap" in (copy.skipped["/x/x/x/x"][1] or "")


async def test_links_of_every_form_are_followed(site: Site, run: Crawl) -> None:
    """Every element, attribute and CSS form of the list: each target was asked for once."""
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
    assert set(_pages(site)) == wanted
    assert max(site.count(path) for path in wanted - {"/"}) == 1
    assert (report.failed, report.skipped) == (0, 0)


async def test_other_schemes_are_told_not_asked(site: Site, run: Crawl, copy: Copy) -> None:
    """mailto, javascript and file links are in the index with the seed's words."""
    site.html_page(
        "/", "Home", link("mailto:a@example.org", "javascript:void(0)", "file:///etc/passwd", "ftp://x.org/f")
    )
    await run()
    reasons = {row["url"]: row["reason"] for row in copy.index["skipped_urls"]}
    assert reasons["mailto:a@example.org"] == reasons["ftp://x.org/f"] == "non-http(s) scheme"
    assert reasons["file:///etc/passwd"] == "file-scheme"
    assert {row["from"] for row in copy.index["skipped_urls"]} == {f"{site.url}/"}


async def test_nofollow(site: Site, run: Crawl, copy: Copy) -> None:
    """rel=nofollow is followed; with --honor-nofollow it is not, unless a plain link leads there too."""
    shy = '<a rel="nofollow" href="/shy">s</a> <a rel="nofollow ugc" href="/both">b</a> <a href="/both">b</a>'
    site.html_page("/", "Home", shy)
    site.html_page("/shy", "Shy", "<p>shy</p>")
    site.html_page("/both", "Both", "<p>both</p>")
    await run(honor_nofollow=True)
    assert set(_pages(site)) == {"/", "/both"}
    assert copy.skipped["/shy"][0] == "filter-exclude"
    assert "nofollow" in (copy.skipped["/shy"][1] or "")
    await run()
    assert set(_pages(site)) == {"/", "/both", "/shy"}


async def test_meta_robots_nofollow(site: Site, run: Crawl, copy: Copy) -> None:
    """A page that asks for it has none of its links followed, but is saved with its assets."""
    site.html_page("/", "Home", link("/private"))
    site.page("/private", '<meta name="ROBOTS" content="noindex, NoFollow"><a href="/x">x</a><img src="/i.png">')
    site.page("/i.png", b"i", type="image/png")
    site.html_page("/x", "X", "<p>x</p>")
    await run()
    assert set(_pages(site)) == {"/", "/private", "/i.png"}
    assert copy.skipped["/x"][0] == "filter-exclude"
    await run(respect_robots=False)
    assert "/x" in _pages(site)


# --- robots.txt


async def test_robots_rules(site: Site, run: Crawl, copy: Copy) -> None:
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
    assert set(_pages(site)) == {"/", "/private/open/b", "/doc.pdf.html", "/c"}
    assert site.count("/robots.txt") == 1
    refused = {"/private/a", "/doc.pdf", "/c?print=1", "/private/i.png"}
    assert copy.skipped == dict.fromkeys(refused, ("robots-disallow", None))
    site.clear_log()
    await run(respect_robots=False)
    assert refused <= set(_pages(site))


async def test_no_robots_is_leave(site: Site, run: Crawl) -> None:
    """404 for robots.txt allows everything."""
    site.html_page("/", "Home", link("/a"))
    site.html_page("/a", "A", "<p>a</p>")
    assert (await run()).successful == 2


async def test_crawl_delay_slows_us(site: Site, out: Path) -> None:
    """Crawl-delay of our group spaces the requests, however fast the settings would allow."""
    site.robots("User-agent: *\nCrawl-delay: 7\n")
    site.html_page("/", "Home", link("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    clock = JumpingClock()
    await crawl(site.url, output=out, rate_limit=0, concurrency=4, clock=clock)
    assert clock.time - 1000 >= 3 * 7


# --- traps


async def test_an_endless_calendar_ends(site: Site, run: Crawl, copy: Copy) -> None:
    """Month leads to month for ever, each linked from two others; the crawl ends and says where it was cut."""
    for month in range(410):
        site.html_page(f"/cal/{2000 + month // 12}/{month % 12 + 1:02d}", f"Month {month}", _calendar(month))
    site.html_page("/", "Home", link("/cal/2000/01", "/about"))
    site.html_page("/about", "About", "<p>about</p>")
    report = await run(concurrency=4)
    assert report.status == "ok"
    visited = [path for path in _pages(site) if path.startswith("/cal/")]
    assert len(visited) == len(set(visited)) <= 402
    cuts = {path: detail for path, (_, detail) in copy.skipped.items()}
    assert cuts
    assert all(path.startswith("/cal/") and "trap" in (detail or "") for path, detail in cuts.items())


def _calendar(month: int) -> str:
    def name(number: int) -> str:
        return f"/cal/{2000 + number // 12}/{number % 12 + 1:02d}"

    return link(name(month + 1), name(month + 2), name(max(0, month - 1))) + f"<p>Month {month}</p>"


async def test_session_ids_are_one_page(site: Site, run: Crawl, copy: Copy) -> None:
    """A new session in every link is the same two pages, without the session in any name."""
    for number in range(50):
        ids = f"{number:016x}a1b2"
        site.html_page(f"/?PHPSESSID={ids}", "Home", link(f"/a?PHPSESSID={ids}"))
        site.html_page(f"/a?PHPSESSID={ids}", "A", link(f"/?PHPSESSID={ids}"))
    site.html_page("/", "Home", link("/a?PHPSESSID=0123456789abcdef0123"))
    site.html_page("/a", "A", link("/?PHPSESSID=fedcba98765432100000") + "<p>a</p>")
    await run()
    assert set(_pages(site)) == {"/", "/a"}
    assert 'href="a/index.html"' in copy.text("index.html")
    assert 'href="../index.html"' in copy.text("a/index.html")


async def test_ever_deeper_paths_end(site: Site, run: Crawl, copy: Copy) -> None:
    """A relative link that leads below its own page at every step is cut, and said so."""
    path = "/deep/"
    for _ in range(40):
        site.html_page(path, "Deep", '<a href="deep/">deeper</a><a href="deep/">again</a>' + f"<p>{path}</p>")
        path += "deep/"
    site.html_page("/", "Home", link("/deep/"))
    report = await run()
    assert report.status == "ok"
    assert len(_pages(site)) < 10
    assert [(reason, "trap" in (detail or "")) for reason, detail in copy.skipped.values()] == [
        ("filter-exclude", True)
    ]


async def test_filters_end_also_when_resumed(site: Site, run: Crawl, copy: Copy) -> None:
    """No more combinations of one path are fetched than the limit, over all runs; each that was cut is in the index."""
    filters = ["&".join(f"f{bit}={number >> bit & 1}" for bit in range(10)) for number in range(600)]
    queries = [f"/list?{query}" for query in filters]
    site.html_page("/", "Home", link(*queries[:400], "/more"))
    site.html_page("/more", "More", link(*queries))
    for query in queries:
        site.html_page(query, query, f"<p>{query}</p>")
    await run(concurrency=8, max_pages=20)
    await run(concurrency=8, max_pages=0)
    visited = {path for path in _pages(site) if path.startswith("/list")}
    assert len(visited) == Limits().max_combinations + 20  # and one for each value
    assert len(copy.skipped) == 80
    assert {"trap" in (detail or "") for _, detail in copy.skipped.values()} == {True}
    site.clear_log()
    await run(concurrency=8, max_pages=0)
    assert set(_pages(site)) <= {"/"}


async def test_numbered_queries_are_read_whole(site: Site, run: Crawl) -> None:
    """600 topics of a forum, by a number in the query: each is something new."""
    queries = [f"/viewtopic.php?f=1&t={number}" for number in range(600)]
    site.html_page("/", "Home", link(*queries))
    for query in queries:
        site.html_page(query, query, f"<p>{query}</p>")
    report = await run(concurrency=8)
    assert (report.successful, report.skipped) == (601, 0)


async def test_frames_within_frames_end(site: Site, run: Crawl, copy: Copy) -> None:
    """Frames belong to their page and so to its depth, but not without end."""
    for number in range(250):
        site.page(f"/frame/{number}", f'<iframe src="/frame/{number + 1}"></iframe><p>{number}</p>')
    site.html_page("/", "Home", '<iframe src="/frame/0"></iframe>')
    await run(link_depth=0)
    assert len(_pages(site)) <= 205
    assert "trap" in (next(iter(copy.skipped.values()))[1] or "")


async def test_the_start_page_is_fetched_whatever_the_globs_say(site: Site, run: Crawl, copy: Copy) -> None:
    """Without it nothing would be found: the globs are for what it leads to."""
    site.html_page("/", "Home", link("/docs/a", "/blog/b"))
    site.html_page("/docs/a", "A", "<p>a</p>")
    site.html_page("/blog/b", "B", "<p>b</p>")
    report = await run(include_path=("/docs/*",))
    assert report.status == "ok"
    assert set(copy.depths) == {"/", "/docs/a"}
