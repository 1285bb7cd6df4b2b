"""States of earlier versions become states of this one, with all that they knew."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitemirror.reasons import Reason
from sitemirror.store.database import State
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.paths import path_key
from sitemirror.store.reports import StateReport
from sitemirror.store.tables import TABLES, VERSION, Due, FileKind, GoneCause, Op, RunPhase, UrlState
from tests.upgrade.cases import CASES, HOST, Case, account

_BY_NAME = {case.name: case for case in CASES}
_UNKILLED = [case for case in CASES if not case.interrupted or case.last.signal == "SIGINT"]

# What an old state said, in its own terms: `status` 1 is a page, 7 is gone.
_OLD_PAGES = """
SELECT url, path, html_path, status, sha256, kind = 2 FROM page JOIN url USING (id) WHERE status IN (1, 7)
"""


class Migrated:
    """The state of an old mirror, before and after."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.output, _ = case.unpack(folder)
        self.path = self.output / HOST / "_state.sqlite3"
        with closing(sqlite3.connect(self.path)) as old:
            self.old_pages = old.execute(_OLD_PAGES).fetchall()
            self.old_rows = old.execute("SELECT url FROM url ORDER BY url").fetchall()
            self.old_notes = {name: json.loads(value) for name, value in old.execute("SELECT name, value FROM meta")}
        self.state = State.open(self.path)
        self.db = self.state.db
        resolve_aliases(self.db)

    def value(self, query: str, *values: object) -> Any:
        row = self.db.execute(query, values).fetchone()
        return row and row[0]


@pytest.fixture
def migrated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Migrated]:
    found = Migrated(request.param, tmp_path)
    yield found
    found.state.close()


def of(*names: str) -> pytest.MarkDecorator:
    cases = [_BY_NAME[name] for name in names] or CASES
    return pytest.mark.parametrize("migrated", cases, indirect=True, ids=lambda case: case.name)


def reported(report: StateReport) -> dict[str, list[str | None]]:
    """The account that a manifest would give, as `account` reads one."""

    def here(path: str | None) -> str | None:
        return path and (path.removeprefix(f"{HOST}/") if path.startswith(f"{HOST}/") else f"../{path}")

    found: dict[str, list[str | None]] = {}
    for page in report.pages():
        found[page["url"]] = ["page", here(page["path"]), here(page["html_path"]), page["error"]]
        found |= {alias: ["alias", page["url"]] for alias in json.loads(page["aliases"])}
    found |= {url: ["failure", reason] for url, reason, *_ in report.failures()}
    found |= {url: ["skip", reason] for url, reason, *_ in report.skips()}
    found |= {url: ["gone", here(path)] for url, path, _ in report.gone()}
    found |= {url: ["not_reached"] for url in report.not_reached()}
    return found


@pytest.mark.parametrize("migrated", _UNKILLED, indirect=True, ids=lambda case: case.name)
def test_account_is_that_of_the_manifest(migrated: Migrated) -> None:
    """Pages with their paths, aliases, failures, skips and gone URLs are what the old version published."""
    assert reported(StateReport(migrated.state)) == account(migrated.output)


@pytest.mark.parametrize("migrated", _UNKILLED, indirect=True, ids=lambda case: case.name)
def test_counts_are_those_of_the_manifest(migrated: Migrated) -> None:
    """The header's numbers are the same."""
    manifest = json.loads((migrated.output / HOST / "_manifest.json").read_text("utf-8"))
    counts = StateReport(migrated.state).counts()
    names = {"successful": counts.saved, "failed": counts.failed, "skipped": counts.skipped}
    names |= {"not_reached_count": counts.not_reached, "total_pages": counts.total}
    assert names == {name: manifest[name] for name in names}
    assert counts.gone == len(manifest["gone"])
    repeats = migrated.value("SELECT coalesce(sum(repeats), 0) FROM sitemap")
    assert repeats + counts.aliases_listed == manifest["duplicates"]


