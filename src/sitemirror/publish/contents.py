"""Groups URLs by folder, with each folder's count before its contents, without holding the URLs.

A heading in Markdown cannot be closed, so a folder's own pages must all be written before its first subfolder, and a
heading carries a count that is known only at the folder's end. Both are met by reading the rows once to see where the
folder changes, and then with one reader per level of headings: the reader of a level writes that folder's own pages and
passes over its subfolders, and the next level's reader follows through those. What is remembered is four bytes for each
change of folder and twelve for each subfolder of the folders that are open; the rows themselves are never kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, Generic, TypeAlias, TypeVar

from sitemirror.publish import inline
from sitemirror.publish.json_text import Sink
from sitemirror.publish.manifest import FailureRow, ManifestHeader
from sitemirror.text import counted
from sitemirror.urls import decoded

T = TypeVar("T")

MAX_LEVEL: Final = 3
"""Headings go this deep (`##`, `###`, `####`). Pages further down stand under the deepest heading above them."""

# Rows that are further away than this are looked up; nearer ones are passed over.
_FAR: Final = 100


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
    return _names(_folder(url), host)


def _folder(url: str) -> str:
    """All of a URL before the last slash of its path."""
    return url[: url.rfind("/", 0, url.index("?"))] if "?" in url else url[: url.rfind("/")]


@lru_cache(maxsize=16)  # URLs come folder by folder, and are read once for each level of headings.
def _names(folder: str, host: str) -> tuple[str, ...]:
    names = folder.split("/")
    within = tuple(names[3:])
    return within if names[2] == host else ("//" + names[2], *within)


def sections(
    rows: Callable[[int], Iterable[T]], url_of: Callable[[T], str], host: str
) -> Iterator[Heading | Iterator[T]]:
    """Every row once, under the headings it belongs to. The root has no heading: its own pages come first.

    `rows(n)` gives the rows from the n-th on, always the same in the same order, those of a folder together (see
    `order`). They come out in spans, each to be read to its end before the next is asked for. A folder with a single
    page gets no heading; the page stands with the folder above.
    """
    changes = _changes(map(url_of, rows(0)), host)
    readers = [_Reader(rows) for _ in range(MAX_LEVEL + 1)]
    walk = _Walk(changes, readers, lambda row: folders(url_of(row), host))
    yield from walk.folder(level=0, depth=0, begin=0, end=len(changes) - 1)


def _changes(found: Iterable[str], host: str) -> array[int]:
    """Where rows of another folder begin, and at last where the rows end."""
    changes = array("I")
    names: tuple[str, ...] | None = None
    last = None
    count = 0
    for url in found:
        folder = url[: url.rfind("/")] if "?" not in url else _folder(url)  # A call for each of a million would show.
        if folder != last:
            last, before, names = folder, names, _names(folder, host)
            if names != before:
                changes.append(count)
        count += 1
    changes.append(count)
    return changes


class _Reader(Generic[T]):
    """Reads rows forward from wherever it stands; opened when it is first needed."""

    def __init__(self, rows: Callable[[int], Iterable[T]]) -> None:
        self._open = rows
        self._rows: Iterator[T] = iter(())
        self._next = -_FAR - 1  # nowhere yet
        self._held_at = -1
        self._held: T | None = None

    def row(self, at: int) -> T | None:
        """The row at `at`; `None` when there is none any more. It may be asked for again."""
        if at != self._held_at:
            if at - self._next > _FAR:
                self._rows = iter(self._open(at))
            else:
                for _ in islice(self._rows, at - self._next):
                    pass
            self._held, self._held_at, self._next = next(self._rows, None), at, at + 1
        return self._held

    def span(self, start: int, stop: int) -> Iterator[T]:
        """The rows from `start` to before `stop`. To be read to the end before anything else is asked for."""
        first = self.row(start)
        if first is None:
            return iter(())
        self._next = stop
        return chain((first,), islice(self._rows, stop - start - 1))


class _Walk(Generic[T]):
    """Goes through runs of rows in one folder, given by their numbers in `changes`."""

    def __init__(
        self, changes: array[int], readers: list[_Reader[T]], folders_of: Callable[[T], Sequence[str]]
    ) -> None:
        self._changes = changes
        self._readers = readers
        self._folders_of = folders_of

    def folder(self, *, level: int, depth: int, begin: int, end: int) -> Iterator[Heading | Iterator[T]]:
        """One folder whose name has `depth` parts: its heading, its own pages, then its subfolders."""
        reader, start, stop = self._readers[level], self._changes[begin], self._changes[end]
        if level:
            first = reader.row(start)
            if first is None:
                return
            yield Heading(level, tuple(self._folders_of(first)[:depth]), stop - start)
        if level == MAX_LEVEL:
            yield reader.span(start, stop)
            return
        found = array("I")
        yield from self._own(reader, depth, begin, end, found)
        for at in range(0, len(found), 3):
            yield from self.folder(level=level + 1, begin=found[at], end=found[at + 1], depth=found[at + 2])

    def _own(self, reader: _Reader[T], depth: int, begin: int, end: int, found: array[int]) -> Iterator[Iterator[T]]:
        """The pages that stand in the folder itself; `found` gets begin, end and depth of each subfolder."""
        group: _Group[T] | None = None
        for number in range(begin, end):
            first = reader.row(self._changes[number])
            if first is None:
                return
            names = self._folders_of(first)
            if group is not None and group.takes(names, depth):
                continue
            if group is not None:
                yield from self._closed(group, number, found)
            if len(names) > depth:
                group = _Group(first, names, number)
            else:
                group = None
                yield reader.span(self._changes[number], self._changes[number + 1])
        if group is not None:
            yield from self._closed(group, end, found)

    def _closed(self, group: _Group[T], end: int, found: array[int]) -> Iterator[Iterator[T]]:
        """Gives the row back if it is alone, else records the subfolder."""
        if self._changes[end] - self._changes[group.begin] == 1:
            yield iter((group.first,))
        else:
            found.extend((group.begin, end, len(group.names)))


class _Group(Generic[T]):
    """Runs in a row that share a subfolder. Only the first row is kept, in case it stays alone."""

    __slots__ = ("begin", "first", "names")

    def __init__(self, first: T, names: Sequence[str], begin: int) -> None:
        self.first = first
        self.names = names
        self.begin = begin

    def takes(self, names: Sequence[str], depth: int) -> bool:
        """Whether the next run belongs here too. Its folders are compared so that the group knows what all share."""
        mine = self.names
        if len(names) <= depth or names[depth] != mine[depth]:
            return False
        if names[: len(mine)] != mine:
            same = depth + 1
            while same < min(len(mine), len(names)) and names[same] == mine[same]:
                same += 1
            self.names = mine[:same]
        return True


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
            file.write(f"\n{'#' * (span.level + 1)} {_folder_listing(span)} ({span.count:,})\n".encode())
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


def _folder_listing(heading: Heading) -> str:
    return inline.text("".join(f"{decoded(name).removeprefix('//')}/" for name in heading.folder))


FAILURES_SHOWN: Final = 50
"""More than this many failures are a matter for `_failed.log`."""


ContentsRow = tuple[str, str, str | None]
"""A page on disk: its URL, its POSIX path, its title. Bare tuples, because all are read once for each level."""


def write_contents(
    file: Sink,
    header: ManifestHeader,
    *,
    host: str,
    rows: Callable[[int], Iterable[ContentsRow]],
    here: Callable[[str], str],
    failures: Iterable[FailureRow],
    assets: int = 0,
) -> None:
    """Writes the contents, under the manifest's header. `host` is the site's, with its port if it has one; pages of
    other hosts are grouped under theirs. `rows(n)` gives the pages from the n-th on, always sorted by their URLs'
    `sections.order`; `here` makes a path relative to the folder that `_index.md` is in. Of `failures` no more is read
    than is shown. `assets`: how many of what is saved are no pages."""
    _write_head(file, header, host, assets)

    def items(some: Sequence[ContentsRow]) -> list[str]:
        return [inline.file_link(_label(url, title, host), here(path)) for url, path, title in some]

    write_listing(file, host, rows, items)
    if header.failed:
        _write_failures(file, header, failures)


def _write_head(file: Sink, header: ManifestHeader, host: str, assets: int) -> None:
    others = f" and {counted(assets, 'other file')}," if assets else ""
    lines = [
        f"# {inline.text(host)}",
        "",
        f"- Source: {inline.autolink(header.source_url)}",
        f"- Pages: {header.successful - assets:,}{others} of {header.total_pages:,}"
        f" (failed: {header.failed:,}, skipped: {header.skipped:,}, not reached: {header.not_reached_count:,})",
        f"- Duplicates: {header.duplicates:,} (URLs listed more than once, and other URLs of the same pages)",
        f"- Mirrored: {header.crawl_completed or header.crawl_started}",
    ]
    if not header.complete:
        lines.append(
            "- **Incomplete**: the run ended before its work did, or a sitemap could not be read whole. "
            "The same command goes on where it stopped."
        )
    file.write(("\n".join(lines) + "\n\n---\n").encode())


def _label(url: str, title: str | None, host: str) -> str:
    return inline.title(title or "") or inline.text(shown(url, host))


def _write_failures(file: Sink, header: ManifestHeader, failures: Iterable[FailureRow]) -> None:
    file.write(f"\n## Failed ({header.failed:,})\n\n".encode())
    for row in islice(failures, FAILURES_SHOWN):
        file.write(f"- {inline.autolink(row.url)}: {inline.text(row.error, limit=200)}\n".encode())
    more = header.failed - FAILURES_SHOWN
    rest = f"{more:,} more are in" if more > 0 else "Times and earlier failures are in"
    file.write(f"\n{rest} [\\_failed.log](_failed.log). The next run tries them again.\n".encode())


OutlineRow: TypeAlias = tuple[str, str | None, str | None]
"""A URL, and the `lastmod` and `priority` that its sitemap gives it. Bare tuples, as the database gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineHeader:
    """What stands above the outline."""

    host: str
    """The site's host, with its port if it has one; URLs of other hosts are grouped under theirs."""

    source_url: str
    made_at: str
    total_urls: int
    duplicates: int
    complete: bool
    """False when the run was interrupted, or a sitemap could not be read whole."""


