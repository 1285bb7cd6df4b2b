"""A state that was lost is rebuilt from the manifest and `_processed.txt`: every URL is what it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemirror.run.rebuild import rebuild, trust
from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.reports import StateReport
from sitemirror.store.restore import Restorer
from sitemirror.store.tables import Due, FileKind, UrlState
from tests.store.test_migrate import reported
from tests.upgrade.cases import CASES, HOME, HOST, Case, account

_BY_NAME = {case.name: case for case in CASES}
_UNKILLED = [case for case in CASES if not case.interrupted or case.last.signal == "SIGINT"]


class Rebuilt:
    """A mirror whose state was lost."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.output, _ = case.unpack(folder)
        self.home = self.output / HOST
        for file in self.home.glob("_state.sqlite3*"):
            file.unlink()
        self.tree = Tree(self.output, min_free_mb=0)
        self.warnings: list[str] = []
        self.state = State.open(self.home / "_state.sqlite3")

    def rebuild(self) -> bool:
        return rebuild(self.warnings.append, self.state, self.tree, HOST)

    def value(self, query: str, *values: object) -> Any:
        row = self.state.db.execute(query, values).fetchone()
        return row and row[0]

    def lines(self) -> set[str]:
        return set((self.home / "_processed.txt").read_text("utf-8").splitlines())


@pytest.fixture
def lost(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rebuilt]:
    found = Rebuilt(request.param, tmp_path)
    yield found
    found.state.close()


def of(*names: str) -> pytest.MarkDecorator:
    cases = [_BY_NAME[name] for name in names] or _UNKILLED
    return pytest.mark.parametrize("lost", cases, indirect=True, ids=lambda case: case.name)


@of()
def test_account_is_that_of_the_manifest(lost: Rebuilt) -> None:
    """Pages with their paths, aliases, failures, skips, gone and queued URLs are restored."""
    expected = account(lost.output)
    assert lost.rebuild()
    assert reported(StateReport(lost.state)) == expected


@of()
def test_pages_keep_what_the_manifest_says_of_them(lost: Rebuilt) -> None:
    """Hashes, sizes, dates and validators, so that an update asks conditionally and publishes the same again."""
    rows = json.loads((lost.home / "_manifest.json").read_text("utf-8"))["pages"]
    lost.rebuild()
    pages = {page["url"]: page for page in StateReport(lost.state).pages()}
    same = ("title", "sha256", "fetched_at", "changed_at", "etag", "last_modified", "content_type")
    for row in rows:
        page = pages[row["url"]]
        assert {name: page[name] for name in same} == {name: row[name] for name in same}
        assert (page["size"], page["canonical"]) == (row["size_bytes"], row["canonical_url"])
        preferred = page["preferred_path"] if page["preferred_path"] != page["path"] else None
        assert preferred == (row.get("preferred_path") and f"{HOST}/{row['preferred_path']}")
        assert page["depth"] == row.get("depth")


@of()
def test_links_are_not_known(lost: Rebuilt) -> None:
    """A crawl has to ask for each page whole, and not for pictures; nothing is queued that is done."""
    lost.rebuild()
    assert lost.value("SELECT count(*) FROM link") == 0
    assert lost.value("SELECT count(*) FROM page JOIN url ON id = url_id WHERE links_known AND kind = 1") == 0
    assert lost.value("SELECT count(*) FROM file WHERE received_sha256 IS NOT NULL OR link_spans IS NOT NULL") == 0
    assert lost.value("SELECT count(*) FROM url WHERE queue != ? AND state != ?", Due.NO, UrlState.QUEUED) == 0


@of("mirror-html", "mirror-both", "crawl-html", "listed-and-crawled")
def test_local_links_are_not_made_local_again(lost: Rebuilt) -> None:
    """The HTML of a complete run leads to files; its targets are linked by the paths that they have."""
    lost.rebuild()
    query = "SELECT count(*) FROM file WHERE kind = ? AND linked_path IS NOT path"
    assert lost.value(query, FileKind.HTML) == 0
    assert lost.value("SELECT count(*) FROM link_target") >= lost.value("SELECT count(*) FROM file WHERE kind = 2")


@of("interrupted-crawl")
def test_html_of_an_interrupted_run_is_as_received(lost: Rebuilt) -> None:
    """Nobody has made its links local yet: the files show it."""
    lost.rebuild()
    assert lost.value("SELECT count(*) FROM file WHERE linked_path IS NOT NULL") == 0


