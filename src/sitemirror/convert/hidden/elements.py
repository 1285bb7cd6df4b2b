"""Find hidden elements, whose text is left out and counted.

Hidden text can carry instructions to agents. Content that the page's own controls reveal (tabs, folded sections) stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from turbohtml import Element, Text

from sitemirror.convert.hidden.css import declarations, has_own_size, hides_text, is_visible_again

# Attributes in which a control names what it reveals, by id or by class with a dot.
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
).join((":is(", ")"))  # `:is()` takes a sixth less than a list.
_QUOTED: Final = re.compile(r"""['"]#?([\w:-]+)['"]""")  # names in the script of a control
# Properties that descendants can override. Font size 0 is also used to remove blanks between inline blocks.
_SHOWS: Final = {"font-size": has_own_size, "visibility": is_visible_again}
_LETTERS: Final = ("color", "-webkit-text-fill-color", "font-size", "font")
_CUTS: Final = ("overflow", "overflow-x", "overflow-y")
_ABSENT: Final = ("absolute", "fixed")
_FADES: Final = re.compile(r"data-(?:w-id|aos|sal|gsap|framer|.*(?:anim|fade|reveal|motion|stagger|appear))")
_FADES_CLASS: Final = re.compile(r"\b(?:framer-|wow\b|aos-|animat|anim-|fade|reveal|motion-)", re.I)
_ICONS: Final = ("svg", "i", "img")
_LONGEST_STYLE: Final = 200  # characters of a cached style
_PROSE: Final = 4  # words; fewer are not a sentence
# Starlight's screen reader text for the title of a note is elsewhere.
_FORMULA: Final = re.compile("katex|mathjax|mjx|starlight-aside", re.I)
# Class names for screen reader text.
_UNSEEN: Final = frozenset(
    (
        "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
        "govuk-visually-hidden", "usa-sr-only", "cdk-visually-hidden",
    )
)  # fmt: skip
MAYBE_HIDDEN_OR_MENU: Final = (
    ":is([hidden], [style], [aria-hidden], [role],"
    # A substring of all other names; matching each name takes four times as long.
    " [class*=ly], .screen-reader-text)"
)
"""Selects elements that may be hidden or a menu."""
_REVEALED: Final = (
    "tab", "panel", "accordion", "collaps", "toggle", "expand", "slide", "carousel", "swiper", "faq", "answer",
    "showmore", "show-more", "readmore", "read-more", "spoiler",
)  # fmt: skip
# Class or element names of containers that reveal their content.
_HOLDER: Final = re.compile(r"(?:^|[\s_-])(?:accordion|collapsible|faq|spoiler|tabs?(?:$|[\s_-]))", re.I)
_FOLDS: Final = re.compile("display|height|visibility", re.I)  # properties used for folding
_TITLES: Final = (
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "dt",
    "p",
    "span",
)  # may contain a button that unfolds what follows
_CHOICES: Final = ("listbox", "menu", "dialog", "tooltip")  # transient widgets
_MOST_OF_PAGE: Final = 2  # If rules hide more than 1/2 of the page, something shows it.
_NEAR: Final = 10  # nodes in between
_HOLDERS: Final = 2  # levels around a hidden element
# Elements with these contain the page itself, and are kept whatever their style.
_PAGE: Final = ("main", "article", "h1", "math")
_SECTION: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "main", "article")


def hidden_elements(body: Element, marked: Iterable[Element], menus: Sequence[Element]) -> Iterator[Element]:
    """Yield hidden elements that no control of the page or of its menus reveals; skips removed ones.

    `marked` are the matches of `MAYBE_HIDDEN_OR_MENU`, `menus` the elements removed since.
    """
    found = _hidden([one for one in marked if one.closest("body") is not None] if menus else marked)
    if not found:
        return
    # Without a name or text in any of them, controls need not be collected.
    has_names = any(_has_name(one) and next(one.stripped_strings, None) for one in found)
    controlled = _controlled((body, *menus)) if has_names else frozenset[str]()
    for one in found:
        if one.closest("body") is not None and not _is_revealed(one, controlled):
            yield one


def hidden_by_css(body: Element, found: Sequence[Element], menus: Sequence[Element]) -> list[Element]:
    """The elements hidden by style sheets that no control reveals."""
    if not found or sum(len(one.text) for one in found) * _MOST_OF_PAGE >= len(body.text):
        return []
    controlled = _controlled((body, *menus))
    return [one for one in found if not _is_revealed(one, controlled)]


def _has_name(element: Element) -> bool:
    """True if a control may refer to it: by id, or by a class that is not the one that hides it."""
    if element.attr("id") or element.attr("class") is None:
        return bool(element.attr("id"))
    return element.attr("hidden") is not None or element.attr("style") is not None


