"""Read `mirror-index.json` as a stream and check it against its format.

The index of a large site has hundreds of MB and would need several times that in memory, so it is never loaded whole,
whatever its layout.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import IO, Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from sitemirror.publish.mirror_index import SCHEMA_VERSION
from sitemirror.publish.mirror_index_format import ErrorEntry, Item, Meta, SkippedUrl, UrlEntry
from sitemirror.text import printable

MAX_VALUE: Final = 64 * 1024 * 1024
"""Maximum characters of one entry, so that no file can exhaust the memory."""

_LISTS: Final = ("items", "skipped_urls", "errors")
_TYPED_EDGES: Final = "typed_out_edges"
_EDGES: Final = ("out_edges", "in_edges", _TYPED_EDGES)

_CHUNK: Final = 1 << 14
_NOT_BLANK: Final = re.compile(r"[^ \t\n\r]")
_STRINGS: Final = re.compile(r'(?:"[^"\\]*+"[ \t\n\r]*+,[ \t\n\r]*+)++')
_SURROGATE: Final = re.compile(r"\\u[dD]")


@dataclass(frozen=True, slots=True)
class Section:
    """The beginning of a part of the index."""

    name: str  # "items", "graph.out_edges"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One element of a section, by number or key; all of `meta`. A URL's referers come as `LinkList`."""

    section: str
    key: int | str
    value: object


@dataclass(frozen=True, slots=True)
class LinkList:
    """Some values of a list of URLs. A long list comes in several of these."""

    section: str
    keys: tuple[str, ...]
    values: list[object]


@dataclass(frozen=True, slots=True)
class Misshapen:
    """A value of the wrong type."""

    place: str
    required: str


Piece = Section | IndexEntry | LinkList | Misshapen


class NotAnIndex(ValueError):
    """The file is not a JSON object, or has an oversized entry."""


def read_index(path: Path) -> Iterator[Piece]:
    """Stream the pieces of an index. Raises `NotAnIndex` at the place that cannot be read."""
    with path.open("rb") as file:
        stream = _JsonStream(file)
        try:
            if stream.peek() == "{":
                for name in stream.members():
                    yield from _section(stream, name)
            else:
                stream.value()
                raise NotAnIndex("is JSON, but not an object")
            if stream.peek():
                raise ValueError("there is more behind its end")
        except NotAnIndex:
            raise
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, JSONDecodeError) else str(error)
            raise NotAnIndex(f"is not JSON: line {stream.line}: {reason}") from None


