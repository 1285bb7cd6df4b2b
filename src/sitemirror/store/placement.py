"""Moves and removes page files so that a kill at any moment is made good by the next run.

What is to be done is committed to the state before anything is touched, and done in two steps with a commit between:

1. Files that are to go away go, and files that stand where another has to be step aside, into a folder of our own.
   Nothing arrives anywhere in this step, so a file at its old place has not moved yet.
2. Every file goes to its new place. Nothing arrives at an old place from which a file has yet to come, because those
   were left in the first step; so a file that is where it comes from has not moved yet, and one that is not, has.

Each step may thus be begun again any number of times. The rows follow in the commit that ends the second. A rename may
also leave empty folders behind when it is cut off; they count as nothing and are cleared away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitemirror import failpoint
from sitemirror.store.browse import Browser
from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.paths import HASH_DIGITS, MAX_HASH_DIGITS, collision_path, fold, folders, moved_folder
from sitemirror.store.schema import PAGE, Status

ASIDE: Final = "_moving"
"""In a host's folder: where files wait while two of them change places. No URL maps into it."""

MOVED: Final = "moved"
"""In the state: whether files have moved or gone since links between files were led to where they are."""

_NOTE: Final = "moving"


class Move(NamedTuple):
    """A file on its way. `new` is empty for a file that goes away; `page` is the row it belongs to, 0 for nobody's."""

    page: int
    old: str
    new: str


class _File(NamedTuple):
    """One file's way. `aside` is empty where it stands in nobody's way."""

    old: str
    aside: str
    new: str


def html_beside(markdown: str) -> str:
    """Where the HTML of a page is whose Markdown is saved as well: the same name with another ending."""
    return markdown.removesuffix(".md") + ".html"


def start_moves(state: State, moves: list[Move]) -> None:
    """Notes what is about to happen. Belongs in the transaction that decides it. Each of a page's files goes along."""
    beside = _html_beside_of(state, moves) if moves else {}
    ways: list[tuple[str, str]] = []
    for move in moves:
        ways.append((move.old, move.new))
        if move.old in beside:
            ways.append((beside[move.old], move.new and html_beside(move.new)))
    if ways:
        files = [[file.old, file.aside, file.new] for file in _with_detours(ways)]
        rows = [[move.page, move.old, move.new] for move in moves if move.page and move.new]
        state.put(_NOTE, {"clear": False, "files": files, "rows": rows})
        state.put(MOVED, True)


def finish_moves(state: State, tree: Tree) -> None:
    """Does what was noted and is not done yet."""
    note: dict[str, Any] | None = state.get(_NOTE)
    if note is None:
        return
    assert not state.db.in_transaction  # else a kill would forget the note but not what was done
    failpoint.reached("moves-noted")
    files = [_File(*row) for row in note["files"]]
    if not note["clear"]:
        _clear_the_way(tree, files)
        with state.transaction():
            state.put(_NOTE, note | {"clear": True})
        failpoint.reached("way-cleared")
    _take_places(tree, files)
    failpoint.reached("places-taken")
    with state.transaction() as db:
        # What a power cut does to renames nobody knows: the next run compares these files with their hashes.
        db.executemany(
            "UPDATE page SET path = :new, durable = 0, html_path = "
            "CASE WHEN html_path IS NULL THEN NULL WHEN html_path = :old THEN :new ELSE :beside END WHERE id = :page",
            ({"page": page, "old": old, "new": new, "beside": html_beside(new)} for page, old, new in note["rows"]),
        )
        db.execute("DELETE FROM meta WHERE name = ?", (_NOTE,))


def _clear_the_way(tree: Tree, files: Iterable[_File]) -> None:
    for file in files:
        if not file.new:
            tree.remove(file.old)
            failpoint.reached("file-removed")
        elif file.aside and tree.exists(file.old):
            tree.remove(file.aside)  # what a state that was lost has left there
            tree.rename(file.old, file.aside)
            failpoint.reached("file-aside")


