"""Several hosts in one mirror, one of which asks to wait."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from pathlib import Path

import pytest

from sitemirror import crawl
from sitemirror.fetch.pace import Pace
from sitemirror.run.crawl_loop import Queue
from sitemirror.settings import Settings
from sitemirror.store.database import State
from sitemirror.store.queue import Part
from sitemirror.store.tables import Due, UrlState
from sitemirror.store.url_table import UrlTable
from sitemirror.urls import key
from tests.fetch.clocks import JumpingClock
from tests.run.conftest import Mirror
from tests.site import Site
from tests.site.faults import ok, slow, status


@pytest.mark.parametrize("format", ["markdown", "html"])
@pytest.mark.parametrize("concurrency", [1, 3])
async def test_paused_host_does_not_block_others(site: Site, run: Mirror, concurrency: int, format: str) -> None:
    """Its URLs come first and outnumber the slots: another host's pages are fetched during its pause."""
    main, busy = site.url_of("site.localhost"), site.url_of("busy.site.localhost")
    first = site.fill(40, "/first", host="busy.site.localhost")
    others = site.fill(40, "/other", host="site.localhost")
    site.sitemap(urls=[*(busy + path for path in first), *(main + path for path in others)], host="site.localhost")
    site.fault(first[0], status(429, retry_after="2"), ok(), host="busy.site.localhost")
    report = await run(main, format=format, concurrency=concurrency)
    assert (report.status, report.successful) == ("ok", 80)
    begun = site.requests_for(first[0])[0].time
    before = [request for request in site.requests if request.time < begun + 2]
    assert {request.path for request in before} >= set(others)
    assert not [request for request in before if request.path in first and request.time > begun + 1]


@pytest.mark.parametrize("format", ["markdown", "html"])
async def test_requests_waiting_for_a_paused_host_release_their_slots(site: Site, run: Mirror, format: str) -> None:
    """Under a rate limit requests wait with slots in hand; other hosts get those when a pause begins."""
    main, busy = site.url_of("site.localhost"), site.url_of("busy.site.localhost")
    first = site.fill(4, "/first", host="busy.site.localhost")
    others = site.fill(2, "/other", host="site.localhost")
    site.sitemap(urls=[*(busy + path for path in first), *(main + path for path in others)], host="site.localhost")
    site.fault(first[0], status(429, retry_after="4"), ok(), host="busy.site.localhost")
    for path in others:
        site.fault(path, slow(3), host="site.localhost")
    report = await run(main, format=format, concurrency=2, rate_limit=0, content_rate_limit=5)
    assert (report.status, report.successful) == ("ok", 6)
    begun, other = (site.requests_for(path)[0].time for path in others)
    assert abs(other - begun) < 3  # The one is asked for before the other has answered.
    assert not [request for request in site.requests if request.path in first[1:] and request.time < begun + 3]


@pytest.mark.parametrize("format", ["markdown", "html"])
async def test_shorter_of_two_pauses_ends_first(site: Site, run: Mirror, format: str) -> None:
    """All slots' pages wait for one host: the other's follow once its own pause is over."""
    main, long, short = (site.url_of(host) for host in ("site.localhost", "a.site.localhost", "b.site.localhost"))
    longs = site.fill(4, "/long", host="a.site.localhost")
    shorts = site.fill(4, "/short", host="b.site.localhost")
    listed = [url for pair in zip(longs, shorts, strict=True) for url in (long + pair[0], short + pair[1])]
    site.sitemap(urls=listed, host="site.localhost")
    site.fault(shorts[0], status(429, retry_after="1"), ok(), host="b.site.localhost")
    for path in longs[:2]:
        site.fault(path, slow(0.2, status(429, retry_after="5")), ok(), host="a.site.localhost")
    report = await run(main, format=format, concurrency=2)
    assert (report.status, report.successful) == ("ok", 8)
    asked = [request.path for request in site.requests if request.path in {*longs, *shorts}]
    assert asked[:3] == [longs[0], shorts[0], longs[1]]
    assert sorted(asked[3:7]) == sorted(shorts)
    assert sorted(asked[7:]) == sorted(longs)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_delayed_robots_txt_does_not_block_other_hosts(site: Site, out: Path, concurrency: int) -> None:
    """More pages than slots wait for it; pages of another host are fetched in the pause."""
    main, busy = site.url_of("site.localhost"), site.url_of("busy.site.localhost")
    first = site.fill(10, "/first", host="busy.site.localhost")
    others = site.fill(10, "/other", host="site.localhost")
    links = "".join(
        f'<a href="{url}">x</a>' for url in [*(busy + path for path in first), *(main + path for path in others)]
    )
    site.html_page("/", "Home", links, host="site.localhost")
    site.robots("User-agent: *\nAllow: /\n", host="busy.site.localhost")
    site.fault("/robots.txt", status(429, retry_after="3"), ok(), host="busy.site.localhost")
    report = await crawl(main + "/", output=out, rate_limit=0, concurrency=concurrency, same_domain=False)
    assert (report.status, report.successful) == ("ok", 21)
    asked = [request.path for request in site.requests]
    last_rules = len(asked) - 1 - asked[::-1].index("/robots.txt")
    assert set(asked[:last_rules]) == {"/robots.txt", "/", *others}
    assert set(asked[last_rules + 1 :]) == set(first)


