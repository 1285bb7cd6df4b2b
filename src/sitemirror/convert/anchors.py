"""Maps the ids of an HTML page to the anchors of its Markdown.

A renderer makes anchors from headings alone, and HTML pages are linked by the ids of any element. So that local links
lead where the page's own did, each id is mapped to the heading that stands there, or else to the last one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson
from turbohtml import Comment, Element, Text

from sitemirror.convert.content.choose import choose_content, drop_chrome, drop_css_hidden, drop_unrendered
from sitemirror.convert.document import parse
from sitemirror.convert.elements.headings import HEADINGS
from sitemirror.convert.elements.links import clean_links, make_links_absolute
from sitemirror.convert.elements.rules import convert_elements
from sitemirror.convert.elements.tables import make_rectangular
from sitemirror.convert.generators import Vocabulary, recognise_generators, vocabulary
from sitemirror.convert.hidden.css import hiding_rules
from sitemirror.convert.metadata.fields import read_metadata
from sitemirror.convert.render.renderer import render
from sitemirror.links.markdown import MarkdownText, Slugs, plain_text
from sitemirror.links.resolve import Resolver
from sitemirror.settings import Content

_HEADINGS: Final = frozenset(HEADINGS)
_HEADING_SELECTOR: Final = "h1, h2, h3, h4, h5, h6"
_SHOWN: Final = frozenset(("img", "hr"))  # something to see, without any text
_NAMED: Final = "[id], a[name]"

# How a heading is found again in the Markdown: by its number, between noncharacters, at its end.
_MARK: Final = "\ufdd5"
_NUMBER: Final = re.compile(" ?\ufdd5([0-9]+)\ufdd6")
_ATX: Final = re.compile("#{1,6} +")


def fragment_map(
    html: bytes | str, *, url: str, charset: str | None = None, content: Content | str = Content.AUTO
) -> Mapping[str, str]:
    """For every id in the part of a page that is converted: the anchor of the heading it belongs to.

    That is the heading that has the id or holds it, the heading that follows if nothing but markup stands between them,
    else the last one before it. An id before the first heading is left out: the top of the file is its place. A link's
    fragment has to be percent-decoded to be looked up here.
    """
    document = parse(html, url=url, charset=charset)
    body = document.body
    if body is None:
        return {}
    pins = _pin(body)
    if not pins or _MARK in body.text:
        return {}
    urls = Resolver(document.base, document.tree.encoding)
    generators = recognise_generators(read_metadata(document).signature, body)
    rules = hiding_rules(document)
    drop_unrendered(document)
    cut, unseen = drop_chrome(body, document.beside, rules)
    names = vocabulary(generators)
    elements = choose_content(body, Content(content), generators, document)
    drop_css_hidden(unseen, cut)
    slugs = _numbered(elements, urls, names)
    if slugs is None:
        # As the conversion does with a page that is all navigation.
        document = parse(html, url=url, charset=charset)
        body = document.body
        assert body is not None
        elements, pins = [body], _pin(body)
        drop_unrendered(document)
        slugs = _numbered(elements, urls, names) or {}
    return _places(elements, pins, slugs) if slugs else {}


def pack_fragments(
    html: bytes | str, *, url: str, charset: str | None = None, content: Content | str = Content.AUTO
) -> str:
    """A page's `fragment_map` in few letters, to be kept with the page. Empty if nothing is named."""
    ids: dict[str, list[str]] = {}
    for name, anchor in fragment_map(html, url=url, charset=charset, content=content).items():
        ids.setdefault(anchor, []).append(name)
    return orjson.dumps(ids).decode() if ids else ""


def unpack_fragments(packed: str) -> dict[str, str]:
    """The map that was packed."""
    found = orjson.loads(packed) if packed else {}
    return {name: anchor for anchor, names in found.items() for name in names}


def _pin(body: Element) -> list[tuple[Comment, str]]:
    """Puts a comment at every place that has a name, which stays there whatever becomes of the element."""
    pins: list[tuple[Comment, str]] = []
    for element in [body, *body.select(_NAMED)]:
        for name in (element.attr("id"), element.attr("name") if element.tag == "a" else None):
            if name:
                pin = Comment(f"{_MARK}{len(pins)}")
                pins.append((pin, name))
                if len(element) or element is body:
                    element.insert(0, pin)
                else:
                    element.insert_before(pin)
    return pins


