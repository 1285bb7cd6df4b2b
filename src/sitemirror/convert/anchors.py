"""Map the ids of an HTML page to the anchors of its Markdown.

Markdown renderers make anchors from headings only, while HTML links may use the id of any element. To keep local links
working, each id is mapped to the heading at its position, else to the last heading before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson
from turbohtml import Comment, Element, Text

from sitemirror.convert.content.choose import choose_content, drop_chrome, drop_css_hidden, drop_unrendered
from sitemirror.convert.document import parse_html
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
_SHOWN: Final = frozenset(("img", "hr"))  # visible without any text
_NAMED: Final = "[id], a[name]"

# Headings are found again in the Markdown by a number between noncharacters at their end.
_MARK: Final = "\ufdd5"
_NUMBER: Final = re.compile(" ?\ufdd5([0-9]+)\ufdd6")
_ATX: Final = re.compile("#{1,6} +")


def fragment_map(
    html: bytes | str, *, url: str, charset: str | None = None, content: Content | str = Content.AUTO
) -> Mapping[str, str]:
    """Map every id in the converted part of a page to the anchor of its heading.

    That is the heading that has the id or contains it, the next heading if only markup is in between, else the last
    heading before it. Ids before the first heading are left out, since they mean the top of the file. Percent-decode a
    link's fragment before looking it up here.
    """
    document = parse_html(html, url=url, charset=charset)
    body = document.body
    if body is None:
        return {}
    ids = _mark_ids(body)
    if not ids or _MARK in body.text:
        return {}
    urls = Resolver(document.base, document.tree.encoding)
    generators = recognise_generators(read_metadata(document).signature, body)
    rules = hiding_rules(document)
    drop_unrendered(document)
    cut, css_hidden = drop_chrome(body, document.chrome, rules)
    names = vocabulary(generators)
    elements = choose_content(body, Content(content), generators, document)
    drop_css_hidden(css_hidden, cut)
    slugs = _find_slugs(elements, urls, names)
    if slugs is None:
        # The conversion does the same with a page that is all navigation.
        document = parse_html(html, url=url, charset=charset)
        body = document.body
        assert body is not None
        elements, ids = [body], _mark_ids(body)
        drop_unrendered(document)
        slugs = _find_slugs(elements, urls, names) or {}
    return _map_ids(elements, ids, slugs) if slugs else {}


def pack_fragments(
    html: bytes | str, *, url: str, charset: str | None = None, content: Content | str = Content.AUTO
) -> str:
    """Serialise a page's `fragment_map` compactly, to be stored with the page; empty if it has no ids."""
    ids: dict[str, list[str]] = {}
    for name, anchor in fragment_map(html, url=url, charset=charset, content=content).items():
        ids.setdefault(anchor, []).append(name)
    return orjson.dumps(ids).decode() if ids else ""


def unpack_fragments(packed: str) -> dict[str, str]:
    """Deserialise the result of `pack_fragments`."""
    found = orjson.loads(packed) if packed else {}
    return {name: anchor for anchor, names in found.items() for name in names}


def _mark_ids(body: Element) -> list[tuple[Comment, str]]:
    """Insert a comment at each id, which keeps its position when the element is replaced."""
    ids: list[tuple[Comment, str]] = []
    for element in [body, *body.select(_NAMED)]:
        for name in (element.attr("id"), element.attr("name") if element.tag == "a" else None):
            if name:
                mark = Comment(f"{_MARK}{len(ids)}")
                ids.append((mark, name))
                if len(element) or element is body:
                    element.insert(0, mark)
                else:
                    element.insert_before(mark)
    return ids


def _number_of(comment: Comment, ids: Sequence[tuple[Comment, str]]) -> int | None:
    """The number of an id comment; `None` for the page's own comments."""
    number = comment.data[1:]
    if not comment.data.startswith(_MARK) or not number.isdecimal() or len(number) > 9 or int(number) >= len(ids):
        return None
    return int(number) if ids[int(number)][0] == comment else None


def _find_slugs(elements: list[Element], urls: Resolver, names: Vocabulary) -> dict[Element, str] | None:
    """Convert the page and find the anchor of each heading; `None` if there is no text."""
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
    for text in _heading_texts(markdown, headings):
        slug = slugs.slug(_NUMBER.sub("", text))
        if slug:
            found.update((headings[int(number)], slug) for number in _NUMBER.findall(text))
    return found


def _heading_texts(markdown: str, headings: Sequence[Element]) -> Iterator[str]:
    """The text of the headings in the Markdown, with their numbers."""
    numbered = [line for line in markdown.split("\n") if _MARK in line]
    # A heading in a table cell does not count. In a quote, an item or code a Markdown parser has to decide.
    lines = [line for line in numbered if not line.startswith("|")]
    if not all(map(_ATX.match, lines)) or any(heading.closest("pre") is not None for heading in headings):
        yield from MarkdownText(markdown).headings()
        return
    for line in lines:
        yield plain_text(_ATX.sub("", line, count=1))


def _map_ids(
    elements: list[Element], ids: Sequence[tuple[Comment, str]], slugs: Mapping[Element, str]
) -> dict[str, str]:
    stops: list[Element | int] = []
    for element in elements:
        for node in (element, *element.descendants):
            if isinstance(node, Element):
                if node.tag in _HEADINGS:
                    stops.append(node)
            elif isinstance(node, Comment) and (number := _number_of(node, ids)) is not None:
                stops.append(number)
    ahead: dict[int, str] = {}
    for stop in reversed(stops):
        if isinstance(stop, int):
            ahead[stop] = _containing_anchor(ids[stop][0], slugs) or _following_anchor(ids, stop, slugs, ahead)
    found: dict[str, str] = {}
    current = ""
    for stop in stops:
        if isinstance(stop, Element):
            current = slugs.get(stop, current)
        elif slug := ahead[stop] or current:
            found.setdefault(ids[stop][1], slug)
    return found


def _containing_anchor(mark: Comment, slugs: Mapping[Element, str]) -> str:
    """The anchor of the heading that contains an id."""
    heading = mark.parent.closest(_HEADING_SELECTOR) if isinstance(mark.parent, Element) else None
    return "" if heading is None else slugs.get(heading, "")


def _following_anchor(
    ids: Sequence[tuple[Comment, str]], number: int, slugs: Mapping[Element, str], ahead: Mapping[int, str]
) -> str:
    """The anchor of the heading after an id, if nothing visible is in between."""
    for node in ids[number][0].following:
        if isinstance(node, Text):
            if not node.data.isspace():
                return ""
        elif isinstance(node, Element):
            if node in slugs:
                return slugs[node]
            if node.tag in _SHOWN:
                return ""
        elif isinstance(node, Comment) and (later := _number_of(node, ids)) in ahead:
            assert later is not None
            return ahead[later]  # known already; nothing is searched twice
    return ""
