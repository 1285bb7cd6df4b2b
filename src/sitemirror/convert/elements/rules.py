"""The table of element rules: which function converts which element, by class, tag or ARIA role.

One pass over the elements that need it; every rule looks at its own element and its near neighbours only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.admonitions import shape_admonition, shape_undrawn
from sitemirror.convert.elements.code import (
    join_roff,
    shape_callouts,
    shape_code,
    shape_diagram,
    shape_lines,
    shape_listing,
    shape_output,
    shape_terminal,
    shape_typed,
)
from sitemirror.convert.elements.controls import FIELDS, shape_button, shape_control, shape_label
from sitemirror.convert.elements.footnotes import (
    is_quoted_note,
    listed_notes,
    note_in_popover,
    notes_of,
    shape_footnotes,
    take_inset,
)
from sitemirror.convert.elements.formulas import (
    shape_delimited,
    shape_drawn,
    shape_equations,
    shape_math,
    shape_script,
    shape_text,
)
from sitemirror.convert.elements.headings import HEADINGS, shape_card, shape_heading, shape_spoken_heading
from sitemirror.convert.elements.inline import (
    leave_out,
    set_apart,
    shape_above,
    shape_bold,
    shape_item_label,
    shape_key,
    shape_quotation,
    shape_raised,
    shape_reading,
    shape_step,
    shape_verse,
    shape_within,
)
from sitemirror.convert.elements.links import make_absolute, tidy_links
from sitemirror.convert.elements.lists import (
    shape_checklist,
    shape_declaration,
    shape_definitions,
    shape_members,
    shape_pairs,
    shape_signature,
    shape_synopsis,
)
from sitemirror.convert.elements.pictures import shape_drawing, shape_frame, shape_image, shape_media, shape_noscript
from sitemirror.convert.elements.tables import (
    flatten,
    shape_grid,
    shape_menu,
    shape_quote,
    shape_spoken_table,
    shape_table,
)
from sitemirror.convert.elements.tabs import (
    SHOELACE,
    Crowds,
    shape_details,
    shape_named_tabs,
    shape_tab_list,
    shape_tab_set,
    shape_tabs_in,
)
from sitemirror.convert.generators import Vocabulary
from sitemirror.links.resolve import Resolver

T = TypeVar("T")

_MOST_BOXES: Final = 10  # around a note; more are the traces of tags that were never closed
_NEAR: Final = 50  # elements around a box that are looked at


@dataclass(frozen=True, slots=True)
class _Page:
    """What the rules of one page have in common."""

    root: Element
    urls: Resolver
    names: Vocabulary
    notes: list[Element] = field(default_factory=list)  # footnotes, to be settled when all are known
    boxes: dict[Node, int] = field(default_factory=dict)  # notes and warnings, with the number of those around them
    places: dict[str, Element] = field(default_factory=dict)  # by id, as soon as somebody asks
    crowds: Crowds = field(default_factory=dict)

    def boxes_around(self, box: Element) -> int:
        """In how many other boxes a box stands; each is read to its end to find out what it is."""
        boxes = self.boxes
        near = islice(box.ancestors, _NEAR) if boxes else ()
        around = next((boxes[found] + 1 for found in near if found in boxes), 0)
        boxes[box] = around
        return around

    def named(self, name: str) -> Element | None:
        """What has the id `name`."""
        if not self.places:
            self.places.update((place.attr("id") or "", place) for place in (self.root, *self.root.select("[id]")))
        return self.places.get(name)


def shape(element: Element, urls: Resolver, names: Vocabulary) -> None:
    """Shapes everything under `element`, in place."""
    page = _Page(element, urls, names)
    if names.noise:
        element.remove(names.noise)
    if names.unwrap:
        for box in element.select(names.unwrap):
            box.tag = "div"
    shape_code(element)
    if names.formulas:
        for found in element.select(names.formulas):
            shape_delimited(found)
        if not names.marks_formulas:
            shape_text(element)
    roles = names.told
    # A list: a rule may take out what would have come next. What has left the page by then is passed over.
    for found in list(element.iter_elements((*_TAGS, *names.tags), include_self=True)):
        role = roles[classes] if (classes := found.attr("class")) else None
        rule = _RULES.get(found.tag) or ((aria := found.attr("role")) and _SPOKEN.get(aria)) or None
        if (role is None and rule is None) or (found.parent is None and found is not element):
            continue
        try:
            if role is not None and ROLES[role](found, page):
                continue
            if rule is not None:
                rule(found, page)
        except ValueError:
            # It has left the page, within something that was taken out: there is nothing around it to edit.
            continue
    if page.notes:
        shape_footnotes(element, page.notes)


# What an element is by its class. `False` where the name was all it had of it: then its tag decides.


def _alone(rule: Callable[[Element], T]) -> Callable[[Element, _Page], T]:
    """A rule that needs nothing but its element."""
    return lambda element, _: rule(element)


def _admonition(box: Element, page: _Page) -> bool:
    return page.boxes_around(box) < _MOST_BOXES and shape_admonition(box, page.names)


def _tab_list(row: Element, page: _Page) -> bool:
    return shape_tab_list(row, page.names, page.crowds)


def _footnote(element: Element, page: _Page) -> bool:
    if element.tag in ("sup", "a", "span"):
        return False  # the mark that refers to one
    page.notes.extend(notes_of(element))
    return True


def _footnotes(element: Element, page: _Page) -> bool:
    page.notes.extend(listed_notes(element))
    return True


def _inset(mark: Element, page: _Page) -> bool:
    if (text := note_in_popover(mark)) is not None:
        tidy_links(text, page.urls)
        make_absolute(text, page.urls)
        shape(text, page.urls, page.names)
    if (note := take_inset(mark, text, page.root)) is not None:
        page.notes.append(note)
    return note is not None


def _checklist(element: Element, _: _Page) -> bool:
    shape_checklist(element)
    return False


def _struck(element: Element, _: _Page) -> bool:
    element.tag = "del"
    return True


def _lines(element: Element, page: _Page) -> bool:
    if element.tag == "pre":
        return False
    shape_lines(element)
    _code_block(element, page)
    return True


def _source(box: Element, page: _Page) -> bool:
    """Code that only its class tells from text."""
    if box.tag != "div" or any(isinstance(child, Element) for child in box):
        return False
    box.tag = "pre"
    box.set_text(box.text.strip("\n"))
    _code_block(box, page)
    return True


def _numbered(table: Element, _: _Page) -> bool:
    """Code in a table, beside the numbers of its lines."""
    if table.tag != "table":
        return False
    flatten(table)
    return True


def _typed(element: Element, _: _Page) -> bool:
    if element.tag in _BOXES:
        return False
    shape_typed(element)
    return True


def _terminal(box: Element, _: _Page) -> bool:
    shape_terminal(box)
    return False


def _members(table: Element, _: _Page) -> bool:
    return table.tag == "table" and shape_members(table)


def _headline(element: Element, _: _Page) -> bool:
    element.tag = "h1"
    return True


def _pairs(box: Element, page: _Page) -> bool:
    return shape_pairs(box, page.names)


def _signature(element: Element, _: _Page) -> bool:
    if element.tag == "pre":
        return False
    is_table = element.tag == "table"
    for cell in element.select("td + td") if is_table else ():
        cell.insert_before(Text(" "))
    shape_signature(element)
    if is_table:
        element.tag = "p"
    return True


# What an element is by its tag.


def _code_block(pre: Element, page: _Page) -> None:
    shape_listing(pre, page.names.languages)


def _declaration(box: Element, page: _Page) -> bool:
    is_code = shape_declaration(box)
    if is_code:
        _code_block(box, page)
    return is_code


def _definitions(dl: Element, page: _Page) -> None:
    shape_definitions(dl, page.names)


def _table(table: Element, page: _Page) -> None:
    shape_table(table, lambda kept: shape_tabs_in(kept, page.names, page.crowds))


def _tab_group(box: Element, page: _Page) -> None:
    shape_tab_set(box, SHOELACE, page.names)


def _details(details: Element, page: _Page) -> None:
    is_named = not page.names.alerts.keys().isdisjoint((details.attr("class") or "").split())
    if not (is_named and _admonition(details, page)):
        shape_details(details)


def _image(image: Element, page: _Page) -> None:
    shape_image(image, page.urls)


def _media(media: Element, page: _Page) -> None:
    shape_media(media, page.urls)


def _preformatted(element: Element, page: _Page) -> None:
    """Code, as pages of the nineties have it."""
    element.tag = "pre"
    _code_block(element, page)


def _button(button: Element, page: _Page) -> None:
    shape_button(button, page.named)


def _quote_or_note(quote: Element, page: _Page) -> None:
    """A quotation with a name may be a footnote of GitBook's, others an alert that was not drawn as one."""
    shape_undrawn(quote)
    if is_quoted_note(quote):
        page.notes.append(quote)


