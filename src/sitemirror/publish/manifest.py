"""Write and read `_manifest.json`, which accounts for every URL of a mirror exactly once.

Streamed with one element a line: a million pages need no memory, a diff in git shows the pages that changed, and grep
finds one. (No `from __future__ import annotations`: writer and reader use the types of the fields.)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar, get_args, get_origin

import orjson

from sitemirror.publish.json_text import Sink, json_bytes, write_list
from sitemirror.publish.marks import DOCUMENTED, LEFT_OUT_WHEN_EMPTY, Written
from sitemirror.publish.placeholders import placeholder_name

if TYPE_CHECKING:
    from pydantic import ConfigDict


VERSION: Final = "2.0.0"

_ALTERNATE: Final = {
    "type": "object",
    "properties": {"lang": {"type": "string"}, "href": {"type": "string"}},
    "required": ["lang", "href"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestHeader:
    """The run and its counts. Times are ISO 8601 in UTC."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    version: str = VERSION
    """Version of this format."""

    source_url: str
    """The start URL."""

    command: str | None = None
    """The command that made it: mirror or crawl. Null in a manifest of an older version."""

    options: dict[str, Any] | None = None
    """The options of that command that are not the default, by name. Of passwords, headers, cookies, proxies and
    certificates only the names are here, with null."""

    sitemap_url: str | None
    """The first sitemap; null for a mirror made without one."""

    sitemaps: tuple[str, ...]
    """Every sitemap that was read."""

    crawl_started: str
    """When the crawl began; a resumed crawl keeps the time of its first run."""

    crawl_completed: str | None
    """When it was done; null when it was interrupted."""

    complete: bool
    """False if the run was interrupted or could not read everything."""

    total_pages: int
    """Pages of the site in scope: successful + failed + skipped + not_reached_count."""

    successful: int
    """Pages on disk: the length of pages."""

    failed: int
    """The length of failures."""

    skipped: int
    """The length of skips."""

    duplicates: int
    """Listed URLs without a page of their own: they repeat another URL or resolve to the same page."""

    not_reached_count: int
    """The length of not_reached."""


@dataclass(slots=True, kw_only=True)  # Not frozen, which takes five times as long: there may be a million.
class PageRow:
    """A page on disk."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The page's own URL."""

    path: str
    """Its file: POSIX, relative to the manifest's folder."""

    size_bytes: int | None = None
    """Size of that file."""

    fetched_at: str | None = None
    """When the server last confirmed or sent it."""

    changed_at: str | None = None
    """When the server first sent the current content."""

    title: str | None = None
    """The page's title."""

    sha256: str | None = None
    """Of the file's bytes, in hex."""

    lastmod: str | None = None
    """As the sitemap gives it."""

    etag: str | None = None
    """The server's ETag header."""

    last_modified: str | None = None
    """The server's Last-Modified header."""

    content_type: str | None = None
    """Media type of the response."""

    final_url: str | None = None
    """The URL after redirects."""

    canonical_url: str | None = None
    """The page's canonical URL."""

    aliases: tuple[str, ...] = ()
    """Other URLs of the same page: redirects and duplicates."""

    alternates: Annotated[
        tuple[tuple[str, str], ...],
        LEFT_OUT_WHEN_EMPTY,
        Written({"type": "array", "items": _ALTERNATE}),
    ] = ()
    """The page in other languages, as the sitemap gives them (hreflang, URL). Left out when there are none."""

    html_path: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """The HTML file, if both formats were saved. Left out otherwise."""

    preferred_path: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """The path its URL maps to, if another page has it. Left out otherwise."""

    hidden_texts: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """Number of hidden texts removed from the Markdown. Left out when there are none."""

    refresh_error: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """Why the last update of the page failed; the copy on disk is older. Left out otherwise."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """Number of links from the start page. Left out if it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """A URL that failed."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The URL."""

    error: str
    """The last reason."""

    attempts: int = 1
    """Tries so far, over all runs."""

    at: str | None = None
    """When it was last tried."""

    final_url: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """Target of its redirects. Left out without redirects."""

    redirects: Annotated[int, LEFT_OUT_WHEN_EMPTY] = 0
    """Number of redirects to `final_url`. Left out if there were none or it is unknown."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """Number of links from the start page. Left out if it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRow:
    """A URL that was skipped."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The URL."""

    reason: str
    """The reason."""

    content_type: str | None = None
    """Media type, if the server sent it."""

    size_bytes: int | None = None
    """Size, if the server sent it."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """Number of links from the start page. Left out if it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneRow:
    """A URL that is neither listed nor linked any more, or answers 404 or 410. Its file stays."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The URL."""

    path: str | None = None
    """Its file: POSIX, relative to the manifest's folder; null if it never had one."""

    since: str | None = None
    """When it was first found missing."""


