"""URLs are inserted once each and in order, with exact duplicate counts, despite kills."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from sitemirror.reasons import Reason
from sitemirror.store.bulk_insert import Listed
from sitemirror.store.database import RunInfo, State
from sitemirror.store.queue import RunRules
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.tables import Due, UrlState

SITEMAPS = [f"https://example.com/sitemap-{number}.xml" for number in range(3)]


@contextmanager
def opened(path: Path) -> Iterator[State]:
    state = State.open(path)
    try:
        yield state
    finally:
        state.db.close()  # as a kill would: nothing is tidied up


def rules(run: RunInfo) -> RunRules:
    return RunRules(run=run.number, start=run.source, by_links=False, renews=False)


def unlisted(state: State, run: int) -> int:
    """URLs that were listed once, and not by this run."""
    return state.number("SELECT count(*) FROM url WHERE named AND listed_run IS NOT ?", (run,))


def begin(state: State, source_url: str = "https://example.com/") -> tuple[RunInfo, SitemapTable]:
    run = state.begin_run(source_url=source_url, mode="mirror", scope="", started_at="2026-01-03T20:00:00Z")
    listing = SitemapTable(state, run, rules(run))
    listing.add_sitemaps(SITEMAPS, depth=0)
    return run, listing


def shuffled(count: int, seed: int) -> list[str]:
    """`count` URLs, of which one in ten comes again, near or far."""
    luck = random.Random(seed)
    found: list[str] = []
    for number in range(count):
        again = found and luck.random() < 0.1
        found.append(luck.choice(found) if again else f"https://example.com/{seed}/page-{number}")
    return found


def add(listing: SitemapTable, found: Sequence[str], at_a_time: int = 700) -> None:
    """Reads one more sitemap that lists these, half of them in the way that has more to say."""
    row = listing.next_sitemap()
    assert row is not None
    for start in range(0, len(found), at_a_time):
        batch = found[start : start + at_a_time]
        if start // at_a_time % 2:
            listing.add(row.id, [Listed(url, "2026-01-02", None, None) for url in batch])
        else:
            listing.add_plain(row.id, batch, ["2026-01-02"] * len(batch), [None] * len(batch))
    listing.finish(row.id, kind="urlset", error=None)


def rows(state: State) -> list[str]:
    return [url for (url,) in state.db.execute("SELECT url FROM url ORDER BY id")]


def repeats(listing: SitemapTable) -> list[int]:
    return [row.repeats for row in listing.sitemaps()]


def test_urls_are_inserted_once_in_discovery_order(tmp_path: Path) -> None:
    """A URL repeated within a sitemap or across them stays at its first place."""
    first, second = shuffled(30_000, 1), shuffled(10_000, 2)
    third = [*first[::7], *second[::3], "https://example.com/last"]
    with opened(tmp_path / "state") as state:
        _, listing = begin(state)
        for found in (first, second, third):
            add(listing, found)
        assert listing.next_sitemap() is None
        every = [*first, *second, *third]
        assert rows(state) == list(dict.fromkeys(every))
        assert repeats(listing) == [
            len(first) - len(set(first)),
            len(second) - len(set(second)),
            len(third) - 1,
        ]
        assert (listing.total, listing.listed) == (len(set(every)), len(every))


@pytest.mark.parametrize("known", [0, 1, 3])
def test_kill_during_insert_keeps_committed_urls(tmp_path: Path, known: int) -> None:
    """The rest is inserted after them."""
    lists = [shuffled(8_000, seed) for seed in (3, 4)]
    lists.append([*lists[0][::2], *lists[1][::2]])
    with opened(tmp_path / "state") as state:
        run, listing = begin(state)
        for found in lists[:known]:
            add(listing, found)
        if state.db.in_transaction:
            state.db.execute("COMMIT")
    with opened(tmp_path / "state") as state:
        assert rows(state) == list(dict.fromkeys(url for found in lists[:known] for url in found))
        listing = SitemapTable(state, run, rules(run))
        listing.reopen()
        if known == len(SITEMAPS):  # All were read, and nobody knows what came of it: they are looked for again.
            listing.add_sitemaps(SITEMAPS, depth=0)
        for found in lists[known:] or lists:
            add(listing, found)
        listing.finish_listing()
        assert rows(state) == list(dict.fromkeys(url for found in lists for url in found))
        assert sum(repeats(listing)) == sum(map(len, lists)) - len(rows(state))


def test_sitemap_read_again_counts_nothing_twice(tmp_path: Path) -> None:
    """A URL that it no longer lists is gone."""
    found = shuffled(5_000, 5)
    with opened(tmp_path / "state") as state:
        run, listing = begin(state)
        add(listing, found[:100])
        row = listing.next_sitemap()
        assert row is not None
        listing.add_plain(row.id, [*found[:4_000], "/only-once"], [None] * 4_001, [None] * 4_001)
        listing.restart(row.id)
        listing.add_plain(row.id, found, ["2026"] * len(found), ["0.5"] * len(found))
        listing.finish(row.id, kind="urlset", error=None)
        listing.finish_listing()
        assert rows(state) == list(dict.fromkeys([*found[:4_000], "/only-once", *found]))
        assert sum(repeats(listing)) == 100 + len(found) - len(set(found))
        assert listing.total == len(set(found))
        assert unlisted(state, run.number) == 1
        new = set(found) - set(found[:100])
        query = "SELECT url FROM url WHERE lastmod = '2026' AND priority = '0.5'"
        assert {url for (url,) in state.db.execute(query)} == new


@pytest.mark.parametrize("before", [0, 3_000])
def test_out_of_scope_reasons_and_alternates_are_stored(tmp_path: Path, before: int) -> None:
    """Also while an empty state is filled, and for a URL that waits for a lookup."""
    entries = [
        Listed("https://example.com/a", alternates='[{"lang":"de","href":"/de"}]'),
        Listed("https://other.example/", reason=Reason.DOMAIN_LOCK),
        Listed("https://example.com/b", "2026-01-01", "1.0"),
    ]
    with opened(tmp_path / "state") as state:
        _, listing = begin(state)
        add(listing, [f"https://example.com/before/{number}" for number in range(before)])
        row = listing.next_sitemap()
        assert row is not None
        listing.add(row.id, entries)
        listing.restart(row.id)
        listing.add(row.id, entries)
        listing.finish_listing()
        columns = "url, lastmod, priority, alternates, reason, detail, state, queue"
        found = state.db.execute(f"SELECT {columns} FROM url WHERE sitemap_id = ? ORDER BY id", (row.id,)).fetchall()
        assert [Listed(*row[:-2]) for row in found] == entries
        assert [row[-2:] for row in found] == [
            (UrlState.QUEUED, Due.NOW),
            (UrlState.EXCLUDED, Due.NO),
            (UrlState.QUEUED, Due.NOW),
        ]
        assert (listing.total, listing.in_scope, listing.repeats) == (before + 3, before + 2, 0)


def test_second_run_merges_with_known_urls(tmp_path: Path) -> None:
    """Nothing is doubled, and URLs that it does not list are gone."""
    found = list(dict.fromkeys(shuffled(3_000, 6)))
    with opened(tmp_path / "state") as state:
        _, listing = begin(state)
        add(listing, found)
        listing.finish_listing()
        run, listing = begin(state)
        add(listing, [*found[100:], *found[100:200], "https://example.com/new"])
        assert listing.repeats == 100
        assert rows(state) == [*found, "https://example.com/new"]
        assert unlisted(state, run.number) == 100
