"""What one entry of a sitemap or feed is made of, whichever reader met it.

The strict reader and the salvage reader both fill a `Draft`, so an entry means the same before and after XML breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Literal, NamedTuple

from sitemirror import urls
from sitemirror.model import Entry, Problem, SitemapRef


class Stretch(NamedTuple):
    """Ordinary entries one after another, as columns: a million are not made into objects that nobody keeps."""

    locs: list[str]
    lastmods: list[str | None]
    priorities: list[str | None]

    def entries(self) -> Iterator[Entry]:
        """The same one by one."""
        return map(Entry, self.locs, self.lastmods, self.priorities)


Event = Entry | SitemapRef | Problem
Found = Event | Stretch
Kind = Literal["urlset", "index", "rss", "atom", "text", "html"]

ROOTS: Final[Mapping[str, Kind]] = {
    "urlset": "urlset",
    "sitemapindex": "index",
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
}
# RSS has <image><url>, so what counts as an entry depends on the document.
BLOCKS: Final[Mapping[Kind | None, frozenset[str]]] = {
    "urlset": frozenset({"url", "sitemap"}),
    "index": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "atom": frozenset({"entry"}),
    None: frozenset({"url", "sitemap", "item", "entry"}),
}
KIND_OF_BLOCK: Final[Mapping[str, Kind]] = {"url": "urlset", "sitemap": "index", "item": "rss", "entry": "atom"}

MAX_DATE: Final = 100
MAX_PRIORITY: Final = 20
MAX_ALTERNATES: Final = 500
MAX_LANGUAGE: Final = 64
# Editors leave these invisible characters around pasted URLs; `str.strip` does not know them.
_INVISIBLE: Final = "\ufeff\u200b\u200e\u200f"
HTTP: Final = re.compile(r"https?://", re.I)


class Role(IntEnum):
    """What a child element says about its entry."""

    OTHER = 0
    LOC = 1
    SPARE_LOC = 2
    DATE = 3
    SPARE_DATE = 4
    PRIORITY = 5
    LINK = 6


# Bound once: looking a member up in its class for every element of a million entries takes a second.
_LOC: Final = Role.LOC
_BLANK_VALUES: Final = [""] * len(Role)

_ROLES: Final[Mapping[str, Mapping[str, Role]]] = {
    "url": {"loc": Role.LOC, "lastmod": Role.DATE, "priority": Role.PRIORITY, "link": Role.LINK},
    "sitemap": {"loc": Role.LOC, "lastmod": Role.DATE},
    "item": {"link": Role.LOC, "guid": Role.SPARE_LOC, "pubdate": Role.DATE, "date": Role.SPARE_DATE},
    "entry": {"link": Role.LINK, "updated": Role.DATE, "published": Role.SPARE_DATE},
}
# Their elements share names with the protocol's own (<image:loc>); a sloppy file has them right below <url>.
_EXTENSIONS: Final = frozenset({"image", "video", "news", "mobile", "media", "geo", "pagemap", "xhtml"})


def one_by_one(found: Iterable[Found]) -> list[Event]:
    """Every event, in order."""
    events: list[Event] = []
    for item in found:
        if isinstance(item, Stretch):
            events += item.entries()
        else:
            events.append(item)
    return events


def split_name(tag: str) -> tuple[str, str]:
    """Prefix and local name, lower-cased: generators disagree on namespaces and on case."""
    prefix, _, local = tag.lower().rpartition(":")
    return prefix, local


def role_of(block: str, block_prefix: str, tag: str) -> Role:
    """What `tag` means as a direct child of a `block` that was written with `block_prefix`."""
    prefix, local = split_name(tag)
    role = _ROLES[block].get(local, Role.OTHER)
    if role is Role.OTHER or prefix == block_prefix:
        return role
    if block in ("url", "sitemap"):
        return Role.OTHER if prefix in _EXTENSIONS and role is not Role.LINK else role
    # Feeds mix vocabularies freely: <atom:link rel="self"> in an RSS item is not the item's link.
    return role if (prefix, local) == ("dc", "date") else Role.OTHER


@dataclass(slots=True)
class Tally:
    """What was left out while reading, for one closing sentence each."""

    without_loc: int = 0
    too_long: int = 0

    def problems(self) -> list[Event]:
        found: list[Event] = []
        if self.without_loc:
            found.append(Problem(f"{_entries(self.without_loc)} without a URL"))
        if self.too_long:
            found.append(Problem(f"{_entries(self.too_long)} with a URL longer than {urls.MAX_LENGTH:,} characters"))
        return found


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def trimmed(text: str) -> str:
    """`text` without the blanks around it, the invisible ones too."""
    return text.strip().strip(_INVISIBLE).strip()


class Draft:
    """One entry while it is being read. Reused for every entry of a file."""

    __slots__ = ("_alternates", "_block", "_done", "_tally", "_values")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.open("url")

    def open(self, block: str) -> None:
        self._block = block
        self._values = _BLANK_VALUES.copy()
        self._alternates: list[tuple[str, str]] = []
        self._done: list[Found] = []

    def put(self, role: Role, text: str) -> None:
        """A child element with text has ended."""
        if role is _LOC and self._values[_LOC]:
            self._put_another_loc(text)
        else:
            self._values[role] = text

    def link(self, attributes: Mapping[str, str]) -> None:
        """A <link> with attributes: another language of the page (sitemap), or the page itself (Atom)."""
        href = trimmed(attributes.get("href", ""))
        rel = attributes.get("rel", "alternate").lower().split()
        if not href or "alternate" not in rel or len(href) > urls.MAX_LENGTH:
            return
        if self._block == "entry":
            # Prefer the page over its JSON or PDF twin.
            role = Role.LOC if "html" in attributes.get("type", "html") else Role.SPARE_LOC
            self._values[role] = self._values[role] or href
            return
        language = trimmed(attributes.get("hreflang", ""))
        if language and len(language) <= MAX_LANGUAGE and len(self._alternates) < MAX_ALTERNATES:
            self._alternates.append((language, href))

    def finish(self, own_text: str, out: list[Found]) -> None:
        """The block has ended: its entries go to `out`. `own_text` is the URL of a block that forgot its <loc>."""
        if self._done:
            out += self._done
        loc = trimmed(self._values[_LOC]) or self._spare(own_text)
        if loc:
            self._emit(loc, out)
        elif not self._done:
            self._tally.without_loc += 1

    def finish_torn(self, out: list[Found]) -> None:
        """The input ended inside the block: no fault of its own if it has no URL."""
        out += self._done
        if loc := trimmed(self._values[_LOC]):
            self._emit(loc, out)

    def take_finished(self) -> list[Found]:
        """Entries of the block that are already complete, for a reader that will not read the block twice."""
        done, self._done = self._done, []
        return done

    def _spare(self, own_text: str) -> str:
        spare = trimmed(self._values[Role.SPARE_LOC])
        if spare and (self._block == "entry" or HTTP.match(spare)):
            return spare
        own = trimmed(own_text)
        return own if HTTP.match(own) else ""

    def _put_another_loc(self, text: str) -> None:
        # Several <loc> in one block: the generator forgot the blocks between them. Each is an entry.
        loc = trimmed(self._values[_LOC])
        if not loc:
            self._values[_LOC] = text
        elif self._block in ("url", "sitemap") and trimmed(text):
            self._emit(loc, self._done)
            self._values = _BLANK_VALUES.copy()
            self._values[_LOC] = text
            self._alternates = []

    def _emit(self, loc: str, out: list[Found]) -> None:
        if len(loc) > urls.MAX_LENGTH:
            self._tally.too_long += 1
            return
        _, _, _, date, spare_date, priority, _ = self._values
        lastmod = date.strip() or spare_date.strip() or None
        if lastmod is not None and len(lastmod) > MAX_DATE:
            lastmod = None
        if self._block == "sitemap":
            out.append(SitemapRef(loc, lastmod))
            return
        rank = priority.strip() or None
        if rank is not None and len(rank) > MAX_PRIORITY:
            rank = None
        out.append(Entry(loc, lastmod, rank, tuple(self._alternates)))
