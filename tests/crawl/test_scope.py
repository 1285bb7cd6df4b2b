"""The scope of a crawl, and its re-evaluation with other settings."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror
from sitemirror.reasons import Reason
from tests.crawl.conftest import Copy, Crawl, asked, link
from tests.site import Site


async def test_same_domain_is_the_start_host_with_and_without_www(
    site: Site, out: Path, run: Crawl, copy: Copy
) -> None:
    """Another host, another port and a subdomain are not even asked for robots.txt."""
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


async def test_any_domain_saves_to_external(site: Site, run: Crawl, copy: Copy) -> None:
    """Pages and assets of other hosts are in `_external/<host>/` inside the run's folder, linked from the pages."""
    other = "other.localhost"
    site.html_page("/page", "Page", '<img src="pic.png">', host=other)
    site.page("/pic.png", b"\x89PNG", type="image/png", host=other)
    site.html_page("/", "Home", link(f"{site.url_of(other)}/page"))
    report = await run(same_domain=False)
    assert report.status == "ok"
    folder = f"_external/{other}_{site.port}"
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


async def test_include_and_exclude_filter_links_by_path(site: Site, run: Crawl, copy: Copy) -> None:
    """`*` crosses slashes, and each skip names its option."""
    site.html_page("/docs/", "Docs", link("/docs/a/b", "/docs/old/x", "/blog/"))
    for path in ("/docs/a/b", "/docs/old/x", "/blog/"):
        site.html_page(path, path, f"<p>{path}</p>")
    await run(f"{site.url}/docs/", include_path=("/docs/*",), exclude_path=("*/old/*",), whole_site=True)
    assert set(asked(site)) == {"/docs/", "/docs/a/b"}
    assert copy.skipped == {
        "/docs/old/x": ("filter-exclude", "matched by --exclude-path"),
        "/blog/": ("filter-exclude", "not matched by --include-path"),
    }


