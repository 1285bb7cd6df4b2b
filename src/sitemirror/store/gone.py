"""Pages whose files are no longer there: another page has taken their place, or somebody deleted or emptied them.

A page that is saved is fetched again then. One that no sitemap or link names any more only loses its row: if it is
named again, it counts as saved if its row says where its file is.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from sitemirror.reasons import Reason
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

# Pages first: of a million URLs few may be saved. What only `_processed.txt` names is done by its word, file or not.
_SAVED: Final = f"""
SELECT page.id, page.path, page.size, page.html_path, page.html_size, page.refresh_reason
FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Row.SAVED} AND page.fetched_at != ''
"""


def forget_replaced(db: sqlite3.Connection, path: str, fold: bytes) -> bool:
    """Deletes the row of a gone page whose file becomes another page's; True if there was one.

    A site that drops `.html` from its URLs has all its pages so.
    """
    return db.execute(_REPLACED, (bytearray(fold), path)).rowcount > 0


def forget_deleted(state: State, tree: Tree) -> None:
    """Deletes the rows of gone pages whose files people deleted. What is left of one that has two is still its own."""
    missing: list[int] = []
    halves: list[tuple[Reason, str, int]] = []
    without_html: list[int] = []
    for id, path, html_path in state.db.execute(_GONE):
        has_path, has_html = tree.exists(path), tree.exists(html_path)
        if not has_path and not has_html:
            missing.append(id)
        elif not has_path or not has_html:
            halves.append((Reason.FILE_DELETED, html_path if has_path else path, id))
            without_html += [id] if has_path else []
    if missing or halves:
        with state.transaction() as db:
            db.executemany("DELETE FROM page WHERE id = ?", ((id,) for id in missing))
            db.executemany("DELETE FROM edge WHERE src = ?", ((id,) for id in missing))
            db.executemany(  # in case the page comes back
                "UPDATE page SET refresh_reason = ?, refresh_detail = ?, missing_path = NULL WHERE id = ?", halves
            )
            db.executemany(
                "UPDATE page SET html_path = NULL, html_size = NULL, html_sha256 = NULL, local_at = '' WHERE id = ?",
                ((id,) for id in without_html),
            )


def deleted(state: State, tree: Tree) -> tuple[list[int], list[int]]:
    """The ids of pages and other files of which nothing is left, and of those that have lost one of their two files."""
    lost: list[int] = []
    halves: list[int] = []
    for id, path, size, html_path, html_size, reason in state.db.execute(_SAVED):
        files = {path: size, html_path or path: html_size or size}
        missing = [not _is_there(tree, name, least=min(size, 1)) for name, size in files.items()]
        if all(missing):
            lost.append(id)
        elif any(missing) or reason == Reason.FILE_DELETED:  # while the page was gone
            halves.append(id)
    return lost, halves


def _is_there(tree: Tree, path: str, *, least: int) -> bool:
    """Whether a file is. What is left of one that was emptied goes, should its page not be to be had again."""
    found = tree.file_size(path)
    if found is not None and found < least:
        tree.remove(path)
        return False
    return found is not None
