"""Write `_index.md` and the outline of `list`: every URL in a list under the heading of its folder.

A site may have a million URLs, so rows are streamed and never all in memory.
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
Row = TypeVar("Row", bound=tuple[Any, ...])
"""Anything whose first item is its URL. Bare tuples, because a million of them are read once for each level."""

_AT_A_TIME: Final = 1_000

FAILURES_SHOWN: Final = 50
"""Further failures are only in `_failed.log`."""

MAX_LEVEL: Final = 3
"""Levels of headings (`##`, `###`, `####`). Pages further down are listed under the deepest heading above them."""

# A reader queries for rows that are further away, and skips to nearer ones.
_FAR: Final = 100

ContentsRow = tuple[str, str, str | None]
"""A page on disk: its URL, its POSIX path, its title. Bare tuples, because all are read once for each level."""

OutlineRow: TypeAlias = tuple[str, str | None, str | None]
"""A URL, and the `lastmod` and `priority` that its sitemap gives it. Bare tuples, as the database gives them."""


# --- `_index.md` -----------------------------------------------------------------------------------------------------


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
    """Write the table of contents.

    `host` is the site's, with its port if it has one; pages of other hosts are grouped under theirs. `rows(n)` gives
    the pages from the n-th on, sorted by the `order` of their URLs; `here` makes a path relative to the folder of
    `_index.md`. No more `failures` are read than are shown. `assets` is the number of saved files that are no pages.
    """
    _write_contents_head(file, header, host, assets)

    def items(some: Sequence[ContentsRow]) -> list[str]:
        return [inline.file_link(label(url, title, host), here(path)) for url, path, title in some]

    write_listing(file, host, rows, items)
    if header.failed:
        _write_failures(file, header, failures)


def _write_contents_head(file: Sink, header: ManifestHeader, host: str, assets: int) -> None:
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


def label(url: str, title: str | None, host: str) -> str:
    """Return a page's title as inline Markdown, else its path."""
    return inline.title(title or "") or inline.text(shown(url, host))


def _write_failures(file: Sink, header: ManifestHeader, failures: Iterable[FailureRow]) -> None:
    file.write(f"\n## Failed ({header.failed:,})\n\n".encode())
    for row in islice(failures, FAILURES_SHOWN):
        file.write(f"- {inline.autolink(row.url)}: {inline.text(row.error, limit=200)}\n".encode())
    more = header.failed - FAILURES_SHOWN
    rest = f"{more:,} more are in" if more > 0 else "Times and earlier failures are in"
    file.write(f"\n{rest} [\\_failed.log](_failed.log). The next run tries them again.\n".encode())


# --- outline ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineHeader:
    """The head of the outline."""

    host: str
    """The site's host, with its port if it has one; URLs of other hosts are grouped under theirs."""

    source_url: str
    made_at: str
    total_urls: int
    duplicates: int
    complete: bool
    """False when the run was interrupted, or a sitemap could not be read whole."""


@dataclass(frozen=True, slots=True)
class OutlineSitemap:
    """A sitemap that was found. `error` is empty when all was well."""

    url: str
    urls: int
    error: str = ""


def write_outline(
    file: Sink,
    header: OutlineHeader,
    *,
    sitemaps: Iterable[OutlineSitemap],
    rows: Callable[[int], Iterable[OutlineRow]],
) -> None:
    """Write the outline. `rows(n)` gives the URLs from the n-th on, sorted by their `order`."""
    _write_outline_head(file, header)
    file.write(b"- Sitemaps:\n")
    for sitemap in sitemaps:
        problem = f"; problem: {inline.text(sitemap.error, limit=500)}" if sitemap.error else ""
        file.write(f"  - {inline.autolink(sitemap.url)}: {counted(sitemap.urls, 'URL')}{problem}\n".encode())
    file.write(b"\n---\n")

    write_listing(file, header.host, rows, lambda some: _outline_items(some, header.host))


def _write_outline_head(file: Sink, header: OutlineHeader) -> None:
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


def _outline_items(rows: Sequence[OutlineRow], host: str) -> list[str]:
    """Format each row as a list item. Many rows are checked for escaping at once, since few URLs need it."""
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


# --- rows under headings ---------------------------------------------------------------------------------------------


def write_listing(
    file: Sink, host: str, rows: Callable[[int], Iterable[Row]], items: Callable[[Sequence[Row]], Iterable[str]]
) -> None:
    """Write each row as a list item under its folder's heading; `items` formats a row on one line."""
    url_of: Callable[[Row], str] = itemgetter(0)
    before = "\n- "
    for span in sections(rows, url_of, host):
        if isinstance(span, Heading):
            file.write(f"\n{'#' * (span.level + 1)} {heading_text(span)} ({span.count:,})\n".encode())
            before = "\n- "
            continue
        while some := list(islice(span, _AT_A_TIME)):
            lines = "\n- ".join(items(some))
            file.write(f"{before}{lines}\n".encode())
            before = "- "


def shown(url: str, host: str) -> str:
    """Decode a URL for display: its path alone, with the host if it is not `host`."""
    rest = url[url.find("://") + 3 :]
    path = rest.removeprefix(host)
    return decoded(path if path.startswith("/") else rest)


def heading_text(heading: Heading) -> str:
    """Return a folder's name as inline Markdown."""
    return inline.text("".join(f"{decoded(name).removeprefix('//')}/" for name in heading.folder))


# --- grouping --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a folder. It extends to the next heading of the same or a lower level."""

    level: int
    """1 for the outermost folders."""

    folder: tuple[str, ...]
    """The folder's names from the root. A chain of folders that hold nothing but each other is one heading."""

    count: int
    """Rows in this folder and below."""


