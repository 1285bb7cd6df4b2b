"""Progress of a crawl, whose total is unknown before its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sitemirror import crawl
from sitemirror.events import Event, PageStarted, Progress
from tests.conftest import RunHere
from tests.crawl.conftest import link
from tests.site import Site, faults


def _tree(site: Site) -> None:
    """A home page, three pages below it, and four below each of these; all know each other and one picture."""
    first = [f"/{number}" for number in range(3)]
    second = [f"{path}/{number}" for path in first for number in range(4)]
    site.page("/dot.png", b"\x89PNG\r\n\x1a\n", type="image/png")
    site.html_page("/", "Home", link(*first))
    for path in first:
        site.html_page(path, f"Page {path}", link("/", *(f"{path}/{number}" for number in range(4))))
    for path in second:
        site.html_page(path, f"Page {path}", link("/", *first, *second) + '<img src="/dot.png">')


async def _crawl(site: Site, out: Path, **options: Any) -> tuple[list[Progress], list[PageStarted]]:
    seen: list[Event] = []
    await crawl(site.url, output=out, rate_limit=0, on_event=seen.append, **options)
    return [one for one in seen if isinstance(one, Progress)], [one for one in seen if isinstance(one, PageStarted)]


async def test_total_is_the_number_of_known_urls(site: Site, out: Path) -> None:
    """Each page adds its own links, so a crawl is not at 100 % from the beginning."""
    _tree(site)
    progress, started = await _crawl(site, out, concurrency=1)
    known = [(one.processed, one.total) for one in progress]
    assert known[0] == (1, 4)  # the home page and its three links
    assert [total for _, total in known[1:4]] == [8, 12, 16]
    assert known[-1] == (17, 17)  # and the picture
    assert [(one.number, one.total) for one in started[:3]] == [(1, 1), (2, 4), (3, 8)]
    assert all(one.eta_sec is None or one.eta_sec > 0 for one in progress[:-1])


async def test_resumed_crawl_counts_the_old_queue(site: Site, out: Path) -> None:
    """The queue of the first run is part of the second's total from the beginning."""
    _tree(site)
    first, _ = await _crawl(site, out, concurrency=1, max_pages=2)
    assert (first[-1].processed, first[-1].total) == (2, 8)
    second, _ = await _crawl(site, out, concurrency=1)
    assert (second[0].processed, second[0].total) == (3, 12)
    assert (second[-1].processed, second[-1].total) == (17, 17)


async def test_update_counts_every_page_it_checks(site: Site, out: Path) -> None:
    """All known pages are checked again, and new ones are added."""
    _tree(site)
    await _crawl(site, out, concurrency=1)
    site.html_page("/0", "Page /0", link("/", "/new", *(f"/0/{number}" for number in range(4))))
    site.html_page("/new", "New", "<h1>New</h1>")
    progress, started = await _crawl(site, out, concurrency=1, update=True)
    assert (progress[0].processed, progress[0].total) == (1, 17)
    assert (progress[-1].processed, progress[-1].total) == (18, 18)
    assert [one.number for one in started] == list(range(1, 19))


async def test_gone_page_counts_until_the_next_run(site: Site, out: Path) -> None:
    """It is requested once more when nothing links to it; later runs do not expect it."""
    _tree(site)
    await _crawl(site, out, concurrency=1)
    site.html_page("/", "Home", link("/0"))
    for path in ("/0", *(f"/0/{number}" for number in range(4))):
        site.html_page(path, "Page", f"<p>{path}</p>{link('/')}")
    _, started = await _crawl(site, out, concurrency=1, update=True)
    assert len(started) == 17
    _, started = await _crawl(site, out, concurrency=1, update=True)
    assert len(started) == 2
    (notes,) = out.glob("*/_progress.json")
    assert json.loads(notes.read_text())["total"] == 2


async def test_redirect_target_found_by_link_is_not_counted_twice(site: Site, out: Path) -> None:
    """A page found by a link and fetched by a redirect has no request of its own."""
    site.html_page("/", "Home", link("/p1", "/r"))
    site.html_page("/p1", "P1", link("/z"))
    site.redirect("/r", "/r2")
    site.redirect("/r2", "/z")
    site.html_page("/z", "Z", "<p>z</p>")
    await _crawl(site, out, concurrency=1)
    written = json.loads(next(out.rglob("_progress.json")).read_text("utf-8"))
    assert written["processed"] == written["total"]
    assert written["eta_sec"] in (0, None)


async def test_refetched_unchanged_page_is_neither_new_nor_changed(site: Site, out: Path) -> None:
    """Pages, pictures and duplicates: a second look at an unchanged site finds nothing."""
    site.page("/dot.png", b"\x89PNG\r\n\x1a\n", type="image/png")
    same = '<link rel="canonical" href="/one"><p>the same</p>'
    site.html_page("/", "Home", link("/one", "/two") + '<img src="/dot.png">')
    for path in ("/one", "/two"):
        site.page(path, f"<title>One</title>{same}")
    first = await crawl(site.url, output=out, rate_limit=0, format="markdown")
    again = await crawl(site.url, output=out, rate_limit=0, format="markdown", re_download_all=True)
    assert (first.successful, first.new, first.changed) == (2, 2, 0)
    assert (again.successful, again.new, again.changed) == (2, 0, 0)
    html = await crawl(site.url, output=out / "html", rate_limit=0)
    html_again = await crawl(site.url, output=out / "html", rate_limit=0, re_download_all=True)
    assert (html.new, html.changed) == (html.successful, 0)
    assert (html_again.new, html_again.changed) == (0, 0)


async def test_last_progress_equals_the_manifest(site: Site, out: Path) -> None:
    """Links that cannot be fetched are skips; a repeated skip counts once, a failed refresh not at all."""
    refused = "<a href='mailto:a@b'>m</a><a href='http://[bad'>i</a><a href='ftp://127.0.0.1/'>f</a>"
    site.html_page("/", "Home", link("/a", "/nothing") + refused)
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/nothing", "", status=204)
    for update in (False, True):
        report = await crawl(site.url, output=out, rate_limit=0, update=update)
        (notes,) = out.glob("*/_progress.json")
        written = json.loads(notes.read_text("utf-8"))
        assert report.skipped == 4
        assert (written["skipped"], written["failed"]) == (report.skipped, report.failed)
        site.fault("/a", faults.status(500))
    assert report.failed == 0


def test_last_line_separates_pages_from_assets(site: Site, out: Path, run_here: RunHere) -> None:
    """So does the report; a later run without its state says the same."""
    site.html_page("/", "Home", '<img src="/i.png"><link rel="stylesheet" href="/s.css"><a href="/a">a</a>')
    site.html_page("/a", "A", "<p>a</p>")
    site.page("/i.png", b"\x89PNG", type="image/png")
    site.page("/s.css", "p { color: red }", type="text/css")
    for _ in range(2):
        done = run_here("crawl", site.url, "--rate-limit", 0, "--output", out)
        assert "ok: 2 pages and 2 other files" in done.stderr
        assert (done.json["successful"], done.json["assets"]) == (4, 2)
        (Path(done.json["output_dir"]) / "_state.sqlite3").unlink()
