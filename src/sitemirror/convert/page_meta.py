"""What the mirror index tells of a page: its head's own words, its headings, and how much there is to read.

Nothing is taken out of the tree, so the same parse serves whatever comes after. A page cannot make the answer large:
every text and every list has a limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from turbohtml import Element, Namespace, Node, PlainText, Text

from sitemirror.convert.document import Document, parse
from sitemirror.convert.one_line import one_line
from sitemirror.model import PageMeta
from sitemirror.urls import InvalidUrl, normalize

MAX_HEADINGS: Final = 100
"""Of each level. More of them are a page's body in the wrong element."""

MAX_HEADING: Final = 500
"""Characters."""

MAX_LANGUAGES: Final = 200

_MAX_ROBOTS: Final = 500
_MAX_ROBOTS_TAGS: Final = 20
_MAX_LANGUAGE: Final = 40
_MAX_ANCHORS: Final = 8

_PERMALINKS: Final = frozenset("¶#§⚓∞🔗\uf0c1")
# What no reader sees, and what only those see whose browser cannot show the real thing.
_NO_TEXT: Final = ("script", "style", "template", "head", "title", "select", "datalist", "textarea")
_INSTEAD: Final = ("noscript", "noframes", "iframe", "object", "canvas", "video", "audio")
_UNSEEN: Final = frozenset((*_NO_TEXT, *_INSTEAD))
# What the library's own rendering of text leaves out as well.
_RENDERED: Final = tuple(_UNSEEN - {"script", "style", "template", "head", "title"})
_AS_TEXT: Final = PlainText(bullet="", layout="strict")
_MAX_LAID_OUT: Final = 10_000_000  # characters: it fills up the cells of a table with blanks, as wide as the widest
# Elements that do not end a word: "H<sub>2</sub>O" is one.
_LETTERS: Final = ("b", "big", "em", "font", "i", "mark", "s", "small", "strike", "strong", "sub", "sup", "tspan", "u")
_PHRASES: Final = ("a", "abbr", "acronym", "cite", "code", "data", "del", "dfn", "ins", "q", "ruby", "span", "time")
_TYPED: Final = ("bdi", "bdo", "kbd", "nobr", "rb", "samp", "tt", "var", "wbr")
_WITHIN_WORDS: Final = frozenset((*_LETTERS, *_PHRASES, *_TYPED))


def page_meta(html: bytes, *, url: str, charset: str | None = None) -> PageMeta:
    """Reads a page that nobody has parsed yet. `charset` is what the Content-Type header said."""
    return read_page_meta(parse(html, url=url, charset=charset), len(html))


def read_page_meta(document: Document, size: int) -> PageMeta:
    """Reads a parsed page, which was of so many bytes, and leaves it as it is."""
    head = _Head(document.base)
    for element in document.head:
        head.take(element)
    body = document.body
    if body is None:  # A frameset has nothing to read.
        return head.meta((), (), 0)
    levels: dict[str, list[str]] = {"h1": [], "h2": []}
    for heading in body.iter_elements(("h1", "h2")):
        found = levels[heading.tag]
        if len(found) < MAX_HEADINGS and (text := _heading(heading)):
            found.append(text)
    return head.meta(levels["h1"], levels["h2"], _words(body, size))


@dataclass(slots=True)
class _Head:
    """What the head has said so far. The first word counts, except for robots, whose rules add up."""

    base: str
    title: str | None = None
    description: str | None = None
    canonical: str | None = None
    robots: list[str] = field(default_factory=list)
    languages: dict[tuple[str, str], None] = field(default_factory=dict)

    def take(self, element: Element) -> None:
        match element.tag:
            case "title" if self.title is None and element.namespace is Namespace.HTML:
                self.title = one_line(element.text)
            case "meta":
                self._take_meta((element.attr("name") or "").strip().lower(), element.attr("content") or "")
            case "link" if href := (element.attr("href") or "").strip():
                self._take_link(element, href)

    def _take_meta(self, name: str, content: str) -> None:
        if name == "description" and self.description is None:
            self.description = one_line(content)
        elif name == "robots" and len(self.robots) < _MAX_ROBOTS_TAGS and (rules := one_line(content)):
            self.robots.append(rules)

    def _take_link(self, link: Element, href: str) -> None:
        kinds = (link.attr("rel") or "").lower().split()
        if "canonical" in kinds and self.canonical is None:
            self.canonical = self._absolute(href)
        if "alternate" in kinds and len(self.languages) < MAX_LANGUAGES:
            language = one_line(link.attr("hreflang") or "")
            if language and len(language) <= _MAX_LANGUAGE and (target := self._absolute(href)):
                self.languages[language, target] = None

    def _absolute(self, href: str) -> str | None:
        try:
            return normalize(href, self.base)
        except InvalidUrl:
            return None

    def meta(self, h1: Iterable[str], h2: Iterable[str], words: int) -> PageMeta:
        robots = ", ".join(dict.fromkeys(self.robots))
        return PageMeta(
            title=self.title,
            meta_description=self.description,
            canonical_url=self.canonical,
            robots=_cut(robots, _MAX_ROBOTS) or None,
            hreflang=tuple(self.languages),
            h1=tuple(h1),
            h2=tuple(h2),
            word_count=words,
        )


def _heading(heading: Element) -> str:
    """A heading's words, without the sign that links to the heading itself."""
    text = heading.text
    for anchor in islice(heading.iter_elements("a"), _MAX_ANCHORS):
        sign = anchor.text.strip()
        if sign in _PERMALINKS and "#" in (anchor.attr("href") or ""):
            text = text.strip()
            leads = anchor.previous_sibling is None and text.startswith(sign)
            text = text.removeprefix(sign) if leads else text.removesuffix(sign)
    return _cut(one_line(text) or "", MAX_HEADING)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _words(body: Element, size: int) -> int:
    """Words that a reader sees, by white space, in a page of so many bytes."""
    if next(body.iter_elements(_RENDERED), None) is not None or body.select_one("[hidden]") is not None:
        return _words_one_by_one(body)
    # Its text and the start tags of its cells are all from those bytes, so that most pages need no more counting.
    rows = len(body.find_all("tr"))
    if rows * size > _MAX_LAID_OUT < rows * (len(body.text) + 4 * len(body.find_all(["td", "th"]))):
        return _words_one_by_one(body)
    numbers = len(body.select("ol > li")) if body.find("ol") is not None else 0
    return len(body.to_text(_AS_TEXT).split()) - numbers


def _words_one_by_one(body: Element) -> int:
    """The same without the library's layout. An element that stands on its own line ends the word before it."""
    hides = body.select_one("[hidden]") is not None
    pieces: list[str] = []
    ahead: list[Node | None] = [body]  # None where such an element ends
    while ahead:
        node = ahead.pop()
        if isinstance(node, Text):
            pieces.append(node.data)
        elif isinstance(node, Element):
            tag = node.tag
            unseen = tag in _UNSEEN or (hides and node.attr("hidden") is not None)
            if unseen or tag not in _WITHIN_WORDS:
                pieces.append(" ")
                ahead.append(None)
            if not unseen:
                ahead.extend(node.children[::-1])
        elif node is None:
            pieces.append(" ")
    return len("".join(pieces).split())
