"""Define the format of `mirror-index.json`, version 1: the type of each field, and if it is required.

The published JSON Schema and the check of `sitemirror verify` are both generated from these classes. Fields that are
not described here are allowed: additions do not change the version.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict  # pydantic reads the standard library's only from Python 3.12 on

from sitemirror.publish.mirror_index import FileKind, SkipReason, UrlKind

_DESCRIBED: Final = ConfigDict(use_attribute_docstrings=True, strict=True)


def _in_utc(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("is no ISO 8601 time") from None
    if moment.utcoffset() != timedelta(0):
        raise ValueError("is not in UTC")
    return value


def _from_the_root(value: str) -> str:
    if value != "." and any(name in ("", ".", "..") for name in value.split("/")):
        raise ValueError("is no path inside the mirror")
    return value


Time = Annotated[str, AfterValidator(_in_utc), Field(json_schema_extra={"format": "date-time"})]
LocalPath = Annotated[str, AfterValidator(_from_the_root)]
Count = Annotated[int, Field(ge=0)]


@with_config(_DESCRIBED)
class Args(TypedDict):
    """Options of the run."""

    link_depth: NotRequired[int]
    """How many links deep the crawl goes: -1 = no limit, 0 = the start page and its assets."""

    same_domain: NotRequired[bool]
    """True if only the start host and its www twin are crawled."""

    delay_seconds: NotRequired[float]
    """Seconds between two requests."""

    timeout: NotRequired[int]
    """Seconds a request may take; parts of a second are rounded up."""

    user_agent: NotRequired[str]
    """The User-Agent header."""

    post_process: NotRequired[bool]
    """True if links were rewritten for offline use."""

    re_download_all: NotRequired[bool]
    """True if everything was fetched anew."""

    concurrency: NotRequired[int]
    """Requests in flight at once."""


@with_config(_DESCRIBED)
class Meta(TypedDict):
    """The run."""

    base_url: str
    """Normalised URL the crawl began at."""

    generated_at: Time
    """When this index was written."""

    target_root: str
    """Absolute path of the mirror's folder."""

    items_count: Count
    """The length of items."""

    tool: str
    """Name of the tool: mirror-site."""

    tool_version: str
    """Its version: "1"."""

    schema_version: int
    """Version of this format: 1."""

    run_id: NotRequired[str]
    """UUID of the run."""

    args: NotRequired[Args]
    """The arguments of the run."""


@with_config(_DESCRIBED)
class Translation(TypedDict):
    """The page in another language."""

    lang: str
    """The language's tag, or x-default."""

    href: str
    """Absolute URL."""


@with_config(_DESCRIBED)
class PageMetaFields(TypedDict):
    """Metadata of an HTML page."""

    title: NotRequired[str]
    """The title element."""

    meta_description: NotRequired[str]
    """The description in its head."""

    canonical_url: NotRequired[str]
    """The page's canonical URL, absolute."""

    robots: NotRequired[str]
    """Its robots rules; several elements' are joined by commas."""

    hreflang: NotRequired[list[Translation]]
    """The page in other languages."""

    h1: NotRequired[list[str]]
    """Headings of the first level, in the page's order."""

    h2: NotRequired[list[str]]
    """Headings of the second level, in the page's order."""

    word_count: NotRequired[Count]
    """Number of visible words, separated by white space."""


@with_config(_DESCRIBED)
class DirItem(TypedDict):
    """A directory."""

    path: LocalPath
    """POSIX path from target_root; "." for the root itself."""

    type: Literal["dir"]
    """Always dir."""

    size: Count
    """Bytes of all files in it, at any depth."""

    name: str
    """Last segment of the path."""

    ext: str
    """Empty."""

    kind: Literal["dir"]
    """Always dir."""

    section: str
    """First segment of the path; "." for the root."""

    items: Count
    """Files and directories in it, at any depth."""


