"""Chooses the elements of a page that are its content.

Three sizes: `full` is the body less what HTML itself calls navigation, footer and aside; `main` is the main content
alone; `auto` is the main content where leaving the rest out loses nothing worth keeping.
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
    """Why a part of a page is cut."""

    NAVIGATION = "navigation"
    FOOTER = "footer"
    ASIDE = "beside the content"
    HIDDEN = "hidden: nobody sees it"
    OUTSIDE = "outside the main content"
    CONTROL = "a control: to be used, not read"
    GENERATED = "written by the page's generator, not by its author"


Cut = tuple[Element, CutReason]

_FORMULA: Final = "math/tex"  # begins the type of a script that is one
_BESIDE: Final = ("nav", "footer", "aside")
_CHROME_ROLES: Final = frozenset(("navigation", "contentinfo", "search"))

_NOTE_ROLES: Final = frozenset(
    ("note", "alert", "doc-footnote", "doc-endnote", "doc-endnotes", "doc-tip", "doc-notice", "doc-pullquote")
)
_NOTE_CLASS: Final = re.compile(
    r"(?:foot|end|side|margin)-?notes?\b|\bnotes?\b|admonition|callout|warning|caution|danger|\btip\b|\bhint\b|important|"
    r"\binfo\b|\balert|\btopic\b|\bcitation\b|system-message|starlight-aside|pullquote|"
    # A link that is shown with what it leads to, and words that mean a note only where they stand alone.
    r"\bonebox\b|(?<![\w-])(?:notice|success|quote)(?![\w-])",
    re.I,
)
_ASIDE_CHROME: Final = re.compile(
    r"toc|table-of-contents|nav|menu|related|share|social|promo|\bads?\b|advert|sponsor|newsletter|subscri|widget|"
    r"comment|recommend|author|trending|popular|cookie|banner|sign-?up",
    re.I,
)
_MAX_LINK_SHARE: Final = 0.4  # of an aside's text; a list of links is navigation, whatever it is called

_LANDMARKS: Final = "main, [role=main]"
# Most specific first. One that stands more than once on a page marks teasers, not the content.
_CONTAINERS: Final = (
    "[itemprop=articleBody], "
    "[class]:is(.markdown-body, .post-content, .entry-content, .article-content, .article-body)",
    # A heading may have any word for its id.
    "[id]:is(#main-content, #content, #main, #page-content):not(h1, h2, h3, h4, h5, h6, a, dt, li, span), "
    "[class]:is(.main-content, .page-content)",
)

_ANYTHING: Final = frozenset(
    ("WordPress", "Jekyll", "Hugo", "LibreOffice", "math", "Pandoc", "phpBB", "Word", "DocBook, framed")
)  # make pages of every kind, or are part of such
_ENOUGH: Final = 15  # blocks; a page with fewer has too little to compare

_MOST_NAMES: Final = 100_000  # characters of one element's classes
_LEAST_SHARE: Final = 1 / 3  # of the page's text in what a generator has put there

# `auto` leaves out what is beside the main content only up to this much prose (characters outside links) or this share.
_SPARE_PROSE: Final = 300
_SPARE_SHARE: Final = 0.5
# and never what has its own shape: code, tables, and what stands under a heading.
_NEVER_SPARED: Final = "pre, table:has(th)"
_HEADINGS: Final = ("h2", "h3", "h4", "h5", "h6")


def drop_unrendered(document: Document) -> None:
    """Removes of the body what is text in the tree and on no screen, and the elements that only colour code."""
    for element in document.unread:
        if element.closest("body") is None:
            continue  # It is in the head, or has gone with one around it.
        if element.tag == "textarea":
            if is_code_area(element):
                element.tag = "pre"  # code to be tried out
        elif element.tag != "script" or not (element.attr("type") or "").lower().startswith(_FORMULA):
            element.decompose()
    merge_highlighted_code(document.listings)


def drop_chrome(
    body: Element, beside: Sequence[Element], rules: Sequence[HidingRule]
) -> tuple[list[Cut], list[Element]]:
    """Removes navigation, footers, asides that are no content, and text that nobody sees; tells what it took.

    `beside` is what a document has beside its content, `rules` what its style sheets hide.

    And what is yet to be taken out by `drop_css_hidden`: what style sheets hide, since blocks are judged with it.
    """
    cut: list[Cut] = []
    _open_noscript(body, [one for one in beside if one.tag == "noscript" and one.closest("body") is not None])
    _cut_chrome(beside, cut)
    # Both in one look over the tree, which costs more than what is found.
    named = body.select(MAYBE_HIDDEN_OR_MENU)
    _cut_chrome(named, cut)
    menus = [element for element, _ in cut]
    for element in hidden_elements(body, named, menus):
        _cut(element, CutReason.HIDDEN, cut)
    convert_text_styles(named)
    return cut, hidden_by_css(body, select_hidden(body, rules), menus) if rules else []


def drop_hidden(body: Element, rules: Sequence[HidingRule]) -> None:
    """Removes text that nobody sees, and nothing else."""
    for element in list(hidden_elements(body, body.select(MAYBE_HIDDEN_OR_MENU), ())):
        element.decompose()
    if rules:
        drop_css_hidden(hidden_by_css(body, select_hidden(body, rules), ()), [])


def drop_css_hidden(elements: Iterable[Element], cut: list[Cut]) -> None:
    """Removes what is still there of what style sheets hide."""
    for element in elements:
        _cut(element, CutReason.HIDDEN, cut)


def _cut(element: Element, reason: CutReason, cut: list[Cut]) -> None:
    if element.closest("body") is not None:  # else it has gone with one around it
        element.decompose()
        cut.append((element, reason))


def count_hidden_texts(cut: Iterable[Cut]) -> int:
    """The number of texts that were cut because they are hidden."""
    return sum(reason is CutReason.HIDDEN and bool(element.text.strip()) for element, reason in cut)


def _open_noscript(body: Element, found: Sequence[Element]) -> None:
    """Shows what a page has for readers without scripts where that is the page, as in a Discourse forum."""
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
        # One that was never closed holds the page.
        return None if _is_content_aside(element) or element.select_one(_LANDMARKS) is not None else CutReason.ASIDE
    if (tag in ("nav", "footer") or role in _CHROME_ROLES) and not _has_swallowed_the_page(element):
        return CutReason.FOOTER if tag == "footer" or role == "contentinfo" else CutReason.NAVIGATION
    return None


def choose_content(
    body: Element, content: Content, generators: Sequence[Generator], document: Document
) -> list[Element]:
    """The elements of a document's body that together are the page, in order. `drop_chrome` comes first.

    The names of a documentation generator and, on pages that are too small for anything else, landmarks decide; on all
    other pages each block is judged by itself.
    """
    if content is Content.FULL:
        return [body]
    own = generator_content(body, generators)
    # With the content at hand it is quicker to look for menus there than in the whole page.
    has_title = any(element.tag == "h1" or element.find("h1") is not None for element in own)
    _drop_generator_chrome(own if has_title else [body], generators)
    if own:
        _append_footnotes(own[-1])
        return own if has_title else _with_title(own, body)
    if not any(generator.name not in _ANYTHING for generator in generators):
        page_blocks = PageBlocks(body)
        if page_blocks.is_whole and len(page_blocks.texts) >= _ENOUGH:
            said = read_hints(document.head, document.url)
            kept = choose_blocks(page_blocks, _block_odds(page_blocks, said), content, said)
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


def _block_odds(page_blocks: PageBlocks, said: Hints) -> list[float]:
    """For each block the logarithm of the odds that it is content."""
    learnt = load_model()
    features = Features(page_blocks, PageParts(page_blocks), learnt.lexicon, said)
    return learnt.odds(features.columns, features.page, len(page_blocks.texts))


def _has_swallowed_the_page(element: Element) -> bool:
    """True if a nav or footer was never closed and holds what follows it, or says who is quoted."""
    if element.tag == "footer" and element.closest("blockquote, figure") is not None:
        return True
    inside = "main, [role=main], article, footer" if element.tag == "nav" else "main, [role=main], article"
    return element.select_one(inside) is not None


def _is_content_aside(aside: Element) -> bool:
    names = f"{aside.attr('class') or ''} {aside.attr('id') or ''}"
    if aside.attr("role") in _NOTE_ROLES or _NOTE_CLASS.search(names):
        return True
    if aside.closest("main, article, [role=main]") is None and not _stands_in_text(aside):
        return False
    if _ASIDE_CHROME.search(names) or aside.find("form") is not None:
        return False
    length = len(aside.text)
    return length > 0 and sum(len(anchor.text) for anchor in aside.find_all("a")) <= length * _MAX_LINK_SHARE


def _stands_in_text(aside: Element) -> bool:
    """True if it stands in a section, beside a paragraph: an author's words, not what a site has beside a page."""
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
    """The elements that hold all content on a page of a known generator."""
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
    """The smallest part of the page that holds all sections and what stands beside them, if that is enough of it."""
    found = body.select(heads)
    if not found:
        return None
    # In the order of the page, what holds the first and the last of them holds all.
    holders = list(found[-1].ancestors)
    here = next((one for one in found[0].ancestors if one in holders), None)
    if here is found[0].parent and here is not None:  # one section, and in it all others
        here = here.parent
    if not isinstance(here, Element) or here is body:
        return None
    return here if _length(here) >= _LEAST_SHARE * _length(body) else None


