"""Write `mirror-index.json`: files, URLs and links of a mirror, for programs.

`mirror_index_format` describes the format and needs pydantic, which a run does not load.
"""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import chain, groupby, islice
from mimetypes import MimeTypes
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import orjson

from sitemirror.model import PageMeta
from sitemirror.publish.json_text import Sink, json_bytes, write_list
from sitemirror.reasons import Cause, Reason

SCHEMA_VERSION: Final = 1
TOOL: Final = "mirror-site"
TOOL_VERSION: Final = "1"

FileKind = Literal["page", "asset"]
UrlKind = Literal["page", "asset", "unknown"]
SkipReason = Literal["non-http(s) scheme", "file-scheme", "out-of-domain", "robots-disallow", "filter-exclude"]
"""The format's words for why a URL was not fetched."""

_REASONS: Final[dict[Reason, SkipReason]] = {
    Reason.NOT_HTTP: "non-http(s) scheme",
    Reason.FILE_SCHEME: "file-scheme",
    Reason.DOMAIN_LOCK: "out-of-domain",
    Reason.ROBOTS: "robots-disallow",
}

ROOT: Final = "."

LIST_PIECE: Final = 500
"""Values on one line of a list; a longer list has several lines."""

Edge = tuple[str, str]
TypedEdge = tuple[str, str, str]
T = TypeVar("T")

Fields = dict[str, Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE_SECONDS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,18}")  # Parsers of JSON take no longer integers.
_MOST_SECONDS: Final = 2**53  # The largest integer that every parser of JSON takes; a timeout may be longer.
# As nearly all servers send it. Days that not every month has, and years before 1000, need a calendar.
_MONTHS: Final = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_HTTP_DATE: Final = re.compile(
    rf"[A-Z][a-z]{{2}}, (0[1-9]|1[0-9]|2[0-8]) ({_MONTHS}) ([1-9][0-9]{{3}}) "
    r"((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]) GMT"
).fullmatch
_SECRETS: Final = frozenset(("set-cookie", "set-cookie2"))  # An index may be published; a session must not be.
_UNKNOWN_TYPE: Final = "application/octet-stream"
# Types that Python's table lacks or, depending on its version, names differently.
_WEB_TYPES: Final = {
    ".avif": "image/avif",
    ".gz": "application/gzip",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".m4a": "audio/mp4",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".ogg": "audio/ogg",
    ".ogv": "video/ogg",
    ".otf": "font/otf",
    ".rss": "application/rss+xml",
    ".svgz": "image/svg+xml",
    ".ttf": "font/ttf",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}


# --- rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexArgs:
    """The options of the run. The index rounds `timeout` up to seconds."""

    link_depth: int
    same_domain: bool
    delay_seconds: float
    timeout: float
    user_agent: str
    post_process: bool
    re_download_all: bool
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHeader:
    """The run. `items_count` is `Directories.items_count`."""

    base_url: str
    generated_at: str
    target_root: Path
    items_count: int
    run_id: str | None = None
    args: IndexArgs | None = None


class FileRow(NamedTuple):
    """A file. `path` is POSIX and relative to the mirror's folder; `mtime` is what `stat` says."""

    path: str
    size: int
    kind: FileKind
    mtime: float
    sha256: str | None = None
    source_url: str | None = None
    final_url: str | None = None
    http_status: int | None = None
    downloaded_at: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_type: str | None = None
    content_length: str | None = None
    page_meta: PageMeta | None = None


class UrlRow(NamedTuple):
    """A URL. `referers` is read while it is written, so it may be a cursor; `None` if they are not known."""

    url: str
    local_path: str
    kind: UrlKind
    final_url: str | None = None
    http_status: int | None = None
    headers: Mapping[str, str] | None = None
    downloaded_at: str | None = None
    referers: Iterable[str] | None = None
    depth: int | None = None
    redirect_chain: tuple[str, ...] = ()
    not_modified: bool = False


class SkippedRow(NamedTuple):
    """A URL found on a page or sitemap and not fetched; `index_reason` maps reason and detail."""

    ts: str
    url: str
    reason: SkipReason
    found_on: str
    detail: str | None = None


class ErrorRow(NamedTuple):
    """A failure. `stage` is a short label: fetch, asset-download …"""

    ts: str
    url: str
    stage: str
    error: str


class DirRow(NamedTuple):
    """A directory. `path` is POSIX and relative to the mirror's folder, which is itself "."."""

    path: str
    size: int  # bytes of all files in it, at any depth
    items: int  # files and directories in it, at any depth


# --- the file --------------------------------------------------------------------------------------------------------