def write_manifest(
    file: Sink,
    header: ManifestHeader,
    *,
    pages: Iterable[PageRow],
    failures: Iterable[FailureRow],
    skips: Iterable[SkipRow],
    gone: Iterable[GoneRow],
    not_reached: Iterable[str],
) -> None:
    """Write the manifest as the rows come. The header with the counts is first."""
    file.write(b"{\n")
    for name, value in asdict(header).items():
        file.write(b"  %b: %b,\n" % (json_bytes(name), json_bytes(value)))
    write_list(file, b"pages", map(_members, pages))
    write_list(file, b"failures", map(_members, failures))
    write_list(file, b"skips", map(_members, skips))
    write_list(file, b"gone", map(_members, gone))
    write_list(file, b"not_reached", not_reached, last=b"\n")
    file.write(b"}\n")


def _members(row: PageRow | FailureRow | SkipRow | GoneRow) -> dict[str, object]:
    """Return a row's fields by name, without those that are left out when empty."""
    kind: Any = type(row)
    found = {name: value for name, nothing in _layout(kind) if (value := getattr(row, name)) != nothing}
    if isinstance(row, PageRow) and row.alternates:
        found["alternates"] = [{"lang": lang, "href": href} for lang, href in row.alternates]
    return found


@cache
def _layout(kind: Any) -> tuple[tuple[str, object], ...]:
    """Return the fields of a kind of row, each with the value that is left out, or one that it never has."""
    never = object()
    return tuple(
        (field.name, field.default if LEFT_OUT_WHEN_EMPTY in getattr(field.type, "__metadata__", ()) else never)
        for field in fields(kind)
    )


Element = PageRow | FailureRow | SkipRow | GoneRow | str
"""One element of the manifest's lists; a plain string is a URL that was not reached."""


_SECTIONS: Final = ("pages", "failures", "skips", "gone", "not_reached")
_ELEMENT_BEGINS: Final = (b"    {", b'    "')
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NO_HEADER: Final = {
    **dict.fromkeys(("version", "source_url", "crawl_started"), ""),
    **dict.fromkeys(("total_pages", "successful", "failed", "skipped", "duplicates", "not_reached_count"), 0),
    "sitemap_url": None,
    "sitemaps": (),
    "crawl_completed": None,
    "complete": False,
}

T = TypeVar("T")


class ManifestUnreadable(ValueError):
    """The file is not a manifest at all."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A part of the manifest that could not be read; the others can."""

    where: str


Item = ManifestHeader | Element | Damaged


def read_manifest(path: Path) -> Iterator[Item]:
    """Yield the header, then every row; a plain string is a URL that was not reached.

    A manifest as we write it is read line by line in little memory. Any other layout is loaded whole.
    Raises `ManifestUnreadable` when the file is neither, and `OSError` when it cannot be opened.
    """
    if _has_our_layout(path):
        with path.open("rb") as file:
            yield from _by_line(file)
    else:
        yield from _whole(path)


def placeholder_of(row: Element) -> str | None:
    """Return the path of the placeholder of a failed or skipped URL; `None` for other rows."""
    match row:
        case FailureRow():
            return f"_failed/{placeholder_name(row.url)}"
        case SkipRow() if row.content_type is not None or row.size_bytes is not None:
            return f"_skipped/{placeholder_name(row.url)}"
        case _:
            return None


