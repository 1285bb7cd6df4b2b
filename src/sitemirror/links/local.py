"""Reads the local links of saved files, and the places that links can lead to. Opens nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from sitemirror.links.attributes import is_canonical
from sitemirror.links.css import css_urls, decode_css
from sitemirror.links.html import PageElements, parse_page
from sitemirror.links.markdown_text import MarkdownText
from sitemirror.links.resolve import is_local
from sitemirror.links.values import xml_style_sheets

_TRIMMED: Final = "".join(map(chr, range(33)))  # what a URL parser strips
_DROPPED: Final = str.maketrans("\\", "/", "\t\n\r")  # what it drops everywhere, and what it takes for a slash
_TO_PLACES: Final = frozenset(("a", "area", "iframe", "frame"))  # A fragment of theirs is a place in a page.

# Code is no place for links; what a backslash stands before means itself. The bound keeps the time linear.
_FENCED: Final = re.compile(r"^( {0,3})(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)", re.M | re.S)
_QUIET: Final = re.compile(r"\\.|(?<!`)(`++)(?!`).{1,5000}?(?<!`)\1(?!`)|(?P<link>\]\()", re.S)
_DESTINATION: Final = re.compile(
    r"[ \t\n]*(?:<(?P<angled>(?:[^<>\n\\]|\\.)*)>|(?P<plain>(?:[^\s()\\]|\\.|\([^\s()]*\))*))"
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(slots=True)
class Linked:
    """What a file says: local references as (path, fragment), each once, and the anchors that it has."""

    references: set[tuple[str, str]] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def add(self, reference: str, *, leads: bool) -> None:
        """Takes a reference as it is written; those that leave the disk do not count."""
        text = reference.strip(_TRIMMED).translate(_DROPPED)
        if not text or not is_local(text):
            return
        path, _, fragment = text.partition("#")
        place = fragment.partition(":~:")[0] if leads else ""
        path = unquote(path.partition("?")[0])
        if path or place:
            self.references.add((path, place))


def html_links(data: bytes) -> Linked:
    """The local links and the anchors of a page, as a browser that opens the file takes them."""
    found = Linked()
    tree = parse_page(data)
    found.anchors.update(element.attr("id") or "" for element in tree.select("[id]"))
    found.anchors.update(element.attr("name") or "" for element in tree.select("a[name]"))
    for sheet in xml_style_sheets(data):
        found.add(sheet, leads=False)
    page = PageElements(tree, with_templates=True)
    _add(page, found)
    for nested in page.nested():
        inner = Linked()
        _add(nested, inner)
        # A place without a path is one in that page itself.
        found.references.update(reference for reference in inner.references if reference[0])
    return found


def _add(page: PageElements, found: Linked) -> None:
    for url, _, element, _ in page.references():
        if not is_canonical(element):
            found.add(url, leads=element.tag in _TO_PLACES)


def css_links(data: bytes) -> Linked:
    """The local files that a style sheet loads."""
    found = Linked()
    for url in css_urls(decode_css(data)):
        found.add(url, leads=False)
    return found


def markdown_links(text: str) -> Linked:
    """The inline links and pictures of Markdown, quickly: what is read as a link need not be one. No anchors."""
    return _linked(_destinations(_FENCED.sub("", text)))


def exact_markdown_links(text: str) -> Linked:
    """All the links of Markdown, as the standard has them. No anchors."""
    return _linked(found.url for found in MarkdownText(text).destinations())


def _linked(destinations: Iterable[str]) -> Linked:
    found = Linked()
    for destination in destinations:
        found.add(destination, leads=True)
    if not any(path for path, _ in found.references):
        # Its links were not made local. Those within the page are the site's own then, and name ids of its HTML.
        found.references.clear()
    return found


def _destinations(text: str) -> Iterator[str]:
    for match in _QUIET.finditer(text):
        if match["link"] and (found := _DESTINATION.match(text, match.end())) is not None:
            yield _ESCAPED.sub(r"\1", found["angled"] if found["angled"] is not None else found["plain"])


def is_anywhere(fragment: str) -> bool:
    """Whether every page has this place: its top."""
    return not fragment or fragment.lower() == "top"
