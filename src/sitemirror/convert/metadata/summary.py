"""Read facts of a page without converting it: for HTML copies and the mirror index.

The tree is not modified, so the same parse serves later steps. Every text and list is bounded in size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from turbohtml import Element, Namespace, Node, PlainText, Text

from sitemirror.convert.document import Document, parse_html
from sitemirror.convert.hidden.characters import one_line
from sitemirror.model import PageMeta
from sitemirror.urls import InvalidUrl, normalize


class Description(NamedTuple):
    """Title, canonical URL and refresh of a page; `None` where it has none."""

    title: str | None
    canonical: str | None
    refresh: str | None


def describe(document: Document) -> Description:
    """Read title, canonical URL and refresh as a conversion does; may remove scripts from the tree."""
    title: str | None = None
    canonical: str | None = None
    for element in document.head:
        tag = element.tag
        if tag == "title":
            if title is None and element.namespace is Namespace.HTML:
                title = one_line(element.text)
        elif tag == "link":
            if canonical is None and "canonical" in (element.attr("rel") or "").lower().split():
                canonical = element.attr("href") or None
        elif tag == "meta" and "refresh" in (element.attr("http-equiv") or "").lower():
            return _describe_fully(document)
    return _describe_fully(document) if title is None else Description(title, document.absolute(canonical), None)


def _describe_fully(document: Document) -> Description:
    """Describe the few pages that redirect, or whose title is only in a heading or in other metadata."""
    from sitemirror.convert.page import describe_document  # loads the whole conversion

    page = describe_document(document)
    return Description(page.title, page.canonical, page.refresh)


MAX_HEADINGS: Final = 100
"""Headings of each level; a page with more has its body in the wrong element."""

MAX_HEADING: Final = 500
"""Characters of a heading."""

MAX_LANGUAGES: Final = 200

_MAX_ROBOTS: Final = 500
_MAX_ROBOTS_TAGS: Final = 20
_MAX_LANGUAGE: Final = 40
_MAX_ANCHORS: Final = 8

_PERMALINKS: Final = frozenset("¶#§⚓∞🔗\uf0c1")
# Elements that are not rendered, and fallbacks for browsers without support.
_NO_TEXT: Final = ("script", "style", "template", "head", "title", "select", "datalist", "textarea")
_INSTEAD: Final = ("noscript", "noframes", "iframe", "object", "canvas", "video", "audio")
_UNSEEN: Final = frozenset((*_NO_TEXT, *_INSTEAD))
# without those that the parser's text rendering leaves out, too
_RENDERED: Final = tuple(_UNSEEN - {"script", "style", "template", "head", "title"})
_COUNTED: Final = (*_RENDERED, "tr", "ol")
_AS_TEXT: Final = PlainText(bullet="", layout="strict")
_MAX_LAID_OUT: Final = 10_000_000  # characters: the text rendering pads table cells to the widest one
# Elements that do not end a word: "H<sub>2</sub>O" is one word.
_LETTERS: Final = ("b", "big", "em", "font", "i", "mark", "s", "small", "strike", "strong", "sub", "sup", "tspan", "u")
_PHRASES: Final = ("a", "abbr", "acronym", "cite", "code", "data", "del", "dfn", "ins", "q", "ruby", "span", "time")
_TYPED: Final = ("bdi", "bdo", "kbd", "nobr", "rb", "samp", "tt", "var", "wbr")
_WITHIN_WORDS: Final = frozenset((*_LETTERS, *_PHRASES, *_TYPED))


def page_meta(html: bytes, *, url: str, charset: str | None = None) -> PageMeta:
    """Parse and read a page; `charset` is the one in the Content-Type header."""
    return read_page_meta(parse_html(html, url=url, charset=charset), len(html))


def read_page_meta(document: Document, size: int) -> PageMeta:
    """Read a parsed page of `size` bytes without modifying it."""
    head = _HeadReader(document.base)
    for element in document.head:
        head.take(element)
    body = document.body
    if body is None:  # a frameset
        return head.meta((), (), 0)
    levels: dict[str, list[str]] = {"h1": [], "h2": []}
    for heading in body.iter_elements(("h1", "h2")):
        found = levels[heading.tag]
        if len(found) < MAX_HEADINGS and (text := _heading(heading)):
            found.append(text)
    return head.meta(levels["h1"], levels["h2"], _words(body, size))


@dataclass(slots=True)
class _HeadReader:
    """Metadata read from the head so far; the first value counts, except that robots rules add up."""

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
    """The text of a heading without its permalink sign."""
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
    """Count the visible words of a page of `size` bytes, separated by white space."""
    hides = body.select_one("[hidden]") is not None
    rows = 0
    has_numbers = False
    for element in body.iter_elements(_COUNTED):  # one walk for everything: walking costs more than the loop
        tag = element.tag
        if tag == "tr":
            rows += 1
        elif tag == "ol":
            has_numbers = True
        else:
            return _words_one_by_one(body, hides)
    # Text and start tags of cells are part of those bytes, so most pages need no further counting.
    if hides or rows * size > _MAX_LAID_OUT < rows * (len(body.text) + 4 * len(body.find_all(["td", "th"]))):
        return _words_one_by_one(body, hides)
    numbers = len(body.select("ol > li")) if has_numbers else 0
    return len(body.to_text(_AS_TEXT).split()) - numbers


def _words_one_by_one(body: Element, hides: bool) -> int:
    """Count words without the parser's layout; a block-level element ends the word before it."""
    pieces: list[str] = []
    here, end = iter(body), ""  # current iterator, and the separator after it
    around: list[tuple[Iterator[Node], str]] = []
    while True:
        for node in here:
            if type(node) is Text:
                pieces.append(node.data)
            elif type(node) is Element:
                tag = node.tag
                if tag in _UNSEEN or (hides and node.attr("hidden") is not None):
                    pieces.append(" ")
                    continue
                around.append((here, end))
                here, end = iter(node), "" if tag in _WITHIN_WORDS else " "
                pieces.append(end)
                break
        else:
            pieces.append(end)
            if not around:
                return len("".join(pieces).split())
            here, end = around.pop()