def _has_our_layout(path: Path) -> bool:
    """True if each element has a line of its own, judged by the lines up to the first element."""
    with path.open("rb") as file:
        if file.readline(8).rstrip(b"\r\n") != b"{" or not file.readline(200).startswith(b'  "version": '):
            return False
        for line in file:
            if line.startswith(_ELEMENT_BEGINS):
                return line.rstrip(b"\r\n,").endswith((b"}", b'"')) and len(line.strip()) > 2
            if not line.startswith(b'  "'):
                return line.rstrip() in (b"}", b"  ],")
    return False


def _by_line(lines: Iterable[bytes]) -> Iterator[Item]:
    fields: dict[str, object] = {}
    section = ""
    closed = False
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip(b"\r\n")
        if line.startswith(_ELEMENT_BEGINS) and section:
            row = _element(section, _loads(line.strip().removesuffix(b",")))
            yield Damaged(f"line {number}") if row is None else row
        elif line.startswith(b'  "'):
            name, value = _field(line)
            if name in _SECTIONS:
                if not section:
                    yield _header(fields)
                section = name
            elif name and not section:
                fields[name] = value
            else:
                yield Damaged(f"line {number}")
        elif line == b"}":
            closed = True
        elif line not in (b"{", b"  ],", b"  ]", b""):
            yield Damaged(f"line {number}")
    if not closed:
        if not section:
            yield _header(fields)
        yield Damaged("the file ends too early")


def _field(line: bytes) -> tuple[str, object]:
    """Parse a line of the header into name and value, or the first line of a list into its name."""
    text = line.strip().removesuffix(b",")
    found = _loads(b"{" + text + (b"]}" if text.endswith(b"[") else b"}"))
    if isinstance(found, dict) and len(found) == 1:
        return next(iter(found.items()))
    return "", None


def _loads(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _whole(path: Path) -> Iterator[Item]:
    try:
        document = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise ManifestUnreadable(f"{path.name} is not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("pages"), list):
        raise ManifestUnreadable(f"{path.name} is JSON, but not a manifest: it has no list of pages")
    yield _header(document)
    for section in _SECTIONS:
        values = document.get(section, [])
        if not isinstance(values, list):
            yield Damaged(section)
            continue
        for number, value in enumerate(values, 1):
            row = _element(section, value)
            yield Damaged(f"{section}, element {number}") if row is None else row


def _header(values: Mapping[str, object]) -> ManifestHeader:
    return _row(ManifestHeader, values, _NO_HEADER)


def _element(section: str, value: object) -> Element | None:
    """Make a row of an element of the list `section`; `None` if it lacks a URL or a path."""
    if section == "not_reached":
        return value if isinstance(value, str) else None
    if not isinstance(value, dict) or not _text(value.get("url")):
        return None
    match section:
        case "pages" if _text(value.get("path")):
            return _row(PageRow, value)
        case "gone":
            return _row(GoneRow, value)
        case "failures":
            return _row(FailureRow, value, {"error": "unknown"})
        case "skips":
            return _row(SkipRow, value, {"reason": "unknown"})
    return None


def _row(kind: Callable[..., T], values: Mapping[str, object], otherwise: Mapping[str, Any] = _NOTHING) -> T:
    """Make a row. A field of a wrong type counts as missing, so that other tools' manifests can be read."""
    found = {name: value for name, read in _readers(kind) if (value := read(values.get(name))) is not None}
    return kind(**found | {name: value for name, value in otherwise.items() if not found.get(name)})


@cache
def _readers(kind: Any) -> tuple[tuple[str, Callable[[object], object]], ...]:
    """Return the fields of a kind of row, each with the reader of its type."""
    types = {field.name: field.type for field in fields(kind)}
    plain = {name: get_args(type)[0] if get_origin(type) is Annotated else type for name, type in types.items()}
    return tuple((name, _READERS[type]) for name, type in plain.items())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _mapping(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else None


def _pairs(value: object) -> tuple[tuple[str, str], ...] | None:
    pairs = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return tuple((_text(each.get("lang")) or "", href) for each in pairs if (href := _text(each.get("href"))))


_READERS: Final[dict[Any, Callable[[object], object]]] = {
    str: _text,
    str | None: _text,
    int: _number,
    int | None: _number,
    bool: _flag,
    dict[str, Any] | None: _mapping,
    tuple[str, ...]: _texts,
    tuple[tuple[str, str], ...]: _pairs,
}
