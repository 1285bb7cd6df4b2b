"""Finds elements that no reader sees, to leave their text out and count it.

That is how instructions are smuggled to agents. Content that the page's own controls show (a tab, a folded section)
is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from turbohtml import Element, Text

from sitemirror.convert.hidden.css import declarations, has_own_size, hides_text, is_visible_again

# How a control of the page's own names what it shows: by id, or by class behind a dot.
_CONTROLS: Final = (
    "aria-controls",
    "data-target",
    "data-bs-target",
    "data-accordion-target",
    "data-tabs-target",
    "data-collapse-toggle",
    "for",
)
_ALL_CONTROLS: Final = ", ".join(
    (*(f"[{name}]" for name in _CONTROLS), "[onclick]", "a[href^='#']", "a[href^='javascript:']")
).join((":is(", ")"))  # A list in brackets takes a sixth less.
_QUOTED: Final = re.compile(r"""['"]#?([\w:-]+)['"]""")  # in a script that a control runs
# What those inside do not have to inherit: blanks between boxes are made to vanish by letters without a size.
_SHOWS: Final = {"font-size": has_own_size, "visibility": is_visible_again}
_LETTERS: Final = ("color", "-webkit-text-fill-color", "font-size", "font")
_CUTS: Final = ("overflow", "overflow-x", "overflow-y")
_ABSENT: Final = ("absolute", "fixed")
_FADES: Final = re.compile(r"data-(?:w-id|aos|sal|gsap|framer|.*(?:anim|fade|reveal|motion|stagger|appear))")
_FADES_CLASS: Final = re.compile(r"\b(?:framer-|wow\b|aos-|animat|anim-|fade|reveal|motion-)", re.I)
_ICONS: Final = ("svg", "i", "img")
_LONGEST_STYLE: Final = 200  # characters of one that is remembered from page to page
_PROSE: Final = 4  # words that are not yet a sentence
# Starlight has the title of a note read out from elsewhere.
_FORMULA: Final = re.compile("katex|mathjax|mjx|starlight-aside", re.I)
# Names of style sheets' own for text that is read out and not shown.
_UNSEEN: Final = frozenset(
    (
        "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
        "govuk-visually-hidden", "usa-sr-only", "cdk-visually-hidden",
    )
)  # fmt: skip
MAYBE_HIDDEN_OR_MENU: Final = (
    ":is([hidden], [style], [aria-hidden], [role],"
    # What all other names have in them: looking for all names takes four times as long.
    " [class*=ly], .screen-reader-text)"
)
"""Finds what may be hidden and what may be a menu."""
_REVEALED: Final = (
    "tab", "panel", "accordion", "collaps", "toggle", "expand", "slide", "carousel", "swiper", "faq", "answer",
    "showmore", "show-more", "readmore", "read-more", "spoiler",
)  # fmt: skip
# What is called so, or is an element of that name, shows what it holds by and by.
_HOLDER: Final = re.compile(r"(?:^|[\s_-])(?:accordion|collapsible|faq|spoiler|tabs?(?:$|[\s_-]))", re.I)
_FOLDS: Final = re.compile("display|height|visibility", re.I)  # how a section is folded; nobody unfolds a colour
_TITLES: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "p", "span")  # may hold a button that unfolds what follows
_CHOICES: Final = ("listbox", "menu", "dialog", "tooltip")  # to be used, or gone again at once
_MOST_OF_PAGE: Final = 2  # times what rules hide; where they hide more, something shows the page
_NEAR: Final = 10  # texts and comments between them
_HOLDERS: Final = 2  # levels around what is hidden
# A style that takes a picture's or a list's place with nothing is no reason to lose what is in it: these mark the page.
_PAGE: Final = ("main", "article", "h1", "math")
_SECTION: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "main", "article")


def hidden_elements(body: Element, marked: Iterable[Element], menus: Sequence[Element]) -> Iterator[Element]:
    """Elements that are hidden and that no control of the page or its menus reveals; skips removed ones.

    `marked` is what `MAYBE_HIDDEN_OR_MENU` has found, `menus` what was taken out since.
    """
    found = _hidden([one for one in marked if one.closest("body") is not None] if menus else marked)
    if not found:
        return
    # Most of them have no name or nothing to show, and then it does not matter what the page's controls show.
    has_names = any(_has_name(one) and next(one.stripped_strings, None) for one in found)
    controlled = _controlled((body, *menus)) if has_names else frozenset[str]()
    for one in found:
        if one.closest("body") is not None and not _is_revealed(one, controlled):
            yield one


