"""Text that the page has and nobody sees. It is left out and counted: it is how instructions are smuggled to agents.

What the page's own controls show (a tab, a folded section) is content, hidden or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from turbohtml import Element

_CONTROLS: Final = {
    "aria-controls": "[aria-controls]",
    "data-target": "[data-target]",
    "data-bs-target": "[data-bs-target]",
    "href": "a[href^='#']",
    "for": "label[for]",
}
_ZERO: Final = r"[+-]?0*\.?0*(?:[a-z%]*)\s*(?:!|;|$)"
_STYLE: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|font-size\s*:\s*{_ZERO}|opacity\s*:\s*{_ZERO}|color\s*:\s*transparent|transform\s*:\s*scale\(\s*0\s*\)"
    # So far away that no screen is large enough; a little is a layout.
    r"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}(?:px|r?em|%|vw|vh)?"
    r"|clip\s*:\s*rect\(\s*(?:0|1px)[\s,]|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|(?:max-)?(?:width|height)\s*:\s*[01]px\s*;(?:.*;)?\s*overflow\s*:\s*hidden"
    r"|overflow\s*:\s*hidden\s*;(?:.*;)?\s*(?:max-)?(?:width|height)\s*:\s*[01]px)",
    re.IGNORECASE | re.DOTALL,
)
_PROSE: Final = 4  # words that are not yet a sentence
# Starlight has the title of a note read out from elsewhere.
_FORMULA: Final = re.compile("katex|mathjax|mjx|starlight-aside", re.I)
_UNSEEN: Final = "[class]:is(.sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text)"
_MAX_STYLE: Final = 200  # characters of one that is worth remembering
_REVEALED_CLASS: Final = re.compile(
    r"tab|panel|accordion|collaps|toggle|expand|slide|carousel|swiper|faq|answer|(?:show|read)-?more|spoiler", re.I
)
# A style that takes a picture's or a list's place with nothing is no reason to lose what is in it: these mark the page.
_PAGE: Final = ("main", "article", "h1", "math")


def unseen(body: Element, menus: Iterable[Element]) -> list[Element]:
    """Whatever nobody sees, and nothing on the page shows, nor in its menus. One may stand in another."""
    found = _hidden(body)
    # Most of them have no name or nothing to show, and then it does not matter what the page's controls show.
    has_names = any(one.attr("id") and one.text for one in found)
    controlled = _controlled_ids((body, *menus)) if has_names else frozenset[str]()
    return [one for one in found if not _is_revealed(one, controlled)]


def _hidden(body: Element) -> list[Element]:
    """Whatever nobody sees until something changes."""
    # Each way of hiding by itself: one look over the tree with a plain selector is quicker than judging what a wider
    # selector has found.
    found = body.select("[hidden]")
    found += [one for one in body.select("[style]") if _is_styled_away(one.attr("style") or "")]
    found += [one for one in body.select("[aria-hidden=true]") if _is_unspoken_prose(one)]
    return found + body.select(_UNSEEN)


def _is_styled_away(style: str) -> bool:
    return _hides(style) if len(style) < _MAX_STYLE else _STYLE.search(style) is not None


def _is_unspoken_prose(element: Element) -> bool:
    # A sign or a price is often said twice, once for the eye and once for the ear; so are formulas.
    return len(element.text.split(None, _PROSE)) > _PROSE and _FORMULA.search(element.attr("class") or "") is None


@lru_cache(maxsize=1024)  # A page has few styles, and many elements of each.
def _hides(style: str) -> bool:
    return _STYLE.search(style) is not None


def _is_revealed(element: Element, controlled: frozenset[str]) -> bool:
    """Whether hidden text is content all the same: a tab, a folded section, or a page that shows itself by script."""
    if element.attr("role") == "tabpanel" or element.attr("hidden") == "until-found":
        return True
    if (name := element.attr("id")) and name in controlled:
        return True
    if _REVEALED_CLASS.search(element.attr("class") or ""):
        return True
    return element.find(list(_PAGE)) is not None


def _controlled_ids(parts: Iterable[Element]) -> frozenset[str]:
    """The ids that a control of the page's own refers to: pressing it shows them."""
    found: set[str] = set()
    for part in parts:
        for name, controls in _CONTROLS.items():
            for control in part.select(controls):
                found.update(word.lstrip("#") for word in (control.attr(name) or "").split())
    return frozenset(found)
