"""The mirror index as it is written: the seed's fields, valid against the published schema, streamed."""

from __future__ import annotations

import io
import json
import tracemalloc
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sitemirror.frontier import scope
from sitemirror.model import PageMeta
from sitemirror.publish.index_check import validate_index
from sitemirror.publish.index_rows import mime
from sitemirror.publish.mirror_index import (
    LIST_PIECE,
    DirRow,
    UrlRow,
    directories,
    dump_page_meta,
    load_page_meta,
    seed_reason,
    write_mirror_index,
)
from tests.publish.sample_index import (
    EMPTY,
    FILES,
    HEADER,
    HOME,
    HOME_URL,
    ROOT,
    SCHEMA,
    SITE,
    SKIPPED,
    STYLE,
    Rows,
    grouped,
)

DOCS = Path(__file__).parents[2] / "docs/mirror-index.md"


def closed(schema: Any) -> Any:
    """The schema without room for fields it does not describe: what we write ourselves is all described."""
    if isinstance(schema, dict):
        found = {name: closed(value) for name, value in schema.items()}
        return found | {"additionalProperties": False} if "properties" in schema else found
    return [closed(value) for value in schema] if isinstance(schema, list) else schema


STRICT = Draft202012Validator(closed(deepcopy(SCHEMA)), format_checker=Draft202012Validator.FORMAT_CHECKER)


def valid(path: Path) -> dict[str, Any]:
    """The index, which both the schema and our own check accept."""
    document: dict[str, Any] = json.loads(path.read_bytes())
    STRICT.validate(document)
    assert list(validate_index(path)) == []
    return document


