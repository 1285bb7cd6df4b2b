"""Choose the elements of a page that are its content.

`full` is the body without navigation, footers and asides by their tags or roles; `main` is the main content alone;
`auto` is the main content if the rest is safe to drop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import compress
from typing import Final

from turbohtml import Element, Text

from sitemirror.convert.content.blocks import PageBlocks, PageParts
from sitemirror.convert.content.features import Features, Hints, read_hints
from sitemirror.convert.content.keep import choose_blocks, prune
from sitemirror.convert.content.model import load_model
from sitemirror.convert.document import Document
from sitemirror.convert.elements.code import merge_highlighted_code
from sitemirror.convert.elements.controls import is_code_area
from sitemirror.convert.elements.inline import convert_text_styles, separate_words
from sitemirror.convert.generators import Generator
from sitemirror.convert.hidden.css import HidingRule, select_hidden
from sitemirror.convert.hidden.elements import MAYBE_HIDDEN_OR_MENU, hidden_by_css, hidden_elements
from sitemirror.settings import Content


class CutReason(Enum):
    """The reason why a part of a page is cut."""

    NAVIGATION = "navigation"
    FOOTER = "footer"
    ASIDE = "beside the content"
    HIDDEN = "hidden text"
    OUTSIDE = "outside the main content"
    CONTROL = "button or form field"
    GENERATED = "added by the generator"


Cut = tuple[Element, CutReason]

_FORMULA: Final = "math/tex"  # begins the type of MathJax scripts
_BESIDE: Final = ("nav", "footer", "aside")
_CHROME_ROLES: Final = frozenset(("navigation", "contentinfo", "search"))

_NOTE_ROLES: Final = frozenset(
    ("note", "alert", "doc-footnote", "doc-endnote", "doc-endnotes", "doc-tip", "doc-notice", "doc-pullquote")
)
_NOTE_CLASS: Final = re.compile(
    r"(?:foot|end|side|margin)-?notes?\b|\bnotes?\b|admonition|callout|warning|caution|danger|\btip\b|\bhint\b|important|"
    r"\binfo\b|\balert|\btopic\b|\bcitation\b|system-message|starlight-aside|pullquote|"
    # Discourse's link previews, and words that mean a note only by themselves.
    r"\bonebox\b|(?<![\w-])(?:notice|success|quote)(?![\w-])",
    re.I,
)
_ASIDE_CHROME: Final = re.compile(
    r"toc|table-of-contents|nav|menu|related|share|social|promo|\bads?\b|advert|sponsor|newsletter|subscri|widget|"
    r"comment|recommend|author|trending|popular|cookie|banner|sign-?up",
    re.I,
)
_MAX_LINK_SHARE: Final = 0.4  # of an aside's text; with more it is navigation

_LANDMARKS: Final = "main, [role=main]"
# Most specific first. Several matches on a page are teasers, not the content.
_CONTAINERS: Final = (
    "[itemprop=articleBody], "
    "[class]:is(.markdown-body, .post-content, .entry-content, .article-content, .article-body)",
    # The id of a heading may be any word.
    "[id]:is(#main-content, #content, #main, #page-content):not(h1, h2, h3, h4, h5, h6, a, dt, li, span), "
    "[class]:is(.main-content, .page-content)",
)

_ANYTHING: Final = frozenset(
    ("WordPress", "Jekyll", "Hugo", "LibreOffice", "math", "Pandoc", "phpBB", "Word", "DocBook, framed")
)  # generators of pages of every kind
_ENOUGH: Final = 15  # blocks; with fewer, the model has too little to compare

_MOST_NAMES: Final = 100_000  # characters of a class attribute
_LEAST_SHARE: Final = 1 / 3  # of the page's text

# `auto` drops the rest of a page only up to this much prose (characters outside of links) or this share
_SPARE_PROSE: Final = 300
_SPARE_SHARE: Final = 0.5
# and never code, data tables, and anything under a heading.
_NEVER_SPARED: Final = "pre, table:has(th)"
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")


def drop_unrendered(document: Document) -> None:
    """Remove scripts, styles and the like from the body, and merge highlighted code."""
    for element in document.unrendered:
        if element.closest("body") is None:
            continue  # in the head, or removed with an ancestor
        if element.tag == "textarea":
            if is_code_area(element):
                element.tag = "pre"  # code to try out
        elif element.tag != "script" or not (element.attr("type") or "").lower().startswith(_FORMULA):
            element.decompose()
    merge_highlighted_code(document.listings)


def drop_chrome(
    body: Element, beside: Sequence[Element], rules: Sequence[HidingRule]
) -> tuple[list[Cut], list[Element]]:
    """Remove navigation, footers, other asides and hidden text; returns what was cut.

    `beside` are the elements that are chrome by tag, `rules` the hiding rules of the style sheets. Also returns the
    elements hidden by these rules, for `drop_css_hidden`: they stay until the blocks are judged.
    """
    cut: list[Cut] = []
    _open_noscript(body, [one for one in beside if one.tag == "noscript" and one.closest("body") is not None])
    _cut_chrome(beside, cut)
    # one query for both: walking the tree is the larger cost
    named = body.select(MAYBE_HIDDEN_OR_MENU)
    _cut_chrome(named, cut)
    menus = [element for element, _ in cut]
    for element in hidden_elements(body, named, menus):
        _cut(element, CutReason.HIDDEN, cut)
    convert_text_styles(named)
    return cut, hidden_by_css(body, select_hidden(body, rules), menus) if rules else []


def drop_hidden(body: Element, rules: Sequence[HidingRule]) -> None:
    """Remove hidden text only."""
    for element in list(hidden_elements(body, body.select(MAYBE_HIDDEN_OR_MENU), ())):
        element.decompose()
    if rules:
        drop_css_hidden(hidden_by_css(body, select_hidden(body, rules), ()), [])


def drop_css_hidden(elements: Iterable[Element], cut: list[Cut]) -> None:
    """Remove elements hidden by style sheets that are still in the page."""
    for element in elements:
        _cut(element, CutReason.HIDDEN, cut)


def _cut(element: Element, reason: CutReason, cut: list[Cut]) -> None:
    if element.closest("body") is not None:  # else removed with an ancestor
        element.decompose()
        cut.append((element, reason))


def count_hidden_texts(cut: Iterable[Cut]) -> int:
    """Count the texts that were cut as hidden."""
    return sum(reason is CutReason.HIDDEN and bool(element.text.strip()) for element, reason in cut)


def _open_noscript(body: Element, found: Sequence[Element]) -> None:
    """Unwrap noscript elements that contain most of the page, as in Discourse."""
    length = sum([len(noscript.text) for noscript in found])
    if length > _SPARE_PROSE and length * 2 > len(body.text):
        for noscript in found:
            noscript.unwrap()


def _cut_chrome(elements: Iterable[Element], cut: list[Cut]) -> None:
    for element in elements:
        tag, role = element.tag, element.attr("role")
        if (role is not None or tag in _BESIDE) and (reason := _chrome(element, tag, role)) is not None:
            _cut(element, reason, cut)


def _chrome(element: Element, tag: str, role: str | None) -> CutReason | None:
    if tag == "aside" or role == "complementary":
        # An unclosed one contains the page.
        return None if _is_content_aside(element) or element.select_one(_LANDMARKS) is not None else CutReason.ASIDE
    if (tag in ("nav", "footer") or role in _CHROME_ROLES) and not _contains_content(element):
        return CutReason.FOOTER if tag == "footer" or role == "contentinfo" else CutReason.NAVIGATION
    return None


def choose_content(
    body: Element, content: Content, generators: Sequence[Generator], document: Document
) -> list[Element]:
    """Choose the content elements of a body, in order; call `drop_chrome` before.

    The selectors of a generator decide, landmarks on pages that are too small for the model, and else the model, which
    judges every block.
    """
    if content is Content.FULL:
        return [body]
    own = generator_content(body, generators)
    # Searching the content for menus is faster than searching the page.
    has_title = any(element.tag == "h1" or element.find("h1") is not None for element in own)
    _drop_generator_chrome(own if has_title else [body], generators)
    if own:
        _append_footnotes(own[-1])
        return own if has_title else _with_title(own, body)
    if not any(generator.name not in _ANYTHING for generator in generators):
        page_blocks = PageBlocks(body)
        if page_blocks.is_whole and len(page_blocks.texts) >= _ENOUGH:
            hints = read_hints(document.head, document.url)
            kept = choose_blocks(page_blocks, _block_odds(page_blocks, hints), content, hints)
            prune(page_blocks, kept)
            for nodes in compress(page_blocks.nodes, kept):
                separate_words(nodes)
            return [body]
    found = _landmarks(body)
    if found:
        _append_footnotes(found[-1])
    if content is Content.MAIN:
        return _with_title(found, body) if found else _guess(body)
    return _with_title(found, body) if found and _is_rest_dispensable(found, body) else [body]


def _block_odds(page_blocks: PageBlocks, hints: Hints) -> list[float]:
    """The log odds that each block is content."""
    model = load_model()
    features = Features(page_blocks, PageParts(page_blocks), model.lexicon, hints)
    return model.odds(features.columns, features.page, len(page_blocks.texts))


def _contains_content(element: Element) -> bool:
    """True if a nav or footer contains the page since it was never closed, or is the source of a quote."""
    if element.tag == "footer" and element.closest("blockquote, figure") is not None:
        return True
    inside = "main, [role=main], article, footer" if element.tag == "nav" else "main, [role=main], article"
    return element.select_one(inside) is not None


def _is_content_aside(aside: Element) -> bool:
    names = f"{aside.attr('class') or ''} {aside.attr('id') or ''}"
    if aside.attr("role") in _NOTE_ROLES or _NOTE_CLASS.search(names):
        return True
    if aside.closest("main, article, [role=main]") is None and not _is_beside_paragraph(aside):
        return False
    if _ASIDE_CHROME.search(names) or aside.find("form") is not None:
        return False
    length = len(aside.text)
    return length > 0 and sum(len(anchor.text) for anchor in aside.find_all("a")) <= length * _MAX_LINK_SHARE


def _is_beside_paragraph(aside: Element) -> bool:
    """True if an aside is in a section next to a paragraph, and so part of the text."""
    return aside.closest("section") is aside.parent is not None and any(
        next((node.tag for node in nodes if isinstance(node, Element)), None) == "p"
        for nodes in (aside.previous_siblings, aside.next_siblings)
    )


def _drop_generator_chrome(elements: Iterable[Element], generators: Sequence[Generator]) -> None:
    for generator in generators:
        for element in elements:
            if generator.chrome:
                element.remove(generator.chrome)


def generator_content(body: Element, generators: Sequence[Generator]) -> list[Element]:
    """The content elements of a page of a known generator."""
    for generator in generators:
        if generator.content and (element := body.select_one(generator.content)) is not None and _has_text(element):
            heading = body.select_one(generator.heading) if generator.heading else None
            return [element] if heading is None or element in heading.ancestors else [heading, element]
        if generator.around and (element := _common_holder(body, generator.around)) is not None:
            return [element]
        if generator.is_body:
            return [body]
    return []


def _has_text(element: Element) -> bool:
    return next(element.stripped_strings, None) is not None


def _common_holder(body: Element, heads: str) -> Element | None:
    """The smallest element around all sections, if it has enough of the page's text."""
    found = body.select(heads)
    if not found:
        return None
    # In document order, an ancestor of the first and the last contains all.
    holders = list(found[-1].ancestors)
    here = next((one for one in found[0].ancestors if one in holders), None)
    if here is found[0].parent and here is not None:  # one section that contains all others
        here = here.parent
    if not isinstance(here, Element) or here is body:
        return None
    return here if _length(here) >= _LEAST_SHARE * _length(body) else None


