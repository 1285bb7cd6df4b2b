"""Read-only access to a mirror that others may have changed; follows no symlink and never leaves it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sitemirror.errors import OutputError
from sitemirror.store.files import READ
from sitemirror.store.safe_folders import Kind, NotAFile, folders_of, is_contained, kind_of


class Browser:
    """One folder, read only. Paths are POSIX and relative to it."""

    def __init__(self, root: Path) -> None:
        self._folders = folders_of(os.path.realpath(root))

    def kind(self, rel: str) -> Kind | None:
        """Type of the entry at `rel`; `None` if there is none. Anything behind a symlink counts as a symlink."""
        if not is_contained(rel):
            return None
        *above, name = rel.split("/")
        try:
            with self._folders.find(above) as parent:
                return kind_of(parent.stat(name))
        except OutputError:
            return Kind.LINK
        except (OSError, ValueError):
            return None

    def open(self, rel: str) -> BinaryIO:
        """Open the file at `rel`. Raises `OSError` if there is none, `OutputError` for anything but a file."""
        if not is_contained(rel):
            raise OutputError("is no path inside the folder")
        *above, name = rel.split("/")
        with self._folders.find(above) as parent:
            try:
                return os.fdopen(parent.open(name, READ), "rb")
            except NotAFile as error:
                raise OutputError(f"is {error.kind.value}") from None

    def walk(self, under: str) -> Iterator[tuple[str, Kind]]:
        """List every entry below the folder `under` except folders. Unreadable folders are left out."""
        waiting = [under]
        while waiting:
            folder = waiting.pop()
            try:
                with self._folders.find(folder.split("/")) as parent:
                    entries = parent.entries()
            except (OSError, OutputError):
                continue
            for name, kind in entries:
                if kind is Kind.FOLDER:
                    waiting.append(f"{folder}/{name}")
                else:
                    yield f"{folder}/{name}", kind