def _take_places(tree: Tree, files: Iterable[_File]) -> None:
    for file in files:
        source = file.aside or file.old
        if file.new and tree.exists(source):
            if tree.is_folder(file.new):
                _remove_empty_folders(tree, file.new)
            tree.rename(source, file.new)
            failpoint.reached("file-moved")
    for file in files:  # A kill between a rename and this may have left folders that only its file was in.
        for left in filter(None, (file.old, file.aside)):
            _prune_above(tree, left)


def _remove_empty_folders(tree: Tree, folder: str) -> None:
    """Removes the folder and those in it as far as they hold no file. Only looks by itself; the tree removes."""
    top = tree.root / folder
    for found, _, files in os.walk(top, topdown=False):
        if not files:
            _prune_above(tree, f"{folder}/{Path(found).relative_to(top).as_posix()}/{ASIDE}".replace("/./", "/"))


def _prune_above(tree: Tree, path: str) -> None:
    """Removes the folders above `path` as far as they are empty; removing what is not there does just that."""
    for part in (path, *reversed(list(folders(path)))):
        if tree.stat(part) is not None:
            return
        tree.remove(part)


def _html_beside_of(state: State, moves: Iterable[Move]) -> dict[str, str]:
    """Path of a page's Markdown → that of its HTML, where both are saved."""
    olds = json.dumps([move.old for move in moves if move.old.endswith(".md")])
    rows = state.db.execute(
        "SELECT path, html_path FROM page WHERE html_path != path AND path IN (SELECT value FROM json_each(?))", (olds,)
    )
    return dict(rows.fetchall())


def _with_detours(ways: list[tuple[str, str]]) -> Iterator[_File]:
    """Sends those aside that stand where another file, or a folder for one, has to be. By fold: names may be equal."""
    new_files = {fold(new): old for old, new in ways if new}
    new_folders = {folder for new in new_files for folder in folders(new)}
    for number, (old, new) in enumerate(ways):
        folded = fold(old)
        in_the_way = (
            new_files.get(folded, old) != old
            or folded in new_folders
            or any(folder in new_files for folder in folders(folded))
        )
        yield _File(old, f"{old.split('/')[0]}/{ASIDE}/{number}" if new and in_the_way else "", new)


def nothing(path: str) -> bool:
    """For a list that holds every page: nothing of others stands anywhere."""
    return False


def alone(path: str) -> tuple[str, ...]:
    """For a mirror of one format: a page is one file."""
    return (path,)


def pair(path: str) -> tuple[str, ...]:
    """For a mirror of both formats: the names that go together, whichever of them was met."""
    stem, dot, ending = path.rpartition(".")
    return (f"{stem}.md", f"{stem}.html") if dot and ending in ("md", "html") else (path,)


def settle(
    pages: Iterable[tuple[str, str, str | None]],
    elsewhere: Callable[[str], bool] = nothing,
    names: Callable[[str], tuple[str, ...]] = alone,
) -> dict[str, str]:
    """URL → path for pages given as (url, preferred path, path that is fixed or `None`), URLs distinct.

    Fixed paths (those published) never move. Then the URL that sorts first keeps its preferred path, and each other
    gets a name with its hash, lengthened until the name is free. Paths are compared by `fold`, and a file never stands
    where another page needs a folder. Who gets a path gets all `names` that go with it.

    A mirror too large for one list settles only the pages in conflict: with F for every fold that more than one page
    has, or that is among the `folders` of another page's fold, those are all pages whose fold is F or begins with
    F + "/". `elsewhere` then says whether a file or a folder that is none of theirs has a path.
    """
    ground = _Ground(elsewhere, names)
    result: dict[str, str] = {}
    open_pages: list[tuple[str, str]] = []
    for url, preferred, published in sorted(pages, key=lambda page: page[0]):
        if published is not None and ground.holds(published):
            result[url] = ground.place(published)
        else:
            open_pages.append((url, preferred))
    losers: list[tuple[str, str]] = []
    for url, preferred in open_pages:
        if ground.holds(preferred):
            result[url] = ground.place(preferred)
        else:
            losers.append((url, preferred))
    # Only now, so that no loser's new name takes what another page wants.
    for url, preferred in losers:
        result[url] = ground.place(ground.another(preferred, url))
    return result


