"""Links of a page: collect them, make them absolute, drop those without a target."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import turbohtml

from sitemirror.convert.elements.headings import HEADINGS
from sitemirror.convert.render.markers import LINE_BREAK
from sitemirror.links.resolve import Resolver
from sitemirror.model import Link
from sitemirror.urls import MAX_LENGTH, origin

# Scripts cannot be saved; `data:` and `blob:` are content, not addresses.
_NOT_ADDRESSES: Final = ("javascript:", "vbscript:", "data:", "blob:")

_WEB: Final = ("https://", "http://")
_SLASHES_OF_ORIGIN: Final = 2
_MAX_PERMALINK: Final = 12  # characters
_MAX_SIGN: Final = 2  # characters of a sign
_PERMALINK_SIGNS: Final = frozenset("¶#§⚓◆∞🔗\uf0c1")
_PERMALINK_TEXTS: Final = frozenset(("link", "permalink", "anchor"))
_PERMALINK_CLASS: Final = re.compile(r"permalink|header-?link|heading-?link|header-?anchor|heading-?anchor|hash-?link")
_PERMALINK_ICON: Final = re.compile(r"\s*(?:(?:share|copy|link|permalink|anchor|hash|icon|to|section)\b\s*){1,4}", re.I)
_TITLES: Final = "h1, h2, h3, h4, h5, h6, dt, summary, caption, figcaption"
_TO_TOP: Final = frozenset(("#", "#top", "#page-top", "#top_of_page", "#_top"))
_TOP_TEXTS: Final = frozenset(("top", "back to top", "↑", "⇑", "▲", "△", "⬆", "^"))
_INVISIBLE: Final = str.maketrans("", "", "\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff\xad")
_HEADINGS: Final = frozenset(HEADINGS)
# The few anchors that may have to be removed, by their addresses.
_ODD: Final = (
    r':is(a:is([href*="#"], [href=""], [href^=" "], [href^="\a "], :empty, [href*=":"]:not([href^="http"])), area)'
)
VISIBLE_WITHOUT_TEXT: Final = (
    "img",
    "picture",
    "video",
    "audio",
    "svg",
    "math",
    "iframe",
    "object",
)  # visible without text


def collect_links(body: turbohtml.Element, urls: Resolver) -> tuple[Link, ...]:
    """Collect the links of a page in order, normalised, once each with their first text."""
    found: dict[str, str] = {}
    done: set[str] = set()  # A third of all links are repeated.
    for anchor in body.iter_elements(("a", "area")):
        href = anchor.attr("href")
        if href is None or href in done or href[:1] == "#" or (url := urls[href]) is None:
            continue
        if "#" in url:
            url = url.partition("#")[0]
        if href[:4] == "http" and url.count("/") == _SLASHES_OF_ORIGIN:
            url += "/"
        if not found.get(url):
            text = found[url] = " ".join(anchor.text.split()) or _label(anchor)
            if not text:
                continue
        done.add(href)
    links = [
        link
        for link in found.items()
        if (url := link[0]).startswith(_WEB) and len(url) <= MAX_LENGTH and ("@" not in url or "@" not in origin(url))
    ]
    return tuple(Link(*link) for link in links)


def clean_links(element: turbohtml.Element, urls: Resolver) -> None:
    """Remove anchors without a target and permalinks; `render` handles links without text."""
    for anchor in element.select(_ODD) if urls.joins else list(element.iter_elements(("a", "area"))):
        href = anchor.attr("href")
        if href is None:
            if not len(anchor):
                anchor.decompose()  # a link target
            continue
        is_within = href[:1] == "#"
        text = anchor.text.strip()  # pydoctor has the sign on a line of its own.
        may_be_sign = (size := len(text)) <= _MAX_SIGN or (
            size <= _MAX_PERMALINK and (text.lower() in _PERMALINK_TEXTS or not text.isascii())
        )
        if may_be_sign:
            if text in _PERMALINK_SIGNS and _is_word(anchor):
                may_be_sign = False
            elif is_within and text in _PERMALINK_SIGNS and (text != "#" or anchor.find("code") is None):
                anchor.decompose()
                continue
        elif not is_within and "#" in href and href[0] not in "/\\ " and ":" not in href:
            continue  # A link to another page with text too long for a permalink: most of them.
        target = None if is_within else urls[href]
        if target and not href.strip():
            anchor.attrs["href"] = target  # `rewrite_links` skips empty addresses.
        if target is None:
            if may_be_sign and _is_permalink(anchor, text):
                anchor.decompose()
            else:
                _fix_fragment_link(anchor, href, text)
        elif target.startswith(_WEB):
            if may_be_sign and "#" in target and _is_permalink(anchor, text):
                anchor.decompose()
        elif "".join(target.split()).lower().startswith(_NOT_ADDRESSES):
            del anchor.attrs["href"]  # Some renderers strip more white space than browsers.


def make_links_absolute(element: turbohtml.Element, urls: Resolver) -> None:
    """Make every URL under `element` absolute: links, pictures with all sizes, posters, frames."""
    element.rewrite_links(urls.__getitem__)
    if urls.invalid:
        for anchor in element.iter_elements("a"):
            if (anchor.attr("href") or "").strip() in urls.invalid:
                del anchor.attrs["href"]


def drop_empty_links(element: turbohtml.Element) -> int:
    """Remove links without text or picture, and items that contain only such a link; returns their number."""
    empty = [
        anchor
        for anchor in element.iter_elements("a")
        if anchor.attr("href") is not None
        and not anchor.text.replace(LINE_BREAK, "").strip()
        and next(anchor.iter_elements(VISIBLE_WITHOUT_TEXT), None) is None
    ]
    for anchor in empty:
        item = anchor.closest("li")
        is_all = (
            item is not None and not item.text.strip() and next(item.iter_elements(VISIBLE_WITHOUT_TEXT), None) is None
        )
        if item is not None and is_all:
            item.decompose()
        elif anchor.text or anchor.find("br") is not None:
            anchor.replace_with(turbohtml.Text(" "))  # It may be the only separator of two words.
        else:
            anchor.decompose()
    return len(empty)


def strip_link_targets(element: turbohtml.Element) -> int:
    """Strip addresses of links and pictures; returns the number of those changed."""
    stripped = 0
    for part in element.iter_elements(("a", "img")):
        name = "href" if part.tag == "a" else "src"
        value = part.attr(name)
        if value is not None and value != (bare := value.strip()):
            part.attrs[name] = bare
            stripped += 1
    return stripped


def _fix_fragment_link(anchor: turbohtml.Element, href: str, text: str) -> None:
    """Remove a link within the page, or its target, if it leads to the top, to its own heading or nowhere."""
    if href.lower() in _TO_TOP and _leads_up_from_heading(anchor, text):
        anchor.decompose()
        return
    arrow = anchor.find("img") if not text else None
    if arrow is not None and (arrow.attr("alt") or "").strip().lower() in _TOP_TEXTS:
        anchor.decompose()  # an arrow to the top below a section
        return
    parent = anchor.parent
    in_heading = isinstance(parent, turbohtml.Element) and parent.tag in _HEADINGS
    if in_heading:
        for icon in anchor.find_all("img"):
            if _PERMALINK_ICON.fullmatch(icon.attr("alt") or ""):
                icon.decompose()
    if len(href) < 2 or not href.startswith("#") or in_heading:
        # `#` alone is a button, an invalid URL has no target, and a heading need not link to itself.
        del anchor.attrs["href"]


def _leads_up_from_heading(anchor: turbohtml.Element, text: str) -> bool:
    """True if it is a link to the top of the page in a heading."""
    if text.translate(_INVISIBLE).strip("[]() \xa0\n").lower() not in _TOP_TEXTS:
        return False
    heading = anchor.closest("h1, h2, h3, h4, h5, h6")
    own = len(list(anchor.stripped_strings))
    return heading is not None and len(list(islice(heading.stripped_strings, own + 1))) > own


def _is_word(anchor: turbohtml.Element) -> bool:
    """True if a sign is part of code or of a sentence, not a permalink beside a heading or term."""
    if _PERMALINK_CLASS.search(anchor.attr("class") or "") or anchor.closest(_TITLES) is not None:
        return False
    if anchor.closest("pre") is not None:
        return True
    return all(
        isinstance(beside, turbohtml.Text) and bool(beside.data.strip())
        for beside in (anchor.previous_sibling, anchor.next_sibling)
    )


def _is_permalink(anchor: turbohtml.Element, text: str) -> bool:
    """True if it is a permalink sign beside a heading.

    The class alone is not enough: manual pages use it for options that are links.
    """
    shown = text if text.isascii() else text.translate(_INVISIBLE).strip()
    if len(shown) > _MAX_SIGN and shown.lower() not in _PERMALINK_TEXTS:
        return False
    if shown and anchor.find("code") is not None:
        return False
    if shown in _PERMALINK_SIGNS:
        return True
    if not shown:
        picture = next(anchor.iter_elements(VISIBLE_WITHOUT_TEXT), None)
        return picture is None or (picture.tag == "svg" and (anchor.attr("href") or "").startswith("#"))
    if len(shown) <= _MAX_SIGN and any(map(str.isalnum, shown)):
        return False
    return _PERMALINK_CLASS.search(anchor.attr("class") or "") is not None


def _label(anchor: turbohtml.Element) -> str:
    """The label of a link without text."""
    label = anchor.attr("aria-label") or anchor.attr("alt") or anchor.attr("title")
    if not label and (image := anchor.find("img")) is not None:
        label = image.attr("alt")
    return " ".join(label.split()) if label else ""
