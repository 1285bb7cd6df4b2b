"""Groups URLs by folder, with each folder's count before its contents, without holding the URLs.

A heading in Markdown cannot be closed, so a folder's own pages must all be written before its first subfolder, and a
heading carries a count that is known only at the folder's end. Both are met by reading the same rows once per level of
headings, in step: the reader of a level writes that folder's own pages and measures its subfolders, and the next
level's reader follows through those. What is remembered is twelve bytes for each subfolder of the folders that are
open; the rows themselves are never kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MAX_LEVEL: Final = 3
"""Headings go this deep (`##`, `###`, `####`). Pages further down stand under the deepest heading above them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A folder begins. Everything until the next heading of the same or a lower level belongs to it."""

    level: int
    """1 for the outermost folders."""

    folder: tuple[str, ...]
    """The folder's names from the root. A chain of folders that hold nothing but each other is one heading."""

    count: int
    """Rows in this folder and below."""


def order(url: str) -> str:
    """Sorts URLs so that each folder's are together: by host, then path, with "/" before every other character.

    In SQL: `replace(substr(url, instr(url, '://') + 3), '/', char(1))`. The scheme is left out so that a site listed
    half with http and half with https is one tree; sort by the URL itself after this to settle those.
    """
    return url[url.find("://") + 3 :].replace("/", "\x01")


def folders(url: str, host: str) -> tuple[str, ...]:
    """The folders a normalised URL is in. URLs of other hosts than `host` stand in a folder named `//<their host>`."""
    path = url.partition("?")[0]
    return _names(path[: path.rfind("/")], host)


@lru_cache(maxsize=16)  # URLs come folder by folder, and are read once for each level of headings.
def _names(folder: str, host: str) -> tuple[str, ...]:
    names = folder.split("/")
    within = tuple(names[3:])
    return within if names[2] == host else ("//" + names[2], *within)


def sections(rows: Callable[[], Iterable[T]], folders_of: Callable[[T], Sequence[str]]) -> Iterator[Heading | T]:
    """Every row once, under the headings it belongs to. The root has no heading: its own pages come first.

    `rows` must give the same rows in the same order each time, those of a folder together (see `order`). A folder with
    a single page gets no heading; the page stands with the folder above.
    """
    readers = [_Reader(rows) for _ in range(MAX_LEVEL + 1)]
    yield from _Walk(readers, folders_of).folder(level=0, depth=0, start=0, count=None)


class _Reader(Generic[T]):
    """Reads rows forward from wherever it stands; opened when it is first needed."""

    def __init__(self, rows: Callable[[], Iterable[T]]) -> None:
        self._open = rows
        self._rows: Iterator[T] | None = None
        self._at = 0

    def span(self, start: int, count: int | None) -> Iterator[T]:
        """Rows `start` to `start + count`; to the end where `count` is `None`. To be read before the next span."""
        if self._rows is None:
            self._rows = iter(self._open())
        for _ in islice(self._rows, start - self._at):
            pass
        self._at = start + (count or 0)
        return islice(self._rows, count)


class _Walk(Generic[T]):
    def __init__(self, readers: list[_Reader[T]], folders_of: Callable[[T], Sequence[str]]) -> None:
        self._readers = readers
        self._folders_of = folders_of

    def folder(self, *, level: int, depth: int, start: int, count: int | None) -> Iterator[Heading | T]:
        """One folder whose name has `depth` parts: its heading, its own pages, then its subfolders."""
        rows = self._readers[level].span(start, count)
        if count is not None:
            first = next(rows, None)
            if first is None:
                return
            yield Heading(level, tuple(self._folders_of(first)[:depth]), count)
            rows = chain((first,), rows)
        if level == MAX_LEVEL:
            yield from rows
            return
        found = array("I")
        yield from self._own(rows, depth, start, found)
        for at in range(0, len(found), 3):
            yield from self.folder(level=level + 1, start=found[at], count=found[at + 1], depth=found[at + 2])

    def _own(self, rows: Iterator[T], depth: int, start: int, found: array[int]) -> Iterator[T]:
        """The pages that stand in the folder itself; `found` gets start, count and depth of each subfolder."""
        run = _Run[T]()
        for at, row in enumerate(rows, start):
            names = self._folders_of(row)
            if names and names is run.names:  # as for most: the folder of the row before
                run.count += 1
                continue
            if run.takes(names, depth):
                continue
            yield from run.closed(found)
            if len(names) > depth:
                run = _Run(row, names, at)
            else:
                run = _Run()
                yield row
        yield from run.closed(found)


class _Run(Generic[T]):
    """Rows in a row that share a subfolder. Only the first is kept, in case it stays alone."""

    __slots__ = ("_at", "_first", "count", "names")

    def __init__(self, first: T | None = None, names: Sequence[str] = (), at: int = 0) -> None:
        self._first = first
        self.names = names
        self._at = at
        self.count = 1 if names else 0

    def takes(self, names: Sequence[str], depth: int) -> bool:
        """Whether the next row belongs here too. Its folders are compared so that the run knows what all share."""
        mine = self.names
        if not mine or len(names) <= depth or names[depth] != mine[depth]:
            return False
        self.count += 1
        if names[: len(mine)] != mine:
            same = depth + 1
            while same < min(len(mine), len(names)) and names[same] == mine[same]:
                same += 1
            self.names = mine[:same]
        return True

    def closed(self, found: array[int]) -> Iterator[T]:
        """Gives the row back if it is alone, else records the subfolder."""
        if self.count == 1 and self._first is not None:
            yield self._first
        elif self.count:
            found.extend((self._at, self.count, len(self.names)))
