"""`_manifest.json`: every URL the mirror knows, each accounted for exactly once, for programs.

Written as a stream with one element a line: a million pages need no memory, a diff in git shows the pages that
changed, and grep finds one. `manifest_reader` reads it back. (Annotations are not put off here, for both go by them.)
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from sitemirror.publish.json_text import Sink, json_bytes, write_list
from sitemirror.publish.marks import DOCUMENTED, LEFT_OUT_WHEN_EMPTY, Written

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

    sitemap_url: str | None
    """The first sitemap; null for a mirror made without one."""

    sitemaps: tuple[str, ...]
    """Every sitemap that was read."""

    crawl_started: str
    """When the crawl began; a resumed crawl keeps the time of its first run."""

    crawl_completed: str | None
    """When it was done; null when it was interrupted."""

    complete: bool
    """False when the run ended before its work did."""

    total_pages: int
    """Pages of the site in scope: successful + failed + skipped + not_reached_count."""

    successful: int
    """Pages on disk: the length of pages."""

    failed: int
    """The length of failures."""

    skipped: int
    """The length of skips."""

    duplicates: int
    """Listed URLs that lead to a page already counted under another listed one, and repeats in sitemaps."""

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
    """When it came with the content that it has now: at first, or with the last change."""

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
    """Media type it was sent as."""

    final_url: str | None = None
    """Where the URL led after redirects."""

    canonical_url: str | None = None
    """What the page calls its canonical URL."""

    aliases: tuple[str, ...] = ()
    """Other URLs of the same page: redirects and twins with equal content."""

    alternates: Annotated[
        tuple[tuple[str, str], ...],
        LEFT_OUT_WHEN_EMPTY,
        Written({"type": "array", "items": _ALTERNATE}),
    ] = ()
    """The page in other languages, as the sitemap gives them (hreflang, URL). Left out when there are none."""

    html_path: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """The file of its HTML, where both were saved. Left out otherwise."""

    preferred_path: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """The path its URL maps to, where another page has it. Left out otherwise."""

    hidden_texts: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """How many pieces of text the Markdown lacks because nobody sees them on the page. Left out when there are none."""

    refresh_error: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """Why the last update could not renew it; the copy on disk is older. Left out when all is well."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """How many links it is away from the start page. Left out where it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """A URL that could not be had."""

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
    """Where it had been redirected to. Left out when it had not."""

    redirects: Annotated[int, LEFT_OUT_WHEN_EMPTY] = 0
    """How many redirects led there. Left out when there were none, or nobody knows."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """How many links it is away from the start page. Left out where it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRow:
    """A URL that is not wanted."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The URL."""

    reason: str
    """Why not."""

    content_type: str | None = None
    """Media type, where the server told."""

    size_bytes: int | None = None
    """Size, where the server told."""

    depth: Annotated[int | None, LEFT_OUT_WHEN_EMPTY] = None
    """How many links it is away from the start page. Left out where it was not found by links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneRow:
    """A URL that no sitemap lists any more. If it was saved, its file stays."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    url: str
    """The URL."""

    path: str | None = None
    """Its file: POSIX, relative to the manifest's folder; null if it never had one."""

    since: str | None = None
    """When it was first missed."""


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
    """Writes the manifest as the rows come. The counts are the header's: they stand before the rows."""
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
    """A row's fields by name, but for those that are left out when they say nothing."""
    kind: Any = type(row)
    found = {name: value for name, nothing in _layout(kind) if (value := getattr(row, name)) != nothing}
    if isinstance(row, PageRow) and row.alternates:
        found["alternates"] = [{"lang": lang, "href": href} for lang, href in row.alternates]
    return found


@cache
def _layout(kind: Any) -> tuple[tuple[str, object], ...]:
    """The fields of a kind of row, each with the value that need not be told: its default, or one that it never has."""
    never = object()
    return tuple(
        (field.name, field.default if LEFT_OUT_WHEN_EMPTY in getattr(field.type, "__metadata__", ()) else never)
        for field in fields(kind)
    )


Element = PageRow | FailureRow | SkipRow | GoneRow | str
"""One element of the manifest's lists; a plain string is a URL that was not reached."""
