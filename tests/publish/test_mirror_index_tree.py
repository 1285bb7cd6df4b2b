"""Directories of the mirror index, added up from the files."""

from __future__ import annotations

import tracemalloc
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.publish.mirror_index import DirRow, directories


def naive(files: list[tuple[str, int]]) -> list[DirRow]:
    """Looks at every file again for every directory."""
    folders = {PurePosixPath()} | {parent for path, _ in files for parent in PurePosixPath(path).parents}
    rows = []
    for folder in folders:
        inside = [size for path, size in files if folder in PurePosixPath(path).parents]
        below = [other for other in folders if folder in other.parents]
        rows.append(DirRow(str(folder), sum(inside), len(inside) + len(below)))
    return sorted(rows, key=lambda row: row.path)


# Characters on both sides of "/" and "." in the order, so that paths and folders sort differently.
NAMES = st.text("ab-!.0é", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


def without_clashes(sizes: dict[str, int]) -> list[tuple[str, int]]:
    """Sorted, and no file where another needs a folder, as on a disk."""
    folders = {str(parent) for path in sizes for parent in PurePosixPath(path).parents}
    return sorted((path, size) for path, size in sizes.items() if path not in folders)


@given(st.dictionaries(PATHS, st.integers(0, 2**40), max_size=25).map(without_clashes))
def test_sums_equal_a_plain_count(files: list[tuple[str, int]]) -> None:
    """Sizes and counts of each directory, at any depth, in the format's order."""
    found = directories(iter(files))
    assert list(found) == naive(files)
    assert found.items_count == len(files) + len(found)


def test_example_counts() -> None:
    """The root counts everything but itself; a directory also counts its subdirectories."""
    files = [("a-b/x", 1), ("a/b/c", 2), ("a/d", 4), ("index.html", 8)]
    assert list(directories(files)) == [
        DirRow(".", 15, 7),
        DirRow("a", 6, 3),
        DirRow("a-b", 1, 1),
        DirRow("a/b", 2, 1),
    ]


def test_no_files_give_root_only() -> None:
    """An empty mirror is one directory."""
    assert list(directories(())) == [DirRow(".", 0, 0)]


@pytest.mark.parametrize("paths", [["b", "a"], ["a/x", "a/x"], ["a/x", "b/x", "a/y"]])
def test_unsorted_files_are_refused(paths: list[str]) -> None:
    """Unsorted files would give a directory two sums."""
    with pytest.raises(ValueError, match="must be sorted by path, each once"):
        directories((path, 1) for path in paths)


@pytest.mark.slow
def test_memory_depends_on_directories_only() -> None:
    """20,000 files in ten directories need no more memory than ten files."""
    files = ((f"{folder}/{number:06}.html", 1) for folder in range(10) for number in range(2_000))
    tracemalloc.start()
    found = directories(files)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.items_count == 20_011
    assert peak < 50_000
