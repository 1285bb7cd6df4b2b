"""Resolves references: to absolute URLs as a browser does, and to where they lead inside a mirror."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cached_property
from typing import Final
from urllib.parse import quote

import ada_url

from sitemirror.urls import InvalidUrl, joined, normalize, origin, with_encoded_query

# URLs that resolve by joining strings: no scheme, no dot segments, nothing to escape. Most links are of this kind, and
# joining them is ten times faster than parsing them.
_SEGMENTS: Final = r"[A-Za-z0-9_~-][A-Za-z0-9_~./!$&'()*+,;=@-]*+"
_PATH: Final = r"/(?:[A-Za-z0-9_~!$&'()*+,;=@:%-][A-Za-z0-9_~./!$&'()*+,;=@:%-]*+)?+"  # a colon is no scheme's there
_TAIL: Final = r"(?:\?[A-Za-z0-9_~./!$&()*+,;=@:?%-]*+)?+(?:#[A-Za-z0-9_~./!$&'()*+,;=@:?%\[\]-]*+)?+"
_RELATIVE: Final = re.compile(rf"((?:\.\./)*+)(?:{_SEGMENTS}{_TAIL})?+").fullmatch
_ROOTED: Final = re.compile(f"{_PATH}{_TAIL}").fullmatch
_ABSOLUTE: Final = re.compile(rf"https?://(?:[a-z0-9_-]++\.)+[a-z]++{_PATH}{_TAIL}").fullmatch

# An origin without the final slash, as people write it. It stays, so that it equals the text of its link.
_HOST: Final = re.compile(r"https?://(?:[a-z0-9_-]++\.)+[a-z]++").fullmatch

_WEB: Final = ("https://", "http://")
_LENGTH_OF_UP: Final = len("../")
_NOT_LOCAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:|[/\\]{2}")
# Read the same by every URL parser, in an attribute, in CSS, in a srcset and in Markdown. All else is percent-encoded:
# in the name of a file `?`, `#` and `%` are letters like any other.
_SAFE_IN_PATH: Final = "/~@+=:!$"
_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9_.\-/~@+=:!$]++").fullmatch


def is_local(reference: str) -> bool:
    """True if a reference leads to a file of the same tree."""
    return _NOT_LOCAL.match(reference) is None


def relative_link(from_path: str, to_path: str) -> str:
    """The percent-encoded link between two files, both POSIX paths in one tree."""
    folder = from_path[: from_path.rfind("/") + 1]
    up = ""
    while not to_path.startswith(folder):
        folder = folder[: folder.rfind("/", 0, -1) + 1]
        up += "../"
    below = to_path[len(folder) :]
    link = up + (below if _PLAIN_PATH(below) else quote(below, safe=_SAFE_IN_PATH))
    # A colon in the first segment would end a scheme.
    return f"./{link}" if ":" in link.partition("/")[0] else link


def linked_path(from_path: str, link: str) -> str | None:
    """The path that a decoded link leads to from `from_path`; None if it leaves the tree."""
    if link.startswith("/"):
        return None
    if not link:
        return from_path
    there = posixpath.normpath(posixpath.join(posixpath.dirname(from_path), link))
    return None if there in (".", "..") or there.startswith("../") else there


class Resolver(dict[str, str | None]):
    """The URLs of one page by reference. Pages repeat most links, so each is resolved once.

    The value is `None` where the URL has to stay as it is: `#fragment`, or no URL at all.
    """

    def __init__(self, base: str, encoding: str | None = None) -> None:
        """`encoding` is that of the page, which the queries of its links are sent in."""
        super().__init__()
        self._encoding = encoding
        if "%" in base or not _ABSOLUTE(base):
            try:
                base = normalize(base)
            except InvalidUrl:
                pass
        self._base = base
        self.joins = base.startswith("http")  # else only absolute URLs can be resolved
        self._origin = origin(base)
        self._scheme = base[: base.find(":") + 1]
        # The folder of the page, and those around it, as far as anything leads there.
        self._folders = [base.partition("?")[0].rpartition("/")[0] + "/"]
        self.invalid: set[str] = set()  # what looks like a URL and is none

    def __missing__(self, raw: str) -> str | None:
        found: str | None
        # Most links of a manual.
        if (
            raw[:1] != "/"
            and raw[:4] != "http"
            and raw
            and self.joins
            and (way := _RELATIVE(raw)) is not None
            and raw.find("/.", up := way.end(1)) < 0
        ):
            folders, levels = self._folders, up // _LENGTH_OF_UP
            found = (folders[levels] if levels < len(folders) else self._folder_above(levels)) + raw[up:]
        else:
            found = self._resolve(raw)
        self[raw] = found
        return found

    def _resolve(self, raw: str) -> str | None:
        first = raw[:1]
        if first == "#":
            return None
        if not raw:
            return self._base if self.joins else None
        if "/." not in raw and ("%" not in raw or "%2e" not in raw.lower()):
            if raw[:4] == "http":
                if (_ABSOLUTE(raw) or _HOST(raw)) and "xn--" not in raw:
                    return raw
            elif self.joins and raw[:2] == "//":
                if _ABSOLUTE(self._scheme + raw) and "xn--" not in raw:
                    return self._scheme + raw
            elif self.joins and first == "/" and _ROOTED(raw):
                return self._origin + raw
        return self._parsed(raw)

    def _parsed(self, raw: str) -> str | None:
        try:
            href = str((ada_url.URL(raw, self._base) if self.joins else ada_url.URL(raw)).href)
            if href.startswith(_WEB) and (own := with_encoded_query(raw, self._encoding)) is not raw:
                href = str((ada_url.URL(own, self._base) if self.joins else ada_url.URL(own)).href)
            return href
        except (ValueError, UnicodeEncodeError):
            if self.joins:
                self.invalid.add(raw)
            return None if self.joins else raw

    def _folder_above(self, levels: int) -> str:
        folders = self._folders
        while len(folders) <= levels:
            folder = folders[-1]
            # Above the root there is only the root.
            folders.append(folder if len(folder) <= len(self._origin) + 1 else folder[: folder.rindex("/", 0, -1) + 1])
        return folders[levels]


class Localizer:
    """Resolve references as a browser does, and look up each target once."""

    def __init__(
        self, url: str, base: str, target: Callable[[str], str], encoding: Callable[[], str | None] = lambda: None
    ) -> None:
        """`encoding` gives the page's, which may take time to detect."""
        self._encoding = encoding
        self._page = url
        self._base = base
        # Empty where a base is nothing that references could simply be joined to.
        self._folder = base[: base.partition("?")[0].rfind("/") + 1] if base.startswith(_WEB) else ""
        self._target = target
        self._absolute: dict[str, str | None] = {}
        self._targets: dict[str, str] = {}
        self._links: dict[str, tuple[str | None, bool]] = {}  # what a reference becomes, and whether it is this page

    def based_on(self, href: str) -> Localizer:
        """The same for a page with a base element; one that is no address is as good as none."""
        try:
            return Localizer(self._page, normalize(href, self._page), self._target, self._encoding)
        except InvalidUrl:
            return self

    def link(self, reference: str, fragment: str) -> str | None:
        """The new text for a reference with its fragment; `None` to leave it."""
        known = self._links.get(reference)
        if known is None:
            absolute = self._resolve(reference)
            if absolute is None:
                return self._unfetchable(reference, fragment)
            if fragment and absolute == self._page:
                return fragment
            new: str | None = self._targets.get(absolute)
            if new is None:
                new = self._targets[absolute] = self._target(absolute)
            if new == absolute == self._page and not reference.strip():
                new = ""  # An empty reference is the page itself, wherever its file is.
            elif new == absolute and reference[:8].lower().startswith(_WEB):
                new = None
            known = self._links[reference] = new, absolute == self._page
        new, is_here = known
        if fragment and is_here:
            return fragment
        return None if new is None else new + fragment

    def address(self, reference: str, fragment: str) -> str | None:
        """The same for a reference that names a place on the web, whatever is saved: it becomes absolute."""
        absolute = self._resolve(reference)
        if absolute is None:
            return self._unfetchable(reference, fragment)
        return None if reference[:8].lower().startswith(_WEB) else absolute + fragment

    @cached_property
    def _urls(self) -> Resolver:
        return Resolver(self._base)

    def _resolve(self, reference: str) -> str | None:
        if reference in self._absolute:
            return self._absolute[reference]
        absolute: str | None
        absolute = joined(self._folder, reference) if self._folder else None
        if absolute is None:
            own = reference
            if "?" in reference and not reference.isascii():
                own = with_encoded_query(reference, self._encoding())
            try:
                absolute = normalize(self._urls[own] or own)
            except InvalidUrl:
                absolute = None
        self._absolute[reference] = absolute
        return absolute

    def _unfetchable(self, reference: str, fragment: str) -> str | None:
        """An absolute URL for a reference that cannot be fetched (`//user@host`) but would lead into the disk."""
        found = self._urls[reference] or ""
        if not found.startswith(_WEB) or ada_url.check_url(reference):
            return None
        return found + fragment


class ReferenceRelinker:
    """Changes references of a localised file as they are written."""

    def __init__(self, change: Callable[[str], str | None]) -> None:
        self._change = change

    def based_on(self, _href: str) -> ReferenceRelinker:
        """Itself: references are not resolved."""
        return self

    def link(self, reference: str, fragment: str) -> str | None:
        """The new text for a reference with its fragment; `None` to leave it, as within the page."""
        new = self._change(reference) if reference else None
        return None if new is None else new + fragment

    def address(self, _reference: str, _fragment: str) -> str | None:
        """Addresses on the web do not depend on where a file is."""
        return None