@of()
def test_every_file_keeps_its_row(migrated: Migrated) -> None:
    """Each file of a page, or of one that is gone, has its path, kind and hash; a page in both formats has two."""
    files = set(
        migrated.db.execute(
            "SELECT url, path, file.kind, gone_since IS NOT NULL FROM file JOIN url ON url.id = url_id"
        ).fetchall()
    )
    moved = {old: new for _, old, new in migrated.old_notes.get("moving", {}).get("rows", ())}
    expected = set()
    for url, path, html_path, status, _, is_asset in migrated.old_pages:
        main, is_gone = moved.get(path, path), int(status == 7)
        kind = FileKind.ASSET if is_asset else FileKind.MARKDOWN if main.endswith(".md") else FileKind.HTML
        expected.add((url, main, kind, is_gone))
        if html_path not in (None, path):
            expected.add((url, f"{main.removesuffix('.md')}.html", FileKind.HTML, is_gone))
    assert files == expected
    hashes = dict(migrated.db.execute("SELECT path, lower(hex(sha256)) FROM file").fetchall())
    assert all(hashes[moved.get(path, path)] == digest for _, path, _, _, digest, _ in migrated.old_pages)
    keys = migrated.db.execute("SELECT preferred_path, path_key FROM file").fetchall()
    assert all(key == path_key(preferred) for preferred, key in keys)


@of()
def test_nothing_of_the_old_state_is_left(migrated: Migrated) -> None:
    """Every URL has its row, old tables are gone, and the state opens as one of this version."""
    assert migrated.db.execute("SELECT url FROM url ORDER BY url").fetchall() == migrated.old_rows
    assert migrated.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%' OR name = 'meta'") == 0
    assert migrated.value("PRAGMA user_version") == VERSION
    assert migrated.value("PRAGMA integrity_check") == "ok"


@of("updated-mirror", "kept-mirror")
def test_gone_urls_and_kept_copies_keep_their_reasons(migrated: Migrated) -> None:
    """Gone is a time and a cause, a redirect for the moment leads to a row, and a reason has its time."""
    gone = migrated.db.execute("SELECT gone_since, gone_cause, state FROM url WHERE gone_since IS NOT NULL").fetchall()
    assert gone
    assert all(since and cause == GoneCause.UNNAMED for since, cause, _ in gone)
    assert any(state == UrlState.PAGE for *_, state in gone)
    query = "SELECT url.detail, t.url FROM url LEFT JOIN url AS t ON t.id = url.target_id WHERE url.reason = ?"
    temporary = migrated.db.execute(f"{query} AND url.state = 1", (Reason.MOVED_TEMPORARILY,)).fetchall()
    assert temporary
    assert all(detail == target for detail, target in temporary)
    assert migrated.value("SELECT count(*) FROM url WHERE state = 1 AND (reason IS NULL) != (since IS NULL)") == 0


@of("mirror-local", "crawl-both-local", "crawl-html")
def test_links_that_lead_to_files_are_known(migrated: Migrated) -> None:
    """Markdown has its spans, HTML the place where its links were made local, URLs the path they are linked by."""
    html = migrated.value("SELECT count(*) FROM file WHERE kind = ?", FileKind.HTML)
    local = migrated.value("SELECT count(*) FROM file WHERE kind = ? AND linked_path = path", FileKind.HTML)
    assert local == html
    if migrated.case.last.options.get("links"):
        assert migrated.value("SELECT count(*) FROM file WHERE kind = ? AND link_spans != x''", FileKind.MARKDOWN)
    if html:
        pages = migrated.value("SELECT count(*) FROM url WHERE state = ?", UrlState.PAGE)
        assert migrated.value("SELECT count(*) FROM link_target WHERE path IS NOT NULL") >= pages
        assert migrated.value("SELECT count(*) FROM link")


@of("crawl-html", "updated-crawl")
def test_what_a_page_needs_is_a_requisite(migrated: Migrated) -> None:
    """Pictures and styles are; pages and documents that are linked are not."""
    requisites = {url for (url,) in migrated.db.execute("SELECT url FROM link JOIN url ON id = dst_id WHERE requisite")}
    assert not any(url.endswith((".pdf", "/")) for url in requisites)
    if migrated.case.name == "crawl-html":
        assert {url.rpartition("/")[2] for url in requisites} >= {"s.css", "i.png"}
        assert (
            migrated.value("SELECT count(*) FROM page JOIN url ON id = url_id WHERE kind = 1 AND NOT links_known") == 0
        )


