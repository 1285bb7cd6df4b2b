"""The mirror index as it is written: the format's fields, valid against the published schema, streamed."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from sitemirror.publish.mirror_index import LIST_PIECE, DirRow, FileRow, UrlRow, directories, write_mirror_index
from tests.publish.checked_index import valid, written
from tests.publish.sample_index import EMPTY, FILES, HEADER, HOME, HOME_URL, ROOT, SCHEMA, SITE, SKIPPED, STYLE, Rows

DOCS = Path(__file__).parents[2] / "docs/mirror-index.md"


def test_meta_has_all_fields(path: Path) -> None:
    """Every field of the run, with times and numbers in the format's form."""
    assert valid(Rows().write(path))["meta"] == {
        "base_url": "https://example.com/",
        "generated_at": "2026-01-03T20:00:00.500508+00:00",
        "target_root": str(ROOT),
        "items_count": 4,
        "tool": "mirror-site",
        "tool_version": "1",
        "schema_version": 1,
        "run_id": "0b6c1f0e-5f0e-4f5a-9a52-6e1d2a3b4c5d",
        "args": {
            "link_depth": -1,
            "same_domain": True,
            "delay_seconds": 0.5,
            "timeout": 30,
            "user_agent": "test/1",
            "post_process": True,
            "re_download_all": False,
            "concurrency": 4,
        },
    }


def test_items_have_all_fields(path: Path) -> None:
    """A page, an asset with few known values, and directories."""
    root, folder, style, home = valid(Rows().write(path))["items"]
    assert root == {
        "path": ".",
        "type": "dir",
        "size": 4106,
        "items": 3,
        "kind": "dir",
        "name": ".",
        "ext": "",
        "section": ".",
    }
    assert folder == root | {"path": "css", "name": "css", "section": "css", "size": 10, "items": 1}
    assert style == {
        "path": "css/site.css",
        "type": "file",
        "size": 10,
        "mtime": "1970-01-01T00:00:00.250000+00:00",
        "mime": "text/css",
        "target_abs_path": str(ROOT / "css" / "site.css"),
        "target_root": str(ROOT),
        "name": "site.css",
        "ext": ".css",
        "kind": "asset",
        "section": "css",
    }
    assert home == {
        "path": "index.html",
        "type": "file",
        "size": 4096,
        "mtime": "2026-01-03T19:55:00+00:00",
        "mime": "text/html",
        "sha256": "0" * 64,
        "source_url": SITE,
        "final_url": SITE,
        "http_status": 200,
        "downloaded_at": "2026-01-03T19:55:01+00:00",
        "original_etag": '"abc123"',
        "original_last_modified": "2026-01-03T19:00:00+00:00",
        "original_content_type": "text/html; charset=utf-8",
        "original_content_length": 4096,
        "target_abs_path": str(ROOT / "index.html"),
        "target_root": str(ROOT),
        "name": "index.html",
        "ext": ".html",
        "kind": "page",
        "section": ".",
        "page_meta": {
            "title": 'Home, "sweet"\n{home}',
            "meta_description": "Where it begins",
            "canonical_url": SITE,
            "robots": "index, follow",
            "hreflang": [{"lang": "de", "href": SITE + "de/"}, {"lang": "x-default", "href": SITE}],
            "h1": ["Home"],
            "h2": ["First", "Second"],
            "word_count": 250,
        },
    }


def test_urls_have_all_fields(path: Path) -> None:
    """Headers in lower case, referers, depth, and the two extensions if they apply."""
    urls = valid(Rows().write(path))["urls"]
    assert urls[SITE] == {
        "url": SITE,
        "final_url": SITE,
        "http_status": 200,
        "headers": {"content-type": "text/html", "etag": '"abc123"'},
        "downloaded_at": "2026-01-03T19:55:01+00:00",
        "local_path": "index.html",
        "kind": "page",
        "referers": [],
        "depth": 0,
    }
    assert urls[SITE + "css/site.css"] == {
        "url": SITE + "css/site.css",
        "local_path": "css/site.css",
        "kind": "asset",
    }
    assert urls[SITE + "old"] == {
        "url": SITE + "old",
        "final_url": SITE,
        "http_status": 304,
        "local_path": "old/index.html",
        "kind": "unknown",
        "referers": [SITE, SITE + "b"],
        "depth": 2,
        "redirect_chain": [SITE + "old", SITE + "older", SITE],
        "not_modified": True,
    }


def test_graph_skips_and_errors_have_all_fields(path: Path) -> None:
    """Edges in both directions and by attribute, skips and errors."""
    document = valid(Rows().write(path))
    assert document["graph"] == {
        "out_edges": {SITE: [SITE + "css/site.css", SITE + "old"], SITE + "b": [SITE + "old"]},
        "in_edges": {SITE + "css/site.css": [SITE], SITE + "old": [SITE, SITE + "b"]},
        "typed_out_edges": {
            SITE: {"href": [SITE + "css/site.css", SITE + "old"]},
            SITE + "b": {"src": [SITE + "old"]},
        },
    }
    now = "2026-01-03T20:00:00+00:00"
    assert document["skipped_urls"] == [
        {"ts": now, "url": "https://other.example/", "reason": "out-of-domain", "from": SITE},
        {"ts": now, "url": SITE + "x/x/x", "reason": "filter-exclude", "from": SITE, "detail": "repeating path"},
    ]
    assert document["errors"] == [{"ts": now, "url": SITE + "gone.png", "stage": "asset-download", "error": "HTTP 404"}]


