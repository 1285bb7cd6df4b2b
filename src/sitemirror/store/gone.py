"""What is left of pages that no sitemap or link names any more: their files, until somebody else has or deletes those.

A page that is named again counts as saved if its row says where its file is. So a row goes when the file does.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from sitemirror.store.files import Tree
from sitemirror.store.schema import Row
from sitemirror.store.state import State

# Of the few rows in question: a list of all that is gone would be made anew for every page that is saved.
_REPLACED: Final = f"""
DELETE FROM page WHERE fold = ? AND path = ?
    AND EXISTS (SELECT 1 FROM url WHERE url.id = page.id AND url.status = {Row.GONE})
"""
# URLs first: their rows are short, and few are gone.
_GONE: Final = f"""
SELECT page.id, page.path, coalesce(page.html_path, page.path) FROM url CROSS JOIN page ON page.id = url.id
WHERE url.status = {Row.GONE}
"""


def forget_replaced(db: sqlite3.Connection, path: str, fold: bytes) -> bool:
    """The file of a page becomes another page's: a site that drops `.html` from its URLs has all its pages so."""
    return db.execute(_REPLACED, (bytearray(fold), path)).rowcount > 0


def forget_deleted(state: State, tree: Tree) -> None:
    """People may delete the files of pages that are gone. What is left of one that has two is still its own."""
    missing = [(id, path, html_path) for id, path, html_path in state.db.execute(_GONE) if not tree.exists(path)]
    if missing:
        halves = {id: path for id, path, html_path in missing if html_path != path and tree.exists(html_path)}
        with state.transaction() as db:
            db.executemany("DELETE FROM page WHERE id = ?", ((id,) for id, *_ in missing if id not in halves))
            db.executemany(
                "UPDATE page SET error = ? WHERE id = ?",  # in case the page comes back
                ((f"{path} was deleted", id) for id, path in halves.items()),
            )