@of("killed-moves-noted", "killed-file-removed", "killed-file-aside", "killed-file-moved", "killed-alias")
def test_moves_under_way_are_in_the_journal(migrated: Migrated) -> None:
    """What was noted is done in the same order, and nothing else."""
    note = migrated.old_notes["moving"]
    ways = note["files"]
    journal = migrated.db.execute("SELECT op, path, new_path FROM journal ORDER BY op, id").fetchall()
    expected: list[tuple[Op, str, str | None]] = []
    if not note["clear"]:
        expected += [(Op.DELETE, old, None) for old, _, new in ways if not new]
        expected += [(Op.LEAVE, old, aside) for old, aside, new in ways if new and aside]
    expected += [(Op.ARRIVE, aside or old, new) for old, aside, new in ways if new]
    assert journal == expected


@of("killed-page-linked")
def test_markdown_that_was_being_relinked_is_in_the_journal(migrated: Migrated) -> None:
    """Each file that may have its new links, with its hash and what they were."""
    noted = {digest for _, _, digest, _, _ in migrated.old_notes["relinking"]}
    rows = migrated.db.execute("SELECT op, lower(hex(sha256)), row FROM journal").fetchall()
    assert {digest for _, digest, _ in rows} == noted
    assert {op for op, *_ in rows} == {Op.RELINK}
    assert all(bytes.fromhex(json.loads(row)[2]) for *_, row in rows)


@of("killed-links-rewritten", "killed-links-committed")
def test_a_pass_that_made_links_local_goes_on(migrated: Migrated) -> None:
    """It is known that it was under way, and by which paths it links."""
    assert migrated.value("SELECT is_relinking FROM mirror") == 1
    assert migrated.value("SELECT count(*) FROM link_target WHERE pending_path IS NOT NULL") == 11


@of("interrupted-mirror", "interrupted-crawl", "interrupted-update", "killed-update", "cut-short")
def test_an_interrupted_run_has_its_queue(migrated: Migrated) -> None:
    """What it had not come to is due; what is done is not."""
    phase, folders = migrated.db.execute("SELECT phase, folders FROM run ORDER BY id DESC LIMIT 1").fetchone()
    assert phase == RunPhase.VISITING
    assert json.loads(folders) == migrated.old_notes["writing_to"]
    number = migrated.old_notes["run"]["number"]
    is_update = migrated.old_notes["run"]["mode"].endswith(":update")
    for url, state, queue, checked, gone in migrated.db.execute(
        "SELECT url, state, queue, checked_run, gone_since FROM url"
    ):
        if gone is not None or checked == number:
            assert queue == Due.NO, url
        elif state in (UrlState.QUEUED, UrlState.FAILED):
            assert queue == Due.NOW, url
        elif state == UrlState.PAGE:
            assert queue == (Due.NOW if is_update else Due.NO), url


@of("parts", "updated-mirror", "listed-and-crawled", "updated-crawl")
def test_start_urls_and_complete_runs_are_known(migrated: Migrated) -> None:
    """Gone URLs are judged by the last complete run of each kind for their start URL."""
    starts = migrated.db.execute("SELECT url, listing_run, crawl_run FROM start ORDER BY id").fetchall()
    assert [url for url, *_ in starts] == migrated.old_notes["sources"]
    last = migrated.old_notes["run"]
    *_, (_, listing, crawl) = starts
    assert last["number"] == (crawl if last["mode"].startswith("links") else listing)


@pytest.mark.parametrize("case", [_BY_NAME["mirror-both"]], ids=lambda case: case.name)
def test_version_6_did_not_know_when_pages_changed(case: Case, tmp_path: Path) -> None:
    """Its pages count as unchanged since their last fetch, and nothing else differs."""
    rows = []
    for version in (6, 7):
        output, _ = case.unpack(tmp_path / str(version))
        with closing(sqlite3.connect(output / HOST / "_state.sqlite3")) as db, db:
            if version == 6:
                db.execute("ALTER TABLE page DROP COLUMN changed_at")
            db.execute(f"PRAGMA user_version={version}")
        with closing(State.open(output / HOST / "_state.sqlite3")) as state:
            assert state.db.execute("SELECT count(*) FROM page WHERE changed_at IS NOT fetched_at").fetchone() == (0,)
            rows.append([state.db.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in TABLES])
    assert rows[0] == rows[1]
