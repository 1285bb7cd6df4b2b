"""The sitemap entry that all parsers share: the same before and after the XML breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Literal, NamedTuple

from sitemirror import urls
from sitemirror.model import Entry, Problem, SitemapRef


class EntryBatch(NamedTuple):
    """Consecutive entries without alternates, as columns.

    The state takes whole columns at once: with one object an entry `bench/million.py` takes at least 15 % longer.
    """

    locs: list[str]
    lastmods: list[str | None]
    priorities: list[str | None]

    def entries(self) -> Iterator[Entry]:
        """The same entries one by one."""
        return map(Entry, self.locs, self.lastmods, self.priorities)


Event = Entry | SitemapRef | Problem
Parsed = Event | EntryBatch
Kind = Literal["urlset", "index", "rss", "atom", "text", "html"]

ROOTS: Final[Mapping[str, Kind]] = {
    "urlset": "urlset",
    "sitemapindex": "index",
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
}
# Depends on the document: RSS has <image><url>, which is no entry.
ENTRY_ELEMENTS: Final[Mapping[Kind | None, frozenset[str]]] = {
    "urlset": frozenset({"url", "sitemap"}),
    "index": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "atom": frozenset({"entry"}),
    None: frozenset({"url", "sitemap", "item", "entry"}),
}
KIND_OF_ELEMENT: Final[Mapping[str, Kind]] = {"url": "urlset", "sitemap": "index", "item": "rss", "entry": "atom"}

MAX_DATE: Final = 100
MAX_PRIORITY: Final = 20
_MAX_ALTERNATES: Final = 500
_MAX_LANGUAGE: Final = 64
# Editors leave these invisible characters around pasted URLs; `str.strip` does not know them.
_INVISIBLE: Final = "\ufeff\u200b\u200e\u200f"
HTTP: Final = re.compile(r"https?://", re.I)


class Rejected(Exception):
    """The document must not be read any further."""

    def __init__(self, reason: str, kind: Kind | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class ElementRole(Enum):
    """The meaning of a child element for its entry."""

    LOC = auto()
    FALLBACK_LOC = auto()
    DATE = auto()
    FALLBACK_DATE = auto()
    PRIORITY = auto()
    LINK = auto()


_ROLES: Final[Mapping[str, Mapping[str, ElementRole]]] = {
    "url": {
        "loc": ElementRole.LOC,
        "lastmod": ElementRole.DATE,
        "priority": ElementRole.PRIORITY,
        "link": ElementRole.LINK,
    },
    "sitemap": {"loc": ElementRole.LOC, "lastmod": ElementRole.DATE},
    "item": {
        "link": ElementRole.LOC,
        "guid": ElementRole.FALLBACK_LOC,
        "pubdate": ElementRole.DATE,
        "date": ElementRole.FALLBACK_DATE,
    },
    "entry": {"link": ElementRole.LINK, "updated": ElementRole.DATE, "published": ElementRole.FALLBACK_DATE},
}
# Their elements share names with the protocol's own (<image:loc>); a sloppy file has them right below <url>.
_EXTENSIONS: Final = frozenset({"image", "video", "news", "mobile", "media", "geo", "pagemap", "xhtml"})


def expand_batches(parsed: Iterable[Parsed]) -> list[Event]:
    """All events in order, with batches taken apart into entries."""
    events: list[Event] = []
    for item in parsed:
        if isinstance(item, EntryBatch):
            events += item.entries()
        else:
            events.append(item)
    return events


def split_name(tag: str) -> tuple[str, str]:
    """Prefix and local name, lower-cased: generators disagree on namespaces and on case."""
    prefix, _, local = tag.lower().rpartition(":")
    return prefix, local


def role_of(element: str, element_prefix: str, tag: str) -> ElementRole | None:
    """The role of `tag` as a direct child of an entry `element` that was written with `element_prefix`."""
    prefix, local = split_name(tag)
    role = _ROLES[element].get(local)
    if role is None or prefix == element_prefix:
        return role
    if element in ("url", "sitemap"):
        return None if prefix in _EXTENSIONS and role is not ElementRole.LINK else role
    # Feeds mix vocabularies freely: <atom:link rel="self"> in an RSS item is not the item's link.
    return role if (prefix, local) == ("dc", "date") else None


@dataclass(slots=True)
class OmittedEntries:
    """Counts of entries that were left out, reported in one sentence each when the file ends."""

    without_loc: int = 0
    too_long: int = 0

    def problems(self) -> list[Problem]:
        found: list[Problem] = []
        if self.without_loc:
            found.append(Problem(f"{_count_entries(self.without_loc)} without a URL"))
        if self.too_long:
            limit = f"{urls.MAX_LENGTH:,} characters"
            found.append(Problem(f"{_count_entries(self.too_long)} with a URL longer than {limit}"))
        return found


def _count_entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def trim(text: str) -> str:
    """Strips white space and invisible characters from both ends."""
    return text.strip().strip(_INVISIBLE).strip()


class EntryBuilder:
    """Collects the fields of one entry after the other and emits the finished entries."""

    def __init__(self, omitted: OmittedEntries) -> None:
        self._omitted = omitted
        self.open("url")

    def open(self, element: str) -> None:
        """Starts an entry."""
        self._element = element
        self._values: dict[ElementRole, str] = {}
        self._alternates: list[tuple[str, str]] = []
        self._complete: list[Parsed] = []

    def put(self, role: ElementRole, text: str) -> None:
        """Adds the text of a child element that has ended."""
        if role is ElementRole.LOC and self._values.get(ElementRole.LOC):
            self._put_another_loc(text)
        else:
            self._values[role] = text

    def link(self, attributes: Mapping[str, str]) -> None:
        """Adds a <link> with attributes: another language of the page (sitemap), or the page itself (Atom)."""
        href = trim(attributes.get("href", ""))
        rel = attributes.get("rel", "alternate").lower().split()
        if not href or "alternate" not in rel or len(href) > urls.MAX_LENGTH:
            return
        if self._element == "entry":
            # Prefer the page over its JSON or PDF version.
            role = ElementRole.LOC if "html" in attributes.get("type", "html") else ElementRole.FALLBACK_LOC
            self._values.setdefault(role, href)
            return
        language = trim(attributes.get("hreflang", ""))
        if language and len(language) <= _MAX_LANGUAGE and len(self._alternates) < _MAX_ALTERNATES:
            self._alternates.append((language, href))

    def finish(self, own_text: str, out: list[Parsed]) -> None:
        """Ends the entry and appends it to `out`. `own_text` may be the URL of an entry that forgot its <loc>."""
        out += self._complete
        loc = trim(self._value(ElementRole.LOC)) or self._fallback_loc(own_text)
        if loc:
            self._emit(loc, out)
        elif not self._complete:
            self._omitted.without_loc += 1

    def finish_truncated(self, out: list[Parsed]) -> None:
        """Ends an entry in which the input ended; that it has no URL is not its fault."""
        out += self._complete
        if loc := trim(self._value(ElementRole.LOC)):
            self._emit(loc, out)

    def take_complete(self) -> list[Parsed]:
        """Take the entries of the current element that are complete before it ends."""
        complete, self._complete = self._complete, []
        return complete

    def _value(self, role: ElementRole) -> str:
        return self._values.get(role, "")

    def _fallback_loc(self, own_text: str) -> str:
        fallback = trim(self._value(ElementRole.FALLBACK_LOC))
        if fallback and (self._element == "entry" or HTTP.match(fallback)):
            return fallback
        own = trim(own_text)
        return own if HTTP.match(own) else ""

    def _put_another_loc(self, text: str) -> None:
        # Several <loc> in one element: the generator forgot the elements between them. Each is an entry.
        loc = trim(self._value(ElementRole.LOC))
        if not loc:
            self._values[ElementRole.LOC] = text
        elif self._element in ("url", "sitemap") and trim(text):
            self._emit(loc, self._complete)
            self._values = {ElementRole.LOC: text}
            self._alternates = []

    def _emit(self, loc: str, out: list[Parsed]) -> None:
        if len(loc) > urls.MAX_LENGTH:
            self._omitted.too_long += 1
            return
        date = self._value(ElementRole.DATE).strip() or self._value(ElementRole.FALLBACK_DATE).strip()
        lastmod = date if 0 < len(date) <= MAX_DATE else None
        if self._element == "sitemap":
            out.append(SitemapRef(loc, lastmod))
            return
        priority = self._value(ElementRole.PRIORITY).strip()
        out.append(
            Entry(loc, lastmod, priority if 0 < len(priority) <= MAX_PRIORITY else None, tuple(self._alternates))
        )
