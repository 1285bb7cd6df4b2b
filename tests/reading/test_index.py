"""The search index: kept current page by page, made again when it is unusable, never in the way of a run."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sitemirror.publish.file_names import MANIFEST, SEARCH_INDEX
from sitemirror.reading.index import VERSION
from tests.reading.conftest import Published

PAGES = {
    "a": "# Alpha\n\nThe first page about aardvarks.\n",
    "b": "# Beta\n\nThe second page about badgers.\n\n- `badger(x)`\n\n  Digs.\n",
    "c": "# Gamma\n\nThe third page about cats.\n",
}


@pytest.fixture
def docs(mirror: Published) -> Published:
    mirror.have(PAGES)
    return mirror


def rows(mirror: Published, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(mirror.folder / SEARCH_INDEX)) as database:
        return database.execute(statement).fetchall()


def test_only_changed_pages_change_their_rows(docs: Published) -> None:
    """After an update of one page its rows are new, all others the same, and nothing of the old text is left."""
    assert docs.found("badgers") == ["b"]
    before = rows(docs, "select id, page from section where page <> (select id from page where url like '%/b')")
    docs.have({**PAGES, "b": "# Beta\n\nNow about bears.\n\n- `bear(x)`\n\n  Sleeps.\n"})
    assert docs.found("bears") == ["b"]
    assert docs.found("badgers") == []
    assert docs.found("badger") == []
    assert rows(docs, "select id, page from section where page <> (select id from page where url like '%/b')") == before
    assert rows(docs, "select name from definition") == [("bear",)]
    with closing(sqlite3.connect(docs.folder / SEARCH_INDEX)) as database:
        database.execute("insert into words(words, rank) values('integrity-check', 0)")
        database.execute("create virtual table temp.terms using fts5vocab(main, words, row)")
        terms = {term for (term,) in database.execute("select term from temp.terms")}
    assert "bear" in terms
    assert "badger" not in terms


def test_removed_and_new_pages(docs: Published) -> None:
    """A page that the manifest does not name any more is not found; a new one is."""
    docs.found("cats")
    docs.have({"a": PAGES["a"], "d": "# Delta\n\nDogs.\n"})
    assert docs.found("cats") == []
    assert docs.found("dogs") == ["d"]
    assert rows(docs, "select count(*) from page") == [(2,)]


def test_unchanged_manifest_is_not_read(docs: Published) -> None:
    """The second search writes nothing."""
    docs.found("cats")
    before = (docs.folder / SEARCH_INDEX).stat().st_mtime_ns
    docs.found("cats")
    assert (docs.folder / SEARCH_INDEX).stat().st_mtime_ns == before


def test_page_that_a_run_replaces_is_left_out_until_published(docs: Published) -> None:
    """A file newer than the manifest is not searched; once the manifest has its hash, it is."""
    row = docs.write("b", "# Beta\n\nHalf a run: bears.\n")
    report = docs.search("second")
    assert [result for result in report.results if result.url.endswith("/b")] == []
    assert "1 page is left out" in report.warnings[0]
    docs.publish([docs.write("a", PAGES["a"]), row])
    assert docs.found("bears") == ["b"]
    assert docs.search("bears").warnings == ()


def test_page_is_found_as_published_while_a_run_writes(docs: Published) -> None:
    """A page that was searched before keeps its published text until the next manifest."""
    assert docs.found("badgers") == ["b"]
    docs.write("b", "# Beta\n\nHalf a run: bears.\n")
    docs.write("new", "# New\n\nNot published: newts.\n")
    assert docs.found("badgers") == ["b"]
    assert docs.found("bears") == docs.found("newts") == []


def test_file_that_comes_back_is_found(docs: Published) -> None:
    """A page left out for its file is looked at again when the file changes, without a new manifest."""
    path = docs.file("b")
    data = path.read_bytes()
    path.write_bytes(data[:20])
    assert docs.found("badgers") == []
    path.write_bytes(data)
    assert docs.found("badgers") == ["b"]


@pytest.mark.parametrize("content", [b"", b"not a database at all, but longer than its header" * 100])
def test_damaged_index_is_made_again(docs: Published, content: bytes) -> None:
    """A file that is no index is replaced."""
    docs.found("cats")
    (docs.folder / SEARCH_INDEX).write_bytes(content)
    assert docs.found("cats") == ["c"]
    assert rows(docs, "select count(*) from page") == [(3,)]


def test_index_damaged_inside_is_made_again(mirror: Published) -> None:
    """Damage that only a search meets is repaired by it."""
    mirror.have({f"p{number}": f"# Page {number}\n\n" + f"word{number} walrus " * 400 for number in range(40)})
    assert len(mirror.found("walrus")) == 10
    path = mirror.folder / SEARCH_INDEX
    data = bytearray(path.read_bytes())
    data[3 * 4096 :] = os.urandom(len(data) - 3 * 4096)
    path.write_bytes(data)
    assert len(mirror.found("walrus")) == 10
    assert rows(mirror, "pragma integrity_check") == [("ok",)]


def test_index_of_another_version_is_made_again(docs: Published) -> None:
    """An older program's index is replaced, whatever its tables are."""
    with closing(sqlite3.connect(docs.folder / SEARCH_INDEX)) as database:
        database.executescript(f"create table page(x); pragma user_version = {VERSION + 1};")
    assert docs.found("cats") == ["c"]


