"""Open published mirrors: find them below a folder, list their pages, read a page's Markdown.

Reads what a run has published, nothing of its state, so that a mirror can be read while a run works on it: its files
may then be newer than the manifest, and `Mirror.current` tells.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

from sitemirror.errors import OutputError, UsageError
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import Item, ManifestHeader, ManifestUnreadable, PageRow, read_manifest
from sitemirror.store.browse import Browser
from sitemirror.text import printable

DEFAULT_FOLDER: Final = Path("output")
_DEPTH: Final = 3
"""Folders between the one that is given and a mirror."""
_HINT: Final = "give the folder of a mirror, such as output/docs.example.com, or one that holds mirrors"


@dataclass(frozen=True, slots=True)
class Mirror:
    """A published mirror. Read-only."""

    folder: Path
    """Its folder, as found."""
    _browser: Browser = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The folder's name, which is that of the host."""
        return Path(os.path.realpath(self.folder)).name

    @property
    def manifest(self) -> Path:
        return self.folder / MANIFEST

    def header(self) -> ManifestHeader:
        """Start URL, dates and counts of the last run."""
        for item in self.rows():
            if isinstance(item, ManifestHeader):
                return item
        raise OutputError(f"{self.manifest} has no header", hint="run the mirror's command again")

    def pages(self) -> Iterator[PageRow]:
        """Yield the pages, in the manifest's order. With Markdown and HTML, `path` is the Markdown."""
        return (item for item in self.rows() if isinstance(item, PageRow))

    def markdown_pages(self) -> Iterator[PageRow]:
        """Yield the pages that are Markdown: all but those of an HTML copy."""
        return (page for page in self.pages() if page.path.endswith(".md"))

    def read(self, page: PageRow) -> bytes | None:
        """Return the page's file as it is now; `None` if it cannot be read."""
        try:
            with self._browser.open(self._inside(page.path)) as file:
                return file.read()
        except (OSError, OutputError, ValueError):
            return None

    def current(self, page: PageRow) -> str | None:
        """Return the page's file as text, if it is what the manifest says; `None` while a run replaces it."""
        data = self.read(page)
        if data is None or (page.sha256 is not None and sha256(data).hexdigest() != page.sha256.lower()):
            return None
        return decode(data)

    def file(self, page: PageRow) -> Path:
        """Return the page's file, to show or to open."""
        return Path(os.path.normpath(self.folder / page.path))

    def _inside(self, path: str) -> str:
        # The pages of a site's other hosts are in the folders beside its own.
        return posixpath.normpath(f"{self.name}/{path}")

    def rows(self) -> Iterator[Item]:
        """Yield the manifest: header, pages, failures, skips, gone and not reached URLs."""
        try:
            yield from read_manifest(self.manifest)
        except (ManifestUnreadable, OSError) as error:
            message = f"{self.manifest} cannot be read: {printable(str(error))}"
            raise OutputError(message, hint="run the mirror's command again: it writes a new one") from None


def decode(data: bytes) -> str:
    """The text of a page's file. Bytes that are not UTF-8 become replacement characters."""
    return data.decode("utf-8", "replace")


def open_mirror(folder: Path) -> Mirror:
    """Open the mirror in a folder. Raises `UsageError` if there is none."""
    if not _is_published(folder):
        raise UsageError(_nothing_in(folder), hint=_HINT)
    return Mirror(folder, Browser(Path(os.path.realpath(folder)).parent))


def find_mirrors(folders: Iterable[Path]) -> list[Mirror]:
    """Open every mirror in or below the folders, each once. Raises `UsageError` for a folder without any."""
    found: dict[str, Mirror] = {}
    for folder in folders:
        below = list(_published_in(folder, _DEPTH))
        if not below:
            raise UsageError(_nothing_in(folder), hint=_HINT)
        for each in below:
            found.setdefault(os.path.realpath(each), open_mirror(each))
    return list(found.values())


def _published_in(folder: Path, depth: int) -> Iterator[Path]:
    if _is_published(folder):
        yield folder
    elif depth:
        try:
            below = sorted(each for each in folder.iterdir() if not each.name.startswith(".") and _is_folder(each))
        except OSError:
            return
        yield from chain.from_iterable(_published_in(each, depth - 1) for each in below)


def _is_folder(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir()


def _is_published(folder: Path) -> bool:
    try:
        return (folder / MANIFEST).is_file()
    except OSError:  # a name that is too long
        return False


def _nothing_in(folder: Path) -> str:
    try:
        if not folder.exists():
            return f"{folder} does not exist"
        if not folder.is_dir():
            return f"{folder} is not a folder"
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return f"no mirror in {folder} or below: there is no {MANIFEST}, which a run writes when it ends"
