"""Find mirrors on disk, and the start URL and options that their manifests remember."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitemirror.api import start_of
from sitemirror.errors import UsageError
from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import ManifestHeader, ManifestUnreadable, PageRow, read_manifest
from sitemirror.settings import REMEMBERED, SECRETS, InvalidSettings, Settings
from sitemirror.sites.run import Site
from sitemirror.store.paths import EXTERNAL, host_folder
from sitemirror.text import printable

COMMANDS: Final = ("mirror", "crawl")

_DEPTHS: Final = (f"*/{MANIFEST}", f"*/*/{MANIFEST}")
_ROWS_TO_TRY: Final = 1_000
"""Pages that are searched for the host of a mirror: those of other hosts may come first."""


class RememberedMirror(NamedTuple):
    """A mirror as a site of a new run."""

    site: Site
    missing: tuple[str, ...]
    """Fields that it was made with and whose values are not stored: passwords, headers, cookies, proxies."""


def find_mirrors(folders: Iterable[Path]) -> list[Path]:
    """Return the folders of mirrors in `folders`, each once. Raises `UsageError` for a folder without any."""
    found: dict[Path, Path] = {}
    for folder in folders:
        mirrors = [folder] if _has_manifest(folder) else sorted(_mirrors_below(folder))
        if not mirrors:
            if not folder.is_dir():
                message = f"no such folder: {printable(str(folder))}"
            else:
                message = f"{printable(str(folder))} is not a mirror: it has no {MANIFEST}, nor have the folders in it"
            raise UsageError(message, hint="give the folder of a mirror, such as output/docs.example.com")
        for mirror in mirrors:
            found.setdefault(mirror.resolve(), mirror)
    return list(found.values())


def site_of(folder: Path, settings: Settings, given: Collection[str] = ()) -> RememberedMirror:
    """Return the mirror in a folder as a site to update. Raises `UsageError`.

    Its own options replace those of `settings`, except for the fields in `given`.
    """
    shown = printable(str(folder))
    header = _header_of(folder)
    if header.command not in COMMANDS:
        raise UsageError(
            f"{shown} does not remember how it was made: an older version wrote its manifest",
            hint=f"update it once with its command: sitemirror mirror {header.source_url or 'URL'} --update",
        )
    options = {name: value for name, value in (header.options or {}).items() if name not in given}
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in REMEMBERED}
    chosen |= {"output": folder.resolve().parent if folder.name in ("", "..") else folder.parent}
    chosen |= {"update": not settings.re_download_all}
    try:
        own = settings.with_changes(**chosen)
        start = start_of(header.source_url)
    except UsageError as error:
        message = "; ".join(error.sentences(str)) if isinstance(error, InvalidSettings) else error.message
        raise UsageError(
            f"{folder / MANIFEST}: {message}", hint="repair the manifest, or mirror the site again"
        ) from None
    return RememberedMirror(Site(start, own, header.command), tuple(sorted(options.keys() & SECRETS)))


def _has_manifest(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def _mirrors_below(folder: Path) -> Iterator[Path]:
    for pattern in _DEPTHS:
        for manifest in folder.glob(pattern):
            if not _has_manifest(manifest.parent.parent):
                yield manifest.parent


def _header_of(folder: Path) -> ManifestHeader:
    """Read the header of a mirror's manifest. Raises `UsageError` if it is unreadable or of another host."""
    path = folder / MANIFEST
    header: ManifestHeader | None = None
    try:
        for number, row in enumerate(read_manifest(path)):
            if isinstance(row, ManifestHeader):
                header = row
            elif isinstance(row, PageRow) and not row.path.startswith(("../", f"{EXTERNAL}/")):
                _check_name(folder, row.url)
                break
            if number == _ROWS_TO_TRY:
                break
    except (OSError, ManifestUnreadable) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        hint = "mirror the site again with the same command: it repairs the manifest"
        raise UsageError(f"{printable(str(path))}: {reason}", hint=hint) from None
    if header is None:
        raise UsageError(f"{printable(str(path))} is empty", hint="mirror the site again with the same command")
    return header


def _check_name(folder: Path, url: str) -> None:
    """Raise `UsageError` if the folder was renamed: a run would make a new mirror beside it."""
    expected, name = host_folder(url), folder.resolve().name
    if name != expected:
        hint = f"rename it to {expected}, the name that a run looks for"
        raise UsageError(f"{printable(str(folder))} is the mirror of {expected} under another name", hint=hint)
