"""A small mirror that has one of everything, as rows for the index."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sitemirror.model import PageMeta
from sitemirror.publish.mirror_index import (
    LIST_PIECE,
    DirRow,
    ErrorRow,
    FileRow,
    IndexArgs,
    IndexHeader,
    SkippedRow,
    UrlRow,
    directories,
    write_mirror_index,
)

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs/schema/mirror-index.schema.json").read_text("utf-8")
)
SITE = "https://example.com/"
NOW = "2026-01-03T20:00:00Z"
ROOT = Path("mirror").absolute()
ARGS = IndexArgs(
    link_depth=-1,
    same_domain=True,
    delay_seconds=0.5,
    timeout=30.0,
    user_agent="test/1",
    post_process=True,
    re_download_all=False,
    concurrency=4,
)
HEADER = IndexHeader(
    base_url=SITE,
    generated_at="2026-01-03T20:00:00.500508Z",
    target_root=ROOT,
    items_count=0,
    run_id="0b6c1f0e-5f0e-4f5a-9a52-6e1d2a3b4c5d",
    args=ARGS,
)
HOME = FileRow(
    path="index.html",
    size=4096,
    kind="page",
    mtime=1767470100.0,
    sha256="0" * 64,
    source_url=SITE,
    final_url=SITE,
    http_status=200,
    downloaded_at="2026-01-03T19:55:01Z",
    etag='"abc123"',
    last_modified="Sat, 03 Jan 2026 19:00:00 GMT",
    content_type="text/html; charset=utf-8",
    content_length="4096",
    page_meta=PageMeta(
        title='Home, "sweet"\n{home}',
        meta_description="Where it begins",
        canonical_url=SITE,
        robots="index, follow",
        hreflang=(("de", SITE + "de/"), ("x-default", SITE)),
        h1=("Home",),
        h2=("First", "Second"),
        word_count=250,
    ),
)
STYLE = FileRow(path="css/site.css", size=10, kind="asset", mtime=0.25)
FILES = (STYLE, HOME)
HOME_URL = UrlRow(
    url=SITE,
    final_url=SITE,
    http_status=200,
    headers={"Content-Type": "text/html", "etag": '"abc123"'},
    downloaded_at="2026-01-03T19:55:01Z",
    local_path="index.html",
    kind="page",
    referers=(),
    depth=0,
)
MOVED_URL = UrlRow(
    url=SITE + "old",
    final_url=SITE,
    http_status=304,
    local_path="old/index.html",
    kind="unknown",
    referers=(SITE, SITE + "b"),
    depth=2,
    redirect_chain=(SITE + "old", SITE + "older", SITE),
    not_modified=True,
)
STYLE_URL = UrlRow(url=SITE + "css/site.css", local_path="css/site.css", kind="asset")
SKIPPED = SkippedRow(ts=NOW, url="https://other.example/", reason="out-of-domain", found_on=SITE)
TRAPPED = SkippedRow(ts=NOW, url=SITE + "x/x/x", reason="filter-exclude", found_on=SITE, detail="repeating path")
ERROR = ErrorRow(ts=NOW, url=SITE + "gone.png", stage="asset-download", error="HTTP 404")
EDGES = ((SITE, SITE + "css/site.css", "href"), (SITE, SITE + "old", "href"), (SITE + "b", SITE + "old", "src"))


@dataclass(frozen=True)
class Rows:
    """What `write_mirror_index` is given; edges are (source, target, attribute)."""

    files: tuple[FileRow, ...] = FILES
    urls: tuple[UrlRow, ...] = (HOME_URL, STYLE_URL, MOVED_URL)
    edges: tuple[tuple[str, str, str], ...] = EDGES
    skipped: tuple[SkippedRow, ...] = (SKIPPED, TRAPPED)
    errors: tuple[ErrorRow, ...] = (ERROR,)
    header: IndexHeader = HEADER

    def write(self, path: Path) -> Path:
        folders = directories((file.path, file.size) for file in self.files)
        items: list[DirRow | FileRow] = [*folders, *self.files]
        with path.open("wb") as file:
            write_mirror_index(
                file,
                replace(self.header, items_count=folders.items_count),
                items=items,
                urls=self.urls,
                out_edges=sorted((source, target) for source, target, _ in self.edges),
                in_edges=sorted((target, source) for source, target, _ in self.edges),
                typed_out_edges=sorted((source, attribute, target) for source, target, attribute in self.edges),
                skipped=self.skipped,
                errors=self.errors,
            )
        return path


EMPTY = Rows(files=(), urls=(), edges=(), skipped=(), errors=())
MANY = [f"{SITE}{number:05}" for number in range(2 * LIST_PIECE + 3)]
LARGE = Rows(urls=(HOME_URL._replace(referers=MANY),), edges=tuple((SITE, url, "href") for url in MANY))


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """A map of sorted lists, built the plain way."""
    found: dict[str, set[str]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: sorted(values) for key, values in found.items()}
