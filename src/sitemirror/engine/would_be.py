"""The URL that a file would be of, if it were mirrored: from what a manifest lists, else from the file's path alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sitemirror import urls
from sitemirror.errors import UsageError
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import ManifestHeader, PageRow
from sitemirror.publish.manifest_reader import Damaged, ManifestUnreadable, read_manifest
from sitemirror.publish.placeholders import placeholder_name
from sitemirror.store import backwards, paths
from sitemirror.store.names import keep_free

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
