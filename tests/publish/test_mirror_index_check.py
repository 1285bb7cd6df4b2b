"""The check of a mirror index: quiet about good ones in any layout, exact about bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sitemirror.publish.mirror_index_check import validate_index
from tests.publish.checked_index import document, in_our_layout, problems
from tests.publish.sample_index import EMPTY, LARGE, MANY, SCHEMA, SITE, Rows

# The example in the format's own description. It is abridged there: 123 items are counted and two shown.
EXAMPLE = """{
  "meta": {
    "base_url": "https://example.com/",
    "generated_at": "2025-09-23T19:56:21.500508+00:00",
    "target_root": "/abs/path/mirror",
    "items_count": 123,
    "tool": "mirror_site.py",
    "tool_version": "1",
    "schema_version": 1,
    "args": {
      "link_depth": 2,
      "same_domain": true,
      "delay_seconds": 0.5,
      "timeout": 60,
      "user_agent": "Mozilla/5.0 ...",
      "post_process": true,
      "re_download_all": false,
      "concurrency": 4
    }
  },
  "items": [
    {"path": ".", "type": "dir", "size": 1024, "items": 5, "kind": "dir", "name": ".", "ext": "", "section": "."},
    {
      "path": "index.html",
      "type": "file",
      "size": 4096,
      "mtime": "2025-09-23T19:55:00+00:00",
      "mime": "text/html",
      "sha256": "...",
      "source_url": "https://example.com/",
      "final_url": "https://example.com/",
      "http_status": 200,
      "downloaded_at": "2025-09-23T19:55:01+00:00",
      "original_etag": "\\"abc123\\"",
      "original_last_modified": "2025-09-23T19:00:00+00:00",
      "original_content_type": "text/html",
      "original_content_length": 4096,
      "target_abs_path": "/abs/path/mirror/index.html",
      "target_root": "/abs/path/mirror",
      "name": "index.html",
      "ext": ".html",
      "kind": "page",
      "section": ".",
      "page_meta": {"title": "Home", "word_count": 250}
    }
  ],
  "urls": {
    "https://example.com/": {
      "url": "https://example.com/",
      "final_url": "https://example.com/",
      "http_status": 200,
      "headers": {"content-type": "text/html; charset=utf-8"},
      "downloaded_at": "2025-09-23T19:55:01+00:00",
      "local_path": "index.html",
      "kind": "page",
      "referers": [],
      "depth": 0
    }
  },
  "graph": {
    "out_edges": {"https://example.com/": ["https://example.com/about/"]},
    "in_edges": {"https://example.com/about/": ["https://example.com/"]}
  },
  "skipped_urls": [],
  "errors": []
}
"""


def test_documented_example_is_valid(path: Path) -> None:
    """The published schema accepts it, and the check finds only its abridged counts."""
    Draft202012Validator(SCHEMA).validate(json.loads(EXAMPLE))
    path.write_text(EXAMPLE, "utf-8")
    assert problems(path) == [
        "meta.items_count is 123, but there are 2 items",
        "the root directory has 5 items and 1,024 bytes by its own account, but 1 items and 4,096 bytes are listed",
    ]
    whole = EXAMPLE.replace("123,", "2,").replace('"items": 5', '"items": 1').replace("1024", "4096")
    path.write_text(whole, "utf-8")
    assert problems(path) == []


@pytest.mark.parametrize("rows", [Rows(), LARGE, EMPTY], ids=["sample", "long lists", "empty"])
@pytest.mark.parametrize("indent", ["ours", None, 2, "\t"])
def test_layout_does_not_matter(path: Path, rows: Rows, indent: int | str | None) -> None:
    """Ours, an editor's or jq's layout gives the same result."""
    rows.write(path)
    if indent != "ours":
        bom = "\ufeff" * (indent == 2)
        path.write_text(bom + json.dumps(json.loads(path.read_bytes()), indent=indent), "utf-8")
    assert problems(path) == []


def test_windows_line_ends_are_accepted(path: Path) -> None:
    """git may convert line ends to CRLF on checkout."""
    path.write_bytes(LARGE.write(path).read_bytes().replace(b"\n", b"\r\n"))
    assert problems(path) == []


def test_unknown_fields_are_ignored(path: Path) -> None:
    """Additional fields do not change the version, so a newer index is valid."""
    found = document(path)
    for place in (found, found["meta"], found["items"][0], found["urls"][SITE], found["graph"], found["errors"][0]):
        place["news"] = {"a": [1]}
    path.write_text(json.dumps(found), "utf-8")
    assert problems(path) == []


Edit = Callable[[dict[str, Any]], object]

BAD: list[tuple[str, Edit, list[str]]] = [
    ("no items", lambda d: d.pop("items"), ["items is missing"]),
    ("no graph", lambda d: d.pop("graph"), [f"graph{n} is missing" for n in ("", ".out_edges", ".in_edges")]),
    ("no errors", lambda d: d.pop("errors"), ["errors is missing"]),
    ("list for object", lambda d: d.update(urls=[]), ["urls is not an object"]),
    ("object for list", lambda d: d.update(errors={}), ["errors is not a list"]),
    ("no base_url", lambda d: d["meta"].pop("base_url"), ["meta.base_url: field required"]),
    ("no meta", lambda d: d.update(meta=None), ["meta is not an object"]),
    (
        "text for number",
        lambda d: d["meta"]["args"].update(timeout="30"),
        ["meta.args.timeout: input should be a valid"],
    ),
    ("half a second", lambda d: d["meta"]["args"].update(timeout=0.5), ["meta.args.timeout: input should be a valid"]),
    ("newer", lambda d: d["meta"].update(schema_version=2), ["meta.schema_version is 2; this program knows 1"]),
    (
        "naive time",
        lambda d: d["meta"].update(generated_at="2026-01-03T20:00:00"),
        ["meta.generated_at: is not in UTC"],
    ),
    ("no time", lambda d: d["errors"][0].update(ts="now"), ["errors[0].ts: is no ISO 8601 time"]),
    ("null", lambda d: d["items"][3].update(sha256=None), ["items[3].sha256: input should be a valid string"]),
    ("escape", lambda d: d["items"][3].update(path="../x"), ["items[3].path: is no path inside the mirror"]),
    ("absolute", lambda d: d["urls"][SITE].update(local_path="/x"), [f'urls["{SITE}"].local_path: is no path inside']),
    ("other kind", lambda d: d["items"][3].update(kind="dir"), ["items[3].kind: input should be 'page' or 'asset'"]),
    ("other type", lambda d: d["items"][3].update(type="link"), ["items[3]: input tag 'link'"]),
    ("no items in dir", lambda d: d["items"][0].pop("items"), ["items[0].items: field required"]),
    (
        "heading",
        lambda d: d["items"][3]["page_meta"].update(h1="x"),
        ["items[3].page_meta.h1: input should be"],
    ),
    (
        "reason",
        lambda d: d["skipped_urls"][1].update(reason="depth"),
        ["skipped_urls[1].reason: input should be"],
    ),
    ("no from", lambda d: d["skipped_urls"][0].pop("from"), ["skipped_urls[0].from: field required"]),
    ("one less", lambda d: d["errors"].__setitem__(0, "x"), ["errors[0]: input should be a valid dictionary"]),
    ("other url", lambda d: d["urls"][SITE].update(url="x"), [f'urls["{SITE}"] holds another URL: x']),
    (
        "referer",
        lambda d: d["urls"][SITE]["referers"].append(5),
        [f'urls["{SITE}"].referers holds 5, which is not a URL'],
    ),
    ("referers", lambda d: d["urls"][SITE].update(referers="x"), [f'urls["{SITE}"].referers: input should be a valid']),
    ("edge", lambda d: d["graph"]["out_edges"][SITE].append([]), [f'graph.out_edges["{SITE}"] holds [], which is not']),
    ("edges", lambda d: d["graph"].update(out_edges=[], in_edges={}), ["graph.out_edges is not an object"]),
    (
        "typed edges",
        lambda d: d["graph"]["typed_out_edges"].update({SITE: ["x"]}),
        [f'graph.typed_out_edges["{SITE}"] is not an object'],
    ),
    (
        "typed list",
        lambda d: d["graph"]["typed_out_edges"].update({SITE: {"href": {}}}),
        [f'graph.typed_out_edges["{SITE}"]["href"] is not a list'],
    ),
    (
        "one way",
        lambda d: d["graph"]["in_edges"].pop(MANY[0]),
        ["graph.in_edges is not graph.out_edges the other way round (1,002 edges against 1,003)"],
    ),
    (
        "swapped",
        lambda d: d["graph"]["in_edges"].update({MANY[0]: ["x"]}),
        ["graph.in_edges is not graph.out_edges the other way round (1,003 edges against 1,003)"],
    ),
    ("count", lambda d: d["meta"].update(items_count=7), ["meta.items_count is 7, but there are 4 items"]),
    (
        "order",
        lambda d: d["items"].reverse(),
        [f"items[{n}] is out of order: items are sorted by type and path, each once" for n in (1, 2, 3)],
    ),
    (
        "size",
        lambda d: d["items"][3].update(size=1),
        ["the root directory has 3 items and 4,106 bytes by its own account, but 3 items and 11 bytes are listed"],
    ),
]


@pytest.mark.parametrize("layout", ["ours", "another"])
@pytest.mark.parametrize(("edit", "expected"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_each_fault_is_reported_with_its_position(path: Path, edit: Edit, expected: list[str], layout: str) -> None:
    """One fault gives one line with position and expected value, in any layout."""
    found = document(path)
    edit(found)
    if layout == "ours":
        path.write_bytes(in_our_layout(found))
    else:
        path.write_text(json.dumps(found), "utf-8")
    named = problems(path)
    assert len(named) == len(expected), named
    assert all(problem.startswith(start) for problem, start in zip(named, expected, strict=True)), named


def test_blank_lines_hide_no_problem(path: Path) -> None:
    """Blank lines hide no problem, and none is reported twice."""
    found = document(path, Rows())
    found["items"][3]["sha256"] = 7
    found["errors"][0]["ts"] = 7
    text = in_our_layout(found).decode()
    edited = text.replace('"errors": [\n    {', '"errors": [\n    {\n\n')
    assert edited != text
    path.write_text(edited, "utf-8")
    assert [problem.partition(":")[0] for problem in problems(path)] == ["items[3].sha256", "errors[0].ts"]


def test_foreign_text_is_escaped(path: Path) -> None:
    """Text of a damaged index reaches the terminal escaped and truncated."""
    found = document(path, Rows())
    found["urls"]["\x1b[31m" + "x" * 9_000] = {"kind": "\x1b[2J"}
    found["graph"]["in_edges"]["\x1b"] = 5
    found["errors"] = [{"ts": "\x1b", "url": "", "stage": "", "error": ""}]
    path.write_text(json.dumps(found), "utf-8")
    named = problems(path)
    assert len(named) >= 4
    assert all(problem.isprintable() and len(problem) < 1_000 for problem in named)


def test_problems_are_streamed(path: Path) -> None:
    """The first problem is available before the file is read to its end."""
    found: Iterator[str] = validate_index(path)
    document_with_faults = document(path, Rows())
    document_with_faults["errors"] = [{}] * 1_000
    path.write_bytes(in_our_layout(document_with_faults))
    assert next(found).startswith("errors[0].")
