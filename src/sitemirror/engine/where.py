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
from sitemirror.engine.would_be import MANIFEST, would_be
from sitemirror.errors import UsageError
from sitemirror.publish.manifest import PageRow
from sitemirror.publish.manifest_reader import ManifestUnreadable, read_manifest
from sitemirror.settings import Settings
from sitemirror.store import paths


def where(target: str, settings: Settings, on_guess: Callable[[str], None] | None = None) -> str:
    """The file for a URL (where it is, or would be), or the URL for a file of a mirror (which it has, or would have).

    `on_guess` is told what of the answer is not known but guessed.
    """
    if "://" in target:
        return _file_of(target, settings.output)
    path = Path(target)
    if path.exists():
        if url := _url_of(path):
            return url
    elif url := _typed_url(target):
        return _file_of(url, settings.output)
    answer = would_be(path, settings.output)
    if answer.guessed and on_guess is not None:
        on_guess(answer.guessed)
    return answer.url


def _typed_url(target: str) -> str:
    """The URL that somebody meant who left out its scheme; empty if it looks like a file's name."""
    if "." not in target.partition("/")[0] or target.startswith(".") or target.endswith((".md", ".html")):
        return ""
    try:
        return urls.start_url(target)
    except urls.InvalidUrl:
        return ""


def _file_of(text: str, output: Path) -> str:
    try:
        url = urls.normalize(text)
    except urls.InvalidUrl as error:
        raise UsageError(
            f"{urls.without_credentials(text)!r}: {error.reason}", hint="give an http or https URL"
        ) from None
    folder = paths.host_folder(url)
    manifests = [output / folder / MANIFEST]
    if output.is_dir():  # a page of another subdomain stands in the manifest of the site it was found on
        manifests += sorted(found for found in output.glob(f"*/{MANIFEST}") if found != manifests[0])
    of_host: list[PageRow] = []
    for manifest in manifests:
        rows = _pages(manifest)
        of_host = of_host or rows
        for row in rows:
            if url == row.url or url in row.aliases:
                return str(Path(os.path.normpath(manifest.parent / row.path)))
    is_html = bool(of_host) and not any(row.path.endswith(".md") for row in of_host)
    return str(output / folder / (_html_path(url) if is_html else paths.page_path(url)))


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
        for row in _pages(folder / MANIFEST):
            if row.path == relative:
                return row.url
    if path.is_file():
        with path.open("rb") as file:
            url = read_front_matter_url(file.read(65536))
        if url:
            with suppress(urls.InvalidUrl):
                return urls.normalize(url)  # A text page is kept as it is, front matter of its own included.
    return ""


def _pages(manifest: Path) -> list[PageRow]:
    try:
        return [item for item in read_manifest(manifest) if isinstance(item, PageRow)]
    except (OSError, ManifestUnreadable):
        return []