def hidden_by_css(body: Element, found: Sequence[Element], menus: Sequence[Element]) -> list[Element]:
    """Elements that style sheets hide and no control reveals."""
    if not found or sum(len(one.text) for one in found) * _MOST_OF_PAGE >= len(body.text):
        return []
    controlled = _controlled((body, *menus))
    return [one for one in found if not _is_revealed(one, controlled)]


def _has_name(element: Element) -> bool:
    """True if a control may know it: by its id, or by a class that is not what hides it."""
    if element.attr("id") or element.attr("class") is None:
        return bool(element.attr("id"))
    return element.attr("hidden") is not None or element.attr("style") is not None


def _hidden(marked: Iterable[Element]) -> list[Element]:
    """Elements that are hidden as the page loads."""
    found: list[Element] = []
    styled: list[Element] = []
    styles: list[str] = []
    unspoken: list[Element] = []
    silent: list[Element] = []
    for one in marked:
        if one.attr("hidden") is not None:
            found.append(one)
        if (style := one.attr("style")) is not None:
            styled.append(one)
            styles.append(style)
        if one.attr("aria-hidden") == "true":
            unspoken.append(one)
        # Hardly any have what all of these names have in them: to see that takes a fifth of the time.
        if (
            (classes := one.attr("class"))
            and ("ly" in classes or "screen-reader-text" in classes)
            and not _UNSEEN.isdisjoint(classes.split())
        ):
            silent.append(one)
    shown = _ShownInside(styled)
    # A site has few styles, and many elements of each.
    hiding = {
        style: _hides(style) if len(style) <= _LONGEST_STYLE else hides_text(declarations(style))
        for style in set(styles)
    }
    found += [
        hidden
        for one, style in zip(styled, styles, strict=True)
        if hiding[style]
        for hidden in _hidden_parts(one, shown)
    ]
    found += [one for one in unspoken if _is_unspoken_prose(one)]
    return found + [one for one in silent if not _is_all_of_cell(one)]


@lru_cache(maxsize=500)
def _hides(style: str) -> bool:
    return hides_text(declarations(style))


def _is_all_of_cell(element: Element) -> bool:
    """True if these few words are all that a cell of a table says: those who see are shown an icon for them."""
    cell = element.closest("td, th")
    if cell is None or len(element.text.split(None, _PROSE)) > _PROSE:
        return False
    own = list(element.stripped_strings)
    # Not its whole text: a cell may hold a page.
    return list(islice(cell.stripped_strings, len(own) + 1)) == own and (
        next(cell.iter_elements(_ICONS), None) is not None
    )


def _hidden_parts(element: Element, shown: _ShownInside) -> list[Element]:
    """An element that a style hides; where that style alone does, and some in it have another, all but those."""
    declared = declarations(element.attr("style") or "")
    if "opacity" in declared and _fades_in(element, declared) and not _hides_without(declared, "opacity"):
        return []
    if "height" in declared and _is_player(element, declared):
        return []
    if element.tag == "img" and not _hides_without(declared, *_LETTERS):
        return []  # Only the words that stand for it until it is there are not to be seen, as on all pages of Next.js.
    for name in _SHOWS:
        if name in declared and not _hides_without(declared, name):
            return shown.others(element, name)
    return [element]


def _hides_without(declared: Mapping[str, str], *names: str) -> bool:
    return hides_text({name: value for name, value in declared.items() if name not in names})


def _fades_in(element: Element, declared: Mapping[str, str]) -> bool:
    """True if a script shows it as soon as somebody comes to it: it says so, or is a section of the page."""
    if any(map(_FADES.match, element.attrs)) or _FADES_CLASS.search(element.attr("class") or ""):
        return True
    # A section has its place on the page; what lies over others may never be shown.
    if declared.get("position") in _ABSENT or declared.get("pointer-events") == "none":
        return False
    return element.tag in _SECTION or _holds(element, _SECTION)


def _is_player(element: Element, declared: Mapping[str, str]) -> bool:
    """True if it is a box without text whose shape is all in its padding: around a video or a picture."""
    has_room = "%" in declared.get("padding-top", "") or "%" in declared.get("padding", "")
    return has_room and next(element.stripped_strings, None) is None and not _hides_without(declared, *_CUTS)


