"""Settles, before publishing, which page has which path, over the whole state but holding only pages in conflict."""

from __future__ import annotations

from hashlib import blake2b

from sitemirror.store.files import Tree
from sitemirror.store.moves import Move
from sitemirror.store.paths import collision_path, fold, folders
from sitemirror.store.schema import Row
from sitemirror.store.settle import settle
from sitemirror.store.state import State

_PAGE = "SELECT page.id, url.url, page.wanted, page.path, page.published FROM page JOIN url USING (id)"
_Found = tuple[int, str, str, str, int]


def fold_key(path: str) -> bytes:
    """16 bytes that are equal for paths which some file system takes for one."""
    return blake2b(fold(path).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Placement:
    """Who is where, and who has to move."""

    def __init__(self, state: State, tree: Tree) -> None:
        self._db = state.db
        self._tree = tree

    def moves(self) -> list[Move]:
        """What has to move so that the outcome depends on the URLs alone. Changes nothing."""
        found = self._in_conflict()
        settled = settle(
            ((url, wanted, path if published else None) for _, url, wanted, path, published in found.values()),
            lambda folded: self._held_elsewhere(folded, found),
        )
        return [Move(id, path, settled[url]) for id, url, _, path, _ in found.values() if settled[url] != path]

    def mark_published(self) -> None:
        """From now on these pages keep their paths."""
        self._db.execute(f"UPDATE page SET published = 1 WHERE id IN (SELECT id FROM url WHERE status = {Row.SAVED})")

    def collisions(self) -> list[tuple[str, str]]:
        """(url, path) of pages that could not have the path their URL maps to."""
        query = f"SELECT url.url, page.path FROM page JOIN url USING (id) WHERE path != wanted AND status = {Row.SAVED}"
        return self._db.execute(query + " ORDER BY url.url").fetchall()

    def orphans(self) -> list[str]:
        """Files that a kill left at a name which its page, or the page it is now a name of, no longer has."""
        shared = f"""
            SELECT url.url, page.wanted FROM page JOIN url USING (id) WHERE page.fold IN
              (SELECT fold FROM page JOIN url USING (id) WHERE status IN ({Row.SAVED}, {Row.TWIN})
               GROUP BY fold HAVING count(*) > 1)
            UNION SELECT url.url, page.wanted FROM page JOIN url USING (id)
              WHERE status = {Row.TWIN} OR path != wanted
        """
        names = {name for url, wanted in self._db.execute(shared) for name in (wanted, collision_path(wanted, url))}
        names |= {name.removesuffix(".md") + ".html" for name in names if name.endswith(".md")}
        return sorted(name for name in names if self._tree.exists(name) and not self._owned(name))

    def _owned(self, path: str) -> bool:
        query = f"SELECT 1 FROM page JOIN url USING (id) WHERE status IN ({Row.SAVED}, {Row.GONE}) AND page.path = ?"
        by_fold = query + " AND page.fold = ?"
        if self._db.execute(by_fold, (path, fold_key(path))).fetchone():
            return True
        if self._db.execute(query + " AND path != wanted", (path,)).fetchone():
            return True
        beside = query.replace("page.path = ?", "page.html_path = ?")
        return path.endswith(".html") and self._db.execute(beside, (path,)).fetchone() is not None

    def _in_conflict(self) -> dict[int, _Found]:
        found: dict[int, _Found] = {}
        saved = f"url.status = {Row.SAVED}"
        displaced = self._db.execute(f"{_PAGE} WHERE {saved} AND path != wanted")
        found.update((row[0], row) for row in displaced)
        shared = self._db.execute(
            f"{_PAGE} WHERE {saved} AND page.fold IN (SELECT fold FROM page JOIN url USING (id) WHERE {saved}"
            " GROUP BY fold HAVING count(*) > 1)"
        )
        found.update((row[0], row) for row in shared)
        # Pages are named `…/index.md`, so a file can stand where a folder is needed only if a folder is named `….md`.
        for row in self._db.execute(f"{_PAGE} WHERE {saved} AND wanted LIKE '%.md/%'").fetchall():
            for folder in folders(row[2]):
                if folder.endswith(".md"):
                    blocking = self._db.execute(f"{_PAGE} WHERE {saved} AND fold = ?", (fold_key(folder),)).fetchall()
                    found.update((other[0], other) for other in blocking)
                    if blocking:
                        found[row[0]] = row
        # Assets keep their own names, so that one can stand where pages need a folder. "0" comes after "/".
        under = "other.wanted > page.wanted || '/' AND other.wanted < page.wanted || '0'"
        for asset in self._db.execute(
            f"{_PAGE} WHERE {saved} AND url.kind = 2 AND EXISTS (SELECT 1 FROM page AS other WHERE {under})"
        ).fetchall():
            found[asset[0]] = asset
            inside = (asset[2] + "/", asset[2] + "0")
            found.update(
                (row[0], row)
                for row in self._db.execute(f"{_PAGE} WHERE {saved} AND page.wanted > ? AND page.wanted < ?", inside)
            )
        return found

    def _held_elsewhere(self, folded: str, mine: dict[int, _Found]) -> bool:
        holders = self._db.execute(
            f"SELECT id FROM page JOIN url USING (id) WHERE fold = ? AND status IN ({Row.SAVED}, {Row.GONE})",
            (fold_key(folded),),
        )
        if any(id not in mine for (id,) in holders):
            return True
        own = any(row[3].startswith(folded + "/") for row in mine.values())  # a folder that one of these has made
        return self._tree.is_folder(folded) and not own