def test_index_can_be_deleted(docs: Published) -> None:
    """The next search makes it again."""
    docs.found("cats")
    (docs.folder / SEARCH_INDEX).unlink()
    assert docs.found("cats") == ["c"]
    assert (docs.folder / SEARCH_INDEX).is_file()
    assert sorted(path.name for path in docs.folder.iterdir() if path.is_file()) == [MANIFEST, SEARCH_INDEX]


def test_folder_that_takes_no_index(docs: Published) -> None:
    """Where no file can be made, the search works in memory and says so."""
    (docs.folder / SEARCH_INDEX).mkdir()
    report = docs.search("cats")
    assert [result.url for result in report.results] == ["https://docs.example/c"]
    assert "in memory only" in report.warnings[0]


def test_symlink_is_not_followed(docs: Published, tmp_path: Path) -> None:
    """A mirror from elsewhere cannot make a search write into another file."""
    other = tmp_path / "precious"
    other.write_bytes(b"")
    (docs.folder / SEARCH_INDEX).symlink_to(other)
    assert docs.found("cats") == ["c"]
    assert other.read_bytes() == b""


def test_paths_out_of_the_mirror_are_not_read(docs: Published, tmp_path: Path) -> None:
    """A manifest that names a file elsewhere finds nothing there."""
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nquagga\n")
    row = docs.write("a", PAGES["a"])
    row.path, row.sha256 = "../../secret.md", None
    docs.publish([row, docs.write("b", PAGES["b"])])
    assert docs.found("quagga") == []


def test_searches_at_once_agree(mirror: Published) -> None:
    """Several first searches at the same time each find everything; one of them builds at a time."""
    mirror.have({f"p{number}": f"# Page {number}\n\nwalrus {number}\n" for number in range(200)})
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(mirror.search("walrus").total)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 6
    assert rows(mirror, "select count(*), count(distinct page) from section") == [(200, 200)]


def test_search_during_updates_sees_whole_pages(mirror: Published) -> None:
    """While another search writes what each update changed, a result is always of one version of a page."""
    mirror.have({f"p{number}": f"# Page {number}\n\nversion 0 walrus\n" for number in range(60)})
    assert mirror.search("walrus").total == 60
    ended = threading.Event()
    seen: list[str] = []

    failures: list[Exception] = []

    def keep_searching() -> None:
        try:
            while not ended.is_set():
                seen.extend(result.snippet for result in mirror.search("walrus", limit=60).results)
        except Exception as error:
            failures.append(error)

    others = [threading.Thread(target=keep_searching) for _ in range(2)]
    for other in others:
        other.start()
    for version in range(1, 6):
        mirror.have({f"p{number}": f"# Page {number}\n\nversion {version} walrus\n" for number in range(60)})
        assert mirror.search(f"version {version}", limit=60).total > 0
    ended.set()
    for other in others:
        other.join()
    assert failures == []
    assert set(seen) <= {f"version {version} walrus" for version in range(6)}
    assert mirror.search('"version 5 walrus"').total == 60


def test_empty_page_is_no_problem(mirror: Published) -> None:
    """A page without text is in the index and found by nobody."""
    mirror.have({"empty": "", "b": PAGES["b"]})
    assert mirror.found("badgers") == ["b"]
    assert mirror.search("badgers").warnings == ()
