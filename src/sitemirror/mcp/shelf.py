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
class Catalogue:
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
    """A page of a mirror, and the fragment that was asked for."""

    catalogue: Catalogue
    page: PageRow
    fragment: str


class Shelf:
    """All mirrors below some folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._catalogues: dict[str, tuple[tuple[int, int, int], Catalogue]] = {}

    def catalogues(self, name: str = "") -> list[Catalogue]:
        """Return the mirrors that `name` names, or whose name or start URL contains it; all without a name.

        Raises `UsageError` with the names that there are.
        """
        catalogues = [self._catalogue(mirror) for mirror in find_mirrors(self._folders)]
        wanted = name.strip().strip("/").lower()
        if wanted in ("", "*", "all"):
            return catalogues
        exact = [catalogue for catalogue in catalogues if catalogue.name.lower() == wanted]
        found = exact or [
            each for each in catalogues if wanted in each.name.lower() or wanted in each.header.source_url
        ]
        found = found or [each for each in catalogues if each.name.lower() in wanted.replace("/", " ").split()]
        if not found:
            names = ", ".join(islice((catalogue.name for catalogue in catalogues), 30))
            raise UsageError(f"there is no mirror called {one_line(name, 80)!r}. There are: {names}.")
        return found

    def find(self, ref: str, name: str = "") -> Place:
        """Find a page by URL, path or mirror name and path. Raises `UsageError` with near matches."""
        plain, _, fragment = ref.partition("#")
        plain = plain.strip()
        catalogues = self.catalogues(name)
        for catalogue in catalogues:
            for path in _candidates(catalogue, plain):
                if (page := catalogue.pages.get(path)) is not None:
                    return Place(catalogue, page, unquote(fragment))
        near = _near(plain, catalogues)
        hint = f" Near ones: {', '.join(near)}." if near else ""
        names = ", ".join(catalogue.name for catalogue in catalogues[:5])
        raise UsageError(f"there is no page {one_line(ref)!r} in {names}.{hint}")

    def _catalogue(self, mirror: Mirror) -> Catalogue:
        try:
            found = mirror.manifest.stat()
        except OSError as error:
            raise OutputError(f"{mirror.manifest} cannot be read: {error.strerror}") from None
        version = (found.st_mtime_ns, found.st_size, found.st_ino)
        key = os.path.realpath(mirror.folder)
        before = self._catalogues.get(key)
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
        catalogue = Catalogue(mirror, mirror.header(), pages, paths)
        self._catalogues[key] = version, catalogue
        return catalogue


def _candidates(catalogue: Catalogue, ref: str) -> Iterator[str]:
    """Yield paths that may be meant."""
    if "://" in ref:
        spellings = [ref, ref + "/", ref.removesuffix("/")]
        try:
            spellings.append(urls.normalize(ref))
        except urls.InvalidUrl:
            pass
        yield from (path for each in spellings if (path := catalogue.paths.get(each)) is not None)
        return
    folder = catalogue.mirror.folder.as_posix().strip("/")
    path = unquote(ref).strip("/").removeprefix("./")
    for before in (folder, catalogue.name):
        if path == before or path.startswith(before + "/"):
            path = path[len(before) :].strip("/")
    yield from (path, f"{path}.md", f"{path}/index.md".lstrip("/"))
    # With a host but without a scheme: docs.example.com/guide.
    for scheme in ("https://", "http://"):
        yield from (found for end in ("", "/") if (found := catalogue.paths.get(scheme + ref + end)) is not None)


def _near(ref: str, catalogues: Sequence[Catalogue]) -> list[str]:
    paths = list(islice((path for catalogue in catalogues for path in catalogue.pages), _COMPARED))
    last = unquote(ref).rstrip("/").rpartition("/")[2].lower()
    holding = [path for path in paths if last and last in path.lower()]
    return [one_line(path) for path in (holding or get_close_matches(ref, paths, cutoff=0.5))[:5]]