def write_mirror_index(
    file: Sink,
    header: IndexHeader,
    *,
    items: Iterable[DirRow | FileRow],
    urls: Iterable[UrlRow],
    out_edges: Iterable[Edge],
    in_edges: Iterable[Edge],
    skipped: Iterable[SkippedRow],
    errors: Iterable[ErrorRow],
    typed_out_edges: Iterable[TypedEdge] | None = None,
) -> None:
    """Write the index as the rows come.

    `items` are the directories, then the files, each by path; `urls` are sorted by URL. `out_edges` are pairs of source
    and target sorted by source, `in_edges` pairs of target and source sorted by target, `typed_out_edges` triples of
    source, attribute and target sorted by the first two. An edge that repeats the one before is written once. Raises
    `ValueError` for rows out of order: a key that came twice would hide the first from every reader.
    """
    root = str(header.target_root.absolute())
    file.write(b"{\n")
    _write_meta(file, meta_fields(header))
    write_list(file, b"items", (_item(row, root) for row in _ascending(items, _place, "items")))
    _write_urls(file, _ascending(urls, lambda row: row.url, "urls"))
    file.write(b'  "graph": {\n')
    _write_edges(file, "out_edges", out_edges)
    file.write(b",\n")
    _write_edges(file, "in_edges", in_edges)
    if typed_out_edges is not None:
        file.write(b",\n")
        _write_typed_edges(file, typed_out_edges)
    file.write(b"\n  },\n")
    write_list(file, b"skipped_urls", map(skipped_fields, skipped))
    write_list(file, b"errors", map(error_fields, errors), last=b"\n")
    file.write(b"}\n")


def _place(row: DirRow | FileRow) -> tuple[str, str]:
    return ("dir" if isinstance(row, DirRow) else "file", row.path)


def _item(row: DirRow | FileRow, root: str) -> Fields:
    return dir_fields(row) if isinstance(row, DirRow) else file_fields(row, root)


def _ascending(rows: Iterable[T], key: Callable[[T], Any], what: str) -> Iterator[T]:
    before = None
    for row in rows:
        here = key(row)
        if before is not None and here <= before:
            raise ValueError(f"{what} must be sorted, each once: {here!r} came after {before!r}")
        before = here
        yield row


def _write_meta(file: Sink, fields: Fields) -> None:
    lines = (b"    %b: %b" % (json_bytes(name), json_bytes(value)) for name, value in fields.items())
    file.write(b'  "meta": {\n' + b",\n".join(lines) + b"\n  },\n")


def _write_urls(file: Sink, rows: Iterable[UrlRow]) -> None:
    file.write(b'  "urls": {')
    before = b"\n    "
    for row in rows:
        fields = json_bytes(url_fields(row))
        file.write(before + json_bytes(row.url) + b": ")
        if row.referers is None:
            file.write(fields)
        else:
            file.write(fields[:-1] + b',"referers":')
            _write_strings(file, row.referers, indent=b"      ")
            file.write(b"}")
        before = b",\n    "
    file.write(b"},\n" if before == b"\n    " else b"\n  },\n")


def _write_edges(file: Sink, name: str, edges: Iterable[Edge], indent: bytes = b"    ") -> None:
    """Write an object of lists: the values of each key."""
    file.write(b"%b%b: {" % (indent, json_bytes(name)))
    start = before = b"\n  " + indent
    for key, group in _ascending(groupby(edges, itemgetter(0)), itemgetter(0), name):
        file.write(before + json_bytes(key) + b": ")
        _write_strings(file, map(itemgetter(1), group), indent=b"    " + indent)
        before = b"," + start
    file.write(b"}" if before == start else b"\n" + indent + b"}")


def _write_typed_edges(file: Sink, edges: Iterable[TypedEdge]) -> None:
    file.write(b'    "typed_out_edges": {')
    before = b"\n"
    for source, group in _ascending(groupby(edges, itemgetter(0)), itemgetter(0), "typed_out_edges"):
        file.write(before)
        _write_edges(file, source, map(itemgetter(1, 2), group), indent=b"      ")
        before = b",\n"
    file.write(b"}" if before == b"\n" else b"\n    }")


def _write_strings(file: Sink, values: Iterable[str], *, indent: bytes) -> None:
    """Write a list, on the current line if it is short, else on lines of its own."""
    values = iter(values)
    short = list(islice(values, LIST_PIECE))
    if len(short) < LIST_PIECE and len(set(short)) == len(short):
        file.write(json_bytes(short))
        return
    rest = map(itemgetter(0), groupby(chain(short, values)))
    piece, following = list(islice(rest, LIST_PIECE)), list(islice(rest, LIST_PIECE))
    if not following:
        file.write(json_bytes(piece))
        return
    before = b"[\n" + indent
    while piece:
        file.write(before + json_bytes(piece)[1:-1])
        before = b",\n" + indent
        piece, following = following, list(islice(rest, LIST_PIECE))
    file.write(b"]")


