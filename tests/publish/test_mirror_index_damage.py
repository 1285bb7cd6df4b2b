"""The check of what is hardly an index: cut, torn, huge, or another file altogether, all in little memory."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemirror.publish import mirror_index_check
from sitemirror.publish.mirror_index import UrlRow
from tests.publish.checked_index import in_our_layout, problems
from tests.publish.sample_index import EMPTY, HOME, LARGE, SITE, Rows


@pytest.mark.parametrize("content", [b"", b"not JSON", b"[]", b"null", b"\xff\xfe{", b"{\n", b'{"meta": {', b"{}}"])
def test_other_files_give_one_problem(path: Path, content: bytes) -> None:
    """A file that is not an index gives one problem and no exception."""
    path.write_bytes(content)
    (problem,) = problems(path)
    assert problem.startswith("mirror-index.json is ")


def test_empty_object_lacks_all_sections(path: Path) -> None:
    """Each missing section is named."""
    path.write_bytes(b"{}")
    assert [problem.partition(" is missing")[0] for problem in problems(path)] == [
        "meta",
        "items",
        "urls",
        "graph",
        "graph.out_edges",
        "graph.in_edges",
        "skipped_urls",
        "errors",
    ]


def test_missing_file_raises(path: Path) -> None:
    """A missing file raises the system's error."""
    with pytest.raises(FileNotFoundError):
        problems(path)


def test_every_truncation_is_detected(path: Path) -> None:
    """A truncated file never passes."""
    whole = LARGE.write(path).read_bytes()
    for length in [*range(0, len(whole) - 2, 1 + len(whole) // 150), len(whole) - 2]:
        path.write_bytes(whole[:length])
        assert any("is not JSON" in problem for problem in problems(path)), length


def test_lost_or_repeated_lines_are_detected(path: Path) -> None:
    """Items and edges are cross-checked, so each missing or repeated line is a problem."""
    lines = LARGE.write(path).read_bytes().splitlines(keepends=True)
    places = {line.split(b'"')[1]: number for number, line in enumerate(lines) if line.startswith((b'  "', b'    "'))}
    items, urls, back, end = (places[name] for name in (b"items", b"urls", b"in_edges", b"typed_out_edges"))
    for number in (*range(items, urls), *range(places[b"out_edges"], back + 3), *range(end - 3, end)):
        for changed in ([], [lines[number]] * 2):
            path.write_bytes(b"".join([*lines[:number], *changed, *lines[number + 1 :]]))
            assert problems(path), lines[number][:80]


@pytest.mark.parametrize("old", [b'"],\n', b"},\n    {", b'"]\n', b"},\n"])
def test_wrong_commas_are_detected(path: Path, old: bytes) -> None:
    """A missing or extra comma is a problem, as for any JSON parser."""
    good = Rows().write(path).read_bytes()
    assert old in good
    bad = old.replace(b",", b"") if b"," in old else old.replace(b"\n", b",\n")
    path.write_bytes(good.replace(old, bad, 1))
    assert "is not JSON" in problems(path)[-1]


def test_oversized_entry_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless entry is refused before it exhausts the memory."""
    monkeypatch.setattr(mirror_index_check, "MAX_VALUE", 100_000)
    path.write_text('{"errors": ["' + "x" * 400_000 + '"]}', "utf-8")
    (problem,) = problems(path)
    assert "too large" in problem


@pytest.mark.parametrize(
    "value",
    ["NaN", "[1,]", '{"a" 1}', "{1: 2}", "01", "tru", '"\\ud800"', '"\n"', "[" * 100_000, "9" * 5_000, '["a" "b"]'],
    ids=lambda value: value[:8].strip(),
)
@pytest.mark.parametrize("name", ["items", "news", "meta"])
def test_stream_is_as_strict_as_json(path: Path, name: str, value: str) -> None:
    """The streaming parser accepts no more than a parser of the whole file."""
    path.write_text(f'{{"graph": {{}}, "{name}": {value}}}', "utf-8")
    assert problems(path)[-1].startswith("mirror-index.json is not JSON: line 1")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
KEYS = st.sampled_from(
    ["meta", "items", "urls", "graph", "skipped_urls", "errors", "out_edges", "in_edges", "0", "url"]
)


@given(
    st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=3) | st.lists(st.dictionaries(KEYS, JSON))),
    st.sampled_from([None, 2]),
)
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
def test_any_json_is_checked_without_exception(path: Path, found: dict[str, Any], indent: int | None) -> None:
    """Any JSON gives a list of problems, the same in each layout."""
    path.write_text(json.dumps(found, indent=indent), "utf-8")
    named = problems(path)
    assert named
    path.write_bytes(in_our_layout(found))
    assert problems(path) == named


@pytest.mark.slow
def test_memory_stays_flat(path: Path) -> None:
    """A page with 30,000 referers needs no more memory than one with a few."""
    Rows().write(path)
    problems(path)  # The checkers are made once, and are not what is measured here.
    count = 30_000
    names = [f"{SITE}{number:06}/" for number in range(count)]
    rows = replace(EMPTY, urls=(UrlRow(url=SITE, local_path="x", kind="page", referers=names),))
    rows = replace(rows, edges=tuple((SITE, name, "href") for name in names), files=(HOME,))
    rows.write(path)
    tracemalloc.start()
    found = problems(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == []
    assert path.stat().st_size > 3_000_000
    assert peak < 600_000