class _JsonStream:
    """A pull parser. Callers must read the value of a member or element before the next one."""

    _decoder: Final = JSONDecoder(parse_constant=lambda name: _refuse(f"{name} is no value"))

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._lines = 1  # the line on which the buffer begins
        self._ended = False

    @property
    def line(self) -> int:
        return self._lines + self._text.count("\n", 0, self._at)

    def peek(self) -> str:
        """Return the next character that is not blank; empty at the end."""
        while True:
            found = _NOT_BLANK.search(self._text, self._at)
            if found is not None:
                self._at = found.start()
                return found[0]
            self._at = len(self._text)
            if not self._read_more():
                return ""

    def value(self) -> object:
        """Read one value whole."""
        while True:
            self.peek()
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except ValueError:
                if not self._read_more():
                    raise
                continue
            if end < len(self._text) or not self._read_more():  # else a number may go on
                break
        if _SURROGATE.search(self._text, self._at, end):
            orjson.loads(self._text[self._at : end])  # refuses half a pair, which no encoding has
        self._at = end
        return value

    def members(self) -> Iterator[str]:
        """Yield the key of each member of an object."""
        for _ in self._each("{", "}"):
            key = self.value() if self.peek() == '"' else _refuse("a key is missing")
            self._skip(":")
            yield str(key)

    def elements(self) -> Iterator[int]:
        """Yield the number of each element of a list."""
        return self._each("[", "]")

    def slices(self) -> Iterator[list[object]]:
        """Read a list of any length, some values at a time."""
        end = self._text.find("]", self._at) + 1
        try:  # Most lists are short and have no other bracket in them.
            short = orjson.loads(self._text[self._at : end])
        except ValueError:
            yield from self._long_list()
        else:
            self._at = end
            yield short

    def _long_list(self) -> Iterator[list[object]]:
        for _ in self.elements():
            while found := _STRINGS.match(self._text, self._at):
                yield orjson.loads(f"[{found[0].rstrip()[:-1]}]")
                self._at = found.end()
                self.peek()
            yield [self.value()]

    def _each(self, opening: str, closing: str) -> Iterator[int]:
        self._skip(opening)
        if self.peek() == closing:
            self._skip(closing)
            return
        number = 0
        while True:
            self.peek()
            yield number
            number += 1
            if self._skip("," + closing) == closing:
                return

    def _skip(self, allowed: str) -> str:
        found = self.peek()
        if not found:
            _refuse("the file ends too early")
        if found not in allowed:
            _refuse(f"{found!r} is not one of {allowed!r}")
        self._at += 1
        return found

    def _read_more(self) -> bool:
        """Read more, dropping the text up to here; False at the end of the file."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        if len(rest) > MAX_VALUE:
            raise NotAnIndex(f"has an entry that is too large to be read, on line {self.line}")
        self._lines = self.line
        data = self._file.read(max(_CHUNK, len(rest)))  # A value that is read again is twice as long.
        self._ended = not data
        self._text, self._at = rest + self._decode(data, final=self._ended), 0
        return True


def _refuse(reason: str) -> object:
    raise ValueError(reason)


def _section(stream: _JsonStream, name: str) -> Iterator[Piece]:
    if name in _LISTS:
        yield Section(name)
        if stream.peek() == "[":
            for number in stream.elements():
                yield IndexEntry(name, number, stream.value())
        else:
            yield _misshapen(stream, name, "a list")
    elif name in ("meta", "urls", "graph"):
        yield Section(name)
        if stream.peek() != "{":
            yield _misshapen(stream, name, "an object")
        elif name == "meta":
            yield IndexEntry("meta", "", stream.value())
        else:
            for key in stream.members():
                yield from _url(stream, key) if name == "urls" else _edges(stream, key)
    else:
        stream.value()


def _url(stream: _JsonStream, url: str) -> Iterator[Piece]:
    if stream.peek() != "{":
        yield IndexEntry("urls", url, stream.value())
        return
    entry: dict[str, object] = {}
    for name in stream.members():
        if name == "referers" and stream.peek() == "[":
            for values in stream.slices():
                yield LinkList("urls", (url, "referers"), values)
        else:
            entry[name] = stream.value()
    yield IndexEntry("urls", url, entry)


def _edges(stream: _JsonStream, name: str) -> Iterator[Piece]:
    if name not in _EDGES:
        stream.value()
        return
    section = f"graph.{name}"
    yield Section(section)
    if stream.peek() != "{":
        yield _misshapen(stream, section, "an object")
        return
    for source in stream.members():
        if name != _TYPED_EDGES:
            yield from _targets(stream, section, (source,))
        elif stream.peek() != "{":
            yield _misshapen(stream, f'{section}["{source}"]', "an object")
        else:
            for attribute in stream.members():
                yield from _targets(stream, section, (source, attribute))


def _targets(stream: _JsonStream, section: str, keys: tuple[str, ...]) -> Iterator[Piece]:
    if stream.peek() == "[":
        for values in stream.slices():
            yield LinkList(section, keys, values)
    else:
        yield _misshapen(stream, section + "".join(f'["{key}"]' for key in keys), "a list")


def _misshapen(stream: _JsonStream, place: str, required: str) -> Misshapen:
    stream.value()
    return Misshapen(place, required)


_FORMATS: Final[dict[str, Any]] = {
    "meta": Meta,
    "items": Item,
    "urls": UrlEntry,
    "skipped_urls": SkippedUrl,
    "errors": ErrorEntry,
}
_OUT: Final = "graph.out_edges"
_IN: Final = "graph.in_edges"
_REQUIRED: Final = ("meta", "items", "urls", "graph", _OUT, _IN, "skipped_urls", "errors")
_HASH_BITS: Final = (1 << 64) - 1


def validate_index(path: Path) -> Iterator[str]:
    """Yield a line for each problem of the index. Raises `OSError` if it cannot be opened."""
    try:
        yield from _Check().problems(read_index(path))
    except NotAnIndex as error:
        yield f"{path.name} {printable(str(error))}"


class _Check:
    """Checks every piece as it comes and remembers only sums."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._items_count: int | None = None
        self._items = 0
        self._sound = True
        self._bytes = 0
        self._last: tuple[str, str] | None = None
        self._root: tuple[int, int] | None = None
        # Sums of hashes: equal if the edges are, in whatever order they come.
        self._edges = {_OUT: 0, _IN: 0}
        self._counts = {_OUT: 0, _IN: 0}

    def problems(self, pieces: Iterator[Piece]) -> Iterator[str]:
        for piece in pieces:
            match piece:
                case Section(name):
                    if name in self._seen:
                        yield f"{printable(name)} occurs twice"
                    self._seen.add(name)
                case IndexEntry():
                    yield from self._entry(piece)
                case LinkList():
                    yield from self._links(piece)
                case Misshapen(place, required):
                    yield f"{printable(place, limit=300)} is not {required}"
        yield from (f"{name} is missing" for name in _REQUIRED if name not in self._seen)
        yield from self._sums()

    def _entry(self, entry: IndexEntry) -> Iterator[str]:
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

    def _links(self, links: LinkList) -> Iterator[str]:
        section, key = links.section, links.keys[0]
        for value in links.values:
            if not isinstance(value, str):
                place = _place(section, key, *links.keys[1:])
                yield f"{place} holds {printable(repr(value), limit=100)}, which is not a URL"
        if section in self._edges:
            targets = [value for value in links.values if isinstance(value, str)]
            if section == _OUT:
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
        if self._edges[_OUT] != self._edges[_IN]:
            yield (
                f"{_IN} is not {_OUT} the other way round ({self._counts[_IN]:,} edges against {self._counts[_OUT]:,})"
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
        # The first step is the kind of item, which pydantic chose by `type`.
        steps = found["loc"][1:] if place.startswith("items[") else found["loc"]
        field = "".join(f".{printable(str(step), limit=100)}" for step in steps)
        message = found["msg"].removeprefix("Value error, ")
        yield f"{place}{field}: {printable(message[:1].lower() + message[1:], limit=200)}"