def _hidden(marked: Iterable[Element]) -> list[Element]:
    """The elements that are hidden when the page loads."""
    found: list[Element] = []
    styled: list[Element] = []
    styles: list[str] = []
    aria_hidden: list[Element] = []
    screen_reader_only: list[Element] = []
    for one in marked:
        if one.attr("hidden") is not None:
            found.append(one)
        if (style := one.attr("style")) is not None:
            styled.append(one)
            styles.append(style)
        if one.attr("aria-hidden") == "true":
            aria_hidden.append(one)
        # Substring tests first: hardly any class matches, and they take a fifth of the time.
        if (
            (classes := one.attr("class"))
            and ("ly" in classes or "screen-reader-text" in classes)
            and not _UNSEEN.isdisjoint(classes.split())
        ):
            screen_reader_only.append(one)
    shown = _ShownInside(styled)
    # A site has few distinct styles.
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
    found += [one for one in aria_hidden if _is_aria_hidden_prose(one)]
    return found + [one for one in screen_reader_only if not _is_all_of_cell(one)]


@lru_cache(maxsize=500)
def _hides(style: str) -> bool:
    return hides_text(declarations(style))


def _is_all_of_cell(element: Element) -> bool:
    """True if these few words are the only text of a table cell, beside an icon that shows the same."""
    cell = element.closest("td, th")
    if cell is None or len(element.text.split(None, _PROSE)) > _PROSE:
        return False
    own = list(element.stripped_strings)
    # not its whole text, which may be a page
    return list(islice(cell.stripped_strings, len(own) + 1)) == own and (
        next(cell.iter_elements(_ICONS), None) is not None
    )


def _hidden_parts(element: Element, shown: _ShownInside) -> list[Element]:
    """The hidden parts of an element that a style hides: all of it, or all but visible descendants."""
    declared = declarations(element.attr("style") or "")
    if "opacity" in declared and _fades_in(element, declared) and not _hides_without(declared, "opacity"):
        return []
    if "height" in declared and _is_player(element, declared):
        return []
    if element.tag == "img" and not _hides_without(declared, *_LETTERS):
        return []  # Only its alternative text is hidden, as on all pages of Next.js.
    for name in _SHOWS:
        if name in declared and not _hides_without(declared, name):
            return shown.others(element, name)
    return [element]


def _hides_without(declared: Mapping[str, str], *names: str) -> bool:
    return hides_text({name: value for name, value in declared.items() if name not in names})


def _fades_in(element: Element, declared: Mapping[str, str]) -> bool:
    """True if a script fades it in: by its attributes or class, or because it is a section of the page."""
    if any(map(_FADES.match, element.attrs)) or _FADES_CLASS.search(element.attr("class") or ""):
        return True
    # Sections are part of the layout; overlays may never be shown.
    if declared.get("position") in _ABSENT or declared.get("pointer-events") == "none":
        return False
    return element.tag in _SECTION or _holds(element, _SECTION)


def _is_player(element: Element, declared: Mapping[str, str]) -> bool:
    """True if it is a box without text that gets its height by padding: around a video or a picture."""
    has_room = "%" in declared.get("padding-top", "") or "%" in declared.get("padding", "")
    return has_room and next(element.stripped_strings, None) is None and not _hides_without(declared, *_CUTS)


class _ShownInside:
    """Visible elements inside hidden ones, found once for a page."""

    __slots__ = ("_found", "_styled", "_walked")

    def __init__(self, styled: Sequence[Element]) -> None:
        self._styled = styled
        # Property → visible elements, and all their ancestors.
        self._found: dict[str, tuple[set[Element], set[Element]]] = {}
        self._walked: set[tuple[str, Element]] = set()

    def others(self, element: Element, name: str) -> list[Element]:
        """The hidden parts of an element; all of it if nothing in it is visible or it has own text."""
        if (name, element) in self._walked:
            return []  # returned with an ancestor
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


def _is_aria_hidden_prose(element: Element) -> bool:
    # Signs, prices and formulas often come twice, once for screen readers.
    if len(element.text.split(None, _PROSE)) <= _PROSE or _FORMULA.search(element.attr("class") or ""):
        return False
    # Code may be hidden from screen readers; a column of line numbers is not code.
    return element.tag != "pre" or element.text.replace(" ", "").replace("\n", "").isdigit()


def _is_revealed(element: Element, controlled: frozenset[str]) -> bool:
    """True if hidden text is content: a tab, a folded section, or a page that a script shows."""
    if element.attr("role") == "tabpanel" or element.attr("hidden") == "until-found" or element.tag == "main":
        return True
    if (name := element.attr("id")) and name in controlled:
        return True
    if classes := element.attr("class"):
        if any(map(classes.lower().__contains__, _REVEALED)):  # a third of the time of a pattern
            return True
        if controlled and not controlled.isdisjoint([f".{name}" for name in classes.split()]):
            return True
    return _holds(element, _PAGE) or (_is_folded(element) and not _is_menu(element))


def _holds(element: Element, tags: tuple[str, ...]) -> bool:
    # `find` with several tags takes four times as long.
    return next(element.iter_elements(tags), None) is not None


def _is_folded(element: Element) -> bool:
    """True if its container, or the element before it, unfolds it."""
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
    """The ids, and classes with a dot, that controls of the page refer to."""
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
