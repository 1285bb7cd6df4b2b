"""The mirrors that a server has: found anew for each call, their pages by URL and path.

An update publishes a new manifest. A table of pages is made again when the manifest's file is another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from sitemirror import urls
from sitemirror.errors import OutputError, UsageError
from sitemirror.mcp.answers import one_line
from sitemirror.publish.manifest import ManifestHeader, PageRow
from sitemirror.reading.mirrors import Mirror, find_mirrors

_COMPARED: Final = 20_000
"""Paths that are compared with one that does not exist."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A mirror with its pages by URL and by path."""

    mirror: Mirror
    header: ManifestHeader
    pages: dict[str, PageRow] = field(repr=False)
    """By path."""
    paths: dict[str, str] = field(repr=False)
    """The path of each URL, aliases included."""

    @property
    def name(self) -> str:
        return self.mirror.name

    @property
    def date(self) -> str:
        """When the site was copied."""
        return self.header.crawl_completed or self.header.crawl_started


@dataclass(frozen=True, slots=True)
class Place:
    """A page of a copy, and the fragment that was asked for."""

    copy: Copy
    page: PageRow
    fragment: str


class Shelf:
    """All copies below some folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._copies: dict[str, tuple[tuple[int, int, int], Copy]] = {}

    def copies(self, name: str = "") -> list[Copy]:
        """Return the copies that `name` names, or whose name or start URL contains it; all without a name.

        Raises `UsageError` with the names that there are.
        """
        copies = [self._copy(mirror) for mirror in find_mirrors(self._folders)]
        wanted = name.strip().strip("/").lower()
        if wanted in ("", "*", "all"):
            return copies
        exact = [copy for copy in copies if copy.name.lower() == wanted]
        found = exact or [each for each in copies if wanted in each.name.lower() or wanted in each.header.source_url]
        found = found or [each for each in copies if each.name.lower() in wanted.replace("/", " ").split()]
        if not found:
            names = ", ".join(islice((copy.name for copy in copies), 30))
            raise UsageError(f"there is no copy called {one_line(name, 80)!r}. There are: {names}.")
        return found

    def find(self, ref: str, name: str = "") -> Place:
        """Find a page by URL, path, or path with the copy's name before it. Raises `UsageError` with near ones."""
        plain, _, fragment = ref.partition("#")
        plain = plain.strip()
        copies = self.copies(name)
        for copy in copies:
            for path in _candidates(copy, plain):
                if (page := copy.pages.get(path)) is not None:
                    return Place(copy, page, unquote(fragment))
        near = _near(plain, copies)
        hint = f" Near ones: {', '.join(near)}." if near else ""
        raise UsageError(f"there is no page {one_line(ref)!r} in {', '.join(copy.name for copy in copies[:5])}.{hint}")

    def _copy(self, mirror: Mirror) -> Copy:
        try:
            found = mirror.manifest.stat()
        except OSError as error:
            raise OutputError(f"{mirror.manifest} cannot be read: {error.strerror}") from None
        version = (found.st_mtime_ns, found.st_size, found.st_ino)
        key = os.path.realpath(mirror.folder)
        before = self._copies.get(key)
        if before is not None and before[0] == version:
            return before[1]
        pages: dict[str, PageRow] = {}
        paths: dict[str, str] = {}
        for page in mirror.markdown_pages():
            pages[page.path] = page
            paths[page.url] = page.path
        for page in pages.values():
            for alias in page.aliases:
                paths.setdefault(alias, page.path)
        copy = Copy(mirror, mirror.header(), pages, paths)
        self._copies[key] = version, copy
        return copy


def _candidates(copy: Copy, ref: str) -> Iterator[str]:
    """Yield paths that may be meant."""
    if "://" in ref:
        spellings = [ref, ref + "/", ref.removesuffix("/")]
        try:
            spellings.append(urls.normalize(ref))
        except urls.InvalidUrl:
            pass
        yield from (path for each in spellings if (path := copy.paths.get(each)) is not None)
        return
    folder = copy.mirror.folder.as_posix().strip("/")
    path = unquote(ref).strip("/").removeprefix("./")
    for before in (folder, copy.name):
        if path == before or path.startswith(before + "/"):
            path = path[len(before) :].strip("/")
    yield from (path, f"{path}.md", f"{path}/index.md".lstrip("/"))
    # With a host but without a scheme: docs.example.com/guide.
    for scheme in ("https://", "http://"):
        yield from (found for end in ("", "/") if (found := copy.paths.get(scheme + ref + end)) is not None)


def _near(ref: str, copies: Sequence[Copy]) -> list[str]:
    paths = list(islice((path for copy in copies for path in copy.pages), _COMPARED))
    last = unquote(ref).rstrip("/").rpartition("/")[2].lower()
    holding = [path for path in paths if last and last in path.lower()]
    return [one_line(path) for path in (holding or get_close_matches(ref, paths, cutoff=0.5))[:5]]
