"""Pages whose files a run replaced before it was killed, and had not written that down.

The row of such a page tells of the file before. The same command asks for the page again, as nothing says that it was
looked at; another one would take the file for what its row says, and so publish what is not there.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from sitemirror.store.files import Tree
from sitemirror.store.schema import Row
from sitemirror.store.state import State

UNSURE_SINCE: Final = "unsure_since"
"""The number of the first run that was killed since the last that came to its end, and when it began."""

# What that run, or a later one, has looked at is written down.
_OLDER: Final = f"""
SELECT page.id, path, sha256, html_path, html_sha256 FROM page CROSS JOIN url ON url.id = page.id
WHERE url.status = {Row.SAVED} AND url.seen < ? AND page.fetched_at != ''
"""
_COARSE: Final = 2.0  # seconds: FAT tells the time of a file no better


def replaced(state: State, tree: Tree, run: int, began: float) -> list[int]:
    """The ids of pages of which a file was written after that run began, and is not what its row says."""
    found: list[int] = []
    for id, path, digest, html_path, html_digest in state.db.execute(_OLDER, (run,)):
        files = [(path, digest)] if html_path in (None, path) else [(path, digest), (html_path, html_digest)]
        if any(_is_another(tree, *file, began - _COARSE) for file in files):
            found.append(id)
    return found


def _is_another(tree: Tree, path: str, digest: str | None, since: float) -> bool:
    written = tree.mtime_seen(path)
    if digest is None or written is None or written < since or not tree.exists(path):
        return False
    return sha256(tree.read(path)).hexdigest() != digest