def _landmarks(body: Element) -> list[Element]:
    """The landmarks of a page's content; empty if there are none with text."""
    for selector in (_LANDMARKS, "article"):
        if found := _outermost(body.select(selector), selector):
            return found
    for selector in _CONTAINERS:
        found = _outermost(body.select(selector), selector)
        if len(found) == 1:
            return found
    return []


def _append_footnotes(last: Element) -> None:
    """Moves footnotes into the content that they are notes to, where they stand right behind it."""
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
    """True if what stands outside `found` can be spared."""
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
    """True if it heads something, and is not just a link."""
    text = element.text.strip()
    return bool(text) and all(anchor.text.strip() != text for anchor in element.find_all("a"))


def _with_title(found: list[Element], body: Element) -> list[Element]:
    """`found`, and before it the page's one h1 where that stands in a header outside."""
    titles = body.find_all("h1", limit=2)
    if len(titles) != 1 or any(element.find("h1") is not None for element in found):
        return found
    (title,) = titles
    # A heading that is one link is the site's name.
    return found if title.find("a", href=True) is not None else [title, *found]


def _guess(body: Element) -> list[Element]:
    """The densest part of an unmarked page, unless it is too small to be the content."""
    if any(len(one.attr("class") or "") > _MOST_NAMES for one in body.select("[class]")):
        return [body]  # Reading them all takes seconds, and no page that people made has so many.
    element = body.main_content()
    if element is None or _length(element) * 4 < _length(body):
        return [body]
    return [element]


def _length(element: Element) -> int:
    return len("".join(element.text.split()))