@of("updated-mirror", "mirror-html", "updated-crawl")
def test_format_start_and_run_are_restored(lost: Rebuilt) -> None:
    """Another format is refused; what is named is judged by the run that published it."""
    lost.rebuild()
    options = lost.case.last.options
    assert lost.state.fact("format") == options.get("format", "html")
    last = lost.state.last_run()
    assert last is not None
    assert (last.source_url, last.number, last.finished) == (HOME + "/", 1, True)
    by_links = lost.case.last.command == "crawl"
    assert lost.value(f"SELECT {'crawl_run' if by_links else 'listing_run'} FROM start") == 1


@pytest.mark.parametrize(
    "lost",
    [case for case in CASES if case.interrupted and not case.power_cut],
    indirect=True,
    ids=lambda case: case.name,
)
def test_processed_urls_are_done(lost: Rebuilt) -> None:
    """Killed at any step: a URL in `_processed.txt` is a page with its file, or another name of one.

    Unless files were on the move: then those that are missing are fetched again.
    """
    was_moving = (lost.home / "_moving").exists()
    lines = lost.lines() if (lost.home / "_processed.txt").exists() else set()
    assert lost.rebuild() == bool(lines or (lost.home / "_manifest.json").exists())
    for url in lines:
        state, path = lost.state.db.execute(
            "SELECT state, path FROM url LEFT JOIN file ON url_id = url.id WHERE url = ? ORDER BY file.kind", (url,)
        ).fetchone()
        assert state in (UrlState.PAGE, UrlState.ALIAS) or was_moving, url
        if was_moving:
            assert (state == UrlState.QUEUED) == (path is None or not (lost.output / path).is_file()), url
        elif state == UrlState.PAGE and lost.value("SELECT sha256 FROM file WHERE path = ?", path):
            assert (lost.output / path).is_file(), url


@of("mirror-markdown", "mirror-html", "mirror-both", "crawl-html")
def test_files_are_found_without_a_manifest(lost: Rebuilt) -> None:
    """By the path that a URL prefers, and by the one with its hash. What has no file counts as done."""
    expected = {url: row[1:3] for url, row in account(lost.output).items() if row[0] == "page"}
    (lost.home / "_manifest.json").unlink()
    lost.rebuild()
    pages = {page["url"]: page for page in StateReport(lost.state).pages()}
    found = {url: page for url, page in pages.items() if page["fetched_at"]}
    # A page whose folder had to give way has a third name, and a file without its URL counts for the first that may
    # have it: such a page counts as done.
    assert {url.removeprefix(HOME) for url in expected.keys() - found.keys()} <= {
        "/data/x",
        "/foo/index.md/bar",
        "/same",
    }
    for url in expected.keys() & found.keys():
        path, html_path = expected[url]
        if (lost.output / str(found[url]["path"])).name == (lost.home / str(path)).name:
            assert found[url]["html_path"] == (html_path and f"{HOST}/{html_path}")
    assert lost.lines() == pages.keys()


@of("mirror-markdown")
def test_known_urls_stay_what_they_are(lost: Rebuilt) -> None:
    """A log that others have added to: what is decided stays, and a URL that nobody knows counts as done."""
    lost.rebuild()
    before = reported(StateReport(lost.state))
    with lost.state.transaction():
        lines = [*lost.lines(), f"{HOME}/new", "no url at all"]
        trusted = trust(Restorer(lost.state), lost.tree, HOST, lines)
    assert (trusted.found, trusted.missing) == (0, 1)
    after = reported(StateReport(lost.state))
    assert after.pop(f"{HOME}/new") == ["page", "new/index.md", None, None]
    assert after == before


@of("mirror-markdown")
def test_damaged_manifest_is_read_as_far_as_it_goes(lost: Rebuilt) -> None:
    """The rest is found by `_processed.txt`."""
    manifest = lost.home / "_manifest.json"
    data = manifest.read_bytes()
    manifest.write_bytes(data[: len(data) // 4] + b"\n" + data[len(data) // 3 : len(data) // 2])
    assert lost.rebuild()
    assert any("could not be understood" in warning for warning in lost.warnings)
    pages = {page["url"] for page in StateReport(lost.state).pages()}
    aliases = lost.value("SELECT count(*) FROM url WHERE state = ?", UrlState.ALIAS)
    assert len(lost.lines() - pages) <= aliases
