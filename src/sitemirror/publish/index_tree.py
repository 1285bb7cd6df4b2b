"""The directories of a mirror, from its files alone: how much is in each, at any depth.

The index wants directories before files and sorted by path, while a directory's size is known only after its last file.
So what is kept is a path and two numbers for each directory; the files pass by.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

ROOT: Final = "."


class DirRow(NamedTuple):
    """A directory. `path` is POSIX and relative to the mirror's folder, which is itself "."."""

    path: str
    size: int  # bytes of all files in it, at any depth
    items: int  # files and directories in it, at any depth


class Directories:
    """The root and every directory under it; goes through them by path, any number of times."""

    def __init__(self, paths: list[str], sizes: array[int], items: array[int]) -> None:
        self._paths = paths
        self._sizes = sizes
        self._items = items

    @property
    def items_count(self) -> int:
        """How many items the index has: the root and all that is in it, files too."""
        return self._items[0] + 1

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[DirRow]:
        for at in sorted(range(len(self._paths)), key=self._paths.__getitem__):
            yield DirRow(self._paths[at], self._sizes[at], self._items[at])


def directories(files: Iterable[tuple[str, int]]) -> Directories:
    """Adds up (path, size) pairs, sorted by path. Raises `ValueError` when they are not."""
    paths, sizes, items = [ROOT], array("q", [0]), array("q", [0])
    opened = [0]  # the root, and the directories down to the last file's
    here = ""

    def close() -> None:
        done = opened.pop()
        sizes[opened[-1]] += sizes[done]
        items[opened[-1]] += items[done] + 1

    before = ""
    for path, size in files:
        if path <= before:
            raise ValueError(f"files must be sorted by path, each once: {path!r} came after {before!r}")
        before = path
        folder = path.rpartition("/")[0]
        if folder != here:
            while len(opened) > 1 and not f"{folder}/".startswith(f"{paths[opened[-1]]}/"):
                close()
            for name in _below(folder, paths[opened[-1]] if len(opened) > 1 else ""):
                opened.append(len(paths))
                paths.append(name)
                sizes.append(0)
                items.append(0)
            here = folder
        sizes[opened[-1]] += size
        items[opened[-1]] += 1
    while len(opened) > 1:
        close()
    return Directories(paths, sizes, items)


def _below(folder: str, top: str) -> Iterator[str]:
    """Each directory on the way from `top`, which is not among them, down to `folder`."""
    end = len(top)
    while end < len(folder):
        found = folder.find("/", end + 1)
        end = len(folder) if found < 0 else found
        yield folder[:end]
