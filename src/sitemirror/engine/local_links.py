"""`--links local`: makes links between the Markdown pages of a mirror lead from file to file."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import Final

from sitemirror.convert.anchors import anchors
from sitemirror.convert.localize_markdown import localize_markdown
from sitemirror.convert.relative import relative_link
from sitemirror.store.files import Tree
from sitemirror.store.pages_by_url import PagesByUrl

_FRONT_MATTER: Final = re.compile(r"---\n.*?\n---\n", re.S)


def link_locally(tree: Tree, pages: PagesByUrl) -> int:
    """Rewrites every page that links to another one; says how many. Doing it again, after a kill too, does no harm."""
    linker = _Linker(tree, pages)
    changes = [change for page in pages.pages() if (change := linker.rewrite(*page)) is not None]
    pages.rewritten(changes)
    return len(changes)


class _Linker:
    def __init__(self, tree: Tree, pages: PagesByUrl) -> None:
        self._tree = tree
        self._pages = pages
        self._path_of = lru_cache(maxsize=50_000)(pages.path_of)
        self._anchors_in = lru_cache(maxsize=2_000)(self._read_anchors)

    def rewrite(self, id: int, path: str, recorded: str | None) -> tuple[int, int, str] | None:
        """(id, size, sha256) of the file as it is now, or None when that is what is recorded."""
        if not self._tree.exists(path):
            return None
        text = self._tree.read(path).decode("utf-8", "replace")
        matter, body = _split(text)

        def target(url: str, fragment: str) -> str | None:
            there = self._path_of(url) if url else None
            if there is None:
                return None
            anchor = self._anchor(there, fragment)
            if there == path:
                return f"#{anchor}" if anchor else None
            return relative_link(path, there) + (f"#{anchor}" if anchor else "")

        localized = matter + localize_markdown(body, target=target)
        data = localized.encode()
        if localized != text:
            self._tree.write(path, data)
        digest = sha256(data).hexdigest()
        return (id, len(data), digest) if digest != recorded else None

    def _anchor(self, path: str, fragment: str) -> str:
        """The anchor of the target file that a fragment of the page means; empty where there is none."""
        if not fragment:
            return ""
        there = self._anchors_in(path)
        plain = re.sub(r"[\s_.]+", "-", fragment.lower()).strip("-")
        return next((name for name in (fragment, fragment.lower(), plain) if name in there), "")

    def _read_anchors(self, path: str) -> frozenset[str]:
        if not self._tree.exists(path):
            return frozenset()
        return frozenset(anchors(_split(self._tree.read(path).decode("utf-8", "replace"))[1]))


def _split(text: str) -> tuple[str, str]:
    """Front matter and the rest."""
    found = _FRONT_MATTER.match(text)
    return (found[0], text[found.end() :]) if found else ("", text)