@pytest.mark.parametrize("start", ["/docs/", "/docs", "/docs/index.html"])
async def test_crawl_of_a_section_stays_in_it(site: Site, run: Crawl, copy: Copy, start: str) -> None:
    """As a mirror does, in one line; what its pages need comes from anywhere. `--whole-site` takes the rest, too."""
    site.html_page(start, "Docs", link("/docs/a", "/blog/", "/docsetera") + '<img src="/img/logo.png">')
    site.html_page("/docs/a", "A", link("/docs/b", "/"))
    for path in ("/docs/b", "/blog/", "/", "/docsetera"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.page("/img/logo.png", b"\x89PNG", type="image/png")
    report = await run(f"{site.url}{start}")
    assert set(asked(site)) == {start, "/docs/a", "/docs/b", "/img/logo.png"}
    assert report.warnings == ("only URLs under /docs/ are taken; --whole-site takes all",)
    outside = ("filter-exclude", "outside the start path")
    assert copy.skipped == {"/blog/": outside, "/": outside, "/docsetera": outside}
    report = await run(f"{site.url}{start}", whole_site=True)
    assert {"/blog/", "/", "/docsetera"} <= set(asked(site))
    assert report.warnings == ()


@pytest.mark.parametrize("update", [False, True])
async def test_crawl_of_a_section_leaves_the_rest_of_a_copy(site: Site, run: Crawl, copy: Copy, update: bool) -> None:
    """Pages that an earlier crawl of the whole site saved are not gone, and other sections are not requested."""
    site.html_page("/", "Home", link("/docs/", "/blog/"))
    site.html_page("/docs/", "Docs", link("/docs/a", "/blog/"))
    site.html_page("/docs/a", "A", link("/"))
    site.html_page("/blog/", "Blog", link("/blog/x"))
    site.html_page("/blog/x", "X", "<p>x</p>")
    await run()
    site.clear_log()
    report = await run(f"{site.url}/docs/", update=update)
    assert (report.status, report.successful) == ("ok", 5)
    assert copy.manifest["gone"] == []
    assert not {"/blog/", "/blog/x"} & set(asked(site))
    assert (await run(update=update)).successful == 5
    assert copy.manifest["gone"] == []


async def test_section_does_not_bound_other_hosts(site: Site, run: Crawl) -> None:
    """With `--any-domain` the start folder is that of the start host."""
    site.html_page("/docs/", "Docs", link("/blog/", f"{site.url_of('other.localhost')}/page"))
    site.html_page("/page", "Page", "<p>page</p>", host="other.localhost")
    await run(f"{site.url}/docs/", same_domain=False)
    assert "/page" in asked(site)
    assert "/blog/" not in asked(site)


async def test_globs_for_whole_urls_see_the_query(site: Site, run: Crawl, copy: Copy) -> None:
    """`--exclude '*print=*'` leaves out what a glob for the path cannot see."""
    site.html_page("/", "Home", link("/a", "/a?print=1", "/b?x=1&print=2", "/c?lang=de"))
    for path in ("/a", "/a?print=1", "/b?x=1&print=2", "/c?lang=de"):
        site.html_page(path, path, f"<p>{path}</p>")
    report = await run(exclude=("*print=*",))
    assert set(asked(site)) == {"/", "/a", "/c?lang=de"}
    excluded = ("filter-exclude", "matched by --exclude")
    assert copy.skipped == {"/a?print=1": excluded, "/b?x=1&print=2": excluded}
    assert report.warnings == ()
    site.clear_log()
    await run(include=("http://*/b*", "*?lang=*"))
    assert set(asked(site)) == {"/", "/b?x=1&print=2"}


async def test_globs_that_matched_nothing_are_named(site: Site, run: Crawl) -> None:
    """Once the run has seen all URLs, and again with every update; those that matched are not."""
    site.html_page("/", "Home", link("/a?print=1"))
    site.html_page("/a?print=1", "A", "<p>a</p>")
    globs: dict[str, Any] = {"exclude_path": ("*print=*", "/no*"), "exclude": ("*nothing*",), "include_path": ("/*",)}
    expected = (
        "--exclude-path *print=* matched no URL; it is for the path alone: --include and --exclude match whole URLs",
        "--exclude-path /no* matched no URL; it is for the path alone: --include and --exclude match whole URLs",
        "--exclude *nothing* matched no URL",
    )
    assert (await run(**globs)).warnings == expected
    assert (await run(**globs)).warnings == ()  # A plain rerun reads no page, so it cannot tell.
    assert (await run(**globs, update=True)).warnings == expected


async def test_globs_do_not_apply_to_the_start_page(site: Site, run: Crawl, copy: Copy) -> None:
    """Without it nothing would be found."""
    site.html_page("/", "Home", link("/docs/a", "/blog/b"))
    site.html_page("/docs/a", "A", "<p>a</p>")
    site.html_page("/blog/b", "B", "<p>b</p>")
    report = await run(include_path=("/docs/*",))
    assert report.status == "ok"
    assert set(copy.depths) == {"/", "/docs/a"}


async def test_other_scope_re_evaluates_known_urls(site: Site, run: Crawl, copy: Copy) -> None:
    """URLs queued or skipped by the first run are filtered by the second's globs, without refetching pages."""
    site.html_page("/", "Home", link("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.html_page(path, path, f"<p>{path}</p>")
    await run(exclude_path=("/a",), max_pages=2)
    assert set(copy.accounted()) == {"/", "/a", "/b", "/c"}
    site.clear_log()
    await run(exclude_path=("/c",))
    assert set(asked(site)) - {"/"} == {"/a"}
    assert set(copy.depths) == {"/", "/a", "/b"}
    assert copy.skipped == {"/c": ("filter-exclude", "matched by --exclude-path")}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"exclude_path": ("/new/*",)}, {}),
        ({"include_path": ("/old*",)}, {"include_path": ("/old*", "/new/*")}),
    ],
    ids=["excluded", "not included"],
)
async def test_redirect_out_of_scope_is_followed_with_a_wider_scope(
    site: Site, run: Crawl, copy: Copy, narrow: dict[str, object], wide: dict[str, object]
) -> None:
    """And not before."""
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


async def test_redirect_to_another_host_is_followed_with_any_domain(site: Site, run: Crawl, copy: Copy) -> None:
    """Its target is fetched from the other host."""
    other = "other.localhost"
    site.html_page("/", "Home", link("/away"))
    site.redirect("/away", f"{site.url_of(other)}/there")
    site.html_page("/there", "There", "<p>there</p>", host=other)
    await run()
    assert list(copy.skipped) == ["/away"]
    await run(same_domain=False)
    assert copy.skipped == {}
    assert f"_external/{other}_{site.port}/there/index.html" in copy.files


async def test_redirect_out_of_the_start_path_is_followed_with_whole_site(site: Site, out: Path) -> None:
    """In a mirror without links as well."""
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
async def test_skips_by_settings_are_re_evaluated(
    site: Site, run: Crawl, copy: Copy, narrow: dict[str, object], wide: dict[str, object]
) -> None:
    """Each skip that a setting caused is re-evaluated with the next run's settings, without refetching."""
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


async def test_traps_are_re_evaluated(site: Site, run: Crawl, copy: Copy) -> None:
    """URLs that an earlier version cut by its own limits are fetched if within today's."""
    site.html_page("/", "Home", link("/list?q=1", "/x/x/x/x"))
    site.html_page("/list?q=1", "List", "<p>list</p>")
    await run(exclude_path=("/list",))
    with closing(sqlite3.connect(copy.folder / "_state.sqlite3")) as state, state:
        change = (Reason.TRAP_QUERIES, "500", Reason.EXCLUDED)
        state.execute("UPDATE url SET reason = ?, detail = ? WHERE reason = ?", change)
    await run()
    assert set(copy.depths) == {"/", "/list?q=1"}
    assert "trap" in (copy.skipped["/x/x/x/x"][1] or "")
