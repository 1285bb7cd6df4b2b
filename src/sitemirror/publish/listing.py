"""The grouped list of links that the outline and the contents have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final, TypeVar

from sitemirror.publish import inline
from sitemirror.publish.json_text import Sink
from sitemirror.publish.sections import Heading, sections
from sitemirror.urls import decoded

Row = TypeVar("Row", bound=tuple[Any, ...])
"""Anything whose first item is its URL. Bare tuples, because a million of them are read once for each level."""

_AT_A_TIME: Final = 1_000


def write_listing(
    file: Sink, host: str, rows: Callable[[int], Iterable[Row]], items: Callable[[Sequence[Row]], Iterable[str]]
) -> None:
    """Writes every row as a list item under its folder's heading; `items` gives the Markdown of each, on one line."""
    url_of: Callable[[Row], str] = itemgetter(0)
    before = "\n- "
    for span in sections(rows, url_of, host):
        if isinstance(span, Heading):
            file.write(f"\n{'#' * (span.level + 1)} {_folder(span)} ({span.count:,})\n".encode())
            before = "\n- "
            continue
        while some := list(islice(span, _AT_A_TIME)):
            lines = "\n- ".join(items(some))
            file.write(f"{before}{lines}\n".encode())
            before = "- "


def shown(url: str, host: str) -> str:
    """A URL as a reader of `host`'s list wants it: the path alone, decoded; the host too where it is another."""
    rest = url[url.find("://") + 3 :]
    path = rest.removeprefix(host)
    return decoded(path if path.startswith("/") else rest)


def _folder(heading: Heading) -> str:
    return inline.text("".join(f"{decoded(name).removeprefix('//')}/" for name in heading.folder))
