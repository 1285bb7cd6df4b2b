"""Links found on a page or in a style sheet: each URL once, normalised, and refused ones."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sitemirror.links.attributes import LinkKind, Role
from sitemirror.reasons import Reason
from sitemirror.text import printable
from sitemirror.urls import MAX_LENGTH, InvalidUrl, joined, normalize, origin, with_encoded_query, without_credentials

_BLANKS: Final = "".join(map(chr, range(0x21)))  # what a URL parser strips
_DROPPED: Final = dict.fromkeys(map(ord, "\t\n\r"))  # what it drops everywhere: `java\nscript:` is a scheme
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*+):")

# References that mean "base folder + text" or "origin + text" whatever follows: joined, they are nearly always in their
# final spelling already, which takes a tenth of the time of parsing.
_RELATIVE: Final = re.compile(r"[A-Za-z0-9_~%.\-][^:\\]*+").fullmatch
_ROOTED: Final = re.compile(r"/(?:[A-Za-z0-9_~%.\-].*+)?+", re.DOTALL).fullmatch

# Buttons rather than addresses. A page can have thousands, each as long as a script: one represents all.
_BUTTONS: Final = frozenset(("about", "blob", "javascript", "vbscript"))
_MAX_BUTTON_SHOWN: Final = 100
_MAX_SHOWN: Final = 2_000


class Found(NamedTuple):
    """A link that can be fetched, if the scope and robots.txt allow it."""

    url: str  # normalised, without fragment
    kind: LinkKind
    requisite: bool  # needed to show the page itself, so it belongs to the page's own depth
    attribute: str  # "href" or "src", which is how the mirror index tells edges apart
    nofollow: bool  # every link to it is marked nofollow, ugc or sponsored


class Refused(NamedTuple):
    """A link that cannot be fetched, whatever the settings."""

    text: str  # as written but for a password, printable, at most 2,000 characters
    reason: Reason


class PageLinks(NamedTuple):
    """All links of one page or style sheet, in its order, each (url, attribute) once."""

    found: tuple[Found, ...]
    refused: tuple[Refused, ...]
    nofollow: bool  # the page itself asks that none of its links be followed


class Collector:
    """Resolves references against one base and collects the results."""

    def __init__(self, *, url: str, base: str, encoding: str | None = None) -> None:
        """`encoding` is the page's, in which the queries of its links are sent."""
        self._base = base
        self._encoding = encoding
        self._origin = origin(base)
        self._folder = base.partition("?")[0].rpartition("/")[0] + "/"
        self._joins = base.startswith(("https://", "http://"))
        self._fragments_lead_here = base == url
        self._known: dict[str, str | None] = {}
        self._found: dict[tuple[str, str], Role] = {}
        self._refused: dict[str, Refused] = {}

    def add(self, reference: str | None, role: Role) -> None:
        """Adds a reference as it is written. One that only leads within the page is no link."""
        if reference is None:
            return
        try:
            url = self._known[reference]
        except KeyError:
            url = self._known[reference] = self._resolve(reference)
        if url is None:
            return
        place = (url, role.attribute)
        before = self._found.setdefault(place, role)
        if before is not role:
            self._found[place] = before.merged(role)

    def add_resource(self, reference: str | None, role: Role) -> None:
        """Adds a reference to something that the page loads: an empty one or a bare fragment loads nothing."""
        if reference and (bare := reference.strip(_BLANKS)) and bare[0] != "#":
            self.add(reference, role)

    def links(self, *, nofollow: bool = False) -> PageLinks:
        """Everything collected so far."""
        found = [
            Found(url, role.kind, role.requisite, attribute, role.nofollow)
            for (url, attribute), role in self._found.items()
        ]
        return PageLinks(tuple(found), tuple(self._refused.values()), nofollow)

    def _resolve(self, reference: str) -> str | None:
        bare = reference.partition("#")[0]
        if self._joins and (found := joined(self._folder, bare)) is not None:
            return found  # nearly every link of a manual
        text = reference.strip(_BLANKS)
        bare = text.partition("#")[0]
        if not bare and self._fragments_lead_here:
            return None
        if bare and bare[-1] in _BLANKS:
            bare = text  # Blanks before a fragment belong to the path; only those at the very end do not count.
        bare = with_encoded_query(bare, self._encoding)
        try:
            if bare.startswith(("https://", "http://")):
                return normalize(bare, self._base)
            if self._joins and 0 < len(bare) <= MAX_LENGTH:
                if _RELATIVE(bare):
                    return normalize(self._joined(bare))
                if _ROOTED(bare):
                    return normalize(self._origin + bare)
            scheme = _SCHEME.match(text.translate(_DROPPED))
            if scheme is not None and scheme[1].lower() not in ("http", "https"):
                self._refuse(text, scheme[1].lower())
                return None
            return normalize(bare, self._base)
        except InvalidUrl:
            shown = _shown(text)
            self._refused.setdefault(shown, Refused(shown, Reason.INVALID_LINK))
            return None

    def _joined(self, relative: str) -> str:
        folder = self._folder
        while relative.startswith("../"):
            relative = relative[3:]
            if len(folder) > len(self._origin) + 1:
                folder = folder[: folder.rindex("/", 0, -1) + 1]
        return folder + relative

    def _refuse(self, text: str, scheme: str) -> None:
        if scheme == "data":
            return  # It leads nowhere: what it is about is in the page itself.
        if scheme in _BUTTONS:
            if scheme not in self._refused:
                self._refused[scheme] = Refused(printable(text[:_MAX_SHOWN], limit=_MAX_BUTTON_SHOWN), Reason.NOT_HTTP)
            return
        shown = _shown(text)
        self._refused.setdefault(shown, Refused(shown, Reason.FILE_SCHEME if scheme == "file" else Reason.NOT_HTTP))


def _shown(text: str) -> str:
    return printable(without_credentials(text)[:_MAX_SHOWN])