def _landmarks(body: Element) -> list[Element]:
    """The content landmarks of a page that have text."""
    for selector in (_LANDMARKS, "article"):
        if found := _outermost(body.select(selector), selector):
            return found
    for selector in _CONTAINERS:
        found = _outermost(body.select(selector), selector)
        if len(found) == 1:
            return found
    return []


def _append_footnotes(last: Element) -> None:
    """Move footnotes right after the content into it."""
    after = last.next_sibling
    while isinstance(after, Text) and not after.data.strip():
        after = after.next_sibling
    if isinstance(after, Element) and "footnotes" in (after.attr("id"), after.attr("class")):
        last.append(after)


def _outermost(elements: list[Element], selector: str) -> list[Element]:
    if len(elements) > 1:
        elements = [one for one in elements if one.parent is None or one.parent.closest(selector) is None]
    return [one for one in elements if one.text.strip()]


def _is_rest_dispensable(found: list[Element], body: Element) -> bool:
    """True if the rest of the page outside of `found` can be dropped."""
    holders = [Element("hr") for _ in found]
    for element, holder in zip(found, holders, strict=True):
        element.replace_with(holder)
    prose = _length(body) - sum(_length(anchor) for anchor in body.find_all("a"))
    has_more = body.select_one(_NEVER_SPARED) is not None or any(map(_is_heading, body.iter_elements(_HEADINGS)))
    for element, holder in zip(found, holders, strict=True):
        holder.replace_with(element)
    return not has_more and (
        prose <= _SPARE_PROSE or prose <= _SPARE_SHARE * sum(_length(element) for element in found)
    )


def _is_heading(element: Element) -> bool:
    """True if a heading has text and is not only a link."""
    text = element.text.strip()
    return bool(text) and all(anchor.text.strip() != text for anchor in element.find_all("a"))


def _with_title(found: list[Element], body: Element) -> list[Element]:
    """Add the only h1 of the page before `found` if it is outside of it."""
    titles = body.find_all("h1", limit=2)
    if len(titles) != 1 or any(element.find("h1") is not None for element in found):
        return found
    (title,) = titles
    # A heading that is a link is the site's name.
    return found if title.find("a", href=True) is not None else [title, *found]


def _guess(body: Element) -> list[Element]:
    """The densest element of a page without landmarks, unless it is too small."""
    if any(len(one.attr("class") or "") > _MOST_NAMES for one in body.select("[class]")):
        return [body]  # against pages that take seconds to read
    element = body.main_content()
    if element is None or _length(element) * 4 < _length(body):
        return [body]
    return [element]


def _length(element: Element) -> int:
    return len("".join(element.text.split()))
