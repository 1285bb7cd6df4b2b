"""Relink Markdown pages for `--links local`: from file to file, to anchors that exist.

The original link is stored with the page, so a later run can relink it when the target was saved, became gone or got
other headings, while the page itself is unchanged. A run without the option restores the links to the site, since
nothing would update local ones.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, Generic, NamedTuple, TypeVar
from urllib.parse import unquote

import orjson

from sitemirror import failpoint
from sitemirror.convert.anchors import unpack_fragments
from sitemirror.frontier.traps import NO_RULES, ParamRules, strip_session_and_tracking
from sitemirror.links.markdown import anchors, as_named, relink_markdown
from sitemirror.links.resolve import is_local, linked_path, relative_link
from sitemirror.settings import Links
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.link_targets import LinkedPage, MarkdownLinkTargets, Relinked
from sitemirror.urls import InvalidUrl, normalize

_BATCH: Final = 16  # files that are changed before their rows are
_BATCH_BYTES: Final = 1 << 20
_KNOWN_URLS: Final = 50_000
_KNOWN_NAMES: Final = 50_000
_PLAIN: Final = re.compile(r"[\s_.]+")

K = TypeVar("K")
V = TypeVar("V", bound=Collection[str])


async def link_locally(tree: Tree, pages: MarkdownLinkTargets, watch: Stopwatch, params: ParamRules = NO_RULES) -> None:
    """Relink every page that links to another one. Idempotent, also after a kill."""
    await _relink(_Linker(tree, pages, params=params), pages, watch)


async def link_to_the_site(tree: Tree, pages: MarkdownLinkTargets, watch: Stopwatch) -> None:
    """Restore links to the site, as far as the originals are recorded."""
    await _relink(_Linker(tree, pages, Links.ABSOLUTE), pages, watch)


async def _relink(linker: _Linker, pages: MarkdownLinkTargets, watch: Stopwatch) -> None:
    batch: list[_Rewriting] = []
    for number, page in enumerate(pages.pages()):
        if number % _BATCH == 0:
            await asyncio.sleep(0)  # Let other sites and a request to stop proceed.
        with watch.working(Stage.PUBLISHING):
            change = linker.rewrite(page)
            if change is not None:
                batch.append(change)
            if len(batch) >= _BATCH or sum(len(each.data or b"") for each in batch) > _BATCH_BYTES:
                _write(linker.tree, pages, batch)
                batch.clear()
    _write(linker.tree, pages, batch)


def _write(tree: Tree, pages: MarkdownLinkTargets, batch: Sequence[_Rewriting]) -> None:
    """Announce the files, then write them: a file with neither hash was edited."""
    rewritten = [(each, data) for each in batch if (data := each.data) is not None]
    if rewritten:
        pages.announce([each.change for each, _ in rewritten])
    for each, data in rewritten:
        tree.write(each.path, data)
        failpoint.reached("page-linked")
    if batch:
        pages.relinked([each.change for each in batch])


class _Rewriting(NamedTuple):
    """A file to write. `data` is None if only its row is outdated."""

    path: str
    data: bytes | None
    change: Relinked


class _Target(NamedTuple):
    """The target of a link."""

    path: str
    ids: tuple[int, ...]  # pages that may know the fragment: the file's own, and the one that was linked


class _Linker:
    def __init__(
        self, tree: Tree, pages: MarkdownLinkTargets, links: Links = Links.LOCAL, params: ParamRules = NO_RULES
    ) -> None:
        self._params = params
        self.links = links
        self.tree = tree
        self._pages = pages
        self._target = lru_cache(_KNOWN_URLS)(self._find)
        self._url_at = lru_cache(_KNOWN_URLS)(pages.url_at)
        self._fragments = _NameCache[int, Mapping[str, str]](lambda id: unpack_fragments(pages.anchors(id)))
        self._anchors = _NameCache[str, frozenset[str]](self._read_anchors)

    def rewrite(self, page: LinkedPage) -> _Rewriting | None:
        """Return the new content; None if it is as recorded, or was edited."""
        if not self.tree.exists(page.path):
            return None
        before = self.tree.read(page.path)
        digest = sha256(before).hexdigest()
        if page.sha256 not in (None, digest):
            return None
        relinker = _Relinker(self, page, digest)
        text = before.decode("utf-8", "replace")
        changed = relink_markdown(text, change=relinker.change)
        data = changed.encode() if changed != text else None
        if data is not None:
            digest = sha256(data).hexdigest()
        links = pack_links(relinker.pairs)
        if digest == page.sha256 and links == page.links and (not links or page.is_linked):
            return None
        size = len(before if data is None else data)
        return _Rewriting(page.path, data, Relinked(page.id, size, digest, links, relinker.is_vague))

    def find(self, url: str) -> _Target | None:
        try:
            return self._target(normalize(url))
        except InvalidUrl:
            return None

    def _find(self, url: str) -> _Target | None:
        found = self._pages.find(url) or self._pages.find(strip_session_and_tracking(url, self._params))
        if found is None or not self.tree.exists(found[0]):
            return None
        path, page, own = found
        return _Target(path, (page,) if page == own else (page, own))

    def exists(self, path: str) -> bool:
        return self.tree.exists(path)

    def url_at(self, path: str) -> str | None:
        return self._url_at(path)

    def anchor_for(self, target: _Target, fragment: str) -> str:
        """Return the anchor in the target file for a fragment of the site; empty for the top of the file."""
        name = fragment.partition(":~:")[0]
        for id in target.ids if name else ():
            headings = self._fragments[id]
            if anchor := headings.get(name) or headings.get(unquote(name)):
                return anchor
        return self.similar_anchor(target.path, unquote(name))

    def similar_anchor(self, path: str, name: str) -> str:
        """Return the anchor with that name, or a similar one, in a file; empty if there is none."""
        if not name:
            return ""
        there = self._anchors[path]
        plain = _PLAIN.sub("-", name.lower()).strip("-")
        return next((each for each in (name, name.lower(), plain) if each in there), "")

    def _read_anchors(self, path: str) -> frozenset[str]:
        return anchors(self.tree.read(path).decode("utf-8", "replace")) if self.tree.exists(path) else frozenset()


class _Relinker:
    """The links of one file: the original and the current destination of each."""

    def __init__(self, linker: _Linker, page: LinkedPage, digest: str) -> None:
        self.pairs: list[tuple[str, str]] = []  # (destination now, destination on the site)
        self.is_vague = False  # True if the originals of some links are unknown
        self._linker = linker
        self._path = page.path
        self._itself = _Target(page.path, (page.id,))
        self._was: dict[str, deque[str]] = {}
        self._is_linked = page.is_linked or digest != page.sha256
        if page.is_linked:
            for now, was in _unpack(page.links):
                self._was.setdefault(now, deque()).append(was)

    def change(self, destination: str) -> str | None:
        """Return the new destination of a link."""
        was = self._was.get(destination)
        if was:
            return self._relink(was.popleft())
        if not is_local(destination):
            return self._relink(destination)
        path, _, fragment = destination.partition("#")
        if path:
            self.is_vague = True
            return self._find_again(path, fragment)
        if not fragment:
            return None
        if self._is_linked and self._linker.similar_anchor(self._path, unquote(fragment)) == unquote(fragment):
            self.is_vague = True
            return None
        return self._relink(destination)

    def _relink(self, original: str) -> str:
        """Return the path of the target's file, or the original URL if it has none."""
        if self._linker.links is Links.ABSOLUTE:
            return original
        url, _, fragment = original.partition("#")
        target = self._linker.find(url) if url else self._itself
        if target is None:
            return original
        anchor = self._linker.anchor_for(target, fragment)
        if anchor and target.path == self._path:
            found = f"#{anchor}"
        else:
            found = relative_link(self._path, target.path) + (f"#{anchor}" if anchor else "")
        found = as_named(found)
        self.pairs.append((found, original))
        return found

    def _find_again(self, path: str, fragment: str) -> str | None:
        """Relink a link whose original was lost with the state, by the page whose file it leads to."""
        there = linked_path(self._path, unquote(path))
        url = there and self._linker.url_at(there)
        if url:
            return self._relink(f"{url}#{fragment}" if fragment else url)
        if not fragment or there is None or not self._linker.exists(there):
            return None
        return None if unquote(fragment) == self._linker.similar_anchor(there, unquote(fragment)) else path


class _NameCache(Generic[K, V]):
    """A cache of the most recently read name collections, limited by the total number of names."""

    def __init__(self, read: Callable[[K], V]) -> None:
        self._read = read
        self._cached: OrderedDict[K, V] = OrderedDict()
        self._names = 0

    def __getitem__(self, key: K) -> V:
        found = self._cached.get(key)
        if found is not None:
            self._cached.move_to_end(key)
            return found
        found = self._cached[key] = self._read(key)
        self._names += len(found) + 1
        while self._names > _KNOWN_NAMES and len(self._cached) > 1:
            self._names -= len(self._cached.popitem(last=False)[1]) + 1
        return found


def pack_links(pairs: list[tuple[str, str]]) -> bytes:
    """Pack the current and original links of a file for the state."""
    return zlib.compress(orjson.dumps(pairs)) if pairs else b""


def _unpack(packed: bytes) -> Iterator[tuple[str, str]]:
    yield from orjson.loads(zlib.decompress(packed)) if packed else ()
