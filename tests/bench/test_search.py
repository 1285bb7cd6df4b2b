"""The search's benchmark: indexes are read as their authors wrote them, and a small manual is measured with them."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from bench.search.known_items import fts_engine, measure, sample, sections_of, sitemirror_engine
from bench.search.manuals import TUNED, Item, Manual, make_mirror, read_book_index, read_rustdoc
from sitemirror.reading.index import open_index
from sitemirror.reading.mirrors import open_mirror

MODULES = {
    "json": (("loads", "Deserialize a document."), ("dumps", "Serialize an object.")),
    "pickle": (("loads", "Read an object from bytes."), ("Pickler", "Write objects, as json.dumps does.")),
}
INVENTORY = b"# Sphinx inventory version 2\n# Project: Small\n# Version: 1\n# The remainder is compressed using zlib.\n"


@pytest.fixture
def manual(tmp_path: Path) -> Manual:
    """A manual as Sphinx makes it, of two pages with two functions each."""
    folder = tmp_path / "html"
    folder.mkdir()
    entries = ["search std:label -1 none.html# A page that is not there"]
    for module, members in MODULES.items():
        listed = "".join(
            f'<dl class="py function"><dt class="sig sig-object py" id="{module}.{name}">'
            f'<span class="sig-prename descclassname"><span class="pre">{module}.</span></span>'
            f'<span class="sig-name descname"><span class="pre">{name}</span></span>'
            f'<span class="sig-paren">(</span><em>x</em><span class="sig-paren">)</span></dt>'
            f"<dd><p>{text}</p></dd></dl>"
            for name, text in members
        )
        (folder / f"{module}.html").write_text(
            f'<title>{module} — Small</title><meta name="generator" content="Docutils 0.19"><div class="body" '
            f'role="main"><h1>{module}</h1>{listed}</div>'
        )
        entries += [f"{module}.{name} py:function 1 {module}.html#$ -" for name, _ in members]
        entries.append(f"{module} std:doc -1 {module}.html The {module} module")
    (folder / "objects.inv").write_bytes(INVENTORY + zlib.compress("\n".join(entries).encode()))
    return Manual("small", "none", folder, "objects.inv")


def test_inventory_is_read(manual: Manual) -> None:
    """Symbols and titles, each with its page; entries of pages that are not there are left out."""
    items = manual.items()
    assert Item("pickle.loads", frozenset({"pickle.html"}), "symbol") in items
    assert Item("The json module", frozenset({"json.html"}), "term") in items
    assert len(items) == 6


def test_known_items_are_found(manual: Manual, tmp_path: Path) -> None:
    """Every symbol of the small manual is found first, and the plain index beside it answers, too."""
    folder = make_mirror(manual, tmp_path / "mirrors")
    symbols = [item for item in manual.items() if item.kind == "symbol"]
    with open_index(open_mirror(folder)) as index:
        score = measure(sitemirror_engine(index), symbols, manual.url)
    assert (score.first, score.five, score.missed) == (1.0, 1.0, [])
    plain = measure(fts_engine(list(sections_of(folder))), symbols, manual.url)
    assert plain.five > 0
    assert [item.query for item, _ in plain.missed] == [] or plain.first < 1


def test_book_index_is_read(tmp_path: Path) -> None:
    """A nested entry has the words of the one above it; links lead to its answers."""
    (tmp_path / "locks.html").touch()
    (tmp_path / "bookindex.html").write_text(
        '<dl><dt id="x">lock, <a class="indexterm" href="locks.html">Locks</a></dt><dd><dl><dt>explicit, '
        '<a href="locks.html#e">13.3</a></dt><dt>none, see <a href="#x">lock</a></dt></dl></dd></dl>'
    )
    assert list(read_book_index(tmp_path)) == [
        Item("lock", frozenset({"locks.html"}), "term"),
        Item("lock explicit", frozenset({"locks.html"}), "term"),
    ]


def test_rustdoc_list_is_read(tmp_path: Path) -> None:
    """Every item of the list of a crate, by its path."""
    (tmp_path / "std/vec").mkdir(parents=True)
    (tmp_path / "std/vec/struct.Vec.html").touch()
    (tmp_path / "std/all.html").write_text('<main><a href="vec/struct.Vec.html">vec::Vec</a><a href="no.html">no</a>')
    assert list(read_rustdoc(tmp_path)) == [Item("vec::Vec", frozenset({"std/vec/struct.Vec.html"}), "symbol")]


def test_sample_is_the_same_each_time() -> None:
    """So many of each kind, by a fixed seed."""
    items = [Item(str(number), frozenset(), kind) for kind in ("symbol", "term") for number in range(100)]
    assert len(sample(items, 10)) == 20
    assert sample(items, 10) == sample(items, 10)
    assert sample(items, 0) == items


@pytest.mark.skipif(not TUNED[0].installed, reason="needs python3.11-doc")
def test_part_of_a_real_manual(tmp_path: Path) -> None:
    """Of one page in thirty of Python's manual, nearly all symbols are found first."""
    manual = TUNED[0]
    folder = make_mirror(manual, tmp_path, every=30)
    there = {page.url.removeprefix(manual.url) for page in open_mirror(folder).markdown_pages()}
    symbols = [item for item in manual.items() if item.kind == "symbol" and item.answers <= there]
    assert len(symbols) > 100
    with open_index(open_mirror(folder)) as index:
        assert measure(sitemirror_engine(index), sample(symbols, 100), manual.url).first >= 0.95
