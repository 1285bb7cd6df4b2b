"""The manifest: valid against its schema, one element a line, streamed, and read back as it was written."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sitemirror.publish.manifest import (
    Damaged,
    Element,
    FailureRow,
    GoneRow,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    SkipRow,
    read_manifest,
    write_manifest,
)

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/manifest.schema.json").read_text("utf-8"))
HEADER = ManifestHeader(
    source_url="https://example.com/",
    sitemap_url="https://example.com/sitemap.xml",
    sitemaps=("https://example.com/sitemap.xml", "https://example.com/news.xml"),
    crawl_started="2026-01-03T20:00:00Z",
    crawl_completed="2026-01-04T10:00:00Z",
    complete=True,
    total_pages=5,
    successful=2,
    failed=1,
    skipped=1,
    duplicates=3,
    not_reached_count=1,
)
FULL = PageRow(
    url="https://example.com/docs/api",
    path="docs/api/index.md",
    size_bytes=1234,
    fetched_at="2026-01-03T20:00:01Z",
    changed_at="2025-12-24T18:00:00Z",
    title='The "API",\n{a}, [b] – naïve 日本',
    sha256="0" * 64,
    lastmod="2026-01-02",
    etag='W/"abc"',
    last_modified="Fri, 02 Jan 2026 10:00:00 GMT",
    content_type="text/html",
    final_url="https://example.com/docs/api/",
    canonical_url="https://example.com/docs/api/",
    aliases=("http://example.com/docs/api", "https://example.com/api"),
    alternates=(("de", "https://example.com/de/api"), ("x-default", "https://example.com/api")),
    depth=0,
)
BARE = PageRow(url="https://example.com/", path="index.md")
ROWS: list[Element] = [
    FULL,
    BARE,
    FailureRow(url="https://example.com/x", error="HTTP 404", attempts=2, at="2026-01-03T20:00:02Z"),
    FailureRow(url="https://example.com/y", error="HTTP 500", final_url="https://example.com/z", redirects=2, depth=3),
    SkipRow(url="https://example.com/a.pdf", reason="content type", content_type="application/pdf", size_bytes=9),
    SkipRow(url="https://evil.example/", reason="domain lock", depth=0),
    GoneRow(url="https://example.com/old", path="old/index.md", since="2026-01-03T20:00:00Z"),
    "https://example.com/later",
    "https://example.com/last",
]


def write(path: Path, rows: Iterable[Element] = ROWS, header: ManifestHeader = HEADER) -> bytes:
    rows = list(rows)
    with path.open("wb") as file:
        write_manifest(
            file,
            header,
            pages=(row for row in rows if isinstance(row, PageRow)),
            failures=(row for row in rows if isinstance(row, FailureRow)),
            skips=(row for row in rows if isinstance(row, SkipRow)),
            gone=(row for row in rows if isinstance(row, GoneRow)),
            not_reached=(row for row in rows if isinstance(row, str)),
        )
    return path.read_bytes()


def valid(data: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(data)
    Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "_manifest.json"


def test_manifest_has_all_documented_fields(path: Path) -> None:
    """The original fields keep their names and meaning; each page has all further ones."""
    document = valid(write(path))
    assert document["version"] == "2.0.0"
    assert document["sitemap_url"] == "https://example.com/sitemap.xml"
    assert [document[name] for name in ("total_pages", "successful", "failed", "skipped")] == [5, 2, 1, 1]
    assert document["pages"][0] == {
        "url": "https://example.com/docs/api",
        "path": "docs/api/index.md",
        "size_bytes": 1234,
        "fetched_at": "2026-01-03T20:00:01Z",
        "changed_at": "2025-12-24T18:00:00Z",
        "title": 'The "API",\n{a}, [b] – naïve 日本',
        "sha256": "0" * 64,
        "lastmod": "2026-01-02",
        "etag": 'W/"abc"',
        "last_modified": "Fri, 02 Jan 2026 10:00:00 GMT",
        "content_type": "text/html",
        "final_url": "https://example.com/docs/api/",
        "canonical_url": "https://example.com/docs/api/",
        "aliases": ["http://example.com/docs/api", "https://example.com/api"],
        "alternates": [
            {"lang": "de", "href": "https://example.com/de/api"},
            {"lang": "x-default", "href": "https://example.com/api"},
        ],
        "depth": 0,
    }
    assert document["pages"][1]["title"] is None
    assert "alternates" not in document["pages"][1]
    assert document["failures"][0] == {
        "url": "https://example.com/x",
        "error": "HTTP 404",
        "attempts": 2,
        "at": "2026-01-03T20:00:02Z",
    }
    assert document["not_reached"] == ["https://example.com/later", "https://example.com/last"]


def test_interrupted_run_is_marked_incomplete(path: Path) -> None:
    """`complete` is false and `crawl_completed` null, and the file is still valid."""
    document = valid(write(path, ROWS, replace(HEADER, complete=False, crawl_completed=None)))
    assert document["complete"] is False
    assert document["crawl_completed"] is None


def test_an_empty_manifest_is_valid(path: Path) -> None:
    """A run that saved nothing writes a manifest that can be read."""
    valid(write(path, []))
    assert list(read_manifest(path)) == [HEADER]


def test_each_element_is_one_line(path: Path) -> None:
    """Adding a page adds one line, for readable diffs."""
    before = write(path).splitlines()
    after = write(path, [*ROWS, PageRow(url="https://example.com/new", path="new/index.md")]).splitlines()
    assert len(after) == len(before) + 1
    assert sum(b"docs/api/index.md" in line for line in after) == 1


def test_manifest_round_trips(path: Path) -> None:
    """Every field of every row survives writing and reading."""
    write(path)
    assert list(read_manifest(path)) == [HEADER, *ROWS]


@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
def test_reformatted_manifest_is_read(path: Path, indent: int | str | None) -> None:
    """The layout of an editor, jq or a formatter does not matter."""
    document = json.loads(write(path))
    path.write_text("\ufeff" * (indent == 4) + json.dumps(document, indent=indent, sort_keys=indent == 2), "utf-8")
    assert list(read_manifest(path)) == [HEADER, *ROWS]


def test_windows_line_ends_are_read(path: Path) -> None:
    """git may convert line ends to CRLF on checkout."""
    path.write_bytes(write(path).replace(b"\n", b"\r\n"))
    assert list(read_manifest(path)) == [HEADER, *ROWS]


def test_oldest_format_is_read(path: Path) -> None:
    """The first version had four fields per page."""
    page = {"url": "https://example.com/", "path": "index.md", "size_bytes": 5, "fetched_at": "2026-01-03T20:00:00Z"}
    path.write_text(json.dumps({"version": "2.0.0", "source_url": "https://example.com", "pages": [page]}), "utf-8")
    header, row = read_manifest(path)
    assert isinstance(header, ManifestHeader)
    assert (header.source_url, header.complete) == ("https://example.com", False)
    assert row == replace(BARE, size_bytes=5, fetched_at="2026-01-03T20:00:00Z")


def test_damaged_line_is_reported_and_skipped(path: Path) -> None:
    """A merge conflict or a flipped byte costs its own line only."""
    lines = write(path).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"index.md"' in line)
    lines[at] = lines[at].replace(b'"url"', b'"ur')
    lines.insert(at, b"<<<<<<< ours\n")
    path.write_bytes(b"".join(lines))
    items = list(read_manifest(path))
    assert [item for item in items if not isinstance(item, Damaged)] == [HEADER, *(r for r in ROWS if r != BARE)]
    assert [item for item in items if isinstance(item, Damaged)] == [
        Damaged(f"line {at + 1}"),
        Damaged(f"line {at + 2}"),
    ]


def test_truncated_manifest_gives_complete_rows(path: Path) -> None:
    """A truncated file gives the rows before the cut and an error, or is refused."""
    whole = write(path)
    expected: list[Element | ManifestHeader] = [HEADER, *ROWS]
    for length in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:length])
        try:
            items = list(read_manifest(path))
        except ManifestUnreadable:
            assert length < whole.index(b"docs/api/index.md") + 700
            continue
        rows = [item for item in items if not isinstance(item, Damaged | ManifestHeader)]
        assert rows == expected[1 : 1 + len(rows)]
        assert len(rows) >= whole[:length].count(b",\n    ")
        assert isinstance(items[-1], Damaged)


@pytest.mark.parametrize("content", [b"", b"not JSON", b"[]", b"null", b'{"version": "2.0.0"}', b"\xff\xfe{", b"{\n"])
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    """A file that is not a manifest raises instead of giving an empty mirror."""
    path.write_bytes(content)
    with pytest.raises(ManifestUnreadable, match=r"_manifest\.json is"):
        list(read_manifest(path))


@pytest.mark.parametrize(
    "page",
    [
        None,
        7,
        [],
        {},
        {"url": "https://example.com/"},
        {"path": "x.md"},
        {"url": 1, "path": "x.md"},
        {"url": "", "path": ""},
    ],
)
def test_rows_without_url_or_path_are_errors(path: Path, page: object) -> None:
    """Rows need a URL and a path; invalid optional fields count as missing."""
    good = {"url": "https://example.com/", "path": "index.md", "size_bytes": "5", "aliases": {"a": 1}, "title": 3}
    path.write_text(json.dumps({"pages": [page, good], "failures": 3}), "utf-8")
    assert list(read_manifest(path))[1:] == [Damaged("pages, element 1"), BARE, Damaged("failures")]


@given(
    st.lists(
        st.builds(PageRow, url=st.text(min_size=1), path=st.text(min_size=1), title=st.none() | st.text()), max_size=6
    )
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_round_trips(path: Path, rows: list[PageRow]) -> None:
    """Quotes, line separators, controls and emoji in titles and URLs are preserved."""
    assert len(valid(write(path, rows))["pages"]) == len(rows)
    assert list(read_manifest(path)) == [HEADER, *rows]


def test_lone_surrogate_is_replaced(path: Path) -> None:
    """Text that is not valid Unicode is written with a replacement character."""
    rows: list[Element] = [
        replace(FULL, title="a\ud800b"),
        FailureRow(url="u", error="\udfff"),
        SkipRow(url="u", reason="\ud800"),
        "https://example.com/\ud800",
    ]
    document = valid(write(path, rows))
    assert document["pages"][0]["title"] == "a\ufffdb"
    assert document["skips"][0]["reason"] == "\ufffd"


@pytest.mark.slow
def test_rows_are_streamed(path: Path) -> None:
    """20,000 rows need no more memory than a few; all at once would take 10 MB."""

    def round_trip(total: int) -> int:
        pages = (replace(FULL, url=f"https://example.com/{n}", path=f"{n}/index.md") for n in range(total))
        with path.open("wb") as file:
            write_manifest(file, HEADER, pages=pages, failures=(), skips=(), gone=(), not_reached=())
        return sum(isinstance(row, PageRow) for row in read_manifest(path))

    round_trip(3_000)  # The interpreter keeps up to 2,000 tuples of a size for later, which is no matter of rows.
    tracemalloc.start()
    read = round_trip(20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read == 20_000
    assert peak < 150_000
