"""Redirect loops, redirects out of scope or disallowed: each run ends with the same account."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.crawl.conftest import Copy, Crawl
from tests.site import Site, faults


@pytest.mark.parametrize("way_round", [["/b", "/a"], ["/b", "/b"]])
async def test_redirect_loop_of_a_saved_page_keeps_its_copy(
    site: Site, run: Crawl, copy: Copy, way_round: list[str]
) -> None:
    """The copy stays, with the reason, and the loop is requested once."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    kept = copy.files["a/index.html"]
    for here, there in zip(["/a", "/b"], way_round, strict=True):
        site.redirect(here, there)
    site.clear_log()
    report = await asyncio.wait_for(run(update=True), 60)
    assert report.status == "partial"
    assert copy.files["a/index.html"] == kept
    pages = {page["url"]: page for page in copy.manifest["pages"]}
    assert "redirect loop" in pages[f"{site.url}/a"]["refresh_error"]
    assert site.count("/a") == 1


async def test_temporary_redirect_to_itself_is_a_loop(site: Site, run: Crawl, copy: Copy) -> None:
    """Sites that want a cookie first do so: it does not mean that the page is elsewhere."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    site.redirect("/a", "/a", 302)
    assert (await run(update=True)).status == "partial"
    pages = {page["url"]: page for page in copy.manifest["pages"]}
    assert pages[f"{site.url}/a"]["refresh_error"] == "redirect loop"


@pytest.mark.parametrize("later", [*itertools.permutations((0.0, 0.1, 0.2))])
@pytest.mark.parametrize("way_round", [("/b", "/c", "/a"), ("/b", "/c", "/b")])
async def test_concurrent_requests_of_a_loop_keep_the_copy(
    site: Site, run: Crawl, copy: Copy, way_round: tuple[str, ...], later: tuple[float, ...]
) -> None:
    """Whichever answers first, and whether or not the loop contains the saved page."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    kept = copy.files["a/index.html"]
    site.html_page("/", "Home", '<a href="/a">a</a><a href="/b">b</a><a href="/c">c</a>')
    for here, there, seconds in zip(("/a", "/b", "/c"), way_round, later, strict=True):
        site.fault(here, faults.slow(seconds, faults.redirect_to(there, 301)), faults.redirect_to(there, 301))
    report = await asyncio.wait_for(run(update=True, concurrency=3), 60)
    assert (report.status, report.failed) == ("partial", 2)
    assert copy.files["a/index.html"] == kept
    pages = {page["url"]: page for page in copy.manifest["pages"]}
    assert "redirect loop" in pages[f"{site.url}/a"]["refresh_error"]
    assert {row["url"]: row["error"] for row in copy.manifest["failures"]} == {
        f"{site.url}/b": "redirect loop",
        f"{site.url}/c": "redirect loop",
    }
    logged = {tuple(line.split("\t")[1:]) for line in copy.text("_failed.log").splitlines()}
    assert {(f"{site.url}/b", "redirect loop"), (f"{site.url}/c", "redirect loop")} <= logged


@pytest.mark.parametrize("later", [*itertools.permutations((0.0, 0.1, 0.2))])
@pytest.mark.parametrize("ways", [("/b", "/c", "/a"), ("/b", "/c", "/b"), ("/b", "/c", None)])
async def test_redirects_to_loops_and_failures_keep_every_copy(
    site: Site, run: Crawl, copy: Copy, ways: tuple[str | None, ...], later: tuple[float, ...]
) -> None:
    """A loop, a way into it, and a chain to a gone page, all saved, whichever answers first."""
    site.html_page("/", "Home", '<a href="/a">a</a><a href="/b">b</a><a href="/c">c</a>')
    for name in "abc":
        site.html_page(f"/{name}", name, f"<p>{name}</p>")
    await run()
    kept = copy.files
    for here, there, seconds in zip(("/a", "/b", "/c"), ways, later, strict=True):
        answer = faults.redirect_to(there, 301) if there else faults.status(404)
        site.fault(here, faults.slow(seconds, answer), answer)
    site.clear_log()
    report = await asyncio.wait_for(run(update=True, concurrency=3), 60)
    assert (report.status, report.failed) == ("partial", 0)
    assert copy.files == kept
    errors = [page.get("refresh_error", "") for page in copy.manifest["pages"] if page["url"] != f"{site.url}/"]
    if ways[-1]:
        assert errors == ["redirect loop"] * 3
    else:
        assert errors == [f"redirects to {site.url}/c: HTTP 404"] * 2 + ["HTTP 404"]
    assert [site.count(path) for path in ("/a", "/b", "/c")] == [1, 1, 1]