def order(url: str) -> str:
    """Sort key that groups URLs by folder: host, then path, with "/" before all other characters.

    In SQL: `replace(substr(url, instr(url, '://') + 3), '/', char(1))`. The scheme is left out so that a site listed
    half with http and half with https is one tree; sort by the URL itself after this to decide between those.
    """
    return url[url.find("://") + 3 :].replace("/", "\x01")


def folders(url: str, host: str) -> tuple[str, ...]:
    """Return the folders of a normalised URL; on other hosts than `host` under a folder `//HOST`."""
    return _names(_folder(url), host)


def _folder(url: str) -> str:
    """Return a URL up to the last slash of its path."""
    return url[: url.rfind("/", 0, url.index("?"))] if "?" in url else url[: url.rfind("/")]


@lru_cache(maxsize=16)  # URLs come folder by folder, and are read once for each level of headings.
def _names(folder: str, host: str) -> tuple[str, ...]:
    names = folder.split("/")
    within = tuple(names[3:])
    return within if names[2] == host else ("//" + names[2], *within)


def sections(
    rows: Callable[[int], Iterable[T]], url_of: Callable[[T], str], host: str
) -> Iterator[Heading | Iterator[T]]:
    """Yield headings and spans of rows: every row once, under its headings. The root has no heading.

    `rows(n)` gives the rows from the n-th on, always the same in the same order, those of a folder together (see
    `order`). Each span must be read to its end before the next is asked for. A folder with a single page gets no
    heading; the page is listed with the folder above.

    A heading in Markdown cannot be closed, so a folder's own pages come before its first subfolder, and it has a count
    that is known only at the folder's end. So the rows are read once to find where the folder changes, and then by
    one reader for each level: it yields a folder's own pages and skips its subfolders, which the next level reads.
    Four bytes are held for each change of folder and twelve for each subfolder of the open folders.
    """
    changes = _changes(map(url_of, rows(0)), host)
    readers = [_Reader(rows) for _ in range(MAX_LEVEL + 1)]
    walk = _Walk(changes, readers, lambda row: folders(url_of(row), host))
    yield from walk.folder(level=0, depth=0, begin=0, end=len(changes) - 1)


def _changes(found: Iterable[str], host: str) -> array[int]:
    """Return the numbers of the rows that begin another folder, and the number of rows."""
    changes = array("I")
    names: tuple[str, ...] | None = None
    last = None
    count = 0
    for url in found:
        folder = url[: url.rfind("/")] if "?" not in url else _folder(url)  # Inlined, for a million URLs.
        if folder != last:
            last, before, names = folder, names, _names(folder, host)
            if names != before:
                changes.append(count)
        count += 1
    changes.append(count)
    return changes


class _Reader(Generic[T]):
    """A cursor over the rows that only moves forward; opened when it is first used."""

    def __init__(self, rows: Callable[[int], Iterable[T]]) -> None:
        self._open = rows
        self._rows: Iterator[T] = iter(())
        self._next = -_FAR - 1  # nowhere yet
        self._held_at = -1
        self._held: T | None = None

    def row(self, at: int) -> T | None:
        """Return the row at `at`, also repeatedly; `None` behind the last."""
        if at != self._held_at:
            if at - self._next > _FAR:
                self._rows = iter(self._open(at))
            else:
                for _ in islice(self._rows, at - self._next):
                    pass
            self._held, self._held_at, self._next = next(self._rows, None), at, at + 1
        return self._held

    def span(self, start: int, stop: int) -> Iterator[T]:
        """Return the rows from `start` to before `stop`, to be read to the end before anything else."""
        first = self.row(start)
        if first is None:
            return iter(())
        self._next = stop
        return chain((first,), islice(self._rows, stop - start - 1))


class _Walk(Generic[T]):
    """Walks through the folder tree. A run is the rows between two `changes`, all in one folder."""

    def __init__(
        self, changes: array[int], readers: list[_Reader[T]], folders_of: Callable[[T], Sequence[str]]
    ) -> None:
        self._changes = changes
        self._readers = readers
        self._folders_of = folders_of

    def folder(self, *, level: int, depth: int, begin: int, end: int) -> Iterator[Heading | Iterator[T]]:
        """Yield the heading of a folder with `depth` names, its own pages, then its subfolders."""
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
        """Yield the pages of the folder itself; append begin, end and depth of each subfolder to `found`."""
        group: _Group[T] | None = None
        for number in range(begin, end):
            first = reader.row(self._changes[number])
            if first is None:
                return
            names = self._folders_of(first)
            if group is not None and group.extend(names, depth):
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
        """Yield the row if it is alone, else append the subfolder to `found`."""
        if self._changes[end] - self._changes[group.begin] == 1:
            yield iter((group.first,))
        else:
            found.extend((group.begin, end, len(group.names)))


class _Group(Generic[T]):
    """Consecutive runs in the same subfolder. Holds the first row, in case it stays alone."""

    __slots__ = ("begin", "first", "names")

    def __init__(self, first: T, names: Sequence[str], begin: int) -> None:
        self.first = first
        self.names = names
        self.begin = begin

    def extend(self, names: Sequence[str], depth: int) -> bool:
        """Add the next run if it is in the same subfolder, and keep the names that all runs share."""
        mine = self.names
        if len(names) <= depth or names[depth] != mine[depth]:
            return False
        if names[: len(mine)] != mine:
            same = depth + 1
            while same < min(len(mine), len(names)) and names[same] == mine[same]:
                same += 1
            self.names = mine[:same]
        return True
