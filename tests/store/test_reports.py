"""Rows for publishing come in one order, however many there are, and from any row on."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror import urls
from sitemirror.publish.contents import order
from sitemirror.reasons import Reason
from sitemirror.store.database import State
from sitemirror.store.disappeared import let_go
from sitemirror.store.reports import FEW, StateReport, fail_loops, resolve_aliases
from sitemirror.store.schema import Status
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.tables import UrlState


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    with closing(State.open(tmp_path / "state.sqlite3")) as opened:
        yield opened


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1])
def test_few_and_many_rows_have_one_order(state: State, count: int) -> None:
    """Few are sorted in memory and many on disk; a folder's URLs are adjacent in both."""
    found = [f"https://example.com/{'a/' * (n % 3)}{'b-' * (n % 2)}{n}" for n in range(count)]
    random.Random(count).shuffle(found)
    run = state.begin_run(source_url="https://example.com/", mode="list", scope="", started_at="2026-01-03T20:00:00Z")
    listing = SitemapTable(state, run)
    listing.add_sitemaps(["https://example.com/sitemap.xml"], depth=0)
    row = listing.next_sitemap()
    assert row is not None
    listing.add_plain(row.id, found, [None] * count, [None] * count)
    listing.finish(row.id, kind="urlset", error=None)
    rows = StateReport(state).outline(run.number)
    wanted = sorted(found, key=order)
    for start in (0, 1, count // 2, count):
        assert [url for url, _, _ in rows(start)] == wanted[start:]
    state.close()


def test_aliases_are_resolved_anew_each_time(state: State) -> None:
    """A new alias is resolved; a loop is not an alias but a failure."""

    def put(id: int, kind: UrlState, leads_to: int | None) -> None:
        state.db.execute(
            "INSERT OR REPLACE INTO url (id, key, url, state, listed_run, source, sitemap, leads_to)"
            " VALUES (?, ?, ?, ?, 1, 1, 1, ?)",
            (id, bytes([id]), f"https://example.com/{id}", kind, leads_to),
        )

    def aliases() -> list[tuple[int, int, int]]:
        resolve_aliases(state)
        return state.db.execute("SELECT url_id, page_id, hops FROM alias ORDER BY url_id").fetchall()

    put(1, UrlState.PAGE, None)
    put(2, UrlState.ALIAS, 1)
    assert aliases() == [(2, 1, 1)]
    put(3, UrlState.ALIAS, 2)
    put(4, UrlState.ALIAS, 5)
    put(5, UrlState.ALIAS, 4)
    assert aliases() == [(2, 1, 1), (3, 1, 2)]
    assert fail_loops(state, "2026-01-03T20:00:00Z") == 2
    put(2, UrlState.PAGE, None)
    assert aliases() == [(3, 2, 1)]
    state.close()


@pytest.mark.slow
def test_urls_without_a_page_take_no_memory(state: State) -> None:
    """There may be a million of them: they are read one by one."""
    state.db.executemany(
        "INSERT INTO url (id, key, url, state, listed_run, source, sitemap, reason, detail)"
        " VALUES (?, ?, ?, ?, 1, 1, 1, ?, ?)",
        (
            (
                n,
                n.to_bytes(4),
                f"https://example.com/docs/a-page-with-a-name/{n}",
                UrlState.FAILED,
                Reason.OTHER,
                f"{n}",
            )
            for n in range(5_000)
        ),
    )
    survey = StateReport(state)
    tracemalloc.start()
    count = sum(1 for _ in survey.without_page())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5_000
    assert peak < 100_000
    state.close()


def test_redirect_target_of_copies_is_looked_up_once(state: State) -> None:
    """A site under maintenance redirects every page to the same one."""
    run = state.begin_run(source_url="https://example.com/", mode="update", scope="", started_at="2026-01-03T20:00:00Z")
    moved = (Reason.MOVED_TEMPORARILY, "https://example.com/0")
    for n in range(100):
        url = f"https://example.com/{n}"
        state.db.execute(
            "INSERT INTO url (id, key, url, state, named, listed_run, source, sitemap) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
            (n, urls.key(url), url, UrlState.PAGE, n > 0, run.number, run.source),
        )
        state.db.execute(
            "INSERT INTO page (id, path, wanted, fold, size, fetched_at, refresh_reason, refresh_detail)"
            " VALUES (?, ?, ?, ?, 1, ?, ?, ?)",
            (n, f"{n}.md", f"{n}.md", b"", run.started_at, *(moved if n else (None, None))),
        )
    asked: list[str] = []
    state.db.set_trace_callback(asked.append)
    assert let_go(state, run, run.started_at) == 0
    assert len(asked) < 20
    state.db.set_trace_callback(None)
    assert state.db.execute("SELECT count(*) FROM url WHERE status = ?", (Status.SAVED,)).fetchone() == (100,)
    state.close()