def _block(element: Element, _: _Page) -> None:
    element.tag = "div"  # The renderer takes these for inline.


_RULES: Final[dict[str, Callable[[Element, _Page], object]]] = {
    "pre": _code_block,
    "samp": _alone(shape_output),
    "tt": _alone(shape_typed),
    "img": _image,
    "noscript": _alone(shape_noscript),
    "video": _media,
    "audio": _media,
    "iframe": _alone(shape_frame),
    "embed": _alone(shape_frame),
    "object": _alone(shape_frame),
    "xmp": _preformatted,
    "listing": _preformatted,
    "plaintext": _preformatted,
    "svg": _alone(shape_drawing),
    "math": _alone(shape_math),
    "math-renderer": _alone(shape_delimited),  # GitHub's
    "button": _button,
    **dict.fromkeys(FIELDS, _alone(shape_control)),
    "label": _alone(shape_label),
    "table": _table,
    "sub": _alone(shape_raised),
    "sup": _alone(shape_raised),
    "kbd": _alone(shape_raised),
    "rt": _alone(shape_reading),
    "q": _alone(shape_quotation),
    "dl": _definitions,
    "details": _details,
    "script": _alone(shape_script),
    "sl-tab-group": _tab_group,
    "blockquote": _quote_or_note,
    "center": _block,
    "legend": _block,
    **dict.fromkeys(HEADINGS, _alone(shape_heading)),
}
# What an element is to a screen reader, where its tag says nothing.
_SPOKEN: Final[dict[str, Callable[[Element, _Page], object]]] = {
    "tablist": _tab_list,
    "table": _alone(shape_spoken_table),
    "heading": _alone(shape_spoken_heading),
}
_BOXES: Final = ("div", "ul", "aside", "section", "article")  # what only a name makes something else
_TAGS: Final = (*_RULES, *_BOXES)
ROLES: Final[dict[str, Callable[[Element, _Page], bool]]] = {
    "admonition": _admonition,
    "tabs": lambda box, page: shape_named_tabs(box, page.names),
    "tablist": _tab_list,
    "footnote": _footnote,
    "footnotes": _footnotes,
    "inset": _inset,
    "diagram": _alone(shape_diagram),
    "checklist": _checklist,
    "struck": _struck,
    "callouts": _alone(shape_callouts),
    "terminal": _terminal,
    "typed": _typed,
    "grid": _alone(shape_grid),
    "members": _members,
    "menu": _alone(shape_menu),
    "card": _alone(shape_card),
    "raised": _alone(shape_above),
    "unsaid": _alone(leave_out),
    "apart": _alone(set_apart),
    "within": _alone(shape_within),
    "headline": _headline,
    "listing": _lines,
    "source": _source,
    "numbered": _numbered,
    "roff": _alone(join_roff),
    "signature": _signature,
    "declaration": _declaration,
    "verse": _alone(shape_verse),
    "formula": _alone(shape_drawn),
    "equations": _alone(shape_equations),
    "pairs": _pairs,
    "quote": _alone(shape_quote),
    "synopsis": _alone(shape_synopsis),
    "bold": _alone(shape_bold),
    "key": _alone(shape_key),
    "step": _alone(shape_step),
    "label": _alone(shape_item_label),
}