class _ShownInside:
    """Visible elements inside hidden ones, found once for a page."""

    __slots__ = ("_found", "_styled", "_walked")

    def __init__(self, styled: Sequence[Element]) -> None:
        self._styled = styled
        self._found: dict[str, tuple[set[Element], set[Element]]] = {}  # by the name of a style: those, and all around
        self._walked: set[tuple[str, Element]] = set()

    def others(self, element: Element, name: str) -> list[Element]:
        """The hidden parts of an element; the element itself if nothing in it is visible or it has its own text."""
        if (name, element) in self._walked:
            return []  # Its parts were returned with the element around it.
        seen, around = self._found.get(name) or self._find(name)
        if element not in around:
            return [element]
        found: list[Element] = []
        inside = [element]
        while inside:
            one = inside.pop()
            self._walked.add((name, one))
            if any(isinstance(child, Text) and not child.data.isspace() for child in one.children):
                found.append(one)
                continue
            for child in one.children:
                if isinstance(child, Element) and child not in seen:
                    (inside if child in around else found).append(child)
        return found

    def _find(self, name: str) -> tuple[set[Element], set[Element]]:
        shows = _SHOWS[name]
        seen = {one for one in self._styled if shows(declarations(one.attr("style") or ""))}
        around: set[Element] = set()
        for one in seen:
            above = one.parent
            while isinstance(above, Element) and above not in around:
                around.add(above)
                above = above.parent
        self._found[name] = seen, around
        return seen, around


def _is_unspoken_prose(element: Element) -> bool:
    # A sign or a price is often said twice, once for the eye and once for the ear; so are formulas.
    if len(element.text.split(None, _PROSE)) <= _PROSE or _FORMULA.search(element.attr("class") or ""):
        return False
    # Code is for the eye; a row of numbers beside it is not code.
    return element.tag != "pre" or element.text.replace(" ", "").replace("\n", "").isdigit()


def _is_revealed(element: Element, controlled: frozenset[str]) -> bool:
    """True if hidden text is content all the same: a tab, a folded section, or a page that shows itself by script."""
    if element.attr("role") == "tabpanel" or element.attr("hidden") == "until-found" or element.tag == "main":
        return True
    if (name := element.attr("id")) and name in controlled:
        return True
    if classes := element.attr("class"):
        if any(map(classes.lower().__contains__, _REVEALED)):  # a third of what a pattern takes
            return True
        if controlled and not controlled.isdisjoint([f".{name}" for name in classes.split()]):
            return True
    return _holds(element, _PAGE) or (_is_folded(element) and not _is_menu(element))


def _holds(element: Element, tags: tuple[str, ...]) -> bool:
    # To find one of several tags takes the parser four times as long.
    return next(element.iter_elements(tags), None) is not None


def _is_folded(element: Element) -> bool:
    """True if what holds it, or stands before it, is there to show it."""
    if element.attr("hidden") is None and not _FOLDS.search(element.attr("style") or ""):
        return False
    if element.attr("role") in _CHOICES:
        return False
    near = islice(element.previous_siblings, _NEAR)
    before = next((node for node in near if isinstance(node, Element)), None)
    if before is not None:
        control = next(before.iter_elements(), None) if before.tag in _TITLES else None
        if any(one is not None and one.attr("aria-expanded") is not None for one in (before, control)):
            return True
        if before.tag == "button" and "max-height" in (element.attr("style") or ""):
            return True
    holder = element.parent
    for _level in range(_HOLDERS):
        if not isinstance(holder, Element) or holder.tag == "body":
            return False
        if "-" in holder.tag and _HOLDER.search(holder.tag):
            return True
        if _HOLDER.search(holder.attr("class") or ""):
            return before is not None and next(before.stripped_strings, None) is not None
        holder = holder.parent
    return False


def _is_menu(element: Element) -> bool:
    return sum(len(anchor.text) for anchor in element.find_all("a")) * 2 > len(element.text)


def _controlled(parts: Iterable[Element]) -> frozenset[str]:
    """The ids, and behind dots the classes, that a control of the page's own refers to: pressing it shows them."""
    found: set[str] = set()
    for part in parts:
        for control in part.select(_ALL_CONTROLS):
            for name in _CONTROLS:
                if value := control.attr(name):
                    found.update(word.lstrip("#") for word in value.split())
            script = control.attr("onclick") or ""
            if (href := control.attr("href")) and control.tag == "a":
                if href.startswith("#"):
                    found.add(href[1:])
                elif href.startswith("javascript:"):
                    script += href
            if script:
                found.update(_QUOTED.findall(script))
    return frozenset(found)