def test_empty_mirror_has_root_directory(path: Path) -> None:
    """A run that saved nothing writes a valid index with the root directory only."""
    document = valid(EMPTY.write(path))
    assert [item["path"] for item in document["items"]] == ["."]
    assert document["meta"]["items_count"] == 1
    with path.open("wb") as file:
        write_mirror_index(
            file,
            replace(HEADER, run_id=None, args=None),
            items=(),
            urls=(),
            out_edges=(),
            in_edges=(),
            skipped=(),
            errors=(),
        )
    document = valid(path)
    assert document["graph"] == {"out_edges": {}, "in_edges": {}}
    assert not {"run_id", "args"} & set(document["meta"])


def test_each_element_is_one_line(path: Path) -> None:
    """A file, a URL, a page's edges, a skip and an error are one line each."""
    before = Rows().write(path).read_bytes().splitlines()
    more = Rows(
        files=(STYLE, HOME, STYLE._replace(path="z.css")),
        urls=(*Rows().urls, UrlRow(url=SITE + "z", local_path="z", kind="asset", referers=[SITE])),
        edges=(*Rows().edges, (SITE + "z", SITE + "z1", "src"), (SITE + "z", SITE + "z2", "src")),
        skipped=(SKIPPED, *Rows().skipped),
    )
    after = more.write(path).read_bytes().splitlines()
    # One file, one URL, one skip; one line of out_edges, two of in_edges, three of typed edges (with their braces).
    assert len(after) == len(before) + 1 + 1 + 1 + 1 + 2 + 3


@pytest.mark.parametrize("count", [0, 1, LIST_PIECE, LIST_PIECE + 1, 3 * LIST_PIECE + 7])
def test_long_lists_are_wrapped(path: Path, count: int) -> None:
    """Long lists of referers or edges are split over several lines."""
    sources = [f"{SITE}{n:05}" for n in range(count)]
    rows = Rows(urls=(HOME_URL._replace(referers=iter(sources)),), edges=tuple((s, SITE, "href") for s in sources))
    document = valid(rows.write(path))
    assert document["urls"][SITE]["referers"] == sources
    assert document["graph"]["in_edges"] == ({SITE: sources} if sources else {})
    longest = max(line.count(b'","') for line in path.read_bytes().splitlines())
    assert longest <= LIST_PIECE + 20


def test_repeated_edges_are_written_once(path: Path) -> None:
    """A page may link to another by href and by src."""
    document = valid(Rows(edges=((SITE, SITE + "a", "href"), (SITE, SITE + "a", "src"))).write(path))
    assert document["graph"]["out_edges"] == {SITE: [SITE + "a"]}
    assert document["graph"]["in_edges"] == {SITE + "a": [SITE]}
    assert document["graph"]["typed_out_edges"] == {SITE: {"href": [SITE + "a"], "src": [SITE + "a"]}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"items": [HOME, STYLE]},
        {"items": [HOME, DirRow(".", 0, 0)]},
        {"items": [HOME, HOME]},
        {"urls": [HOME_URL, HOME_URL]},
        {"out_edges": [("b", "x"), ("a", "x")]},
        {"in_edges": [("a", "x"), ("b", "x"), ("a", "y")]},
        {"typed_out_edges": [("a", "src", "x"), ("a", "href", "x")]},
    ],
)
def test_rows_out_of_order_are_refused(wrong: dict[str, Any]) -> None:
    """Unsorted or repeated rows raise instead of writing an invalid index."""
    rows: dict[str, Any] = dict.fromkeys(("items", "urls", "out_edges", "in_edges", "skipped", "errors"), ())
    with pytest.raises(ValueError, match=r"must be sorted, each once: .* came after"):
        write_mirror_index(io.BytesIO(), HEADER, **rows | wrong)


class _Counted:
    """A sink that only counts, so that what is measured is the writer."""

    size = 0

    def write(self, data: bytes, /) -> int:
        self.size += len(data)
        return len(data)


@pytest.mark.slow
def test_memory_stays_flat() -> None:
    """20,000 pages with 50 links each; all edges at once would take 100 MB."""
    pages, links = 20_000, 50
    names = [f"{SITE}{number:06}/" for number in range(pages)]
    home, others = names[0], names[1:]
    edges = ((source, target) for at, source in enumerate(names) for target in islice(names, at % 99, at % 99 + links))
    # Not by `_replace`, which leaves thousands of tuples in Python's own store of them.
    url_row, file_row = HOME_URL._asdict(), HOME._asdict()
    urls = (UrlRow(**url_row | {"url": url, "referers": others if url == home else (home,)}) for url in names)
    files = (FileRow(**file_row | {"path": f"{number:06}.html"}) for number in range(5_000))
    sink = _Counted()
    # The system's table of content types is loaded when it is first asked for, and may be large.
    write_mirror_index(_Counted(), HEADER, items=[HOME], urls=(), out_edges=(), in_edges=(), skipped=(), errors=())
    tracemalloc.start()
    write_mirror_index(
        sink,
        HEADER,
        items=files,
        urls=urls,
        out_edges=edges,
        in_edges=((home, source) for source in others),
        skipped=(),
        errors=(),
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sink.size > 30_000_000
    assert peak < 300_000


def test_documentation_names_every_field() -> None:
    """docs/mirror-index.md describes every field of the schema."""
    text = DOCS.read_text("utf-8")
    for name, described in SCHEMA["$defs"].items():
        for field in described["properties"]:
            assert f"`{field}`" in text or f"`{field}[]`" in text, (name, field)


def test_items_count_is_known_in_advance(tmp_path: Path) -> None:
    """The number of items is known before the first is written."""
    folders = directories((file.path, file.size) for file in FILES)
    assert folders.items_count == len(folders) + len(FILES) == len(written(tmp_path)["items"])