@dataclass(frozen=True, slots=True)
class SitemapRow:
    """A sitemap that was found. `error` is empty when all was well."""

    url: str
    urls: int
    error: str = ""


def write_outline(
    file: Sink,
    header: OutlineHeader,
    *,
    sitemaps: Iterable[SitemapRow],
    rows: Callable[[int], Iterable[OutlineRow]],
) -> None:
    """Writes the outline. `rows(n)` gives the URLs from the n-th on, always in the order of `sections.order`."""
    _write_head_outline(file, header)
    file.write(b"- Sitemaps:\n")
    for sitemap in sitemaps:
        problem = f"; problem: {inline.text(sitemap.error, limit=500)}" if sitemap.error else ""
        file.write(f"  - {inline.autolink(sitemap.url)}: {counted(sitemap.urls, 'URL')}{problem}\n".encode())
    file.write(b"\n---\n")

    write_listing(file, header.host, rows, lambda some: _items(some, header.host))


def _write_head_outline(file: Sink, header: OutlineHeader) -> None:
    lines = [
        f"# Sitemap of {inline.text(header.host)}",
        "",
        f"- Source: {inline.autolink(header.source_url)}",
        f"- Made: {header.made_at}",
        f"- URLs: {header.total_urls:,} (repeats left out: {header.duplicates:,})",
    ]
    if not header.complete:
        lines.append("- **Incomplete**: some of the sitemaps were not read to their end.")
    file.write(("\n".join(lines) + "\n").encode())


def _items(rows: Sequence[OutlineRow], host: str) -> list[str]:
    """A list item for each row. Most lists are ordinary from end to end, which is seen of many rows at once."""
    first = rows[0][0]
    start = first[: first.find("/", 8)]
    if start.endswith("//" + host) and inline.all_ordinary([row[0] for row in rows], start + "/"):
        skip = len(start)
        return [f"[{url[skip:]}]({url}){_notes(lastmod, priority)}" for url, lastmod, priority in rows]
    return [
        inline.link(inline.text(shown(url, host)), url) + _notes(lastmod, priority) for url, lastmod, priority in rows
    ]


@lru_cache(maxsize=4096)  # Most sitemaps have one date for many pages, and few priorities.
def _notes(lastmod: str | None, priority: str | None) -> str:
    notes = ""
    if lastmod:
        notes += f" · {inline.text(lastmod, limit=60)}"
    if priority:
        notes += f" · priority {inline.text(priority, limit=20)}"
    return notes
