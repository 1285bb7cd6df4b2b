"""Finds a path that no other page has, while the pages come in and not all of them are known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sitemirror.engine.plan import Plan
from sitemirror.store import paths
from sitemirror.store.files import Tree
from sitemirror.store.ledger import Ledger
from sitemirror.store.placement import PROVISIONAL_DIGITS, fold_key
from sitemirror.store.settle import pair

_FOLDERS: Final = 4_000  # that are remembered


class Vacancies:
    """The paths of one mirror that are free."""

    def __init__(self, tree: Tree, ledger: Ledger, plan: Plan) -> None:
        self._tree = tree
        self._ledger = ledger
        self._plan = plan
        self._folders: set[str] = set()
        self._promised: set[str] = set()  # places of assets that are on their way

    def place(self, url: str, wanted: str, fold: bytes) -> str:
        """A free path for a new page. Who really owns `wanted` is settled before publishing, when all are known."""
        if self._plan.markdown and self._plan.html:
            is_free = not self._taken(wanted)
        else:
            is_free = not (
                self._blocked_folder(wanted) or wanted in self._promised or self._ledger.is_taken(wanted, fold)
            )
        return wanted if is_free else self.another_place(url, wanted)

    def another_place(self, url: str, wanted: str) -> str:
        """A free path that is not `wanted`."""
        for digits in PROVISIONAL_DIGITS:
            blocked = self._blocked_folder(wanted)
            candidate = (
                paths.moved_folder(wanted, blocked, url, digits)
                if blocked
                else paths.collision_path(wanted, url, digits)
            )
            if not self._taken(candidate):
                return candidate
        raise AssertionError("two URLs with one md5")

    @contextmanager
    def promised(self, path: str) -> Iterator[None]:
        """Nobody else gets the path meanwhile."""
        self._promised.add(path)
        try:
            yield
        finally:
            self._promised.discard(path)

    def names(self, path: str) -> tuple[str, ...]:
        """The names that go together: where both formats are saved, a page has two files, and either may be met."""
        return pair(path) if self._plan.markdown and self._plan.html else (path,)

    def remember_folder(self, path: str) -> None:
        """Remembers the folders above a file that was written: they stay folders while files are in them."""
        if len(self._folders) > _FOLDERS:
            self._folders.clear()
        folder = path
        while (folder := folder.rpartition("/")[0]) and folder not in self._folders:
            self._folders.add(folder)

    def forget_folders(self) -> None:
        """For when a file is taken away, which may have been the last in its folder."""
        self._folders.clear()

    def _taken(self, path: str) -> bool:
        return self._blocked_folder(path) != "" or any(
            self._ledger.is_taken(name, fold_key(name)) or name in self._promised or self._tree.is_folder(name)
            for name in self.names(path)
        )

    def _blocked_folder(self, path: str) -> str:
        """The part of `path` that must be a folder but is another page's file."""
        parts = path.split("/")
        for end in range(1, len(parts)):
            if self._plan.html or parts[end - 1].endswith(".md"):
                folder = "/".join(parts[:end])
                if folder in self._promised or (folder not in self._folders and self._tree.is_file(folder)):
                    return folder
        return ""
