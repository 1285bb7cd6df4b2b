"""Grouping by folder: every row once, counts right, a folder's own pages before its subfolders."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.publish.contents import MAX_LEVEL, Heading, folders, order, sections

HOST = "e.com"
NAMES = st.sampled_from(["a", "b", "a-b", "a b", "", "c", "aa"])
URLS = st.builds(
    lambda names, leaf, query: f"https://{HOST}/" + "".join(name + "/" for name in names) + leaf + query,
    st.lists(NAMES, max_size=6),
    st.sampled_from(["", "a", "b", "page.html"]),
    st.sampled_from(["", "?q=/x/y", "?"]),
)


def walked(rows: Callable[[int], Iterable[str]]) -> Iterator[Heading | str]:
    """Headings and rows, one by one."""
    for item in sections(rows, str, HOST):
        if isinstance(item, Heading):
            yield item
        else:
            yield from item


def grouped(urls: list[str]) -> list[Heading | str]:
    ordered = sorted(urls, key=order)
    return list(walked(lambda start: iter(ordered[start:])))


def drawn(urls: list[str]) -> list[str]:
    return [
        f"{'#' * item.level} {'/'.join(item.folder)} {item.count}" if isinstance(item, Heading) else item
        for item in grouped([f"https://{HOST}{url}" for url in urls])
    ]


def test_headings_nest_like_folders() -> None:
    """A folder's own pages come before its first subfolder."""
    assert drawn(["/", "/z", "/docs/z", "/docs/api/a", "/docs/api/b", "/docs/"]) == [
        "https://e.com/",
        "https://e.com/z",
        "# docs 4",
        "https://e.com/docs/",
        "https://e.com/docs/z",
        "## docs/api 2",
        "https://e.com/docs/api/a",
        "https://e.com/docs/api/b",
    ]


def test_folder_with_one_page_has_no_heading() -> None:
    """Otherwise sites with a folder per page would have a heading per page."""
    assert drawn(["/blog/one/", "/blog/two/", "/legal/imprint"]) == [
        "https://e.com/legal/imprint",
        "# blog 2",
        "https://e.com/blog/one/",
        "https://e.com/blog/two/",
    ]


def test_chain_of_folders_shares_one_heading() -> None:
    """`/en/stable/` above everything is one heading, not two of three levels."""
    assert drawn(["/en/stable/x/a", "/en/stable/x/b", "/en/stable/y/a", "/en/stable/y/b"]) == [
        "# en/stable 4",
        "## en/stable/x 2",
        "https://e.com/en/stable/x/a",
        "https://e.com/en/stable/x/b",
        "## en/stable/y 2",
        "https://e.com/en/stable/y/a",
        "https://e.com/en/stable/y/b",
    ]


def test_deep_folders_are_listed_under_third_level() -> None:
    """Below three levels there are no headings, and nothing is lost."""
    lines = drawn(["/1/x", "/1/2/x", "/1/2/3/x", "/1/2/3/4/x", "/1/2/3/4/y", "/1/2/3/4/5/x"])
    assert [line for line in lines if line.startswith("#")] == ["# 1 6", "## 1/2 5", "### 1/2/3 4"]
    assert len(lines) == 3 + 6


def test_other_hosts_are_folders() -> None:
    """Subdomains are not mixed with the host's folders; the scheme does not matter."""
    urls = [f"https://{HOST}/x/1", f"http://{HOST}/x/2", "https://x/1", "https://x/2"]
    assert [item for item in grouped(urls) if isinstance(item, Heading)] == [
        Heading(1, ("x",), 2),
        Heading(1, ("//x",), 2),
    ]


@given(st.lists(URLS, max_size=60, unique=True))
def test_any_site_is_grouped_completely(urls: list[str]) -> None:
    """Each URL is listed once under its heading, and each heading has the right count."""
    items = grouped(urls)
    assert sorted(item for item in items if isinstance(item, str)) == sorted(urls)
    headings = [item for item in items if isinstance(item, Heading)]
    assert len({heading.folder for heading in headings}) == len(headings)
    open_headings: list[Heading] = []
    below: dict[Heading, int] = dict.fromkeys(headings, 0)
    for item in items:
        if isinstance(item, Heading):
            open_headings = [heading for heading in open_headings if heading.level < item.level]
            assert item.level == len(open_headings) + 1 <= MAX_LEVEL
            open_headings.append(item)
            for outer, inner in pairwise(open_headings):
                assert inner.folder[: len(outer.folder)] == outer.folder
        else:
            for heading in open_headings:
                assert tuple(folders(item, HOST)[: len(heading.folder)]) == heading.folder
                below[heading] += 1
    for heading in headings:
        inside = [url for url in urls if tuple(folders(url, HOST)[: len(heading.folder)]) == heading.folder]
        assert below[heading] == heading.count == len(inside) > 1


@given(st.lists(URLS, max_size=30, unique=True))
def test_order_equals_its_sql_expression(urls: list[str]) -> None:
    """SQLite sorts as `order` does, with the expression in its docstring."""
    base = sqlite3.connect(":memory:")
    base.execute("create table t (url text)")
    base.executemany("insert into t values (?)", [(url,) for url in urls])
    by_sql = "select url from t order by replace(substr(url, instr(url, '://') + 3), '/', char(1)), url"
    assert [url for (url,) in base.execute(by_sql)] == sorted(urls, key=lambda url: (order(url), url))
    base.close()


@pytest.mark.slow
def test_rows_are_never_collected() -> None:
    """10,000 rows in 5,000 folders need 200 KB; the rows alone would take a megabyte."""
    total = 10_000

    def rows(start: int) -> Iterator[str]:
        return (f"https://{HOST}/docs/{n // 1_000:02}/{n // 2:05}/{n}" for n in range(start, total))

    tracemalloc.start()
    count = sum(isinstance(item, str) for item in walked(rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == total
    assert peak < 200_000


def test_large_folders_are_not_read_for_each_level() -> None:
    """A folder of ten thousand pages is read twice, not once per level."""
    urls = [f"https://{HOST}/docs/api/{folder}/{n:05}" for folder in ("a", "b") for n in range(10_000)]
    read = 0

    def rows(start: int) -> Iterator[str]:
        nonlocal read
        for url in urls[start:]:
            read += 1
            yield url

    assert sum(isinstance(item, str) for item in walked(rows)) == len(urls)
    assert read < 2 * len(urls) + 100


def test_fewer_rows_on_second_reading_do_not_raise() -> None:
    """A source that gives fewer rows the second time loses rows only."""
    answers = iter([[f"https://{HOST}/a/1", f"https://{HOST}/a/2"], []])
    found = walked(lambda _: next(answers))
    assert list(found) == []
