"""Checks a mirror index: for `sitemirror verify`, and for whoever wants to know before trusting one.

Types and presence of every field come from `index_format`. What types cannot say is checked besides: that items are in
order and counted, that each URL stands under its own key, and that the graph is the same both ways. Memory does not
grow with the index as long as it has our layout; see `index_reader`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from sitemirror.publish.index_format import ErrorEntry, Item, Meta, SkippedUrl, UrlEntry
from sitemirror.publish.index_reader import (
    Entry,
    Links,
    Misshapen,
    NotAnIndex,
    OtherLayout,
    Piece,
    Section,
    by_line,
    whole,
)
from sitemirror.publish.index_terms import SCHEMA_VERSION
from sitemirror.text import printable

_FORMATS: Final[dict[str, Any]] = {
    "meta": Meta,
    "items": Item,
    "urls": UrlEntry,
    "skipped_urls": SkippedUrl,
    "errors": ErrorEntry,
}
_FORTH: Final = "graph.out_edges"
_BACK: Final = "graph.in_edges"
_REQUIRED: Final = ("meta", "items", "urls", "graph", _FORTH, _BACK, "skipped_urls", "errors")
_HASH_BITS: Final = (1 << 64) - 1


def validate_index(path: Path) -> Iterator[str]:
    """What is wrong with the index, one line each; nothing if all is well. Raises `OSError` if it cannot be opened."""
    told = 0
    try:
        for problem in _Check().problems(by_line(path)):
            told += 1
            yield problem
    except OtherLayout as stop:
        try:
            # The pieces are the same as far as they have been read, so the same problems come first.
            yield from islice(_Check().problems(whole(path)), told, None)
        except NotAnIndex as error:
            yield f"{path.name} {printable(str(error))} (read line by line, it makes sense up to line {stop.line})"


class _Check:
    """Looks at every piece once and remembers only sums."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._items_count: int | None = None
        self._items = 0
        self._sound = True
        self._bytes = 0
        self._last: tuple[str, str] | None = None
        self._root: tuple[int, int] | None = None
        # Sums of hashes: equal if the edges are, in whatever order they come.
        self._edges = {_FORTH: 0, _BACK: 0}
        self._counts = {_FORTH: 0, _BACK: 0}

    def problems(self, pieces: Iterator[Piece]) -> Iterator[str]:
        for piece in pieces:
            match piece:
                case Section(name):
                    if name in self._seen:
                        yield f"{printable(name)} stands twice"
                    self._seen.add(name)
                case Entry():
                    yield from self._entry(piece)
                case Links():
                    yield from self._links(piece)
                case Misshapen(place, wanted):
                    yield f"{printable(place, limit=300)} is not {wanted}"
        yield from (f"{name} is missing" for name in _REQUIRED if name not in self._seen)
        yield from self._sums()

    def _entry(self, entry: Entry) -> Iterator[str]:
        place = _place(entry.section, entry.key)
        try:
            value = _adapter(entry.section).validate_python(entry.value)
        except ValidationError as error:
            yield from _explain(place, error)
            value = {}
        match entry.section:
            case "meta" if value:
                self._items_count = value["items_count"]
                if value["schema_version"] != SCHEMA_VERSION:
                    yield f"{place}.schema_version is {value['schema_version']}; this program knows {SCHEMA_VERSION}"
            case "items":
                yield from self._item(place, value)
            case "urls" if value and value["url"] != entry.key:
                yield f"{place} holds another URL: {printable(value['url'], limit=200)}"

    def _item(self, place: str, item: dict[str, Any]) -> Iterator[str]:
        self._items += 1
        if not item:
            self._sound = False
            return
        here = (item["type"], item["path"])
        if self._last is not None and here <= self._last:
            yield f"{place} is out of order: items are sorted by type and path, each once"
        self._last = here
        if item["type"] == "file":
            self._bytes += item["size"]
        elif item["path"] == ".":
            self._root = (item["size"], item["items"])

    def _links(self, links: Links) -> Iterator[str]:
        section, key = links.section, links.keys[0]
        for value in links.values:
            if not isinstance(value, str):
                place = _place(section, key, *links.keys[1:])
                yield f"{place} holds {printable(repr(value), limit=100)}, which is not a URL"
        if section in self._edges:
            targets = [value for value in links.values if isinstance(value, str)]
            if section == _FORTH:
                found = sum(hash((key, target)) for target in targets)
            else:
                found = sum(hash((source, key)) for source in targets)
            self._edges[section] = (self._edges[section] + found) & _HASH_BITS
            self._counts[section] += len(targets)

    def _sums(self) -> Iterator[str]:
        if self._items_count is not None and "items" in self._seen and self._items_count != self._items:
            yield f"meta.items_count is {self._items_count:,}, but there are {self._items:,} items"
        if self._sound and self._root is not None and self._root != (self._bytes, self._items - 1):
            size, items = self._root
            yield (
                f"the root directory has {items:,} items and {size:,} bytes by its own account,"
                f" but {self._items - 1:,} items and {self._bytes:,} bytes are listed"
            )
        if self._edges[_FORTH] != self._edges[_BACK]:
            yield (
                f"{_BACK} is not {_FORTH} the other way round"
                f" ({self._counts[_BACK]:,} edges against {self._counts[_FORTH]:,})"
            )


@cache
def _adapter(section: str) -> TypeAdapter[Any]:
    return TypeAdapter(_FORMATS[section])


def _place(section: str, key: int | str, *below: str) -> str:
    if section == "meta":
        return section
    named = str(key) if isinstance(key, int) else f'"{printable(key, limit=200)}"'
    return f"{section}[{named}]" + "".join(f".{printable(name, limit=100)}" for name in below)


def _explain(place: str, error: ValidationError) -> Iterator[str]:
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        # The first step is which of the two kinds of items it was taken for.
        steps = found["loc"][1:] if place.startswith("items[") else found["loc"]
        field = "".join(f".{printable(str(step), limit=100)}" for step in steps)
        message = found["msg"].removeprefix("Value error, ")
        yield f"{place}{field}: {printable(message[:1].lower() + message[1:], limit=200)}"