class _Ground:
    """Which folds are files and which are folders."""

    __slots__ = ("_elsewhere", "_files", "_folders", "_names")

    def __init__(self, elsewhere: Callable[[str], bool], names: Callable[[str], tuple[str, ...]]) -> None:
        self._elsewhere = elsewhere
        self._names = names
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def holds(self, path: str) -> bool:
        """Whether a file at `path` meets neither a file, nor a folder where it would be, nor a file on its way."""
        return not any(
            folded in self._files or folded in self._folders or any(folder in self._files for folder in folders(folded))
            for folded in map(fold, self._names(path))
        )

    def place(self, path: str) -> str:
        for folded in map(fold, self._names(path)):
            self._files.add(folded)
            self._folders.update(folders(folded))
        return path

    def another(self, path: str, url: str) -> str:
        """The first free name for the page at `url`, which cannot be at `path`."""
        blocked = next((folder for folder in folders(path) if fold(folder) in self._files), None)
        for digits in range(HASH_DIGITS, MAX_HASH_DIGITS + 1):
            if blocked is None:
                found = changed = collision_path(path, url, digits)
            else:
                found = moved_folder(path, blocked, url, digits)
                changed = "/".join(found.split("/")[: blocked.count("/") + 1])
            if self._unused(changed) and self.holds(found):
                return found
        raise AssertionError(f"no free name for {url}")  # would need one sha256 for two URLs

    def _unused(self, path: str) -> bool:
        return not any(
            fold(name) in self._files or fold(name) in self._folders or self._elsewhere(name)
            for name in self._names(path)
        )


PROVISIONAL_DIGITS: Final = (8, 12, 16, 24, 32)
"""Lengths of the hash in the name of a page that finds its path taken, until all pages are known."""

_PAGE = "SELECT page.id, url.url, page.wanted, page.path, page.published, page.html_path FROM page JOIN url USING (id)"
_Found = tuple[int, str, str, str, int, str | None]
_FILES = f"SELECT path, html_path FROM page JOIN url USING (id) WHERE status IN ({Status.SAVED}, {Status.GONE})"


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
        saved = f"SELECT id FROM url WHERE status = {Status.SAVED}"
        self._db.execute(f"UPDATE page SET published = 1 WHERE published = 0 AND id IN ({saved})")

    def collisions(self) -> list[tuple[str, str]]:
        """(url, path) of pages that could not have the path their URL maps to."""
        query = (
            f"SELECT url.url, page.path FROM page JOIN url USING (id) WHERE path != wanted AND status = {Status.SAVED}"
        )
        return self._db.execute(query + " ORDER BY url.url").fetchall()

    def orphans(self) -> list[str]:
        """Files that a kill left at a name which its page, or the page it is now a name of, no longer has."""
        return sorted(self._leftovers(self._in_conflict()))

    # --- files that nobody has ---------------------------------------------------------------------------------

    def _leftovers(self, found: dict[int, _Found]) -> set[str]:
        """Files that a kill left at a name which its page, or the page it is now a name of, does not have."""
        shared = f"""
            SELECT url.url, page.wanted FROM page JOIN url USING (id) WHERE page.fold IN
              (SELECT fold FROM page JOIN url USING (id) WHERE status IN ({Status.SAVED}, {Status.DUPLICATE})
               GROUP BY fold HAVING count(*) > 1)
            UNION SELECT url.url, page.wanted FROM page JOIN url USING (id) WHERE status = {Status.DUPLICATE}
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
        saved = f"url.status = {Status.SAVED}"
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
            query = f"{_PAGE} WHERE url.status = {Status.SAVED} AND fold = ? AND page.id != ?"
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
