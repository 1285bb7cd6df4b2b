"""Text that the page has and nobody sees. It is left out and counted: it is how instructions are smuggled to agents.

What the page's own controls show (a tab, a folded section) is content, hidden or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from turbohtml import Element, Text

_CONTROLS: Final = {
    "aria-controls": "[aria-controls]",
    "data-target": "[data-target]",
    "data-bs-target": "[data-bs-target]",
    "href": "a[href^='#']",
    "for": "label[for]",
}
_ZERO: Final = r"[+-]?(?:0+(?:\.0\d*)?|\.0\d*)[a-z%]*\s*(?:;|$)"  # or so little that nobody sees it
_CLEAR: Final = r"(?:transparent|rgba\([^)]*,\s*0(?:\.0*)?\s*\)|#(?:[0-9a-f]{3}){1,2}00?\b)"
_STYLE: Final = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|font-size\s*:\s*{_ZERO}|font\s*:\s*0[a-z%]*/|opacity\s*:\s*{_ZERO}"
    rf"|(?:color|-webkit-text-fill-color)\s*:\s*{_CLEAR}|transform\s*:\s*scale\(\s*0\s*\)"
    # So far away that no screen is large enough; a little is a layout.
    r"|(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*"
    r"-(?:(?:[5-9]\d\d|\d{4,})(?:\.\d+)?(?:px)?\s*(?:;|$)|\d{3,}(?:r?em|%|vw|vh))"
    r"|transform\s*:\s*translate[xy]?\(\s*-9\d{3,}px"
    r"|font-size\s*:\s*1px|clip\s*:\s*rect\(\s*(?:0|1px)[\s,]|clip-path\s*:\s*inset\(\s*(?:50|100)%)"
)
# What children do not have to inherit: blanks between boxes are made to vanish by letters without a size.
_SHOWS: Final = {
    "font-size": re.compile(r"font-size\s*:\s*(?:[1-9]|0?\.[1-9]|[a-hj-z])", re.I).search,
    "visibility": re.compile(r"visibility\s*:\s*visible", re.I).search,
}
_CLIPS: Final = ("background-clip", "-webkit-background-clip")
_TEXT: Final = re.compile(r"\btext\b")
_MOTIONS: Final = ("transition", "animation")
_SIZES: Final = ("width", "height", "max-width", "max-height")
_NO_SIZE: Final = re.compile(r"(?:0(?:\.0*)?(?:[a-z]+|%)?|1px)\b")
_PROSE: Final = 4  # words that are not yet a sentence
# Starlight has the title of a note read out from elsewhere.
_FORMULA: Final = re.compile("katex|mathjax|mjx|starlight-aside", re.I)
WAYS_AND_ROLES: Final = "[hidden], [style], [aria-hidden], [role]"
"""Finds what may be hidden and what may be a menu."""
_UNSEEN: Final = "[class]:is(.sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text)"
_REVEALED_CLASS: Final = re.compile(
    r"tab|panel|accordion|collaps|toggle|expand|slide|carousel|swiper|faq|answer|(?:show|read)-?more|spoiler", re.I
)
# A style that takes a picture's or a list's place with nothing is no reason to lose what is in it: these mark the page.
_PAGE: Final = ("main", "article", "h1", "math")


def unseen(body: Element, marked: Iterable[Element], menus: Sequence[Element]) -> Iterator[Element]:
    """Whatever nobody sees, and nothing on the page shows, nor in its menus; skips what has gone meanwhile.

    `marked` is what `WAYS_AND_ROLES` has found, `menus` what was taken out since.
    """
    found = _hidden(body, [one for one in marked if one.closest("body") is not None] if menus else marked)
    if not found:
        return
    # Most of them have no name or nothing to show, and then it does not matter what the page's controls show.
    has_names = any(one.attr("id") and next(one.stripped_strings, None) for one in found)
    controlled = _controlled_ids((body, *menus)) if has_names else frozenset[str]()
    for one in found:
        if one.closest("body") is not None and not _is_revealed(one, controlled):
            yield one


def _hidden(body: Element, marked: Iterable[Element]) -> list[Element]:
    """Whatever nobody sees until something changes."""
    found: list[Element] = []
    styled: list[Element] = []
    unspoken: list[Element] = []
    for one in marked:
        if one.attr("hidden") is not None:
            found.append(one)
        if one.attr("style") is not None:
            styled.append(one)
        if one.attr("aria-hidden") == "true":
            unspoken.append(one)
    hiding = _Hiding()
    for one in styled:
        if hiding[one.attr("style") or ""]:
            found += _unseen_of(one, hiding)
    found += [one for one in unspoken if _is_unspoken_prose(one)]
    return found + body.select(_UNSEEN)


class _Hiding(dict[str, bool]):
    """Whether styles hide what has them. A page has few, and many elements of each."""

    def __missing__(self, style: str) -> bool:
        found = self[style] = _hides(style)
        return found


def _unseen_of(element: Element, hiding: _Hiding) -> list[Element]:
    """An element that a style hides; where that style alone does, and some of its children have another, the others."""
    style = (element.attr("style") or "").lower()
    for name, shows in _SHOWS.items():
        others = [one for one in style.split(";") if one.partition(":")[0].strip() != name]
        if hiding[";".join(others)]:
            continue
        if any(isinstance(child, Text) and not child.data.isspace() for child in element.children):
            break
        children = [child for child in element.children if isinstance(child, Element)]
        unshown = [child for child in children if not shows(child.attr("style") or "")]
        return unshown if len(unshown) < len(children) else [element]
    return [element]


def _is_unspoken_prose(element: Element) -> bool:
    # A sign or a price is often said twice, once for the eye and once for the ear; so are formulas.
    return len(element.text.split(None, _PROSE)) > _PROSE and _FORMULA.search(element.attr("class") or "") is None


def _hides(style: str) -> bool:
    declared: dict[str, str] = {}
    for declaration in style.lower().split(";"):
        name, _, value = declaration.partition(":")
        declared[name.strip()] = value.partition("!")[0].strip()  # The last of a name counts.
    for name in _shown_otherwise(declared):
        declared.pop(name, None)
    if _STYLE.search(";".join(f"{name}:{value}" for name, value in declared.items())):
        return True
    if "hidden" in declared.get("overflow", "") and any(_NO_SIZE.match(declared.get(name, "")) for name in _SIZES):
        return True
    ground = declared.get("background-color") or declared.get("background")
    return bool(ground) and ground == declared.get("color")


def _shown_otherwise(declared: Mapping[str, str]) -> Iterator[str]:
    """What hides nothing, given what else is declared."""
    ground = f"{declared.get('background', '')} {declared.get('background-image', '')}"
    clips = (*_CLIPS, "background")
    is_picture = "gradient(" in ground or "url(" in ground
    if _is_set(declared, "text-shadow") or (is_picture and any(_TEXT.search(declared.get(name, "")) for name in clips)):
        yield from ("color", "-webkit-text-fill-color")  # What the letters show is their shadow, or a picture.
    if "translate" in declared.get("transform", "") or any(_is_set(declared, name) for name in _MOTIONS):
        yield "opacity"  # It fades in, as soon as somebody comes to it.
    if declared.get("position") in ("relative", "static", "sticky"):
        yield from ("left", "top", "right", "bottom")


def _is_set(declared: Mapping[str, str], name: str) -> bool:
    return declared.get(name, "none") not in ("none", "initial", "unset", "")


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
