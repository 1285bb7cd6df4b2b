"""A tree to write into. Both ways into the tree are tried, whatever the platform has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sitemirror.store.files import Tree
from sitemirror.store.safe_folders import CheckedFolders, Folders, SteppedFolders, folders_of

_WAYS: list[Callable[[str], Folders]] = [CheckedFolders]
if isinstance(folders_of("/"), SteppedFolders):
    _WAYS.append(SteppedFolders)

no_symlinks = pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a privilege on Windows")


@pytest.fixture(params=_WAYS, ids=lambda way: way.__name__)
def tree(request: pytest.FixtureRequest, out: Path) -> Tree:
    """The output folder, reached in one of the ways."""
    made = Tree(out, min_free_mb=0, reach=request.param)
    made.prepare()
    return made


def everything(folder: Path) -> set[str]:
    """Every file and folder below this one."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
