"""The table of element rules: the function that converts an element, by class, tag or ARIA role.

One pass over the elements that have a rule; rules read only their own element and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.admonitions import convert_admonition, convert_alert_syntax
from sitemirror.convert.elements.code import (
    convert_callouts,
    convert_code_block,
    convert_code_spans,
    convert_diagram,
    convert_drawn_code,
    convert_sample_output,
    convert_teletype,
    convert_terminal,
    drop_doubled_line_ends,
)
from sitemirror.convert.elements.controls import FIELDS, convert_button, convert_form_field, convert_label
from sitemirror.convert.elements.footnotes import (
    convert_footnotes,
    convert_quoted_note,
    listed_notes,
    move_inset_note,
    note_in_popover,
    notes_of,
)
from sitemirror.convert.elements.formulas import (
    convert_delimited_tex,
    convert_equation_table,
    convert_formula_pictures,
    convert_mathml,
    convert_tex_in_text,
    convert_tex_script,
)
from sitemirror.convert.elements.headings import HEADINGS, convert_aria_heading, convert_card, convert_heading
from sitemirror.convert.elements.inline import (
    add_blanks_around,
    convert_bold_title,
    convert_inline_box,
    convert_item_label,
    convert_key,
    convert_line_block,
    convert_menu_arrow,
    convert_quotation,
    convert_ruby_text,
    convert_sub_sup_kbd,
    convert_superscript,
    drop_element,
)
from sitemirror.convert.elements.links import clean_links, make_links_absolute
from sitemirror.convert.elements.lists import (
    convert_definition_list,
    convert_definition_table,
    convert_function_synopsis,
    convert_member_table,
    convert_signature,
    convert_task_list,
    convert_type_declaration,
)
from sitemirror.convert.elements.pictures import (
    convert_embedded,
    convert_image,
    convert_media,
    convert_noscript,
    convert_svg,
)
from sitemirror.convert.elements.tables import (
    convert_aria_table,
    convert_grid,
    convert_link_table,
    convert_quote_table,
    convert_table,
    flatten_table,
)
from sitemirror.convert.elements.tabs import (
    SHOELACE,
    PanelCounts,
    convert_details,
    convert_named_tabs,
    convert_tab_list,
    convert_tab_set,
    convert_tabs_in,
)
from sitemirror.convert.generators import Vocabulary
from sitemirror.links.resolve import Resolver

T = TypeVar("T")

_MOST_BOXES: Final = 10  # around a note; more come from tags that were never closed
_NEAR: Final = 50  # ancestors of a box that are searched


@dataclass(frozen=True, slots=True)
class _Context:
    """State shared by the rules of one page."""

    root: Element
    urls: Resolver
    names: Vocabulary
    notes: list[Element] = field(default_factory=list)  # footnotes, converted when all are known
    note_depths: dict[Node, int] = field(default_factory=dict)  # notes and warnings → nesting depth
    by_id: dict[str, Element] = field(default_factory=dict)  # by id, filled on first use
    panel_counts: PanelCounts = field(default_factory=dict)

    def enter_note(self, box: Element) -> int:
        """Record a note and return its nesting depth, which is limited: reading a note takes as long as it is."""
        note_depths = self.note_depths
        near = islice(box.ancestors, _NEAR) if note_depths else ()
        around = next((note_depths[found] + 1 for found in near if found in note_depths), 0)
        note_depths[box] = around
        return around

    def find_by_id(self, name: str) -> Element | None:
        """The element with the id `name`."""
        if not self.by_id:
            self.by_id.update((place.attr("id") or "", place) for place in (self.root, *self.root.select("[id]")))
        return self.by_id.get(name)


def convert_elements(element: Element, urls: Resolver, names: Vocabulary) -> None:
    """Convert everything under `element`, in place."""
    page = _Context(element, urls, names)
    if names.noise:
        element.remove(names.noise)
    if names.unwrap:
        for box in element.select(names.unwrap):
            box.tag = "div"
    convert_code_spans(element)
    if names.formulas:
        for found in element.select(names.formulas):
            convert_delimited_tex(found)
        if not names.marks_formulas:
            convert_tex_in_text(element)
    roles = names.role_by_classes
    # A list, since rules remove elements; removed ones are skipped.
    for found in list(element.iter_elements((*_TAGS, *names.tags), include_self=True)):
        role = roles[classes] if (classes := found.attr("class")) else None
        rule = _RULES.get(found.tag) or ((aria := found.attr("role")) and _RULES_BY_ROLE.get(aria)) or None
        if (role is None and rule is None) or (found.parent is None and found is not element):
            continue
        try:
            if role is not None and ROLES[role](found, page):
                continue
            if rule is not None:
                rule(found, page)
        except ValueError:
            # part of a removed element
            continue
    if page.notes:
        convert_footnotes(element, page.notes)


# Rules by class. `False` means that the class was misleading; then the tag decides.


def _by_element(rule: Callable[[Element], T]) -> Callable[[Element, _Context], T]:
    """Adapt a function of the element alone as a rule."""
    return lambda element, _: rule(element)


def _admonition(box: Element, page: _Context) -> bool:
    return page.enter_note(box) < _MOST_BOXES and convert_admonition(box, page.names)


def _tab_list(row: Element, page: _Context) -> bool:
    return convert_tab_list(row, page.names, page.panel_counts)


def _footnote(element: Element, page: _Context) -> bool:
    if element.tag in ("sup", "a", "span"):
        return False  # the reference to a note
    page.notes.extend(notes_of(element))
    return True


def _footnotes(element: Element, page: _Context) -> bool:
    page.notes.extend(listed_notes(element))
    return True


def _inline_note(mark: Element, page: _Context) -> bool:
    if (text := note_in_popover(mark)) is not None:
        clean_links(text, page.urls)
        make_links_absolute(text, page.urls)
        convert_elements(text, page.urls, page.names)
    if (note := move_inset_note(mark, text, page.root)) is not None:
        page.notes.append(note)
    return note is not None


def _checklist(element: Element, _: _Context) -> bool:
    convert_task_list(element)
    return False


def _strikethrough(element: Element, _: _Context) -> bool:
    element.tag = "del"
    return True


def _listing(element: Element, page: _Context) -> bool:
    if element.tag == "pre":
        return False
    convert_drawn_code(element)
    _code_block(element, page)
    return True


def _source(box: Element, page: _Context) -> bool:
    """Convert code that only its class marks."""
    if box.tag != "div" or any(isinstance(child, Element) for child in box):
        return False
    box.tag = "pre"
    box.set_text(box.text.strip("\n"))
    _code_block(box, page)
    return True


def _numbered_code(table: Element, _: _Context) -> bool:
    """Unwrap code in a table beside its line numbers."""
    if table.tag != "table":
        return False
    flatten_table(table)
    return True


def _code_span(element: Element, _: _Context) -> bool:
    if element.tag in _BOXES:
        return False
    convert_teletype(element)
    return True


def _terminal(box: Element, _: _Context) -> bool:
    convert_terminal(box)
    return False


def _member_table(table: Element, _: _Context) -> bool:
    return table.tag == "table" and convert_member_table(table)


def _title(element: Element, _: _Context) -> bool:
    element.tag = "h1"
    return True


def _definition_table(box: Element, page: _Context) -> bool:
    return convert_definition_table(box, page.names)


def _signature(element: Element, _: _Context) -> bool:
    if element.tag == "pre":
        return False
    is_table = element.tag == "table"
    for cell in element.select("td + td") if is_table else ():
        cell.insert_before(Text(" "))
    convert_signature(element)
    if is_table:
        element.tag = "p"
    return True


# Rules by tag.


def _code_block(pre: Element, page: _Context) -> None:
    convert_code_block(pre, page.names.languages)


def _declaration(box: Element, page: _Context) -> bool:
    is_code = convert_type_declaration(box)
    if is_code:
        _code_block(box, page)
    return is_code


def _definitions(dl: Element, page: _Context) -> None:
    convert_definition_list(dl, page.names)


def _table(table: Element, page: _Context) -> None:
    convert_table(table, lambda kept: convert_tabs_in(kept, page.names, page.panel_counts))


def _tab_group(box: Element, page: _Context) -> None:
    convert_tab_set(box, SHOELACE, page.names)


def _details(details: Element, page: _Context) -> None:
    is_named = not page.names.alerts.keys().isdisjoint((details.attr("class") or "").split())
    if not (is_named and _admonition(details, page)):
        convert_details(details)


def _image(image: Element, page: _Context) -> None:
    convert_image(image, page.urls)


def _media(media: Element, page: _Context) -> None:
    convert_media(media, page.urls)


def _preformatted(element: Element, page: _Context) -> None:
    """Convert obsolete elements for code."""
    element.tag = "pre"
    _code_block(element, page)


def _button(button: Element, page: _Context) -> None:
    convert_button(button, page.find_by_id)


def _quote_or_note(quote: Element, page: _Context) -> None:
    """Convert a quotation that is a GitBook footnote or begins with alert syntax."""
    convert_alert_syntax(quote)
    if convert_quoted_note(quote):
        page.notes.append(quote)


def _block(element: Element, _: _Context) -> None:
    element.tag = "div"  # The renderer treats these as inline.


_RULES: Final[dict[str, Callable[[Element, _Context], object]]] = {
    "pre": _code_block,
    "samp": _by_element(convert_sample_output),
    "tt": _by_element(convert_teletype),
    "img": _image,
    "noscript": _by_element(convert_noscript),
    "video": _media,
    "audio": _media,
    "iframe": _by_element(convert_embedded),
    "embed": _by_element(convert_embedded),
    "object": _by_element(convert_embedded),
    "xmp": _preformatted,
    "listing": _preformatted,
    "plaintext": _preformatted,
    "svg": _by_element(convert_svg),
    "math": _by_element(convert_mathml),
    "math-renderer": _by_element(convert_delimited_tex),  # GitHub
    "button": _button,
    **dict.fromkeys(FIELDS, _by_element(convert_form_field)),
    "label": _by_element(convert_label),
    "table": _table,
    "sub": _by_element(convert_sub_sup_kbd),
    "sup": _by_element(convert_sub_sup_kbd),
    "kbd": _by_element(convert_sub_sup_kbd),
    "rt": _by_element(convert_ruby_text),
    "q": _by_element(convert_quotation),
    "dl": _definitions,
    "details": _details,
    "script": _by_element(convert_tex_script),
    "sl-tab-group": _tab_group,
    "blockquote": _quote_or_note,
    "center": _block,
    "legend": _block,
    **dict.fromkeys(HEADINGS, _by_element(convert_heading)),
}
# Rules by ARIA role, for elements without a rule by tag.
_RULES_BY_ROLE: Final[dict[str, Callable[[Element, _Context], object]]] = {
    "tablist": _tab_list,
    "table": _by_element(convert_aria_table),
    "heading": _by_element(convert_aria_heading),
}
_BOXES: Final = ("div", "ul", "aside", "section", "article")  # elements with rules by class only
_TAGS: Final = (*_RULES, *_BOXES)
ROLES: Final[dict[str, Callable[[Element, _Context], bool]]] = {
    "admonition": _admonition,
    "tabs": lambda box, page: convert_named_tabs(box, page.names),
    "tablist": _tab_list,
    "footnote": _footnote,
    "footnotes": _footnotes,
    "inline_note": _inline_note,
    "diagram": _by_element(convert_diagram),
    "checklist": _checklist,
    "strikethrough": _strikethrough,
    "callouts": _by_element(convert_callouts),
    "terminal": _terminal,
    "code_span": _code_span,
    "grid": _by_element(convert_grid),
    "member_table": _member_table,
    "link_table": _by_element(convert_link_table),
    "card": _by_element(convert_card),
    "superscript": _by_element(convert_superscript),
    "dropped": _by_element(drop_element),
    "spaced": _by_element(add_blanks_around),
    "inline_box": _by_element(convert_inline_box),
    "title": _title,
    "listing": _listing,
    "source": _source,
    "numbered_code": _numbered_code,
    "roff": _by_element(drop_doubled_line_ends),
    "signature": _signature,
    "declaration": _declaration,
    "line_block": _by_element(convert_line_block),
    "formula": _by_element(convert_formula_pictures),
    "equations": _by_element(convert_equation_table),
    "definition_table": _definition_table,
    "quote": _by_element(convert_quote_table),
    "synopsis": _by_element(convert_function_synopsis),
    "bold": _by_element(convert_bold_title),
    "key": _by_element(convert_key),
    "menu_arrow": _by_element(convert_menu_arrow),
    "item_label": _by_element(convert_item_label),
}