# --- JSON objects ----------------------------------------------------------------------------------------------------


def meta_fields(header: IndexHeader) -> Fields:
    """Return the `meta` object."""
    return _known(
        base_url=header.base_url,
        generated_at=timestamp(header.generated_at),
        target_root=str(header.target_root.absolute()),
        items_count=header.items_count,
        tool=TOOL,
        tool_version=TOOL_VERSION,
        schema_version=SCHEMA_VERSION,
        run_id=header.run_id,
        args=_args(header.args) if header.args is not None else None,
    )


def _args(args: IndexArgs) -> Fields:
    return asdict(args) | {"timeout": math.ceil(min(args.timeout, _MOST_SECONDS))}


def dir_fields(row: DirRow) -> Fields:
    """Return a directory as one of the `items`."""
    return {
        "path": row.path,
        "type": "dir",
        "size": row.size,
        "items": row.items,
        "kind": "dir",
        "name": row.path.rpartition("/")[2],
        "ext": "",
        "section": row.path.partition("/")[0],
    }


def file_fields(row: FileRow, root: str) -> Fields:
    """Return a file as one of the `items`; `root` is the mirror's folder, absolute."""
    name = row.path.rpartition("/")[2]
    ext = os.path.splitext(name)[1].removesuffix(".")  # noqa: PTH122  A name is no path; pathlib is ten times slower.
    section, slash, _ = row.path.partition("/")
    return _known(
        path=row.path,
        type="file",
        size=row.size,
        mtime=_mtime(row.mtime),
        mime=mime(ext),
        sha256=row.sha256,
        source_url=row.source_url,
        final_url=row.final_url,
        http_status=row.http_status,
        downloaded_at=timestamp(row.downloaded_at) if row.downloaded_at else None,
        original_etag=row.etag,
        original_last_modified=_last_modified(row.last_modified) if row.last_modified else None,
        original_content_type=row.content_type,
        original_content_length=_content_length(row.content_length) if row.content_length else None,
        target_abs_path=os.path.join(root, row.path.replace("/", os.sep)),  # noqa: PTH118
        target_root=root,
        name=name,
        ext=ext,
        kind=row.kind,
        section=section if slash else ROOT,
        page_meta=page_meta_fields(row.page_meta) if row.page_meta is not None else None,
    )


def url_fields(row: UrlRow) -> Fields:
    """Return an entry of `urls` without its referers, which are streamed."""
    return _known(
        url=row.url,
        final_url=row.final_url,
        http_status=row.http_status,
        headers=_headers(row.headers) if row.headers is not None else None,
        downloaded_at=timestamp(row.downloaded_at) if row.downloaded_at else None,
        local_path=row.local_path,
        kind=row.kind,
        depth=row.depth,
        redirect_chain=row.redirect_chain or None,
        not_modified=row.not_modified or None,
    )


def skipped_fields(row: SkippedRow) -> Fields:
    """Return an element of `skipped_urls`."""
    fields = {"ts": timestamp(row.ts), "url": row.url, "reason": row.reason, "from": row.found_on}
    return fields | {"detail": row.detail} if row.detail else fields


def error_fields(row: ErrorRow) -> Fields:
    """Return an element of `errors`."""
    return row._asdict() | {"ts": timestamp(row.ts)}


def page_meta_fields(meta: PageMeta) -> Fields:
    """Return the `page_meta` object. What the page does not have is left out, but for `word_count`."""
    return _known(
        title=meta.title,
        meta_description=meta.meta_description,
        canonical_url=meta.canonical_url,
        robots=meta.robots,
        hreflang=[{"lang": lang, "href": href} for lang, href in meta.hreflang] or None,
        h1=meta.h1 or None,
        h2=meta.h2 or None,
        word_count=meta.word_count,
    )


def dump_page_meta(meta: PageMeta) -> bytes:
    """Serialise for a column of the state; `load_page_meta` reads it."""
    return orjson.dumps(meta)


