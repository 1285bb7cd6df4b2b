"""The URL that a file would be of, if it were mirrored: from what a manifest lists, else from the file's path alone."""

from __future__ import annotations

import mimetypes
import os
import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

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
from sitemirror.publish.placeholders import placeholder_name
from sitemirror.reasons import Reason
from sitemirror.settings import Settings
from sitemirror.store import paths
from sitemirror.store import paths as backwards
from sitemirror.store.paths import keep_free

_QUERY: Final = re.compile(r"__q_[0-9a-f]{8,}(?:_[0-9a-f]{8,})?\.[A-Za-z0-9]+\Z")
_PLACEHOLDERS: Final = ("_failed/", "_skipped/")
_TOPS: Final = ("index.md", "index.html")
_PAGES: Final = (".md", ".html")
_HASH: Final = re.compile(r"_[0-9a-f]{8,}(?:\.[A-Za-z0-9]+)?(?:/|\Z)")


class Answer(NamedTuple):
    """A URL, and in words what of it is a guess; empty when nothing is."""

    url: str
    guessed: str = ""


class _Spot(NamedTuple):
    """A file's place: the mirror's folder, the folder of the host that it is of, and its path in there."""

    home: Path
    folder: str
    path: str


def would_be(file: Path, output: Path) -> Answer:
    """The URL of a file that need not be there. Raises `UsageError` where nothing tells it."""
    spot = _spot(file, output)
    if spot is None or file.is_dir():
        what = "is not a page of a mirror" if file.exists() else "is neither a file here nor a URL"
        raise UsageError(f"{file} {what}", hint=f"give a URL, or a path in {output}/ (or in another --output)")
    scheme = ""
    is_placeholder = spot.path.startswith(_PLACEHOLDERS)
    for url in _listed(spot.home):
        if is_placeholder:
            if placeholder_name(url) == file.name:
                return Answer(url, "it says why there is no page of this URL")
            continue
        if paths.host_folder(url) == spot.folder:
            if backwards.leads_to(url, spot.path):
                return Answer(url)
            scheme = scheme or urls.parts(url).scheme
    found = backwards.url_at(spot.folder, spot.path, (scheme,) if scheme else ("https", "http"))
    if found is None:
        hint = "give its URL instead; a mirror's manifest has all of them"
        if _is_own(spot.path):
            hint = "open it: it names its URL" if is_placeholder and file.exists() else "give a page's file, or a URL"
        raise UsageError(f"{file}: {_why_not(spot)}", hint=hint)
    return Answer(found, _guesses(found, spot, scheme))


def _spot(file: Path, output: Path) -> _Spot | None:
    """A host's folder lies in the output folder, or has a manifest."""
    absolute, top = (Path(os.path.abspath(path)) for path in (file, output))  # noqa: PTH100 - symlinks are not followed
    homes = [folder for folder in absolute.parents if folder.parent == top]
    homes += [folder for folder in absolute.parents if (folder / MANIFEST).is_file()]
    if not homes:
        return None
    folder, names = homes[0].name, absolute.relative_to(homes[0]).parts
    if len(names) > 2 and names[0] == paths.EXTERNAL:
        folder, names = names[1], names[2:]
    return _Spot(homes[0], folder, "/".join(names))


def _why_not(spot: _Spot) -> str:
    if _QUERY.search(spot.path):
        return "a query is kept as a hash, which cannot be read backwards"
    if _HASH.search(spot.path):
        return "no URL can be read from it; a hash in a name cannot be read backwards"
    whose = ": it is one of sitemirror's own files" if _is_own(spot.path) else ""
    return f"no page of a mirror would have this path{whose}"


def _is_own(path: str) -> bool:
    """Whether it is the place of one of the tool's own files."""
    first = path.partition("/")[0]
    return keep_free(first) != first and not first.startswith("__")


def _guesses(url: str, spot: _Spot, scheme: str) -> str:
    """What of a URL its path does not tell, in words."""
    guesses = [] if scheme else [urls.parts(url).scheme]
    if url.endswith("/"):
        guesses += ["the last slash"] * (spot.path not in _TOPS)
    elif spot.path.endswith(_PAGES):
        guesses.append("that no slash or extension ends it")
    if "_" in spot.path:
        guesses.append("each _, which may stand for another character")
    return f"no manifest names it; guessed: {', '.join(guesses)}" if guesses else ""


def _listed(home: Path) -> Iterator[str]:
    """Every URL that is accounted for, saved or not, in this mirror and then in those beside it."""
    # A page of another subdomain stands in the manifest of the site it was found on.
    beside = sorted(folder for folder in home.parent.glob(f"*/{MANIFEST}") if folder.parent != home)
    for manifest in (home / MANIFEST, *beside):
        yield from _accounted(manifest)


def _accounted(manifest: Path) -> Iterator[str]:
    try:
        for item in read_manifest(manifest):
            match item:
                case Damaged():
                    continue
                case str():
                    yield item
                case ManifestHeader():
                    yield item.source_url
                case PageRow():
                    yield item.url
                    yield from item.aliases
                case _:
                    yield item.url
    except (OSError, ManifestUnreadable):
        return


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