class Listed:
    """A state that lists URLs, and what is asked of it."""

    def __init__(self, folder: Path, urls: Iterable[str]) -> None:
        self._state = state = State.open(folder / "state.sqlite3")
        run = state.begin_run(source_url="https://a.example/", mode="sitemap", scope="", started_at="")
        self.lookup = UrlTable(state, run)
        self.add(urls)
        self.queries: list[str] = []
        state.db.set_trace_callback(self.queries.append)
        weakref.finalize(self, state.db.close)

    def add(self, urls: Iterable[str]) -> None:
        with self._state.transaction() as db:
            rows = [(key(url), url, UrlState.QUEUED, Due.NOW) for url in urls]
            db.executemany(
                "INSERT INTO url (key, url, state, queue, named, listed_run, start_id) VALUES (?, ?, ?, ?, 1, 1, 1)",
                rows,
            )


def test_waiting_urls_are_read_once(tmp_path: Path) -> None:
    """A URL behind any number of waiting ones costs what it costs without them."""
    firsts = [f"https://a.example/{number}" for number in range(1000)]
    others = [f"https://b.example/{number}" for number in range(300)]
    listed, pace = Listed(tmp_path, [*firsts, *others]), Pace(Settings(), clock=(clock := JumpingClock()))
    pace.pause("https://a.example/", 60, "HTTP 429")
    asked = list[str]()

    def must_wait(url: str) -> bool:
        asked.append(url)
        return pace.is_paused(url)

    queue = Queue(listed.lookup, Part(), must_wait)
    assert [known.url for _ in others if (known := queue.next())] == others
    assert len(asked) <= len(firsts) + 2 * len(others)
    for _ in range(50):
        assert queue.next() is None
        assert queue.has_to_wait
    assert len(listed.queries) <= 1300 // 256 + 1
    clock.time += 61
    assert [known.url for _ in firsts if (known := queue.next())] == firsts
    assert queue.next() is None
    assert not queue.has_to_wait


def test_urls_found_during_a_pause_are_fetched(tmp_path: Path) -> None:
    """The queue was read to its end, and has grown since."""
    listed = Listed(tmp_path, ["https://a.example/", "https://b.example/"])
    queue = Queue(listed.lookup, Part(), lambda url: url != "https://c.example/")
    assert queue.next() is None
    listed.add(["https://c.example/"])
    queue.grew()
    found = queue.next()
    assert found is not None
    assert found.url == "https://c.example/"


def test_waiting_urls_in_memory_are_bounded(tmp_path: Path) -> None:
    """A million URLs of paused hosts are not read into memory."""
    listed = Listed(tmp_path, [f"https://{number % 2}.example/{number}" for number in range(4000)])
    queue = Queue(listed.lookup, Part(), lambda _: True)
    assert queue.next() is None
    assert queue.next() is None
    assert len(listed.queries) == 2048 // 256


def test_single_paused_host_keeps_its_order(tmp_path: Path) -> None:
    """There is nothing to choose, and that is found out once."""
    urls = [f"https://a.example/{number}" for number in range(300)]
    listed = Listed(tmp_path, urls)
    queue = Queue(listed.lookup, Part(), lambda _: True)
    found = list[str]()
    while (known := queue.next()) is not None:
        found.append(known.url)
        assert not queue.has_others(known.url)
    assert found == urls
    assert len(listed.queries) == 2, "these hold them all, and nothing was written since"


def test_exhausted_queue_is_read_again_after_a_write(tmp_path: Path) -> None:
    """Each slot asks once more at the end: it costs a query only after a write."""
    listed = Listed(tmp_path, ["https://a.example/"])
    queue = Queue(listed.lookup, Part())
    assert queue.next() is not None
    for _ in range(17):
        assert queue.next() is None
    assert len(listed.queries) == 1
    listed.add(["https://a.example/new"])
    found = queue.next()
    assert found is not None
    assert found.url == "https://a.example/new"
