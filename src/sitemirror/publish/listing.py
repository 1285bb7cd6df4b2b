"""The grouped list of links that the outline and the contents have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sitemirror.publish import inline
from sitemirror.publish.sections import Heading, folders, sections
from sitemirror.publish.sink import Sink

Row = TypeVar("Row", bound=tuple[Any, ...])
"""Anything whose first item is its URL. Bare tuples, because a million of them are read once for each level."""


def write_listing(file: Sink, host: str, rows: Callable[[int], Iterable[Row]], item: Callable[[Row], str]) -> None:
    """Writes every row as a list item under its folder's heading; `item` gives its Markdown, on one line."""
    before = "\n- "
    for row in sections(rows, lambda row: folders(row[0], host)):
        if isinstance(row, Heading):
            file.write(f"\n{'#' * (row.level + 1)} {_folder(row)} ({row.count:,})\n".encode())
            before = "\n- "
        else:
            file.write(f"{before}{item(row)}\n".encode())
            before = "- "


def shown(url: str, host: str) -> str:
    """A URL as a reader of `host`'s list wants it: the path alone, decoded; the host too where it is another."""
    rest = url[url.find("://") + 3 :]
    path = rest.removeprefix(host)
    return inline.decoded(path if path.startswith("/") else rest)


def _folder(heading: Heading) -> str:
    return inline.text("".join(f"{inline.decoded(name).removeprefix('//')}/" for name in heading.folder))
