"""Endless sites: the crawl ends, reports where it was cut, and skips nothing new."""

from __future__ import annotations

from sitemirror.frontier.traps import Limits
from tests.crawl.conftest import Copy, Crawl, asked, link
from tests.site import Site


async def test_endless_calendar_is_cut(site: Site, run: Crawl, copy: Copy) -> None:
    """Month links to month for ever, each linked from two others; the crawl reports the cut."""
    for month in range(410):
        site.html_page(f"/cal/{2000 + month // 12}/{month % 12 + 1:02d}", f"Month {month}", _calendar(month))
    site.html_page("/", "Home", link("/cal/2000/01", "/about"))
    site.html_page("/about", "About", "<p>about</p>")
    report = await run(concurrency=4)
    assert report.status == "ok"
    visited = [path for path in asked(site) if path.startswith("/cal/")]
    assert len(visited) == len(set(visited)) <= 402
    cuts = {path: detail for path, (_, detail) in copy.skipped.items()}
    assert cuts
    assert all(path.startswith("/cal/") and "trap" in (detail or "") for path, detail in cuts.items())


def _calendar(month: int) -> str:
    def name(number: int) -> str:
        return f"/cal/{2000 + number // 12}/{number % 12 + 1:02d}"

    return link(name(month + 1), name(month + 2), name(max(0, month - 1))) + f"<p>Month {month}</p>"


async def test_session_ids_are_ignored(site: Site, run: Crawl, copy: Copy) -> None:
    """A new session in every link is the same two pages, without the session in any name."""
    for number in range(50):
        ids = f"{number:016x}a1b2"
        site.html_page(f"/?PHPSESSID={ids}", "Home", link(f"/a?PHPSESSID={ids}"))
        site.html_page(f"/a?PHPSESSID={ids}", "A", link(f"/?PHPSESSID={ids}"))
    site.html_page("/", "Home", link("/a?PHPSESSID=0123456789abcdef0123"))
    site.html_page("/a", "A", link("/?PHPSESSID=fedcba98765432100000") + "<p>a</p>")
    await run()
    assert set(asked(site)) == {"/", "/a"}
    assert 'href="a/index.html"' in copy.text("index.html")
    assert 'href="../index.html"' in copy.text("a/index.html")


async def test_ever_deeper_paths_are_cut(site: Site, run: Crawl, copy: Copy) -> None:
    """A relative link that leads below its own page at every step is cut, with the reason."""
    path = "/deep/"
    for _ in range(40):
        site.html_page(path, "Deep", '<a href="deep/">deeper</a><a href="deep/">again</a>' + f"<p>{path}</p>")
        path += "deep/"
    site.html_page("/", "Home", link("/deep/"))
    report = await run()
    assert report.status == "ok"
    assert len(asked(site)) < 10
    assert [(reason, "trap" in (detail or "")) for reason, detail in copy.skipped.values()] == [
        ("filter-exclude", True)
    ]


async def test_filter_combinations_are_limited_over_all_runs(site: Site, run: Crawl, copy: Copy) -> None:
    """No more than the limit are fetched for one path; each one cut is in the index."""
    filters = ["&".join(f"f{bit}={number >> bit & 1}" for bit in range(10)) for number in range(600)]
    queries = [f"/list?{query}" for query in filters]
    site.html_page("/", "Home", link(*queries[:400], "/more"))
    site.html_page("/more", "More", link(*queries))
    for query in queries:
        site.html_page(query, query, f"<p>{query}</p>")
    await run(concurrency=8, max_pages=20)
    await run(concurrency=8, max_pages=0)
    visited = {path for path in asked(site) if path.startswith("/list")}
    assert len(visited) == Limits().max_combinations + 20  # and one for each value
    assert len(copy.skipped) == 80
    assert {"trap" in (detail or "") for _, detail in copy.skipped.values()} == {True}
    site.clear_log()
    await run(concurrency=8, max_pages=0)
    assert set(asked(site)) <= {"/"}


async def test_numbered_queries_are_not_cut(site: Site, run: Crawl) -> None:
    """600 forum topics by a number in the query: each is something new."""
    queries = [f"/viewtopic.php?f=1&t={number}" for number in range(600)]
    site.html_page("/", "Home", link(*queries))
    for query in queries:
        site.html_page(query, query, f"<p>{query}</p>")
    report = await run(concurrency=8)
    assert (report.successful, report.skipped) == (601, 0)


async def test_nested_frames_are_cut(site: Site, run: Crawl, copy: Copy) -> None:
    """Frames belong to their page's depth, but not without end."""
    for number in range(250):
        site.page(f"/frame/{number}", f'<iframe src="/frame/{number + 1}"></iframe><p>{number}</p>')
    site.html_page("/", "Home", '<iframe src="/frame/0"></iframe>')
    await run(link_depth=0)
    assert len(asked(site)) <= 205
    assert "trap" in (next(iter(copy.skipped.values()))[1] or "")
