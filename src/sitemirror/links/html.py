"""Finds the URLs of an HTML page or drawing, in document order.

A `noscript` counts, since a mirror's reader may have no scripts. A `template` does not, since nothing in it is shown
unless a script copies it; a shadow root is shown, so it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import turbohtml
from turbohtml import Document, Element, Namespace

from sitemirror.links.attributes import (
    ASSET,
    ATTRIBUTES,
    BACKGROUND,
    DRAWN_ATTRIBUTES,
    LINKED_ASSET,
    Role,
    Syntax,
    UrlAttribute,
    anchor_role,
    input_role,
    is_css,
    is_refresh,
    link_role,
    plugin_role,
    words,
)
from sitemirror.links.found import Collector, PageLinks
from sitemirror.links.values import refresh_url, srcset_urls, xml_style_sheets
from sitemirror.urls import InvalidUrl, normalize

Reference = tuple[str, Role, Element, Syntax]
"""A URL as it is written, its role, and the element and syntax that it is written in."""

_MAX_NESTING: Final = 3  # of pages in srcdoc attributes
_ROLES: Final[dict[str, Callable[[Element], Role | None]]] = {
    "a": anchor_role,
    "area": anchor_role,
    "link": link_role,
    "object": plugin_role,
    "embed": plugin_role,
    "input": input_role,
}
_NOFOLLOW: Final = words("nofollow none")  # values of `robots`
_STYLED: Final = '[style*="("],[background]'  # A `style` without a function holds no URL.


def _fetched(table: dict[str, tuple[UrlAttribute, ...]]) -> dict[str, list[tuple[str, Syntax, Role]]]:
    """The rows with a role, by tag. Those that only style an element are found by a selector."""
    found = {
        tag: [(row.name, row.syntax, row.role) for row in rows if row.role is not None and row is not BACKGROUND]
        for tag, rows in table.items()
    }
    return {tag: rows for tag, rows in found.items() if rows}


_FETCHED: Final = _fetched(ATTRIBUTES)
_FETCHED_BY_DRAWINGS: Final = _fetched(DRAWN_ATTRIBUTES)
_TAGS: Final = (*(_FETCHED | _FETCHED_BY_DRAWINGS), "style", "base", "template")
_SELECTOR: Final = ",".join((*_TAGS, _STYLED))


class PageElements:
    """The elements of a page that may hold URLs, in document order."""

    def __init__(self, tree: Document, *, with_templates: bool = False) -> None:
        """Removes templates from `tree`, unless they count."""
        elements = list(tree.iter_elements(_TAGS))
        if not with_templates and any(element.tag == "template" for element in elements):
            tree.remove("template:not([shadowrootmode])")
            elements = list(tree.iter_elements(_TAGS))
        # One selector for both takes three times as long, and few pages have style attributes with URLs.
        self._has_styled = tree.select_one(_STYLED) is not None
        self._elements = tree.select(_SELECTOR) if self._has_styled else elements

    def base(self, url: str) -> str:
        """The base of relative URLs in the page at `url`: its first `<base href>`, if that is valid."""
        for element in self._elements:
            if element.tag != "base" or element.namespace is not Namespace.HTML:
                continue
            if (href := element.attr("href")) is not None:
                try:
                    return normalize(href, url)
                except InvalidUrl:
                    break
        return url

    def asks_nofollow(self) -> bool:
        """True if the page asks that none of its links be followed."""
        return any(
            (element.attr("name") or "").strip().lower() == "robots"
            and not _NOFOLLOW.isdisjoint(words((element.attr("content") or "").replace(",", " ")))
            for element in self._elements
            if element.tag == "meta"
        )

    def references(self) -> Iterator[Reference]:
        """Every URL that a reader may follow or a browser loads, but for those in a srcdoc."""
        for element in self._elements:
            tag = element.tag
            if tag == "style" and is_css(element):
                for url in _css_urls(element.text):
                    yield url, ASSET, element, Syntax.CSS
            is_drawn = element.namespace is not Namespace.HTML
            rows = (_FETCHED_BY_DRAWINGS if is_drawn else _FETCHED).get(tag, ())
            special = None
            if rows and (role_of := _ROLES.get(tag)) is not None and (special := role_of(element)) is None:
                rows = ()
            for name, syntax, usual in rows:
                value = element.attr(name)
                if value is None:
                    continue
                if syntax is Syntax.LINK or syntax is Syntax.RESOURCE:
                    yield value, special or usual, element, syntax
                    if is_drawn:
                        break  # Beside an href, xlink:href does not count.
                elif syntax is Syntax.SRCSET:
                    for url in srcset_urls(value) if special in (None, LINKED_ASSET) else ():
                        yield url, usual, element, syntax
                elif is_refresh(element) and (target := refresh_url(value)):
                    yield target, usual, element, syntax
            if self._has_styled:
                if BACKGROUND in ATTRIBUTES.get(tag, ()) and (picture := element.attr("background")):
                    yield picture, ASSET, element, Syntax.RESOURCE
                for url in _css_urls(element.attr("style") or ""):
                    yield url, ASSET, element, Syntax.CSS

    def nested(self, levels: int = _MAX_NESTING) -> Iterator[PageElements]:
        """The pages in srcdoc attributes, the outer ones first."""
        pages = [
            PageElements(turbohtml.parse(page, positions=False, allow_declarative_shadow_roots=False))
            for element in self._elements
            if element.tag == "iframe" and (page := element.attr("srcdoc"))
        ]
        yield from pages
        if levels > 1:
            for inner in pages:
                yield from inner.nested(levels - 1)


def page_links(html: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """Links of the page at the normalised `url`. `charset` is the header's. Never raises; linear time."""
    # A drawing may name its sheets before its first element, which for the parser is a comment.
    return tree_links(parse_page(html, charset), url=url, sheets=xml_style_sheets(html))


def tree_links(tree: Document, *, url: str, sheets: Iterable[str] = ()) -> PageLinks:
    """Links of a parsed page with its shadow roots as templates. Removes other templates.

    `sheets` are style sheets that no element names.
    """
    page = PageElements(tree)
    links = Collector(url=url, base=page.base(url), encoding=tree.encoding)
    for sheet in sheets:
        links.add_resource(sheet, LINKED_ASSET)
    # The links of a page in a srcdoc count from where those of the page around it do.
    for each in (page, *page.nested()):
        for reference, role, _, syntax in each.references():
            (links.add if syntax is Syntax.LINK else links.add_resource)(reference, role)
    return links.links(nofollow=page.asks_nofollow())


def parse_page(html: bytes, charset: str | None = None) -> Document:
    """The tree of a page, with shadow roots as templates, which can be walked like anything else."""
    if charset is not None:
        try:
            return turbohtml.parse(html, encoding=charset, positions=False, allow_declarative_shadow_roots=False)
        except (LookupError, ValueError):
            pass  # An unknown charset in the header counts as none.
    return turbohtml.parse(html, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)


def _css_urls(css: str) -> Iterator[str]:
    if "(" in css or "@" in css:
        from sitemirror.links.css import css_urls  # Its patterns take longer to compile than all else here.

        yield from css_urls(css)
