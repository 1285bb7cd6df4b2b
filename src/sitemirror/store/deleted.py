"""Pages that count as saved, and whose files somebody deleted."""

from __future__ import annotations

from typing import Final

from sitemirror.store.files import Tree
from sitemirror.store.schema import Row
from sitemirror.store.state import State

# Pages first: of a million URLs few may be saved. What only `_processed.txt` names is done by its word, file or not.
_SAVED: Final = f"""
SELECT page.id, page.path, page.html_path FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Row.SAVED} AND page.fetched_at != ''
"""


def deleted(state: State, tree: Tree) -> list[int]:
    """The ids of pages and other files of which nothing is left. What has two files has lost both."""
    return [
        id
        for id, path, html_path in state.db.execute(_SAVED)
        if not tree.is_file(path) and (html_path in (None, path) or not tree.is_file(html_path))
    ]
