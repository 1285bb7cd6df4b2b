"""Pages that count as saved, and whose files somebody deleted or emptied, as a crash of the machine may."""

from __future__ import annotations

from typing import Final

from sitemirror.store.files import Tree
from sitemirror.store.gone import WAS_DELETED
from sitemirror.store.schema import Row
from sitemirror.store.state import State

# Pages first: of a million URLs few may be saved. What only `_processed.txt` names is done by its word, file or not.
_SAVED: Final = f"""
SELECT page.id, page.path, page.size, page.html_path, page.html_size, coalesce(page.error, '')
FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Row.SAVED} AND page.fetched_at != ''
"""


def deleted(state: State, tree: Tree) -> tuple[list[int], list[int]]:
    """The ids of pages and other files of which nothing is left, and of those that have lost one of their two files."""
    lost: list[int] = []
    halves: list[int] = []
    for id, path, size, html_path, html_size, error in state.db.execute(_SAVED):
        files = {path: size, html_path or path: html_size or size}
        missing = [not _is_there(tree, name, least=min(size, 1)) for name, size in files.items()]
        if all(missing):
            lost.append(id)
        elif any(missing) or error.endswith(WAS_DELETED):  # while the page was gone
            halves.append(id)
    return lost, halves


def _is_there(tree: Tree, path: str, *, least: int) -> bool:
    """Whether a file is. What is left of one that was emptied goes, should its page not be to be had again."""
    found = tree.file_size(path)
    if found is not None and found < least:
        tree.remove(path)
        return False
    return found is not None