def written(tmp_path: Path, **rows: Any) -> dict[str, Any]:
    return valid(Rows(**rows).write(tmp_path / "mirror-index.json"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mirror-index.json"


def test_meta_says_who_made_it_when_and_how(path: Path) -> None:
    """Every field of the run, with times and numbers in the seed's form."""
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


def test_items_have_every_field_of_the_seed(path: Path) -> None:
    """A page, an asset of which little is known, and the directories with what is in them."""
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


def test_urls_have_every_field_of_the_seed(path: Path) -> None:
    """The key repeated, headers in lower case, referers, depth, and the two extensions where they say something."""
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


def test_graph_skips_and_errors(path: Path) -> None:
    """Edges both ways and by attribute; skips with where they were met; errors with their stage."""
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


def test_an_empty_mirror_has_a_root(path: Path) -> None:
    """A run that saved nothing leaves a valid index with the root directory alone, and without the extension."""
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


def test_one_element_a_line(path: Path) -> None:
    """A file, a URL, a page's edges, a skip and an error are one line each, so a diff shows what changed."""
    before = Rows().write(path).read_bytes().splitlines()
    more = Rows(
        files=(STYLE, HOME, replace(STYLE, path="z.css")),
        urls=(*Rows().urls, UrlRow(url=SITE + "z", local_path="z", kind="asset", referers=[SITE])),
        edges=(*Rows().edges, (SITE + "z", SITE + "z1", "src"), (SITE + "z", SITE + "z2", "src")),
        skipped=(SKIPPED, *Rows().skipped),
    )
    after = more.write(path).read_bytes().splitlines()
    # One file, one URL, one skip; one line of out_edges, two of in_edges, three of typed edges (with their braces).
    assert len(after) == len(before) + 1 + 1 + 1 + 1 + 2 + 3


@pytest.mark.parametrize("count", [0, 1, LIST_PIECE, LIST_PIECE + 1, 3 * LIST_PIECE + 7])
def test_long_lists_go_on_over_lines(path: Path, count: int) -> None:
    """However long a list of referers or edges is, no line holds more than a piece of it."""
    sources = [f"{SITE}{n:05}" for n in range(count)]
    rows = Rows(urls=(replace(HOME_URL, referers=iter(sources)),), edges=tuple((s, SITE, "href") for s in sources))
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
    """Unsorted rows would break the seed's order, and a key that comes twice would hide its first half."""
    rows: dict[str, Any] = dict.fromkeys(("items", "urls", "out_edges", "in_edges", "skipped", "errors"), ())
    with pytest.raises(ValueError, match=r"must be sorted, each once: .* came after"):
        write_mirror_index(io.BytesIO(), HEADER, **rows | wrong)


@pytest.mark.parametrize(
    ("header", "index"),
    [
        ("Tue, 23 Sep 2025 19:00:00 GMT", "2025-09-23T19:00:00+00:00"),
        ("Tuesday, 23-Sep-25 19:00:00 GMT", "2025-09-23T19:00:00+00:00"),
        ("Tue Sep 23 19:00:00 2025", "2025-09-23T19:00:00+00:00"),
        ("Tue, 23 Sep 2025 21:00:00 +0200", "2025-09-23T19:00:00+00:00"),
        ("2025-09-23T21:00:00+02:00", "2025-09-23T19:00:00+00:00"),
        ("yesterday", "yesterday"),
        ("Tue, 99 Sep 2025 19:00:00 GMT", "Tue, 99 Sep 2025 19:00:00 GMT"),
        ("Fri, 31 Dec 9999 23:59:59 -1200", "Fri, 31 Dec 9999 23:59:59 -1200"),
        ("0", "0"),
    ],
)
def test_last_modified_is_a_time_if_it_can_be(tmp_path: Path, header: str, index: str) -> None:
    """All date forms of HTTP become ISO 8601 in UTC; what is no date stays as the server sent it."""
    document = written(tmp_path, files=(replace(HOME, last_modified=header),))
    assert document["items"][1]["original_last_modified"] == index


@pytest.mark.parametrize(
    ("header", "index"),
    [("4096", 4096), (" 7 ", 7), ("0", 0), ("-1", "-1"), ("1_0", "1_0"), ("٣", "٣"), ("9" * 30, "9" * 30), ("x", "x")],
)
def test_content_length_is_a_number_if_it_can_be(tmp_path: Path, header: str, index: int | str) -> None:
    """Only plain digits are a number, and only as many as every reader of JSON can take."""
    document = written(tmp_path, files=(replace(HOME, content_length=header),))
    assert document["items"][1]["original_content_length"] == index


@pytest.mark.parametrize(
    ("given_time", "index"),
    [
        ("2026-01-03T20:00:00Z", "2026-01-03T20:00:00+00:00"),
        ("2026-01-03T20:00:00.25+00:00", "2026-01-03T20:00:00.250000+00:00"),
        ("2026-01-03T21:00:00+01:00", "2026-01-03T20:00:00+00:00"),
        ("2026-01-03T20:00:00", "2026-01-03T20:00:00+00:00"),
    ],
)
def test_times_are_spelled_in_one_way(tmp_path: Path, given_time: str, index: str) -> None:
    """Whatever ISO form the state has, the index has the seed's."""
    document = written(tmp_path, files=(replace(HOME, downloaded_at=given_time),))
    assert document["items"][1]["downloaded_at"] == index


@pytest.mark.parametrize("mtime", [-1e18, 1e18, float("inf"), float("nan"), -1.5, 0.0])
def test_odd_file_times_do_not_stop_the_index(tmp_path: Path, mtime: float) -> None:
    """A file system can give any number for a time."""
    assert written(tmp_path, files=(replace(HOME, mtime=mtime),))["items"][1]["mtime"].endswith("+00:00")


@pytest.mark.parametrize(
    ("path", "name", "ext", "section", "mime_type"),
    [
        ("index.html", "index.html", ".html", ".", "text/html"),
        ("lab/a.b/x.tar.gz", "x.tar.gz", ".gz", "lab", "application/gzip"),
        ("lab/LOGO.PNG", "LOGO.PNG", ".PNG", "lab", "image/png"),
        (".htaccess", ".htaccess", "", ".", "application/octet-stream"),
        ("notat/README", "README", "", "notat", "application/octet-stream"),
        ("a.strange", "a.strange", ".strange", ".", "application/octet-stream"),
        ("a/trailing.", "trailing.", "", "a", "application/octet-stream"),
        ("_external/cdn.example/app.js", "app.js", ".js", "_external", "text/javascript"),
        ("f/x.woff2", "x.woff2", ".woff2", "f", "font/woff2"),
        ("data:x,y.svg", "data:x,y.svg", ".svg", ".", "image/svg+xml"),
    ],
)
def test_names_sections_and_types_follow_from_the_path(
    tmp_path: Path, path: str, name: str, ext: str, section: str, mime_type: str
) -> None:
    """What follows from a path is the same on every system and whatever types are installed there."""
    item = written(tmp_path, files=(replace(STYLE, path=path),))["items"][-1]
    assert (item["name"], item["ext"], item["section"], item["mime"]) == (name, ext, section, mime_type)
    assert item["target_abs_path"] == str(ROOT.joinpath(*path.split("/")))


def test_web_types_are_known_whatever_pythons_version() -> None:
    """No type that a site is made of is left to the table of the installed Python."""
    for ext in (
        ".html",
        ".css",
        ".js",
        ".mjs",
        ".png",
        ".jpg",
        ".gif",
        ".svg",
        ".webp",
        ".avif",
        ".ico",
        ".woff2",
        ".pdf",
    ):
        assert mime(ext) != "application/octet-stream"
    assert (mime(".js"), mime(".MJS"), mime("")) == ("text/javascript", "text/javascript", "application/octet-stream")


def test_a_timeout_is_a_whole_number_of_seconds(tmp_path: Path) -> None:
    """The seed's field is an integer; half a second must not become none."""
    assert HEADER.args is not None
    header = replace(HEADER, args=replace(HEADER.args, timeout=0.5))
    assert written(tmp_path, header=header)["meta"]["args"]["timeout"] == 1


def test_headers_are_lower_case_and_hold_no_session(tmp_path: Path) -> None:
    """Names that differ by case are one header; cookies stay out of a file that may be published."""
    headers = {"Set-Cookie": "session=secret", "Vary": "a", "vary": "b", "X-Ünï": "ü"}
    urls = written(tmp_path, urls=(replace(HOME_URL, headers=headers),))["urls"]
    assert urls[SITE]["headers"] == {"vary": "a, b", "x-ünï": "ü"}


def test_an_empty_page_meta_counts_its_words(tmp_path: Path) -> None:
    """What a page does not say is left out; that it has no words is known."""
    assert written(tmp_path, files=(replace(HOME, page_meta=PageMeta()),))["items"][1]["page_meta"] == {"word_count": 0}


def test_page_meta_can_be_kept_in_the_state() -> None:
    """One value holds all of it; a damaged one costs the page's description and not the index."""
    assert HOME.page_meta is not None
    data = dump_page_meta(HOME.page_meta)
    assert load_page_meta(data) == HOME.page_meta
    assert load_page_meta(data.decode()) == HOME.page_meta
    assert load_page_meta(dump_page_meta(PageMeta())) == PageMeta()
    for damaged in (b"", b"{}", b"[]", b"null", data[:-9], b'{"hreflang": [1], "h1": [], "h2": []}'):
        assert load_page_meta(damaged) is None


@pytest.mark.parametrize(
    ("internal", "reason", "detail"),
    [
        (scope.DOMAIN_LOCK, "out-of-domain", None),
        (scope.ROBOTS, "robots-disallow", None),
        (scope.OUTSIDE_START, "filter-exclude", scope.OUTSIDE_START),
        (scope.NOT_INCLUDED, "filter-exclude", scope.NOT_INCLUDED),
        (scope.EXCLUDED, "filter-exclude", scope.EXCLUDED),
        ("non-http(s) scheme", "non-http(s) scheme", None),
        ("file-scheme", "file-scheme", None),
        ("out-of-domain", "out-of-domain", None),
        ("mailto: scheme", "non-http(s) scheme", "mailto: scheme"),
        ("file: scheme", "file-scheme", None),
        ("exceeds size limit", "filter-exclude", "exceeds size limit"),
        ("", "filter-exclude", None),
    ],
)
def test_our_reasons_have_the_seeds_five_names(internal: str, reason: str, detail: str | None) -> None:
    """The gate's words map to the index's; what the index has no word for is told as a detail."""
    assert seed_reason(internal) == (reason, detail)


URLS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(
    edges=st.lists(st.tuples(URLS, URLS, st.sampled_from(["href", "src"])), max_size=12),
    urls=st.dictionaries(URLS, st.none() | st.lists(URLS, max_size=4), max_size=5),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_url_survives(path: Path, edges: list[tuple[str, str, str]], urls: dict[str, list[str] | None]) -> None:
    """Quotes, brackets, separators, controls and emoji in URLs change neither the layout nor themselves."""
    rows = Rows(
        urls=tuple(UrlRow(url=url, local_path="x", kind="page", referers=urls[url]) for url in sorted(urls)),
        edges=tuple(edges),
    )
    document = valid(rows.write(path))
    assert document["graph"]["out_edges"] == grouped((source, target) for source, target, _ in edges)
    assert document["graph"]["in_edges"] == grouped((target, source) for source, target, _ in edges)
    assert list(document["urls"]) == sorted(urls)
    for url, referers in urls.items():
        changes = None if referers is None else [r for n, r in enumerate(referers) if n == 0 or r != referers[n - 1]]
        assert document["urls"][url].get("referers") == changes


def test_a_lone_surrogate_costs_one_letter_not_the_index(tmp_path: Path) -> None:
    """Text that is not Unicode is written with a replacement character."""
    assert HOME.page_meta is not None
    files = (replace(HOME, etag="a\ud800b", page_meta=replace(HOME.page_meta, title="\udfff", h1=("x\ud800",))),)
    item = written(tmp_path, files=files, skipped=(replace(SKIPPED, url="u\ud800"),))["items"][1]
    assert item["original_etag"] == "a\ufffdb"
    assert (item["page_meta"]["title"], item["page_meta"]["h1"]) == ("\ufffd", ["x\ufffd"])


class _Counted:
    """A sink that only counts, so that what is measured is the writer."""

    size = 0

    def write(self, data: bytes, /) -> int:
        self.size += len(data)
        return len(data)


def test_memory_stays_flat() -> None:
    """20,000 pages with 50 links each, and one that all others link to: the edges held at once would take 100 MB."""
    pages, links = 20_000, 50
    names = [f"{SITE}{number:06}/" for number in range(pages)]
    home, others = names[0], names[1:]
    edges = ((source, target) for at, source in enumerate(names) for target in islice(names, at % 99, at % 99 + links))
    urls = (replace(HOME_URL, url=url, referers=others if url == home else (home,)) for url in names)
    files = (replace(HOME, path=f"{number:06}.html") for number in range(5_000))
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


def test_the_documentation_names_every_field() -> None:
    """docs/mirror-index.md leaves no field of the schema out."""
    text = DOCS.read_text("utf-8")
    for name, described in SCHEMA["$defs"].items():
        for field in described["properties"]:
            assert f"`{field}`" in text or f"`{field}[]`" in text, (name, field)


def test_directories_and_files_fit_together(tmp_path: Path) -> None:
    """The number of items is known before the first is written."""
    folders = directories((file.path, file.size) for file in FILES)
    assert folders.items_count == len(folders) + len(FILES) == len(written(tmp_path)["items"])
