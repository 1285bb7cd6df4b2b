"""Takes a mirror index apart into pieces that fit into memory, whoever wrote it.

An index as `mirror_index` lays it out is read line by line. Any other layout (an editor's, jq's, another tool's) is
loaded whole, which takes several times the file's size; beyond `MAX_WHOLE` it is refused. Both ways give the same
pieces in the same order, up to the point where the first way finds that the layout is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from sitemirror.publish.mirror_index import SCHEMA_VERSION
from sitemirror.publish.mirror_index_format import ErrorEntry, Item, Meta, SkippedUrl, UrlEntry
from sitemirror.text import printable

MAX_WHOLE: Final = 512 * 1024 * 1024

EDGES: Final = ("out_edges", "in_edges")
TYPED_EDGES: Final = "typed_out_edges"

_KEY: Final = re.compile(rb'("(?:[^"\\]++|\\.)*+"): ')
_REFERERS: Final = b'"referers":['


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the index begins."""

    name: str  # "items", "graph.out_edges"


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of a section, by number or key; the whole of `meta`. A URL's referers follow as `Links`."""

    section: str
    key: int | str
    value: object


@dataclass(frozen=True, slots=True)
class Links:
    """Some values of a list; what is left of a long one follows."""

    section: str
    keys: tuple[str, ...]
    values: list[object]


@dataclass(frozen=True, slots=True)
class Misshapen:
    """A place that holds another kind of thing than it must."""

    place: str
    wanted: str


Piece = Section | Entry | Links | Misshapen


class NotAnIndex(ValueError):
    """The file cannot be read as JSON, or not within reasonable memory. The message says what is wrong."""


class OtherLayout(Exception):
    """The file is not laid out as we do it, or it is damaged."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


def by_line(path: Path) -> Iterator[Piece]:
    """The pieces of an index in our layout, in little memory. Raises `OtherLayout` where that ends."""
    with path.open("rb") as file:
        lines = _Lines(file)
        if lines.next() != b"{":
            raise lines.strange()
        for text in lines.entries(indent=2, end=b"}"):
            name, rest = lines.pair(text)
            if rest == b"[" and name in _LISTS:
                yield Section(name)
                for number, element in enumerate(lines.entries(indent=4, end=b"  ]")):
                    yield Entry(name, number, lines.loads(element))
            elif rest == b"{" and name in _OBJECTS:
                yield from _OBJECTS[name](lines)
            else:
                yield from _section(name, lines.loads(rest))
        if lines.comma or file.read().strip():
            raise lines.strange()


def whole(path: Path) -> Iterator[Piece]:
    """The pieces of an index in any layout. Raises `NotAnIndex`."""
    if path.stat().st_size > MAX_WHOLE:
        raise NotAnIndex("is not laid out as sitemirror does it, and too large to be read otherwise")
    try:
        document = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise NotAnIndex(f"is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise NotAnIndex("is JSON, but not an object")
    for name, value in document.items():
        yield from _section(name, value)


class _Lines:
    """Lines with their indentation and commas looked at, since a reader of JSON would."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._number = 0
        self.comma = False  # whether the entry that ended last has one behind it

    def next(self) -> bytes:
        self._number += 1
        line = self._file.readline()
        if not line:
            raise self.strange()
        return line.rstrip(b"\r\n")

    def strange(self) -> OtherLayout:
        return OtherLayout(self._number)

    def loads(self, text: bytes) -> object:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            raise self.strange() from None

    def pair(self, text: bytes) -> tuple[str, bytes]:
        """Key and the text of the value; of a long value, the first line."""
        found = _KEY.match(text)
        if found is None:
            raise self.strange()
        return str(self.loads(found[1])), text[found.end() :]

    def entries(self, *, indent: int, end: bytes) -> Iterator[bytes]:
        """The first line of every entry until the line `end`, without indentation and comma.

        Who is given an entry that goes on must read on to its end before asking for the next.
        """
        began = False
        while True:
            line = self.next()
            text = line.removesuffix(b",")
            if began and (text == end) == self.comma:  # a comma is missing, or one too many
                raise self.strange()
            self.comma = text != line
            if text == end:
                return
            if line[:indent].strip() or line[indent : indent + 1] in b" ]}":
                raise self.strange()
            began = True
            yield text[indent:]

    def strings(self, *, indent: int, end: bytes) -> Iterator[list[object]]:
        """The values of a long list, line by line; `end` closes it on its last line."""
        while True:
            line = self.next()
            text = line.removesuffix(b",")
            self.comma = text != line
            ends = text.endswith(end)
            if line[:indent].strip() or ends is text.endswith(b'"') or not (ends or self.comma):
                raise self.strange()
            values = self.loads(b"[" + (text[: -len(end)] if ends else text) + b"]")
            assert isinstance(values, list)
            yield values
            if ends:
                return


