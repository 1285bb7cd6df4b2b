"""Settles, before publishing, which page has which path, over the whole state but holding only pages in conflict."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import Final

from sitemirror.store.browse import Browser
from sitemirror.store.files import Tree
from sitemirror.store.moves import Move, html_beside
from sitemirror.store.names import fold
from sitemirror.store.paths import collision_path, folders, moved_folder
from sitemirror.store.schema import PAGE, Row
from sitemirror.store.settle import alone, pair, settle
from sitemirror.store.state import State

PROVISIONAL_DIGITS: Final = (8, 12, 16, 24, 32)
"""Lengths of the hash in the name of a page that finds its path taken, until all pages are known."""

_PAGE = "SELECT page.id, url.url, page.wanted, page.path, page.published, page.html_path FROM page JOIN url USING (id)"
_Found = tuple[int, str, str, str, int, str | None]
_FILES = f"SELECT path, html_path FROM page JOIN url USING (id) WHERE status IN ({Row.SAVED}, {Row.GONE})"


def fold_key(path: str) -> bytes:
    """16 bytes that are equal for paths which some file system takes for one."""
    return blake2b(fold(path).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Placement:
    """Who is where, and who has to move."""

    def __init__(self, state: State, tree: Tree) -> None:
        self._db = state.db
        self._tree = tree

    @cached_property
    def _names_with(self) -> Callable[[str], tuple[str, ...]]:
        """The names that a page's file takes: more than its own where both formats are saved."""
        both = self._db.execute("SELECT 1 FROM page WHERE html_path != path LIMIT 1").fetchone()
        return pair if both else alone

    def moves(self) -> list[Move]:
        """What has to go or to move so that the outcome depends on the URLs alone. Changes nothing."""
        found = self._in_conflict()
        leftovers = self._leftovers(found)
        if not found:
            return [Move(0, path, "") for path in sorted(leftovers)]
        around = _Surroundings(self, self._tree, found, leftovers)
        settled = settle(
            (
                # Where the preferred place cannot be had, the page stays: rather an odd name than a mirror at odds.
                (url, wanted, path if published or around.bars(path, wanted, html_path) else None)
                for _, url, wanted, path, published, html_path in found.values()
            ),
            around.has,
            self._names_with,
        )
        moves = [Move(id, path, settled[url]) for id, url, _, path, *_ in found.values() if settled[url] != path]
        leftovers.update(self._strangers_at(moves, found))
        return [*(Move(0, path, "") for path in sorted(leftovers)), *moves]

    def mark_published(self) -> None:
        """Marks all saved pages as published: from now on they keep their paths."""
        saved = f"SELECT id FROM url WHERE status = {Row.SAVED}"
        self._db.execute(f"UPDATE page SET published = 1 WHERE published = 0 AND id IN ({saved})")

    def collisions(self) -> list[tuple[str, str]]:
        """(url, path) of pages that could not have the path their URL maps to."""
        query = f"SELECT url.url, page.path FROM page JOIN url USING (id) WHERE path != wanted AND status = {Row.SAVED}"
        return self._db.execute(query + " ORDER BY url.url").fetchall()

    def orphans(self) -> list[str]:
        """Files that a kill left at a name which its page, or the page it is now a name of, no longer has."""
        return sorted(self._leftovers(self._in_conflict()))

    # --- files that nobody has ---------------------------------------------------------------------------------

    def _leftovers(self, found: dict[int, _Found]) -> set[str]:
        """Files that a kill left at a name which its page, or the page it is now a name of, does not have."""
        shared = f"""
            SELECT url.url, page.wanted FROM page JOIN url USING (id) WHERE page.fold IN
              (SELECT fold FROM page JOIN url USING (id) WHERE status IN ({Row.SAVED}, {Row.TWIN})
               GROUP BY fold HAVING count(*) > 1)
            UNION SELECT url.url, page.wanted FROM page JOIN url USING (id) WHERE status = {Row.TWIN}
        """
        pages = set(self._db.execute(shared)) | {(url, wanted) for _, url, wanted, *_ in found.values()}
        names = {name for url, wanted in pages for name in self._names_of(url, wanted)}
        names |= {html_beside(name) for name in names if name.endswith(".md")}
        return {name for name in names if self._tree.exists(name) and not self.is_owned(name)}

    def _names_of(self, url: str, wanted: str) -> Iterator[str]:
        """Where a page may have been saved, and left by a kill before its row was."""
        yield wanted
        for digits in PROVISIONAL_DIGITS:
            name = collision_path(wanted, url, digits)
            yield name
            if not self._is_wanted(name):  # Only then a longer one was used.
                break
        yield from (moved_folder(wanted, folder, url) for folder in folders(wanted) if self._is_wanted(folder))

    def _is_wanted(self, path: str) -> bool:
        return self._db.execute("SELECT 1 FROM page WHERE fold = ?", (fold_key(path),)).fetchone() is not None

    def _strangers_at(self, moves: list[Move], found: dict[int, _Found]) -> Iterator[str]:
        """Files of nobody where a page has to be. What a page is saved over anywhere else gives way here, too."""
        for move in moves:
            html_path = found[move.page][5]
            news = [move.new] if html_path in (None, move.old) else [move.new, html_beside(move.new)]
            yield from (new for new in news if self._tree.exists(new) and not self.is_owned(new))

    def is_owned(self, path: str) -> bool:
        """Whether the file at `path` is a page's: also under the other name that it has where case does not count."""
        there = self._tree.stat(path)
        for owner in self.files_like(path):
            stat = self._tree.stat(owner)
            if owner == path or (there and stat and os.path.samestat(there, stat)):
                return True
        return False

    def files_like(self, path: str) -> Iterator[str]:
        """The files that pages have at `path`, or at what some file system takes for it."""
        for main in (path, path.removesuffix(".html") + ".md") if path.endswith(".html") else (path,):
            rows = self._db.execute(
                f"{_FILES} AND fold = ? AND path = wanted UNION ALL {_FILES} AND path = ? AND path != wanted",
                (fold_key(main), main),
            )
            for names in rows.fetchall():
                yield from (name for name in names if name and fold(name) == fold(path))

    def files_below(self, path: str) -> Iterator[str]:
        """The pages' files in the folder `path`."""
        inside = (path + "/", path + "0")  # "0" comes after "/"
        rows = self._db.execute(
            f"{_FILES} AND wanted > ? AND wanted < ? AND path = wanted"
            f" UNION ALL {_FILES} AND path > ? AND path < ? AND path != wanted",
            (*inside, *inside),
        )
        yield from (name for name, _ in rows)

    # --- pages that get into each other's way ------------------------------------------------------------------

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
        # Pages are named `…/index.md`, so one can stand where a folder is needed only if the folder has such an ending.
        endings = (".md", ".html")
        below = " OR ".join(f"wanted LIKE '%{ending}/%'" for ending in endings)
        for row in self._db.execute(f"{_PAGE} WHERE {saved} AND ({below})").fetchall():
            for folder in folders(row[2]):
                if folder.endswith(endings):
                    self._add_rivals(found, row, folder)
        if self._names_with is pair:  # An asset of its own name may meet the HTML of a page.
            for row in self._db.execute(f"{_PAGE} WHERE {saved} AND wanted LIKE '%.html'").fetchall():
                self._add_rivals(found, row, row[2])
        # Assets keep their own names, so that one can stand where pages need a folder. "0" comes after "/".
        under = "other.wanted > page.wanted || '/' AND other.wanted < page.wanted || '0'"
        for asset in self._db.execute(
            f"{_PAGE} WHERE {saved} AND url.kind IS NOT {PAGE} AND EXISTS (SELECT 1 FROM page AS other WHERE {under})"
        ).fetchall():
            found[asset[0]] = asset
            inside = (asset[2] + "/", asset[2] + "0")
            found.update(
                (row[0], row)
                for row in self._db.execute(f"{_PAGE} WHERE {saved} AND page.wanted > ? AND page.wanted < ?", inside)
            )
        return found

    def _add_rivals(self, found: dict[int, _Found], row: _Found, path: str) -> None:
        """Adds the pages that want the file `path`, which `row` needs for something else, and `row` if there are."""
        for name in self._names_with(path):
            query = f"{_PAGE} WHERE url.status = {Row.SAVED} AND fold = ? AND page.id != ?"
            rivals = self._db.execute(query, (fold_key(name), row[0])).fetchall()
            found.update((rival[0], rival) for rival in rivals)
            if rivals:
                found[row[0]] = row


class _Surroundings:
    """What is around the pages in conflict and stays as it is: the files of all other pages, and what is nobody's."""

    def __init__(self, placement: Placement, tree: Tree, found: dict[int, _Found], leftovers: set[str]) -> None:
        self._placement = placement
        self._tree = tree
        self._browser = Browser(tree.root)
        # These move or go, so they are in nobody's way.
        self._yielding = {name for row in found.values() for name in (row[3], row[5]) if name} | leftovers

    def has(self, path: str) -> bool:
        """Whether a file, or a folder with one in it, is at `path` and stays there."""
        if path in self._yielding:
            return False
        known = chain(self._placement.files_like(path), self._placement.files_below(path))
        there = (file for file, _ in self._browser.walk(path)) if self._tree.is_folder(path) else ()
        return any(file not in self._yielding for file in chain(known, there))

    def bars(self, path: str, wanted: str, html_path: str | None) -> bool:
        """Whether a page at `path`, with its HTML at `html_path`, cannot come to `wanted`."""
        if path == wanted:
            return False
        blocked = (folder for folder in folders(wanted) if self._tree.exists(folder) and folder not in self._yielding)
        beside = html_path is not None and html_path != path and self.has(html_beside(wanted))
        return self.has(wanted) or beside or any(blocked)