def load_page_meta(data: bytes | str) -> PageMeta | None:
    """Read what `dump_page_meta` wrote; `None` if it is damaged, so that the index need not fail."""
    try:
        fields = orjson.loads(data)
        pairs = tuple((str(lang), str(href)) for lang, href in fields.pop("hreflang"))
        return PageMeta(**fields | {"hreflang": pairs, "h1": tuple(fields["h1"]), "h2": tuple(fields["h2"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def timestamp(value: str) -> str:
    """Format an ISO 8601 time in UTC with "+00:00", not "Z". Other text stays as it is."""
    if _WHOLE_SECONDS.fullmatch(value):
        return value[:-1] + "+00:00"
    try:
        moment = datetime.fromisoformat(value)
        return _in_utc(moment)
    except (ValueError, OverflowError):
        return value


def _in_utc(moment: datetime) -> str:
    """Format a time in UTC. Servers that leave out the zone mean UTC."""
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).isoformat()


def _mtime(seconds: float) -> str:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()
    except (OverflowError, ValueError):
        return _EPOCH.isoformat()  # Some file systems give times that no calendar has.


@lru_cache(maxsize=256)  # Many files of a site have the same date: that of its deployment.
def _last_modified(header: str) -> str:
    found = _HTTP_DATE(header)
    if found is not None:
        return f"{found[3]}-{_MONTHS.index(found[2]) // 4 + 1:02}-{found[1]}T{found[4]}+00:00"
    try:
        return _in_utc(parsedate_to_datetime(header))
    except (ValueError, TypeError, OverflowError, IndexError):
        return timestamp(header)  # Some servers send ISO 8601.


def _content_length(header: str) -> int | str:
    text = header.strip()
    return int(text) if _NUMBER.fullmatch(text) else header


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    if _SECRETS.isdisjoint(headers) and all(map(str.islower, headers)):
        return headers
    found: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if lower not in _SECRETS:
            found[lower] = f"{found[lower]}, {value}" if lower in found else value
    return found


@lru_cache(maxsize=1024)
def mime(ext: str) -> str:
    """Return the media type of an extension, the same on every system: its own table does not count."""
    ext = ext.lower()
    return _WEB_TYPES.get(ext) or _types().get(ext, _UNKNOWN_TYPE)


@lru_cache(maxsize=1)
def _types() -> dict[str, str]:
    return dict(MimeTypes(filenames=()).types_map[True])


def _known(**fields: object) -> Fields:
    for name in [name for name, value in fields.items() if value is None]:  # few, so deleting is faster than copying
        del fields[name]
    return fields


def index_reason(cause: Cause | None) -> tuple[SkipReason, str | None]:
    """Map one of our reasons to the format's, with a detail where that says less.

    Reasons that the format has no word for (depth, trap, size, type, address) are `filter-exclude`.
    """
    if cause is None:
        return "filter-exclude", None
    if found := _REASONS.get(cause.reason):
        return found, None
    if cause.reason is Reason.OTHER_SCHEME:
        return ("file-scheme", None) if cause.detail == "file" else ("non-http(s) scheme", cause.text)
    return "filter-exclude", cause.text or None


# --- directories -----------------------------------------------------------------------------------------------------


class Directories:
    """The root and every directory below it, iterated by path."""

    def __init__(self, paths: list[str], sizes: array[int], items: array[int]) -> None:
        self._paths = paths
        self._sizes = sizes
        self._items = items

    @property
    def items_count(self) -> int:
        """Number of items in the index: the root and all directories and files in it."""
        return self._items[0] + 1

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[DirRow]:
        for at in sorted(range(len(self._paths)), key=self._paths.__getitem__):
            yield DirRow(self._paths[at], self._sizes[at], self._items[at])


def directories(files: Iterable[tuple[str, int]]) -> Directories:
    """Sum up (path, size) pairs by directory. Raises `ValueError` if they are not sorted by path."""
    paths, sizes, items = [ROOT], array("q", [0]), array("q", [0])
    opened = [0]  # the root, and the directories down to the last file's
    here = ""

    def close() -> None:
        done = opened.pop()
        sizes[opened[-1]] += sizes[done]
        items[opened[-1]] += items[done] + 1

    before = ""
    for path, size in files:
        if path <= before:
            raise ValueError(f"files must be sorted by path, each once: {path!r} came after {before!r}")
        before = path
        folder = path.rpartition("/")[0]
        if folder != here:
            while len(opened) > 1 and not f"{folder}/".startswith(f"{paths[opened[-1]]}/"):
                close()
            for name in _below(folder, paths[opened[-1]] if len(opened) > 1 else ""):
                opened.append(len(paths))
                paths.append(name)
                sizes.append(0)
                items.append(0)
            here = folder
        sizes[opened[-1]] += size
        items[opened[-1]] += 1
    while len(opened) > 1:
        close()
    return Directories(paths, sizes, items)


def _below(folder: str, top: str) -> Iterator[str]:
    """Yield each directory below `top` on the way down to `folder`."""
    end = len(top)
    while end < len(folder):
        found = folder.find("/", end + 1)
        end = len(folder) if found < 0 else found
        yield folder[:end]