def _meta_lines(lines: _Lines) -> Iterator[Piece]:
    yield Section("meta")
    pairs = [lines.pair(text) for text in lines.entries(indent=4, end=b"  }")]
    yield Entry("meta", "", {name: lines.loads(value) for name, value in pairs})


def _url_lines(lines: _Lines) -> Iterator[Piece]:
    yield Section("urls")
    for text in lines.entries(indent=4, end=b"  }"):
        url, rest = lines.pair(text)
        if rest.endswith(_REFERERS):
            yield from _url(url, lines.loads(rest + b"]}"))
            for values in lines.strings(indent=6, end=b"]}"):
                yield Links("urls", (url, "referers"), values)
        else:
            yield from _url(url, lines.loads(rest))


def _graph_lines(lines: _Lines) -> Iterator[Piece]:
    yield Section("graph")
    for text in lines.entries(indent=4, end=b"  }"):
        name, rest = lines.pair(text)
        if rest != b"{":
            yield from _edges(name, lines.loads(rest))
            continue
        if name not in EDGES and name != TYPED_EDGES:
            raise lines.strange()
        yield Section(f"graph.{name}")
        for inner in lines.entries(indent=6, end=b"    }"):
            key, value = lines.pair(inner)
            if name == TYPED_EDGES and value == b"{":
                for innermost in lines.entries(indent=8, end=b"      }"):
                    attribute, targets = lines.pair(innermost)
                    yield from _targets(lines, name, (key, attribute), targets)
            else:
                yield from _targets(lines, name, (key,), value)


def _targets(lines: _Lines, name: str, keys: tuple[str, ...], text: bytes) -> Iterator[Piece]:
    if text == b"[" and len(keys) == (2 if name == TYPED_EDGES else 1):
        for values in lines.strings(indent=6 + 2 * len(keys), end=b"]"):
            yield Links(f"graph.{name}", keys, values)
    else:
        yield from _adjacent(name, keys, lines.loads(text))


_LISTS: Final = ("items", "skipped_urls", "errors")
_OBJECTS: Final = {"meta": _meta_lines, "urls": _url_lines, "graph": _graph_lines}


def _section(name: str, value: object) -> Iterator[Piece]:
    """A part of the index that is in memory."""
    if name in _LISTS:
        yield Section(name)
        if isinstance(value, list):
            yield from (Entry(name, number, element) for number, element in enumerate(value))
        else:
            yield Misshapen(name, "a list")
    elif name in _OBJECTS:
        yield Section(name)
        if not isinstance(value, dict):
            yield Misshapen(name, "an object")
        elif name == "meta":
            yield Entry("meta", "", value)
        elif name == "urls":
            for url, entry in value.items():
                yield from _url(url, entry)
        else:
            for key, edges in value.items():
                yield from _edges(key, edges)


def _url(url: str, entry: object) -> Iterator[Piece]:
    referers = entry.get("referers") if isinstance(entry, dict) else None
    if isinstance(entry, dict) and isinstance(referers, list):
        yield Entry("urls", url, {name: value for name, value in entry.items() if name != "referers"})
        yield Links("urls", (url, "referers"), referers)
    else:
        yield Entry("urls", url, entry)


def _edges(name: str, edges: object) -> Iterator[Piece]:
    if name not in EDGES and name != TYPED_EDGES:
        return
    yield Section(f"graph.{name}")
    if isinstance(edges, dict):
        for key, value in edges.items():
            yield from _adjacent(name, (key,), value)
    else:
        yield Misshapen(f"graph.{name}", "an object")


def _adjacent(name: str, keys: tuple[str, ...], value: object) -> Iterator[Piece]:
    section = f"graph.{name}"
    place = section + "".join(f'["{key}"]' for key in keys)
    if name == TYPED_EDGES and len(keys) == 1:
        if isinstance(value, dict):
            for attribute, targets in value.items():
                yield from _adjacent(name, (*keys, attribute), targets)
        else:
            yield Misshapen(place, "an object")
    elif isinstance(value, list):
        yield Links(section, keys, value)
    else:
        yield Misshapen(place, "a list")


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
