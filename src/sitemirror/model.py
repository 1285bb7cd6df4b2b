"""Types that pass between stages: Entry → Fetched | Redirect | NotModified | Failed | Skipped → Page.

A page's failure is a value with a reason. No logic here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from sitemirror.reasons import Reason, format_reason


class Lane(StrEnum):
    """The rate limit of a host that a request counts against."""

    SITEMAP = "sitemap"  # robots.txt, sitemaps, resolving the start URL
    CONTENT = "content"


class Validators(NamedTuple):
    """Validators of an answer, for conditional requests."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A 2xx answer with its whole body, decompressed."""

    url: str
    status: int
    headers: Mapping[str, str]  # lower-cased names
    body: bytes
    content_type: str  # media type alone, lower-case: "text/html"; sniffed if the header is missing
    charset: str | None  # from the Content-Type header
    fetched_at: str  # ISO 8601, UTC, seconds: "2026-01-03T20:00:00Z"


class Redirect(NamedTuple):
    """A 3xx answer. `location` is normalised; `frontier` decides if it may be followed."""

    url: str
    status: int
    location: str


class NotModified(NamedTuple):
    """304: the copy is current."""

    url: str
    headers: Mapping[str, str]
    fetched_at: str


class Failed(NamedTuple):
    """A requested URL without a page. `transient` failures are worth a retry."""

    url: str
    reason: Reason
    detail: str | None = None
    transient: bool = False
    status: int | None = None
    tries: int = 1  # number of requests
    busy: bool = False  # the server asked to come back later, on each retry

    @property
    def text(self) -> str:
        """The reason as text."""
        return format_reason(self.reason, self.detail)


NO_CONTENT: Final = (204, 205)
"""Statuses of answers without a body."""


class Skipped(NamedTuple):
    """A URL that is not saved: another type, too large, out of scope."""

    url: str
    reason: Reason
    detail: str | None = None
    content_type: str | None = None
    size_bytes: int | None = None
    status: int | None = None  # None if it was not requested

    @property
    def text(self) -> str:
        """The reason as text."""
        return format_reason(self.reason, self.detail)


Outcome = Fetched | Redirect | NotModified | Failed | Skipped


class Link(NamedTuple):
    """A link found on a page, absolute."""

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A converted page. The same bytes and URL give the same page."""

    url: str
    markdown: str  # without front matter; ends with one newline unless empty
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)  # front matter fields but title and url, in order
    links: tuple[Link, ...] = ()
    canonical: str | None = None  # normalised
    refresh: str | None = None  # target of a page that is only an immediate meta refresh
    hidden_texts: int = 0  # pieces of hidden text that were left out


@dataclass(frozen=True, slots=True)
class PageMeta:
    """Metadata of an HTML page for the mirror index."""

    title: str | None = None
    meta_description: str | None = None
    canonical_url: str | None = None  # normalised
    robots: str | None = None
    hreflang: tuple[tuple[str, str], ...] = ()  # (language, normalised URL)
    h1: tuple[str, ...] = ()
    h2: tuple[str, ...] = ()
    word_count: int = 0


class Entry(NamedTuple):
    """One entry of a sitemap."""

    loc: str  # as written, trimmed, not normalised
    lastmod: str | None = None
    priority: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()  # (hreflang, href)


class SitemapRef(NamedTuple):
    """A child sitemap named by an index or robots.txt."""

    loc: str
    lastmod: str | None = None


class Problem(NamedTuple):
    """A fault in a sitemap whose rest was read."""

    reason: str