@with_config(_DESCRIBED)
class FileItem(TypedDict):
    """A file."""

    path: LocalPath
    """POSIX path from target_root."""

    type: Literal["file"]
    """Always file."""

    size: Count
    """Bytes."""

    name: str
    """Last segment of the path."""

    ext: str
    """Extension with its dot; empty if there is none."""

    kind: FileKind
    """page or asset."""

    section: str
    """First segment of the path; "." for a file in the root."""

    mtime: Time
    """When the file on disk was last changed."""

    mime: str
    """Media type by the extension; application/octet-stream if it is not known."""

    sha256: NotRequired[str]
    """Of the file's bytes, in hex. Missing when the run did not hash."""

    source_url: NotRequired[str]
    """URL that the file was made from."""

    final_url: NotRequired[str]
    """That URL after redirects."""

    http_status: NotRequired[int]
    """Status of the last answer: 304 if unchanged, an error's if the copy was kept."""

    downloaded_at: NotRequired[Time]
    """When the server last sent or confirmed it."""

    original_etag: NotRequired[str]
    """The ETag header."""

    original_last_modified: NotRequired[str]
    """The Last-Modified header as an ISO 8601 time, or as received if it is not a date."""

    original_content_type: NotRequired[str]
    """The Content-Type header."""

    original_content_length: NotRequired[int | str]
    """The Content-Length header as a number, or as received if it is not one."""

    target_abs_path: str
    """Absolute path of the file."""

    target_root: str
    """Absolute path of the mirror's folder."""

    page_meta: NotRequired[PageMetaFields]
    """Metadata; for HTML pages."""


Item = Annotated[DirItem | FileItem, Field(discriminator="type")]


@with_config(_DESCRIBED)
class UrlEntry(TypedDict):
    """A URL, its response and its file."""

    url: str
    """The URL, as in the key."""

    final_url: NotRequired[str]
    """The URL after redirects."""

    http_status: NotRequired[int]
    """Status of the last answer: 304 if unchanged, an error's if the copy was kept."""

    headers: NotRequired[dict[str, str]]
    """Response headers of the saved file, with names in lower case; without cookies."""

    downloaded_at: NotRequired[Time]
    """When the server last sent or confirmed it."""

    local_path: LocalPath
    """POSIX path from target_root that the URL maps to."""

    kind: UrlKind
    """page, asset, or unknown without a response."""

    referers: NotRequired[list[str]]
    """URLs of the pages that link to it."""

    depth: NotRequired[Count]
    """Links from the start page when it was first seen; 0 for the start page."""

    redirect_chain: NotRequired[list[str]]
    """Each URL from url to final_url, both included. Missing without redirects. An extension."""

    not_modified: NotRequired[bool]
    """True if the last response was 304. Missing otherwise. An extension."""


@with_config(_DESCRIBED)
class Graph(TypedDict):
    """Which page links to what."""

    out_edges: dict[str, list[str]]
    """For each URL, the URLs it links to."""

    in_edges: dict[str, list[str]]
    """For each URL, the URLs that link to it: out_edges reversed."""

    typed_out_edges: NotRequired[dict[str, dict[str, list[str]]]]
    """For each URL and attribute (href, src …), the URLs it links to by that attribute. An extension."""


# Python keeps the word "from" for itself.
_From = TypedDict(
    "_From",
    {"from": Annotated[str, Field(description="URL of the page that has the link, or of the sitemap that lists it.")]},
)


@with_config(_DESCRIBED)
class SkippedUrl(_From):
    """A URL that was found and not fetched."""

    ts: Time
    """When it was skipped."""

    url: str
    """The URL."""

    reason: SkipReason
    """The reason."""

    detail: NotRequired[str]
    """Details of the reason. An extension."""


@with_config(_DESCRIBED)
class ErrorEntry(TypedDict):
    """An error."""

    ts: Time
    """When."""

    url: str
    """The URL that was tried."""

    stage: str
    """The operation: fetch, asset-download …"""

    error: str
    """The error."""


@with_config(_DESCRIBED)
class MirrorIndex(TypedDict):
    """`mirror-index.json`: files, their URLs and the links between them."""

    meta: Meta
    """The run that wrote this index."""

    items: list[Item]
    """Directories, then files, each by path."""

    urls: dict[str, UrlEntry]
    """Every URL that maps to a file, by the URL."""

    graph: Graph
    """The links between the URLs."""

    skipped_urls: list[SkippedUrl]
    """URLs that were found and not fetched."""

    errors: list[ErrorEntry]
    """Errors."""
