"""Who gets a path that two URLs want. Pure: the outcome depends on the URLs alone, not on the order they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sitemirror.store.names import HASH_DIGITS, MAX_HASH_DIGITS, fold
from sitemirror.store.paths import collision_path, folders, moved_folder


def nothing(path: str) -> bool:
    """For a list that holds every page: nothing of others stands anywhere."""
    return False


def alone(path: str) -> tuple[str, ...]:
    """For a mirror of one format: a page is one file."""
    return (path,)


def pair(path: str) -> tuple[str, ...]:
    """For a mirror of both formats: the names that go together, whichever of them was met."""
    stem, dot, ending = path.rpartition(".")
    return (f"{stem}.md", f"{stem}.html") if dot and ending in ("md", "html") else (path,)


def settle(
    pages: Iterable[tuple[str, str, str | None]],
    elsewhere: Callable[[str], bool] = nothing,
    names: Callable[[str], tuple[str, ...]] = alone,
) -> dict[str, str]:
    """URL → path for pages given as (url, preferred path, path that is fixed or `None`), URLs distinct.

    Fixed paths (those published) never move. Then the URL that sorts first keeps its preferred path, and each other
    gets a name with its hash, lengthened until the name is free. Paths are compared by `fold`, and a file never stands
    where another page needs a folder. Who gets a path gets all `names` that go with it.

    A mirror too large for one list settles only the pages in conflict: with F for every fold that more than one page
    has, or that is among the `folders` of another page's fold, those are all pages whose fold is F or begins with
    F + "/". `elsewhere` then says whether a file or a folder that is none of theirs has a path.
    """
    ground = _Ground(elsewhere, names)
    result: dict[str, str] = {}
    open_pages: list[tuple[str, str]] = []
    for url, preferred, published in sorted(pages, key=lambda page: page[0]):
        if published is not None and ground.holds(published):
            result[url] = ground.place(published)
        else:
            open_pages.append((url, preferred))
    losers: list[tuple[str, str]] = []
    for url, preferred in open_pages:
        if ground.holds(preferred):
            result[url] = ground.place(preferred)
        else:
            losers.append((url, preferred))
    # Only now, so that no loser's new name takes what another page wants.
    for url, preferred in losers:
        result[url] = ground.place(ground.another(preferred, url))
    return result


class _Ground:
    """Which folds are files and which are folders."""

    __slots__ = ("_elsewhere", "_files", "_folders", "_names")

    def __init__(self, elsewhere: Callable[[str], bool], names: Callable[[str], tuple[str, ...]]) -> None:
        self._elsewhere = elsewhere
        self._names = names
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def holds(self, path: str) -> bool:
        """Whether a file at `path` meets neither a file, nor a folder where it would be, nor a file on its way."""
        return not any(
            folded in self._files or folded in self._folders or any(folder in self._files for folder in folders(folded))
            for folded in map(fold, self._names(path))
        )

    def place(self, path: str) -> str:
        for folded in map(fold, self._names(path)):
            self._files.add(folded)
            self._folders.update(folders(folded))
        return path

    def another(self, path: str, url: str) -> str:
        """The first free name for the page at `url`, which cannot be at `path`."""
        blocked = next((folder for folder in folders(path) if fold(folder) in self._files), None)
        for digits in range(HASH_DIGITS, MAX_HASH_DIGITS + 1):
            if blocked is None:
                found = changed = collision_path(path, url, digits)
            else:
                found = moved_folder(path, blocked, url, digits)
                changed = "/".join(found.split("/")[: blocked.count("/") + 1])
            if self._unused(changed) and self.holds(found):
                return found
        raise AssertionError(f"no free name for {url}")  # would need one sha256 for two URLs

    def _unused(self, path: str) -> bool:
        return not any(
            fold(name) in self._files or fold(name) in self._folders or self._elsewhere(name)
            for name in self._names(path)
        )
