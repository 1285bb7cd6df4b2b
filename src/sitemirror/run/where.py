"""Map a URL to its file and a file to its URL, as the manifests say.

A URL that no manifest names gets the path it would have. A file that no manifest names has no URL, unless its front
matter says one.
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from sitemirror import urls
from sitemirror.convert import read_front_matter_url
from sitemirror.errors import UsageError
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import (
    Damaged,
    Element,
    FailureRow,
    GoneRow,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    SkipRow,
    placeholder_of,
    read_manifest,
)
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from sitemirror.store import paths

Note = Callable[[str], None]


def locate(target: str, settings: Settings, on_guess: Note | None = None) -> str:
    """Return the file of a URL, saved or not, or the URL of a mirror's file.

    `on_guess` gets a note if no manifest names the URL, or if it has no file.
    """
    note = on_guess or (lambda _: None)
    try:
        return _answer(target, settings.output, note)
    except OSError as error:  # A name that is too long, or a folder that may not be read.
        named = error.filename or target
        raise UsageError(f"{named}: {error.strerror}", hint="check the name and its permissions") from None


def _answer(target: str, output: Path, note: Note) -> str:
    if "://" in target:
        return _file_of(target, output, note)
    file = Path(target)
    exists = file.exists()
    if not exists and (url := _typed_url(target)):
        return _file_of(url, output, note)
    if found := _url_in_manifests(file, output, note) or _url_in_front_matter(file):
        return found
    what = "is a file that no manifest names" if exists else "is neither a file here nor a URL"
    raise UsageError(f"{file} {what}", hint=f"give a URL, or the file of a page in {output}/ (or in another --output)")


def _typed_url(target: str) -> str:
    """Complete a URL typed without its scheme; empty if it looks like a file name."""
    if "." not in target.partition("/")[0] or target.startswith(".") or target.endswith((".md", ".html")):
        return ""
    try:
        return urls.start_url(target)
    except urls.InvalidUrl:
        return ""


# --- from a file to its URL ----------------------------------------------------------------------------------------


def _url_in_manifests(file: Path, output: Path, note: Note) -> str:
    """Find the manifest entry whose file or placeholder this is; empty if there is none."""
    absolute = os.path.abspath(file)  # noqa: PTH100 - resolving would follow symlinks out of the mirror
    own = [folder / MANIFEST for folder in Path(absolute).parents]
    # A page of another subdomain is in the manifest of the site it was found on, as `../<host>/<path>`.
    for manifest in dict.fromkeys((*own, *map(Path.absolute, _manifests(output)))):
        relative = Path(os.path.relpath(absolute, manifest.parent)).as_posix()
        for row in _rows(manifest):
            if isinstance(row, str):
                continue
            if isinstance(row, PageRow | GoneRow):
                if relative in (row.path, getattr(row, "html_path", None)):
                    return row.url
            elif placeholder_of(row) == relative:
                note("it says why there is no page of this URL")
                return row.url
    return ""


def _url_in_front_matter(file: Path) -> str:
    if file.is_file():
        with file.open("rb") as opened, suppress(urls.InvalidUrl):  # A text page may have front matter of its own.
            return urls.normalize(read_front_matter_url(opened.read(65536)) or "")
    return ""


# --- from a URL to its file ----------------------------------------------------------------------------------------


def _file_of(text: str, output: Path, note: Note) -> str:
    try:
        url = urls.normalize(text)
    except urls.InvalidUrl as error:
        hint = "leave them out" if error.reason is Reason.CREDENTIALS else "give an http or https URL"
        raise UsageError(f"{urls.without_credentials(text)!r}: {error}", hint=hint) from None
    home = output / paths.host_folder(url)
    preferred = paths.page_path(url), _html_path(url)
    why = ""
    is_html: bool | None = None  # as the first manifest that has pages says
    occupied = set[str]()
    twins: list[tuple[int, str, Path]] = []
    for manifest in dict.fromkeys((home / MANIFEST, *_manifests(output))):
        found = _Lookup(url, manifest.parent, preferred if manifest.parent == home else ())
        for row in _rows(manifest):
            found.add(row)
        if found.file is not None:
            if not found.file.is_file():
                note(f"it was saved, but is not there any more: {found.why or 'the next run fetches it again'}")
            elif found.why:
                note(found.why)
            return str(found.file)
        why = found.why or why
        is_html = found.is_html if is_html is None else is_html
        occupied |= found.occupied
        twins += found.twins
    if twins and not why:
        _, twin, file = min(twins, key=lambda each: each[:2])
        note(f"no manifest names it, but {twin}: this is that page's file")
        return str(file)
    markdown, html = (home / (paths.collision_path(path, url) if path in occupied else path) for path in preferred)
    future, other = (html, markdown) if is_html else (markdown, html)
    if not future.is_file() and other.is_file():
        future = other
    if not why:
        why = "no manifest names it: this is where it would be"
        if future.is_file():
            why = "no manifest names it, but this is where it would be, and there is a file"
        elif is_html is None:  # Nothing is mirrored there, so the format is not known.
            why += f" in Markdown; in HTML it would be {html}"
    note(why)
    return str(future)


class _Lookup:
    """Collects what one manifest says of a URL."""

    def __init__(self, url: str, home: Path, preferred: tuple[str, ...]) -> None:
        self._url = url
        self._home = home
        self._preferred = preferred
        self._twin_key = urls.twin_key(url)
        self.occupied = set[str]()  # preferred paths that belong to other pages
        self.twins: list[tuple[int, str, Path]] = []  # parts that differ from the URL, the twin's URL, its file
        self.file: Path | None = None
        self.why = ""  # it has no file, or an old one
        self.is_html: bool | None = None  # the format of pages, whatever assets there are; None without pages

    def add(self, row: Element) -> None:
        if isinstance(row, PageRow):
            self.is_html = bool(self.is_html) or row.path.endswith(".html")
            self.occupied.update(path for path in (row.path, row.html_path) if path in self._preferred)
            if self._url == row.url or self._url in row.aliases:
                self.file = self._full_path(row.path)
                self.why = ""
            for name in (row.url, *row.aliases):
                if urls.twin_key(name) == self._twin_key:
                    self._add_twin(name, row.path)
        elif self._url == (row if isinstance(row, str) else row.url) and self.file is None:
            self.why = self._reason(row)
            if isinstance(row, GoneRow) and row.path:
                self.file = self._full_path(row.path)

    def _add_twin(self, name: str, path: str) -> None:
        """Add a page under a URL that most sites answer alike: people type either, and only one is listed."""
        file = self._full_path(path)
        if file.is_file():
            mine, other = urls.parts(self._url), urls.parts(name)
            self.twins.append((sum(a != b for a, b in zip(mine, other, strict=True)), name, file))

    def _full_path(self, path: str) -> Path:
        return Path(os.path.normpath(self._home / path))

    def _reason(self, row: FailureRow | SkipRow | GoneRow | str) -> str:
        match row:
            case FailureRow():
                why = f"not saved: {row.error}; the next run tries again"
            case SkipRow():
                why = f"not saved: {row.reason}"
            case GoneRow():
                return "the site does not list it any more"
            case str():
                return "not saved yet: no run has come to it; the same command goes on"
        placeholder = placeholder_of(row)
        return f"{why}; see {self._home / placeholder}" if placeholder else why


def _html_path(url: str) -> str:
    """Return the preferred path in an HTML mirror, as far as the URL's extension shows if it is a page."""
    kind, _ = mimetypes.guess_type(urls.parts(url).path)
    is_page = kind is None or kind in ("text/html", "application/xhtml+xml")
    return paths.page_path(url, ".html") if is_page else paths.asset_path(url)


# --- manifests -----------------------------------------------------------------------------------------------------


def _manifests(output: Path) -> list[Path]:
    return sorted(output.glob(f"*/{MANIFEST}")) if output.is_dir() else []


def _rows(manifest: Path) -> Iterator[Element]:
    try:
        for item in read_manifest(manifest):
            if not isinstance(item, ManifestHeader | Damaged):
                yield item
    except (OSError, ManifestUnreadable):
        return
