"""Rows for publishing come in one order, however many there are, and from any row on."""

from __future__ import annotations

import random
import sqlite3
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror import urls
from sitemirror.publish.contents import order
from sitemirror.reasons import Reason
from sitemirror.store.database import State
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.reports import FEW, LinkGraph, StateReport, UnreadableState, open_read_only
from sitemirror.store.tables import ASSET, PAGE, VERSION, ChangeKind, Due, FileKind, GoneCause, Place, UrlState

AT = "2026-01-03T20:00:00Z"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    with closing(State.open(tmp_path / "state.sqlite3")) as opened:
        yield opened


def put(state: State, name: str, what: UrlState, **columns: object) -> int:
    """A row of `url`, by the last part of its URL."""
    url = f"https://example.com/{name}" if ":" not in name else name
    row = {"key": urls.key(url), "url": url, "state": what, "queue": Due.NO, "start_id": 1, "named": 1} | columns
    marks = ", ".join("?" * len(row))
    query = f"INSERT INTO url ({', '.join(row)}) VALUES ({marks}) RETURNING id"
    return int(state.db.execute(query, tuple(row.values())).fetchone()[0])


def save(state: State, id: int, *paths: str, **columns: object) -> None:
    """A page's rows with its files: Markdown, HTML or an asset."""
    row = {"url_id": id, "fetched_at": AT} | columns
    marks = ", ".join("?" * len(row))
    state.db.execute(f"INSERT INTO page ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    kinds = {"md": FileKind.MARKDOWN, "html": FileKind.HTML}
    for path in paths:
        kind = kinds.get(path.rpartition(".")[2], FileKind.ASSET)
        state.db.execute(
            "INSERT INTO file (url_id, kind, path, preferred_path, path_key, size, sha256)"
            " VALUES (?, ?, ?, ?, ?, 7, ?)",
            (id, kind, path, path, path.encode(), bytes(32)),
        )


def page(state: State, name: str, *paths: str, **columns: object) -> int:
    id = put(state, name, UrlState.PAGE, kind=PAGE, **columns)
    save(state, id, *(paths or (f"example.com/{name}.md",)))
    return id


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1])
def test_few_and_many_rows_have_one_order(state: State, count: int) -> None:
    """Few are sorted in memory and many on disk; a folder's URLs are adjacent in both."""
    found = [f"https://example.com/{'a/' * (n % 3)}{'b-' * (n % 2)}{n}" for n in range(count)]
    random.Random(count).shuffle(found)
    for url in found:
        put(state, url, UrlState.QUEUED, listed_run=4)
    put(state, "excluded", UrlState.EXCLUDED, listed_run=4)
    put(state, "before", UrlState.QUEUED, listed_run=3)
    rows = StateReport(state).outline(4)
    wanted = sorted(found, key=order)
    for start in (0, 1, count // 2, count):
        assert [url for url, _, _ in rows(start)] == wanted[start:]


def test_each_url_is_in_one_place(state: State) -> None:
    """What only redirects lead to is reported under the names that lead there, and a page's names are gone with it."""
    root = page(state, "", "example.com/index.md")
    put(state, "old", UrlState.ALIAS, target_id=root, reason=Reason.MOVED)
    target = put(state, "target", UrlState.FAILED, named=0, reason=Reason.HTTP_STATUS, detail="500", checked_at=AT)
    put(state, "leads", UrlState.ALIAS, target_id=target, reason=Reason.MOVED)
    gone = page(state, "gone", gone_since=AT, gone_cause=GoneCause.UNNAMED)
    put(state, "was", UrlState.ALIAS, target_id=gone, reason=Reason.MOVED)
    put(state, "mailto:a@b.c", UrlState.EXCLUDED, gone_since=AT, reason=Reason.NOT_HTTP)
    put(state, "pdf", UrlState.SKIPPED, reason=Reason.WRONG_TYPE, detail="application/pdf", size=9)
    put(state, "private", UrlState.EXCLUDED, reason=Reason.ROBOTS)
    put(state, "next", UrlState.QUEUED)
    resolve_aliases(state.db)
    report, base = StateReport(state), "https://example.com/"
    assert [(row["url"], row["aliases"]) for row in report.pages()] == [(base, f'["{base}old"]')]
    assert [(url, text, final) for url, text, _, _, _, _, final, _, _ in report.failures()] == [
        (base + "leads", "HTTP 500", base + "target")
    ]
    assert [url for url, *_ in report.skips()] == [base + "pdf", base + "private"]
    assert list(report.gone()) == [(base + "gone", "example.com/gone.md", AT), (base + "was", None, AT)]
    assert list(report.not_reached()) == [base + "next"]
    counts = report.counts()
    assert counts[:8] == (1, 0, 1, 2, 1, 2, 1, 1)
    assert counts.total == 5
    assert report.gone_since(AT) == 2
    assert report.reasons() == ["HTTP 500", "content type application/pdf"]
    assert state.db.execute("SELECT count(*) FROM account WHERE place = ?", (Place.GONE,)).fetchone() == (2,)


def test_two_formats_are_one_page(state: State) -> None:
    """Its Markdown is the main file; the HTML beside it is named with it, and both are files of the index."""
    id = page(state, "both", "example.com/both.md", "example.com/both.html")
    state.db.execute("UPDATE file SET preferred_path = 'example.com/other.md' WHERE kind = 1 AND url_id = ?", (id,))
    html = page(state, "html", "example.com/html.html")
    put(state, "name", UrlState.ALIAS, target_id=id, reason=Reason.DUPLICATE)
    image = put(state, "i.png", UrlState.PAGE, kind=ASSET)
    save(state, image, "example.com/i.png")
    resolve_aliases(state.db)
    first, second, third = StateReport(state).pages()
    assert (first["path"], first["html_path"]) == ("example.com/both.md", "example.com/both.html")
    assert (first["preferred_path"], first["sha256"]) == ("example.com/other.md", "00" * 32)
    assert (second["path"], second["html_path"]) == ("example.com/html.html", None)
    assert third["path"] == "example.com/i.png"
    assert StateReport(state).counts().assets == 1
    graph = LinkGraph(state)
    assert [path for path, _ in graph.sizes()] == sorted(
        ["example.com/both.html", "example.com/both.md", "example.com/html.html", "example.com/i.png"]
    )
    assert [(row[0], row[2]) for row in graph.urls()] == [
        (id, "example.com/both.html"),
        (html, "example.com/html.html"),
        (image, "example.com/i.png"),
        (id + 2, "example.com/both.html"),
    ]


def test_kept_copies_say_why(state: State) -> None:
    """A reason has its words, where it redirects, the file that is missing, and its time."""
    target = put(state, "there", UrlState.FAILED, reason=Reason.HTTP_STATUS, detail="404", checked_at=AT)
    early, late = "2026-01-01T00:00:00Z", "2026-01-09T00:00:00Z"
    page(state, "a", reason=Reason.HTTP_STATUS, detail="500", since=early)
    page(state, "b", reason=Reason.MOVED_TEMPORARILY, target_id=target, since=early)
    page(state, "c", reason=Reason.MOVED, detail="https://example.com/there: HTTP 404", since=late)
    page(state, "d", reason=Reason.HTTP_STATUS, detail="403", missing_path="example.com/d.html", since=early)
    page(state, "e")
    report = StateReport(state)
    assert [row["error"] for row in report.pages()] == [
        "HTTP 500",
        "redirects for now to https://example.com/there",
        "redirects to https://example.com/there: HTTP 404",
        "HTTP 403; example.com/d.html was deleted, and cannot be had",
        None,
    ]
    assert report.kept_since(AT) == (1, 1)
    assert report.counts().refresh_failed == 4
    errors = {url.rpartition("/")[2]: (at, text) for at, url, _, text in LinkGraph(state).errors()}
    assert errors["there"] == (AT, "HTTP 404")
    assert errors["c"] == (late, "redirects to https://example.com/there: HTTP 404")


def test_changes_are_counted_over_interruptions(state: State) -> None:
    """New and changed pages of a run are those that it noted, as far as they are pages still."""
    first, second, third = page(state, "a"), page(state, "b"), put(state, "c", UrlState.ALIAS, target_id=1)
    kinds = {first: ChangeKind.ADDED, second: ChangeKind.CHANGED, third: ChangeKind.ADDED}
    state.db.executemany("INSERT INTO change (run_id, url_id, kind) VALUES (5, ?, ?)", kinds.items())
    state.db.execute("INSERT INTO change (run_id, url_id, kind) VALUES (4, ?, ?)", (second, ChangeKind.ADDED))
    assert StateReport(state).changes(5) == (1, 1)


def test_what_this_run_has_decided_is_new(state: State) -> None:
    """Its placeholders are written again, under each name; others only if they are missing."""
    put(state, "before", UrlState.FAILED, reason=Reason.HTTP_STATUS, detail="404", checked_run=1)
    failed = put(state, "now", UrlState.FAILED, reason=Reason.HTTP_STATUS, detail="500", checked_run=2)
    put(state, "name", UrlState.ALIAS, target_id=failed, reason=Reason.MOVED, checked_run=1)
    put(state, "excluded", UrlState.EXCLUDED, reason=Reason.ROBOTS, checked_run=2)
    resolve_aliases(state.db)
    found = {row[1].rpartition("/")[2]: row[-1] for row in StateReport(state).without_page(2)}
    assert found == {"before": False, "now": True, "name": True}


def test_unread_pages_are_those_that_are_queued(state: State) -> None:
    """A page whose links nobody has read counts while it is due, if links led to it."""
    page(state, "read", queue=Due.NOW, depth=1)
    state.db.execute("UPDATE page SET links_known = 1")
    page(state, "unread", queue=Due.NOW, depth=1)
    page(state, "by-a-sitemap", queue=Due.NOW)
    assert StateReport(state).unread() == 1


@pytest.mark.slow
def test_urls_without_a_page_take_no_memory(state: State) -> None:
    """There may be a million of them: they are read one by one."""
    for n in range(5_000):
        put(state, f"docs/a-page-with-a-name/{n}", UrlState.FAILED, reason=Reason.OTHER, detail=f"{n}")
    report = StateReport(state)
    tracemalloc.start()
    count = sum(1 for _ in report.without_page(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5_000
    assert peak < 100_000


def test_glance_reads_a_closed_state_and_changes_nothing(tmp_path: Path) -> None:
    """It says which URLs the manifest must name; a state of a later version is refused."""
    path = tmp_path / "state.sqlite3"
    with closing(State.open(path)) as state:
        root = page(state, "", "example.com/index.html")
        put(state, "step", UrlState.FAILED, named=0, reason=Reason.NO_SUCH_HOST)
        put(state, "named", UrlState.ALIAS, target_id=root + 1, reason=Reason.MOVED)
        resolve_aliases(state.db)
    before = path.read_bytes()
    with open_read_only(path) as seen:
        assert [url for _, url in seen.urls()] == ["https://example.com/", "https://example.com/named"]
        assert list(seen.passed()) == [urls.key("https://example.com/step")]
        assert [(file.path, file.localized) for file in seen.html_files()] == [("example.com/index.html", False)]
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(UnreadableState, match="another version"), open_read_only(path):
        pass