async def test_redirect_to_an_unresolved_redirect_waits_for_its_end(site: Site, run: Crawl, copy: Copy) -> None:
    """/a redirects to /b, which has answered; where /b leads is still open, and fails."""
    site.html_page("/", "Home", '<a href="/a">a</a><a href="/x">x</a>')
    for name in "abx":
        site.html_page(f"/{name}", name, f'<p>{name}</p><a href="/b">b</a>')
    await run()
    kept = copy.files
    site.redirect("/a", "/b")
    site.redirect("/b", "/new")
    site.fault("/new", faults.slow(0.4, faults.status(404)))
    site.fault("/x", faults.slow(0.2, faults.redirect_to("/b", 301)))
    await run(update=True, concurrency=3)
    assert kept.items() <= copy.files.items()
    errors = {page["url"].removeprefix(site.url): page.get("refresh_error") for page in copy.manifest["pages"]}
    assert errors == {"/": None} | dict.fromkeys(("/a", "/b", "/x"), f"redirects to {site.url}/new: HTTP 404")


async def test_redirect_out_of_scope_at_the_second_hop_keeps_the_copy(site: Site, run: Crawl, copy: Copy) -> None:
    """/a leads to /b and on to another host: /a keeps its copy with the reason; the new /b is not gone."""
    site.html_page("/", "Home", '<a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    await run()
    site.redirect("/a", "/b")
    site.redirect("/b", "http://elsewhere.example/")
    report = await run(update=True)
    assert report.status == "partial"
    pages = {page["url"]: page for page in copy.manifest["pages"]}
    assert "redirects out of scope" in pages[f"{site.url}/a"]["refresh_error"]
    assert copy.manifest.get("gone", []) == []


async def test_loop_counts_the_same_in_every_run(site: Site, run: Crawl, copy: Copy) -> None:
    """Both URLs of a loop are failures at once, wherever a later run enters it."""
    site.html_page("/", "Home", '<a href="/x">x</a><a href="/y">y</a>')
    site.redirect("/x", "/y")
    site.redirect("/y", "/x")
    first = await run()
    failures = {row["url"]: row["error"] for row in copy.manifest["failures"]}
    second = await run()
    assert (first.total_pages, first.failed) == (second.total_pages, second.failed) == (3, 2)
    assert failures == {row["url"]: row["error"] for row in copy.manifest["failures"]}
    assert set(failures.values()) == {"redirect loop"}


async def test_robots_of_the_starts_redirect_target_are_obeyed(site: Site, run: Crawl) -> None:
    """The start redirects to its www twin: that host's robots.txt applies."""
    start, twin = "docs.localhost", "www.docs.localhost"
    site.robots("User-agent: *\nDisallow: /no\n", host=twin)
    site.html_page("/", "Home", '<a href="/no/x">no</a><a href="/yes">yes</a>', host=twin)
    site.html_page("/no/x", "No", "<p>no</p>", host=twin)
    site.html_page("/yes", "Yes", "<p>yes</p>", host=twin)
    site.redirect("/", site.url_of(twin) + "/", host=start)
    await run(site.url_of(start) + "/")
    asked = [seen.path for seen in site.requests if seen.host == twin]
    assert asked.count("/robots.txt") == 1
    assert asked.count("/yes") == 1
    assert asked.count("/no/x") == 0


def test_start_redirecting_to_a_disallowed_url_requests_nothing_there(site: Site, run_here: RunHere, out: Path) -> None:
    """The redirect is checked before it is followed."""
    site.robots("User-agent: *\nDisallow: /no\n")
    site.redirect("/", "/no/x")
    finished = run_here("crawl", site.url, "--output", out, "--rate-limit", 0)
    assert "disallowed by robots.txt" in finished.json["error"]
    assert site.count("/no/x") == 0


def test_start_redirecting_to_another_site_does_not_contact_it(site: Site, run_here: RunHere, out: Path) -> None:
    """Also where that site does not exist: the error names the redirect target."""
    site.redirect("/", "http://nowhere.invalid/")
    finished = run_here("crawl", site.url, "--output", out, "--rate-limit", 0)
    assert "redirects to another site: http://nowhere.invalid/" in finished.json["error"]


async def test_body_sent_with_head_is_discarded(site: Site, run: Crawl) -> None:
    """Some servers answer HEAD with the page itself; it is not taken for the next response."""
    body = b"<title>Home</title><p>home</p>" * 3000
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
    site.html_page("/", "Home", "<p>home</p>")
    for _ in range(3):
        site.fault("/", faults.raw(head + body), faults.ok())
        assert (await run(re_download_all=True)).status == "ok"


async def test_spaces_around_a_link_are_ignored(site: Site, run: Crawl, copy: Copy) -> None:
    """`href=" /trim "` leads to /trim in the Markdown as well, from file to file."""
    site.html_page("/", "Home", '<h1>Home</h1><p>Go to <a href=" /trim ">trim</a> for more words.</p>')
    site.html_page("/trim", "Trim", "<h1>Trim</h1><p>Words.</p>")
    await run(format="markdown", links="local")
    assert "[trim](trim/index.md)" in copy.text("index.md")
