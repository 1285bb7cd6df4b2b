"""Where a URL's Markdown is and which headings its ids lead to, for links between the pages of a mirror."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sitemirror import urls
from sitemirror.store.files import Tree
from sitemirror.store.placement import fold_key
from sitemirror.store.restore import RESCUED, TO_RECALL
from sitemirror.store.schema import Row
from sitemirror.store.state import CUT_OFF, State

_AT_ONCE: Final = 256
_NOTE: Final = "relinking"


class LinkedPage(NamedTuple):
    """A page whose links may lead to files."""

    id: int
    path: str
    sha256: str | None
    linked: str | None  # the hash of the file as it was when its links were made local
    links: bytes  # what those links were


class Relinked(NamedTuple):
    """What became of one."""

    id: int
    size: int
    sha256: str
    links: bytes
    is_vague: bool  # what its links were is not known of all of them: when it is fetched again, it is written again


class PagesByUrl:
    """The saved Markdown. Made after paths are settled; needs the survey's table of resolved aliases."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._db = state.db
        self.cut_off = bool(state.get(CUT_OFF))

    def has_local_links(self) -> bool:
        """Whether links lead to files of which it is known where they led on the site."""
        query = f"""
            SELECT 1 FROM local_link JOIN url USING (id) JOIN page USING (id)
            WHERE links != x'' AND url.status = {Row.SAVED} LIMIT 1
        """
        return self._db.execute(query).fetchone() is not None

    def pages(self) -> Iterator[LinkedPage]:
        """Every page with links in it, a few at a time: the rows are changed while they are gone through."""
        last = 0
        while rows := self._db.execute(
            f"""
            SELECT page.id, page.path, page.sha256, local_link.sha256, coalesce(local_link.links, x'')
            FROM page JOIN url USING (id) LEFT JOIN local_link USING (id)
            WHERE url.status = {Row.SAVED} AND page.path LIKE '%.md' AND page.content_type LIKE '%html%' AND page.id > ?
            ORDER BY page.id LIMIT {_AT_ONCE}
            """,
            (last,),
        ).fetchall():
            for row in rows:
                yield LinkedPage(*row)
            last = rows[-1][0]

    def url_at(self, path: str) -> str | None:
        """The URL of the page whose file is there."""
        row = self._db.execute(
            f"""
            SELECT url FROM page JOIN url USING (id)
            WHERE ((page.fold = ? AND path = ?) OR (path = ? AND path != wanted))
              AND url.status IN ({Row.SAVED}, {Row.GONE})
            """,
            (fold_key(path), path, path),
        ).fetchone()
        return None if row is None else str(row[0])

    def all_recalled(self) -> None:
        """Notes that it is known again what links between files were."""
        self._db.execute("DELETE FROM meta WHERE name = ?", (TO_RECALL,))

    def find(self, url: str) -> tuple[str, int, int] | None:
        """The file that a URL leads to under any of its names, the id of its page, and the id of the URL itself."""
        found: tuple[str, int, int] | None = self._db.execute(
            f"""
            SELECT page.path, page.id, url.id FROM url
            LEFT JOIN resolved ON resolved.id = url.id
            JOIN url AS final ON final.id = coalesce(resolved.final, url.id)
              AND final.status IN ({Row.SAVED}, {Row.GONE})
            JOIN page ON page.id = final.id
            WHERE url.key = ? AND page.path LIKE '%.md'
            """,
            (urls.key(url),),
        ).fetchone()
        return found

    def anchors(self, id: int) -> str:
        """Which headings the ids of a page lead to, packed; empty if that is not known."""
        row = self._db.execute("SELECT anchors FROM page WHERE id = ?", (id,)).fetchone()
        return "" if row is None or row[0] is None else str(row[0])

    def to_relink(self, changes: Sequence[Relinked]) -> None:
        """Notes files whose links are about to be made local: after a kill, the next run looks which have been."""
        with self._state.transaction() as db:
            note = [[id, size, sha, b64encode(links).decode(), vague] for id, size, sha, links, vague in changes]
            self._state.put(_NOTE, note)
            db.executemany("UPDATE page SET durable = 0 WHERE id = ?", ((page.id,) for page in changes))

    def finish_relinking(self, tree: Tree) -> None:
        """Writes down what a run that was killed has done."""
        note: list[Any] | None = self._state.get(_NOTE)
        if note is not None:
            announced = [Relinked(id, size, sha, b64decode(links), vague) for id, size, sha, links, vague in note]
            self.relinked([each for each in announced if self._is_written(tree, each)])

    def _is_written(self, tree: Tree, change: Relinked) -> bool:
        row = self._db.execute("SELECT path FROM page WHERE id = ?", (change.id,)).fetchone()
        return row is not None and tree.exists(row[0]) and sha256(tree.read(row[0])).hexdigest() == change.sha256

    def relinked(self, changes: Sequence[Relinked]) -> None:
        """Records files whose links were made local."""
        with self._state.transaction() as db:
            db.execute("DELETE FROM meta WHERE name = ?", (_NOTE,))
            db.executemany(
                "UPDATE page SET size = ?, sha256 = ? WHERE id = ?",
                ((page.size, page.sha256, page.id) for page in changes),
            )
            db.executemany(
                f"UPDATE page SET received = NULL WHERE id = ? AND received != '{RESCUED}'",
                ((page.id,) for page in changes if page.is_vague),
            )
            db.executemany(
                "INSERT OR REPLACE INTO local_link VALUES (?, ?, ?)",
                ((page.id, page.sha256, page.links) for page in changes),
            )
