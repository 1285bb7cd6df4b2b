"""Reads the local links of saved files, and the anchors that links can lead to. Opens nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from sitemirror.links.attributes import is_canonical
from sitemirror.links.css import css_urls, decode_css
from sitemirror.links.html import PageElements, parse_page
from sitemirror.links.markdown import MarkdownText, inline_urls
from sitemirror.links.resolve import is_local
from sitemirror.links.values import xml_style_sheets

_TRIMMED: Final = "".join(map(chr, range(33)))  # what a URL parser strips
_DROPPED: Final = str.maketrans("\\", "/", "\t\n\r")  # what it drops everywhere, and what it takes for a slash
_TO_PLACES: Final = frozenset(("a", "area", "iframe", "frame"))  # A fragment of theirs is a place in a page.
# A link that may be local. Most Markdown has none, and reading it takes a while.
_MAY_BE_LOCAL: Final = re.compile(r"\]\([ \t\n]*+<?(?!https?://|#|\))|\]:")


@dataclass(slots=True)
class Linked:
    """The local links of a file as (path, fragment), each once, and the anchors that it has."""

    references: set[tuple[str, str]] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def add(self, reference: str, *, leads: bool) -> None:
        """Adds a reference as it is written, unless it leaves the disk."""
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


def markdown_links(data: bytes) -> Linked:
    """The local links of a Markdown file whose links were made local; no anchors."""
    found = Linked()
    text = data.decode("utf-8", "replace")
    if _MAY_BE_LOCAL.search(text):
        for destination in MarkdownText(text).destinations():
            found.add(destination.url, leads=True)
        if not any(path for path, _ in found.references):
            # Its links were not made local. Those within the page are the site's own then, and name ids of its HTML.
            found.references.clear()
    return found


def contents_links(data: bytes) -> Linked:
    """The local links of a table of contents. It has one in a line, and may have a million lines."""
    found = Linked()
    for line in data.decode("utf-8", "replace").splitlines():
        for url in inline_urls(line) if "](" in line else ():
            found.add(url, leads=True)
    return found


def is_anywhere(fragment: str) -> bool:
    """True if every page has this place: its top."""
    return not fragment or fragment.lower() == "top"
