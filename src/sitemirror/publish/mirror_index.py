"""`mirror-index.json`: what is on disk, where it came from and how it hangs together, for programs.

Written as a stream, with one element a line: a site of any size needs memory for one row, and for `LIST_PIECE` URLs of
one list at a time. A list that is longer is broken into lines of so many, which lets `index_check` read it in as
little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final, TypeVar

from sitemirror.publish.index_rows import (
    ErrorRow,
    Fields,
    FileRow,
    IndexHeader,
    SkippedRow,
    UrlRow,
    dir_fields,
    error_fields,
    file_fields,
    meta_fields,
    skipped_fields,
    url_fields,
)
from sitemirror.publish.index_tree import DirRow
from sitemirror.publish.json_text import Sink, json_bytes, write_list

LIST_PIECE: Final = 500
"""A list of URLs up to this long stands on one line."""

Edge = tuple[str, str]
TypedEdge = tuple[str, str, str]
T = TypeVar("T")


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
    root = str(header.target_root.absolute())
    file.write(b"{\n")
    _write_meta(file, meta_fields(header))
    write_list(file, b"items", (_item(row, root) for row in _ascending(items, _place, "items")))
    _write_urls(file, _ascending(urls, lambda row: row.url, "urls"))
    file.write(b'  "graph": {\n')
    _write_edges(file, "out_edges", out_edges)
    file.write(b",\n")
    _write_edges(file, "in_edges", in_edges)
    if typed_out_edges is not None:
        file.write(b",\n")
        _write_typed_edges(file, typed_out_edges)
    file.write(b"\n  },\n")
    write_list(file, b"skipped_urls", map(skipped_fields, skipped))
    write_list(file, b"errors", map(error_fields, errors), last=b"\n")
    file.write(b"}\n")


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


def _write_meta(file: Sink, fields: Fields) -> None:
    lines = (b"    %b: %b" % (json_bytes(name), json_bytes(value)) for name, value in fields.items())
    file.write(b'  "meta": {\n' + b",\n".join(lines) + b"\n  },\n")


def _write_urls(file: Sink, rows: Iterable[UrlRow]) -> None:
    file.write(b'  "urls": {')
    before = b"\n    "
    for row in rows:
        fields = json_bytes(url_fields(row))
        file.write(before + json_bytes(row.url) + b": ")
        if row.referers is None:
            file.write(fields)
        else:
            file.write(fields[:-1] + b',"referers":')
            _write_strings(file, row.referers, indent=b"      ")
            file.write(b"}")
        before = b",\n    "
    file.write(b"},\n" if before == b"\n    " else b"\n  },\n")


def _write_edges(file: Sink, name: str, edges: Iterable[Edge], indent: bytes = b"    ") -> None:
    """A map from each key to the list of its values."""
    file.write(b"%b%b: {" % (indent, json_bytes(name)))
    start = before = b"\n  " + indent
    for key, group in _ascending(groupby(edges, itemgetter(0)), itemgetter(0), name):
        file.write(before + json_bytes(key) + b": ")
        _write_strings(file, map(itemgetter(1), group), indent=b"    " + indent)
        before = b"," + start
    file.write(b"}" if before == start else b"\n" + indent + b"}")


def _write_typed_edges(file: Sink, edges: Iterable[TypedEdge]) -> None:
    file.write(b'    "typed_out_edges": {')
    before = b"\n"
    for source, group in _ascending(groupby(edges, itemgetter(0)), itemgetter(0), "typed_out_edges"):
        file.write(before)
        _write_edges(file, source, map(itemgetter(1, 2), group), indent=b"      ")
        before = b",\n"
    file.write(b"}" if before == b"\n" else b"\n    }")


def _write_strings(file: Sink, values: Iterable[str], *, indent: bytes) -> None:
    """A list, on the line that was begun if it is short, else on lines of its own."""
    values = iter(values)
    short = list(islice(values, LIST_PIECE))
    if len(short) < LIST_PIECE and len(set(short)) == len(short):
        file.write(json_bytes(short))
        return
    rest = map(itemgetter(0), groupby(chain(short, values)))
    piece, following = list(islice(rest, LIST_PIECE)), list(islice(rest, LIST_PIECE))
    if not following:
        file.write(json_bytes(piece))
        return
    before = b"[\n" + indent
    while piece:
        file.write(before + json_bytes(piece)[1:-1])
        before = b",\n" + indent
        piece, following = following, list(islice(rest, LIST_PIECE))
    file.write(b"]")
