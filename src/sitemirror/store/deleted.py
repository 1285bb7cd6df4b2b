"""Pages that count as saved, and whose files somebody deleted."""

from __future__ import annotations

from typing import Final

from sitemirror.store.files import Tree
from sitemirror.store.gone import WAS_DELETED
from sitemirror.store.schema import Row
from sitemirror.store.state import State

# Pages first: of a million URLs few may be saved. What only `_processed.txt` names is done by its word, file or not.
_SAVED: Final = f"""
SELECT page.id, page.path, page.html_path, coalesce(page.error, '') FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Row.SAVED} AND page.fetched_at != ''
"""


def deleted(state: State, tree: Tree) -> tuple[list[int], list[int]]:
    """The ids of pages and other files of which nothing is left, and of those that have lost one of their two files."""
    lost: list[int] = []
    halves: list[int] = []
    for id, path, html_path, error in state.db.execute(_SAVED):
        missing = [not tree.is_file(name) for name in {path, html_path or path}]
        if all(missing):
            lost.append(id)
        elif any(missing) or error.endswith(WAS_DELETED):  # while the page was gone
            halves.append(id)
    return lost, halves
