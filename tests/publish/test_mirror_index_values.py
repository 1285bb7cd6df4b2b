"""Single values of the mirror index: each in the format's one form, however it came from the server or the disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemirror.model import PageMeta
from sitemirror.publish.mirror_index import UrlRow, dump_page_meta, index_reason, load_page_meta, mime
from sitemirror.reasons import parse_reason
from tests.publish.checked_index import valid, written
from tests.publish.sample_index import HEADER, HOME, HOME_URL, ROOT, SITE, SKIPPED, STYLE, Rows, grouped


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
def test_last_modified_is_converted_to_iso(tmp_path: Path, header: str, index: str) -> None:
    """All date forms of HTTP become ISO 8601 in UTC; other text is unchanged."""
    document = written(tmp_path, files=(HOME._replace(last_modified=header),))
    assert document["items"][1]["original_last_modified"] == index


@pytest.mark.parametrize(
    ("header", "index"),
    [("4096", 4096), (" 7 ", 7), ("0", 0), ("-1", "-1"), ("1_0", "1_0"), ("٣", "٣"), ("9" * 30, "9" * 30), ("x", "x")],
)
def test_content_length_is_a_number_if_possible(tmp_path: Path, header: str, index: int | str) -> None:
    """Only plain digits that every JSON parser accepts become a number."""
    document = written(tmp_path, files=(HOME._replace(content_length=header),))
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
def test_times_have_one_format(tmp_path: Path, given_time: str, index: str) -> None:
    """Every ISO form of the state is written in the format's form."""
    document = written(tmp_path, files=(HOME._replace(downloaded_at=given_time),))
    assert document["items"][1]["downloaded_at"] == index


@pytest.mark.parametrize("mtime", [-1e18, 1e18, float("inf"), float("nan"), -1.5, 0.0])
def test_invalid_file_times_do_not_stop_the_index(tmp_path: Path, mtime: float) -> None:
    """File systems can report times outside any calendar."""
    assert written(tmp_path, files=(HOME._replace(mtime=mtime),))["items"][1]["mtime"].endswith("+00:00")


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
def test_values_from_path_are_system_independent(
    tmp_path: Path, path: str, name: str, ext: str, section: str, mime_type: str
) -> None:
    """Name, extension, section and media type are the same on every system."""
    item = written(tmp_path, files=(STYLE._replace(path=path),))["items"][-1]
    assert (item["name"], item["ext"], item["section"], item["mime"]) == (name, ext, section, mime_type)
    assert item["target_abs_path"] == str(ROOT.joinpath(*path.split("/")))


def test_web_types_do_not_depend_on_python() -> None:
    """Media types of the web are not taken from Python's own table."""
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


def test_timeout_is_rounded_up(tmp_path: Path) -> None:
    """The field is an integer; half a second must not become 0."""
    assert HEADER.args is not None
    header = replace(HEADER, args=replace(HEADER.args, timeout=0.5))
    assert written(tmp_path, header=header)["meta"]["args"]["timeout"] == 1


def test_headers_are_lower_case_without_cookies(tmp_path: Path) -> None:
    """Names that differ in case are one header; cookies are omitted."""
    headers = {"Set-Cookie": "session=secret", "Vary": "a", "vary": "b", "X-Ünï": "ü"}
    urls = written(tmp_path, urls=(HOME_URL._replace(headers=headers),))["urls"]
    assert urls[SITE]["headers"] == {"vary": "a, b", "x-ünï": "ü"}


def test_empty_page_meta_has_word_count(tmp_path: Path) -> None:
    """Missing values are omitted, except for the word count."""
    assert written(tmp_path, files=(HOME._replace(page_meta=PageMeta()),))["items"][1]["page_meta"] == {"word_count": 0}


def test_page_meta_round_trips_through_state() -> None:
    """A damaged value costs the metadata and not the index."""
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
        ("domain lock", "out-of-domain", None),
        ("disallowed by robots.txt", "robots-disallow", None),
        ("outside the start path", "filter-exclude", "outside the start path"),
        ("not matched by --include-path", "filter-exclude", "not matched by --include-path"),
        ("matched by --exclude-path", "filter-exclude", "matched by --exclude-path"),
        ("non-http(s) scheme", "non-http(s) scheme", None),
        ("file-scheme", "file-scheme", None),
        ("mailto: scheme", "non-http(s) scheme", "mailto: scheme"),
        ("file: scheme", "file-scheme", None),
        ("exceeds size limit", "filter-exclude", "exceeds size limit"),
        ("", "filter-exclude", None),
    ],
)
def test_reasons_map_to_five_names(internal: str, reason: str, detail: str | None) -> None:
    """A reason without a name of its own becomes a detail."""
    assert index_reason(parse_reason(internal) if internal else None) == (reason, detail)


URLS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(
    edges=st.lists(st.tuples(URLS, URLS, st.sampled_from(["href", "src"])), max_size=12),
    urls=st.dictionaries(URLS, st.none() | st.lists(URLS, max_size=4), max_size=5),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_url_round_trips(path: Path, edges: list[tuple[str, str, str]], urls: dict[str, list[str] | None]) -> None:
    """Quotes, brackets, separators, controls and emoji in URLs are preserved."""
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


def test_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    """Text that is not valid Unicode is written with a replacement character."""
    assert HOME.page_meta is not None
    files = (HOME._replace(etag="a\ud800b", page_meta=replace(HOME.page_meta, title="\udfff", h1=("x\ud800",))),)
    item = written(tmp_path, files=files, skipped=(SKIPPED._replace(url="u\ud800"),))["items"][1]
    assert item["original_etag"] == "a\ufffdb"
    assert (item["page_meta"]["title"], item["page_meta"]["h1"]) == ("\ufffd", ["x\ufffd"])
