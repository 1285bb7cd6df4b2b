"""`mirror-index.json`: what is on disk, where it came from and how it hangs together, for programs.

Written as a stream, with one element a line: a site of any size needs memory for one row, and for `LIST_PIECE` URLs of
one list at a time. A list that is longer is broken into lines of so many, which lets `index_check` read it in as
little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from sitemirror.publish.index_reasons import seed_reason
from sitemirror.publish.index_rows import (
    ErrorRow,
    Fields,
    FileRow,
    IndexArgs,
    IndexHeader,
    SkippedRow,
    UrlRow,
    dir_fields,
    dump_page_meta,
    error_fields,
    file_fields,
    load_page_meta,
    meta_fields,
    skipped_fields,
    url_fields,
)
from sitemirror.publish.index_tree import Directories, DirRow, directories
from sitemirror.publish.json_text import json_bytes
from sitemirror.publish.sink import Sink

__all__ = [
    "LIST_PIECE",
    "DirRow",
    "Directories",
    "ErrorRow",
    "FileRow",
    "IndexArgs",
    "IndexHeader",
    "SkippedRow",
    "UrlRow",
    "directories",
    "dump_page_meta",
    "index_head",
    "index_rest",
    "load_page_meta",
    "seed_reason",
    "write_mirror_index",
]

LIST_PIECE: Final = 500
"""A list of URLs up to this long stands on one line."""

Edge = tuple[str, str]
TypedEdge = tuple[str, str, str]
T = TypeVar("T")
K = TypeVar("K")


def write_mirror_index(
    file: Sink,
    header: IndexHeader,
    *,
    items: Iterable[DirRow | FileRow],
    urls: Iterable[UrlRow],
    out_edges: Iterable[Edge],
    in_edges: Iterable[Edge],
    skipped: Iterable[SkippedRow],
    errors: Iterable[ErrorRow],
    typed_out_edges: Iterable[TypedEdge] | None = None,
) -> None:
    """Writes the index as the rows come.

    `items` are the directories, then the files, each by path; `urls` are sorted by URL. `out_edges` are pairs of source
    and target sorted by source, `in_edges` pairs of target and source sorted by target, `typed_out_edges` triples of
    source, attribute and target sorted by the first two. An edge that repeats the one before is written once. Raises
    `ValueError` for rows out of order: a key that came twice would hide the first from every reader.
    """
    for piece in index_head(header, items):
        file.write(piece)
    for piece in index_rest(
        urls=urls,
        out_edges=out_edges,
        in_edges=in_edges,
        typed_out_edges=typed_out_edges,
        skipped=skipped,
        errors=errors,
    ):
        file.write(piece)


def index_head(header: IndexHeader, items: Iterable[DirRow | FileRow]) -> Iterator[bytes]:
    """The run and its files, which come first and may be known last."""
    root = str(header.target_root.absolute())
    yield b"{\n"
    yield _meta(meta_fields(header))
    yield from _list(b"items", (_item(row, root) for row in _ascending(items, _place, "items")))


def index_rest(
    *,
    urls: Iterable[UrlRow],
    out_edges: Iterable[Edge],
    in_edges: Iterable[Edge],
    skipped: Iterable[SkippedRow],
    errors: Iterable[ErrorRow],
    typed_out_edges: Iterable[TypedEdge] | None = None,
) -> Iterator[bytes]:
    """Everything else."""
    yield from _urls(_ascending(urls, lambda row: row.url, "urls"))
    yield b'  "graph": {\n'
    yield from _edges("out_edges", out_edges)
    yield b",\n"
    yield from _edges("in_edges", in_edges)
    if typed_out_edges is not None:
        yield b",\n"
        yield from _typed_edges("typed_out_edges", typed_out_edges)
    yield b"\n  },\n"
    yield from _list(b"skipped_urls", map(skipped_fields, skipped))
    yield from _list(b"errors", map(error_fields, errors), last=b"\n")
    yield b"}\n"


def _place(row: DirRow | FileRow) -> tuple[str, str]:
    return ("dir" if isinstance(row, DirRow) else "file", row.path)


def _item(row: DirRow | FileRow, root: str) -> Fields:
    return dir_fields(row) if isinstance(row, DirRow) else file_fields(row, root)


def _ascending(rows: Iterable[T], key: Callable[[T], Any], what: str) -> Iterator[T]:
    before = None
    for row in rows:
        here = key(row)
        if before is not None and here <= before:
            raise ValueError(f"{what} must be sorted, each once: {here!r} came after {before!r}")
        before = here
        yield row


def _meta(fields: Fields) -> bytes:
    lines = (b"    %b: %b" % (json_bytes(name), json_bytes(value)) for name, value in fields.items())
    return b'  "meta": {\n' + b",\n".join(lines) + b"\n  },\n"


def _list(name: bytes, elements: Iterable[Fields], *, last: bytes = b",\n") -> Iterator[bytes]:
    yield b'  "%b": [' % name
    before = b"\n    "
    for element in elements:
        yield before + json_bytes(element)
        before = b",\n    "
    yield (b"]" if before == b"\n    " else b"\n  ]") + last


def _urls(rows: Iterable[UrlRow]) -> Iterator[bytes]:
    yield b'  "urls": {'
    before = b"\n    "
    for row in rows:
        fields = json_bytes(url_fields(row))
        start = b"%b%b: " % (before, json_bytes(row.url))
        if row.referers is None:
            yield start + fields
        else:
            yield start + fields[:-1] + b',"referers":'
            yield from _strings(row.referers, indent=b"      ")
            yield b"}"
        before = b",\n    "
    yield b"},\n" if before == b"\n    " else b"\n  },\n"


def _edges(name: str, edges: Iterable[Edge]) -> Iterator[bytes]:
    """A map from each key to the list of its values."""
    yield b"    %b: {" % json_bytes(name)
    last: str | None = None
    for key, text in _lists(edges, indent=b"        "):
        if key is None:
            yield text
            continue
        _check_order(last, key, name)
        yield b"%b\n      %b: %b" % (b"" if last is None else b",", json_bytes(key), text)
        last = key
    yield b"}" if last is None else b"\n    }"


def _typed_edges(name: str, edges: Iterable[TypedEdge]) -> Iterator[bytes]:
    """A map from each source to such a map, by attribute."""
    yield b"    %b: {" % json_bytes(name)
    last: Edge | None = None
    pairs = (((source, attribute), target) for source, attribute, target in edges)
    for key, text in _lists(pairs, indent=b"          "):
        if key is None:
            yield text
            continue
        _check_order(last, key, name)
        if last is None or last[0] != key[0]:
            before = b"%b\n      %b: {" % (b"" if last is None else b"\n      },", json_bytes(key[0]))
        else:
            before = b","
        yield b"%b\n        %b: %b" % (before, json_bytes(key[1]), text)
        last = key
    yield b"}" if last is None else b"\n      }\n    }"


def _check_order(before: Any, here: Any, what: str) -> None:
    if before is not None and here <= before:
        raise ValueError(f"{what} must be sorted, each once: {here!r} came after {before!r}")


def _lists(pairs: Iterable[tuple[K, str]], *, indent: bytes) -> Iterator[tuple[K | None, bytes]]:
    """Each key with the list of its values, as JSON. One that repeats the one before is left out.

    A list that is short stands on one line. Of a longer one, what follows the first line comes with None for its key.
    """
    key: K | None = None
    values: list[str] = []
    begun = False
    for here, value in pairs:
        if here != key:
            if key is not None:
                yield (None, b",\n%b%b]" % (indent, _inner(values))) if begun else (key, json_bytes(values))
            key, values, begun = here, [value], False
        elif value != values[-1]:
            if len(values) == LIST_PIECE:
                before = b",\n" if begun else b"[\n"
                yield None if begun else key, before + indent + _inner(values)
                values, begun = [value], True
            else:
                values.append(value)
    if key is not None:
        yield (None, b",\n%b%b]" % (indent, _inner(values))) if begun else (key, json_bytes(values))


def _inner(values: list[str]) -> bytes:
    return json_bytes(values)[1:-1]


def _strings(values: Iterable[str], *, indent: bytes) -> Iterator[bytes]:
    """A list, on the line that was begun if it is short, else on lines of its own."""
    if isinstance(values, list) and len(values) <= LIST_PIECE and len(set(values)) == len(values):
        yield json_bytes(values)  # nearly always
        return
    found = False
    for _, text in _lists((("", value) for value in values), indent=indent):
        yield text
        found = True
    if not found:
        yield b"[]"
