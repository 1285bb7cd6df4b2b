"""Finds the mirrors in a folder, and what those beside a mirror count as theirs."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sitemirror.engine.workspace import STATE_FILE
from sitemirror.errors import UsageError
from sitemirror.publish.file_names import CHECKPOINT, MANIFEST, PROCESSED
from sitemirror.publish.manifest import GoneRow, PageRow
from sitemirror.publish.manifest_reader import ManifestUnreadable, read_manifest
from sitemirror.store.lock import LOCK_NAME

_TRACES: Final = (STATE_FILE, PROCESSED, CHECKPOINT, LOCK_NAME)


def mirrors_in(folder: Path) -> Iterator[Path]:
    """The folder itself if it is a mirror, else those right below it."""
    below: list[Path] = []
    try:
        what = "" if folder.is_dir() else " is not a folder" if folder.exists() else " does not exist"
        if not what and not _is_mirror(folder):
            below = sorted(folder.iterdir())
    except OSError as error:  # A name that is too long, or a folder that may not be looked into.
        what = f": {error.strerror}"
    if what:
        raise UsageError(f"{folder}{what}", hint="give the folder of a mirror, such as output/docs.example.com")
    if _is_mirror(folder):
        yield folder
    else:
        yield from (each for each in below if not each.is_symlink() and _is_mirror(each))


def _is_mirror(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (MANIFEST, *_TRACES)) and folder.is_dir()


def named_by_neighbours(root: Path, home: str) -> Iterator[str]:
    """Files that other mirrors beside this one count as theirs: a site's pages may lie in several hosts' folders."""
    for manifest in sorted(root.glob(f"*/{MANIFEST}")):
        host = manifest.parent.name
        if host == home or manifest.is_symlink() or manifest.parent.is_symlink():
            continue
        try:
            for item in read_manifest(manifest):
                told = (item.path, getattr(item, "html_path", None)) if isinstance(item, PageRow | GoneRow) else ()
                yield from (posixpath.normpath(f"{host}/{path}") for path in told if path)
        except (ManifestUnreadable, OSError):
            continue
