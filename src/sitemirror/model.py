"""The types that pass between stages: Entry → Fetched | Redirect | NotModified | Failed | Skipped → Page.

A page's failure is a value with a reason. Nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from sitemirror.reasons import Reason, format_reason


class Lane(StrEnum):
    """Which of a host's two rates a request counts against."""

    SITEMAP = "sitemap"  # robots.txt, sitemaps, the first look at the start page
    CONTENT = "content"


class Validators(NamedTuple):
    """What a server gave us to ask "has it changed?" with."""

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
    content_type: str  # media type alone, lower-case: "text/html"; sniffed where the header is missing
    charset: str | None  # from the Content-Type header
    fetched_at: str  # ISO 8601, UTC, seconds: "2026-01-03T20:00:00Z"


class Redirect(NamedTuple):
    """A 3xx answer. `location` is normalised; whether it may be followed is the frontier's word."""

    url: str
    status: int
    location: str


class NotModified(NamedTuple):
    """304: what we have is what there is."""

    url: str
    headers: Mapping[str, str]
    fetched_at: str


class Failed(NamedTuple):
    """The URL could not be had. `transient` failures are worth another try."""

    url: str
    reason: Reason
    detail: str | None = None
    transient: bool = False
    status: int | None = None
    tries: int = 1  # requests that were made, waits between them included
    busy: bool = False  # the server asked to come back later, each time that it was asked again

    @property
    def text(self) -> str:
        """The reason in words."""
        return format_reason(self.reason, self.detail)


NO_CONTENT: Final = (204, 205)
"""What a server answers that has nothing to show."""


class Skipped(NamedTuple):
    """The URL is not wanted: another type, too large, out of scope."""

    url: str
    reason: Reason
    detail: str | None = None
    content_type: str | None = None
    size_bytes: int | None = None
    status: int | None = None  # None where nobody was asked

    @property
    def text(self) -> str:
        """The reason in words."""
        return format_reason(self.reason, self.detail)


Outcome = Fetched | Redirect | NotModified | Failed | Skipped


class Link(NamedTuple):
    """A link found on a page, absolute. A tuple, since a page has a hundred and each is made in a third of the time."""

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A converted page. Pure data: the same bytes and URL give the same page."""

    url: str
    markdown: str  # without front matter; ends with one newline unless empty
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)  # front matter fields but title and url, in order
    links: tuple[Link, ...] = ()
    canonical: str | None = None  # normalised
    refresh: str | None = None  # where a page that is nothing but an immediate meta refresh points
    hidden_texts: int = 0  # pieces of text left out because nobody sees them on the page


@dataclass(frozen=True, slots=True)
class PageMeta:
    """What the mirror index tells of an HTML page."""

    title: str | None = None
    meta_description: str | None = None
    canonical_url: str | None = None  # normalised
    robots: str | None = None
    hreflang: tuple[tuple[str, str], ...] = ()  # (language, normalised URL)
    h1: tuple[str, ...] = ()
    h2: tuple[str, ...] = ()
    word_count: int = 0


class Entry(NamedTuple):
    """One URL as a sitemap lists it."""

    loc: str  # as written, trimmed; not yet resolved or normalised
    lastmod: str | None = None
    priority: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()  # (hreflang, href)


class SitemapRef(NamedTuple):
    """A child sitemap named by an index or robots.txt."""

    loc: str
    lastmod: str | None = None


class Problem(NamedTuple):
    """Something wrong with a sitemap that did not stop us from reading the rest."""

    reason: str
