"""The map both ways: which file a URL is in, and which URL a file came from."""

from __future__ import annotations

import mimetypes
import os
import posixpath
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sitemirror import urls
from sitemirror.convert import read_front_matter_url
from sitemirror.engine.would_be import would_be
from sitemirror.errors import UsageError
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import Element, FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow
from sitemirror.publish.manifest_reader import Damaged, ManifestUnreadable, placeholder_of, read_manifest
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from sitemirror.store import paths

Note = Callable[[str], None]


def where(target: str, settings: Settings, on_guess: Note | None = None) -> str:
    """The file for a URL (where it is, or would be), or the URL for a file of a mirror (which it has, or would have).

    `on_guess` is told what of the answer is not known but guessed, and why there is no file.
    """
    note = on_guess or (lambda _: None)
    try:
        return _answer(target, settings, note)
    except OSError as error:  # A name that is too long, or a folder that may not be looked into.
        named = error.filename or target
        raise UsageError(f"{named}: {error.strerror}", hint="check the name and its permissions") from None


def _answer(target: str, settings: Settings, note: Note) -> str:
    if "://" in target:
        return _file_of(target, settings.output, note)
    path = Path(target)
    if path.exists():
        if url := _url_of(path):
            return url
    elif url := _typed_url(target):
        return _file_of(url, settings.output, note)
    answer = would_be(path, settings.output)
    if answer.guessed:
        note(answer.guessed)
    return answer.url


def _typed_url(target: str) -> str:
    """The URL that somebody meant who left out its scheme; empty if it looks like a file's name."""
    if "." not in target.partition("/")[0] or target.startswith(".") or target.endswith((".md", ".html")):
        return ""
    try:
        return urls.start_url(target)
    except urls.InvalidUrl:
        return ""


def _file_of(text: str, output: Path, note: Note) -> str:
    try:
        url = urls.normalize(text)
    except urls.InvalidUrl as error:
        hint = "leave them out" if error.reason is Reason.CREDENTIALS else "give an http or https URL"
        raise UsageError(f"{urls.without_credentials(text)!r}: {error}", hint=hint) from None
    folder = paths.host_folder(url)
    manifests = [output / folder / MANIFEST]
    if output.is_dir():  # a page of another subdomain stands in the manifest of the site it was found on
        manifests += sorted(found for found in output.glob(f"*/{MANIFEST}") if found != manifests[0])
    why = ""
    is_html: bool | None = None  # as the first of them that has pages says
    names, taken = (paths.page_path(url), _html_path(url)), set[str]()
    twins: list[tuple[int, str, Path]] = []
    for manifest in manifests:
        found = _Found(url, manifest.parent, names if manifest == manifests[0] else ())
        for row in _rows(manifest):
            found.take(row)
        if found.file is not None:
            if not found.file.is_file():
                note(f"it was saved, but is not there any more: {found.why or 'the next run fetches it again'}")
            elif found.why:
                note(found.why)
            return str(found.file)
        why = found.why or why
        is_html = found.is_html if is_html is None else is_html
        taken |= found.taken
        twins += found.twins
    if twins and not why:
        _, twin, file = min(twins, key=lambda each: each[:2])
        note(f"no manifest names it, but {twin}: this is that page's file")
        return str(file)
    markdown, html = (output / folder / (paths.collision_path(name, url) if name in taken else name) for name in names)
    guess, other = (html, markdown) if is_html else (markdown, html)
    if not guess.is_file() and other.is_file():
        guess = other
    if not why:
        why = "no manifest names it: this is where it would be"
        if guess.is_file():
            why = "no manifest names it, but this is where it would be, and there is a file"
        elif is_html is None:  # Nothing is mirrored there that would tell.
            why += f" in Markdown; in HTML it would be {html}"
    note(why)
    return str(guess)


class _Found:
    """What one manifest says of a URL."""

    def __init__(self, url: str, home: Path, names: tuple[str, ...]) -> None:
        self._url = url
        self._home = home
        self._names = names
        self._twin_key = urls.twin_key(url)
        self.taken = set[str]()  # of those names: other pages', which the URL would have to give way to
        self.twins: list[tuple[int, str, Path]] = []  # how far from the URL, the twin's URL, its file
        self.file: Path | None = None
        self.why = ""  # there is none, or it is old
        self.is_html: bool | None = None  # whether pages are, whatever other files it has; None if there are none

    def take(self, row: Element) -> None:
        if isinstance(row, PageRow):
            self.is_html = bool(self.is_html) or row.path.endswith(".html")
            self.taken.update(name for name in (row.path, row.html_path) if name in self._names)
            if self._url == row.url or self._url in row.aliases:
                self.file = Path(os.path.normpath(self._home / row.path))
                self.why = ""
            for name in (row.url, *row.aliases):
                if urls.twin_key(name) == self._twin_key:
                    self._take_twin(name, row.path)
        elif self._url == (row if isinstance(row, str) else row.url) and self.file is None:
            self.why = self._why_not(row)
            if isinstance(row, GoneRow) and row.path:
                self.file = Path(os.path.normpath(self._home / row.path))

    def _take_twin(self, name: str, path: str) -> None:
        """A page under a URL that most sites answer alike: people type either, and only one of them was listed."""
        file = Path(os.path.normpath(self._home / path))
        if file.is_file():
            mine, other = urls.parts(self._url), urls.parts(name)
            self.twins.append((sum(a != b for a, b in zip(mine, other, strict=True)), name, file))

    def _why_not(self, row: FailureRow | SkipRow | GoneRow | str) -> str:
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
    """Where a mirror in HTML would have a URL, as far as its name tells what it is."""
    kind, _ = mimetypes.guess_type(urls.parts(url).path)
    is_page = kind is None or kind in ("text/html", "application/xhtml+xml")
    return paths.page_path(url, ".html") if is_page else paths.asset_path(url)


def _url_of(path: Path) -> str:
    """What is known of a file that is there; empty if that is nothing."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolving would follow symlinks out of the mirror
    for folder in absolute.parents:
        relative = posixpath.join(*absolute.relative_to(folder).parts)
        for row in _rows(folder / MANIFEST):
            if isinstance(row, PageRow) and row.path == relative:
                return row.url
    if path.is_file():
        with path.open("rb") as file:
            url = read_front_matter_url(file.read(65536))
        if url:
            with suppress(urls.InvalidUrl):
                return urls.normalize(url)  # A text page is kept as it is, front matter of its own included.
    return ""


def _rows(manifest: Path) -> list[Element]:
    try:
        return [item for item in read_manifest(manifest) if not isinstance(item, ManifestHeader | Damaged)]
    except (OSError, ManifestUnreadable):
        return []