def _pinned(comment: Comment, pins: Sequence[tuple[Comment, str]]) -> int | None:
    """The number of a pin; the page's own comments have none."""
    number = comment.data[1:]
    if not comment.data.startswith(_MARK) or not number.isdecimal() or len(number) > 9 or int(number) >= len(pins):
        return None
    return int(number) if pins[int(number)][0] == comment else None


def _numbered(elements: list[Element], urls: Resolver, names: Vocabulary) -> dict[Element, str] | None:
    """Shapes the page as the conversion does, and finds the anchor of each heading. `None` if there is no text."""
    for element in elements:
        clean_links(element, urls)
        make_links_absolute(element, urls)
        convert_elements(element, urls, names)
    headings = [heading for element in elements for heading in element.iter_elements(_HEADINGS, include_self=True)]
    for number, heading in enumerate(headings):
        heading.append(Text(f" {_MARK}{number}\ufdd6"))
    markdown, _ = render(elements)
    if not markdown:
        return None
    if "<table" in markdown:
        for element in elements:
            for table in element.iter_elements("table", include_self=True):
                make_rectangular(table)
        markdown, _ = render(elements)
    slugs = Slugs()
    found: dict[Element, str] = {}
    for text in _said(markdown, headings):
        slug = slugs.slug(_NUMBER.sub("", text))
        if slug:
            found.update((headings[int(number)], slug) for number in _NUMBER.findall(text))
    return found


def _said(markdown: str, headings: Sequence[Element]) -> Iterator[str]:
    """The text of the rendered page's headings, with their numbers."""
    numbered = [line for line in markdown.split("\n") if _MARK in line]
    # In a cell a heading is none. In a quote, an item or code only the whole structure of the file can tell.
    lines = [line for line in numbered if not line.startswith("|")]
    if not all(map(_ATX.match, lines)) or any(heading.closest("pre") is not None for heading in headings):
        yield from MarkdownText(markdown).headings()
        return
    for line in lines:
        yield plain_text(_ATX.sub("", line, count=1))


def _places(
    elements: list[Element], pins: Sequence[tuple[Comment, str]], slugs: Mapping[Element, str]
) -> dict[str, str]:
    stops: list[Element | int] = []
    for element in elements:
        for node in (element, *element.descendants):
            if isinstance(node, Element):
                if node.tag in _HEADINGS:
                    stops.append(node)
            elif isinstance(node, Comment) and (number := _pinned(node, pins)) is not None:
                stops.append(number)
    ahead: dict[int, str] = {}
    for stop in reversed(stops):
        if isinstance(stop, int):
            ahead[stop] = _holder(pins[stop][0], slugs) or _next(pins, stop, slugs, ahead)
    found: dict[str, str] = {}
    current = ""
    for stop in stops:
        if isinstance(stop, Element):
            current = slugs.get(stop, current)
        elif slug := ahead[stop] or current:
            found.setdefault(pins[stop][1], slug)
    return found


def _holder(pin: Comment, slugs: Mapping[Element, str]) -> str:
    """The anchor of the heading that a pin stands in."""
    heading = pin.parent.closest(_HEADING_SELECTOR) if isinstance(pin.parent, Element) else None
    return "" if heading is None else slugs.get(heading, "")


def _next(
    pins: Sequence[tuple[Comment, str]], number: int, slugs: Mapping[Element, str], ahead: Mapping[int, str]
) -> str:
    """The anchor of the heading that follows a pin, if there is nothing to see in between."""
    for node in pins[number][0].following:
        if isinstance(node, Text):
            if not node.data.isspace():
                return ""
        elif isinstance(node, Element):
            if node in slugs:
                return slugs[node]
            if node.tag in _SHOWN:
                return ""
        elif isinstance(node, Comment) and (later := _pinned(node, pins)) in ahead:
            assert later is not None
            return ahead[later]  # so that no part of the page is gone through twice
    return ""
