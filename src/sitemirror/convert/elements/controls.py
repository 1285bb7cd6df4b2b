"""Buttons and form fields: dropped, unless they title or contain content."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.headings import HEADINGS

FIELDS: Final = ("input", "select", "datalist", "textarea", "canvas", "dialog")
_TICKED: Final = ("checkbox", "switch")
_IN_NO_BUTTON: Final = (*HEADINGS, "pre", "table", "ul", "ol", "blockquote")
_MADE_OF_BUTTONS: Final = (*HEADINGS, "summary", "dt")
# Labels of buttons that copy a heading or its URL.
_TOOL: Final = re.compile(
    r"\s*+(?:[#¶§🔗]|copy|copied!?|permalink)(?:\s++(?:the|this|to|link|url|address|section|heading|clipboard))*+\s*+",
    re.I,
)
_OPENS: Final = ("aria-controls", "data-bs-target", "data-target", "data-accordion-target", "data-collapse-toggle")
_OPENING: Final = re.compile("accordion|collaps|disclosure|spoiler", re.I)
# Names of HTTP calls, in API references that unfold them.
_CALL: Final = re.compile(r"(?:get|post|put|patch|delete|head|options|trace)\s*/", re.I)
_STATUS: Final = re.compile(r"[1-5](?:\d\d|XX)(?!\d)")  # of an HTTP response
_GOES_ON: Final = re.compile(r"\s*[\w.,;:!?)(]")
_SENTENCE: Final = 3  # words around a button; fewer are its label
_PROSE: Final = 4  # words in a button; fewer are its label
_CODE: Final = re.compile(r"\bcode\b|codemirror|snippet", re.I)


def is_dropped_control(element: Element, named: Callable[[str], Element | None]) -> bool:
    """True if a control is dropped with its text; `named` finds an element by its id."""
    if element.tag in FIELDS:
        return element.attr("open") is None
    return element.tag == "button" and not _is_wrapper(element) and not _opens_content(element, named)


def convert_form_field(element: Element) -> None:
    """Drop a form field, except the checkbox of a task and an open dialog."""
    if element.attr("type") == "checkbox":
        # The renderer accepts a checkbox only as the first node of a task.
        if isinstance(element.parent, Element) and element.parent.tag == "label":
            element.parent.unwrap()
    elif element.attr("open") is None:
        element.decompose()


def convert_label(label: Element) -> None:
    """Separate a label from the text before it, as its style does."""
    label.insert_before(Text(" "))


def convert_button(button: Element, named: Callable[[str], Element | None]) -> None:
    """Drop a button unless it has content or titles an element, which `named` finds by id."""
    if _is_in_title(button):
        _unwrap_or_drop(button)
    elif (role := button.attr("role")) == "tab":
        button.tag = "p"
    elif role in _TICKED and (item := button.closest("li")) is not None:
        is_done = button.attr("aria-checked") == "true"
        button.decompose()
        item.insert(0, Element("input", {"type": "checkbox", "checked": ""} if is_done else {"type": "checkbox"}))
    elif next(button.iter_elements(_IN_NO_BUTTON), None) is not None:
        button.tag = "div"  # A heading that unfolds its section, or a button that was never closed.
    elif _is_in_sentence(button):
        button.unwrap()
    elif _holds_prose(button):
        button.tag = "div"
    elif (is_call := _CALL.match(button.text.strip()) is not None) or _opens_content(button, named):
        for part in button.select(":scope > * + *, div, p") if is_call else ():
            part.insert_before(Text(" "))  # separated by style only, on one line
            part.tag = "span" if part.tag in ("div", "p") else part.tag
        button.strip_tags("b, strong")  # It becomes strong as a whole.
        button.wrap_children(Element("strong"))
        button.tag = "p"
    elif _holds_link(button):
        button.unwrap()
    else:
        button.decompose()


def is_code_area(area: Element) -> bool:
    """True if a text field contains a listing to read and try out."""
    text = area.text.strip()
    if not text or not (_CODE.search(area.attr("class") or "") or (area.attr("readonly") is not None and "\n" in text)):
        return False
    # Editors overlay the highlighted code with their field.
    beside = (
        next((one for one in row if isinstance(one, Element)), None)
        for row in (area.next_siblings, area.previous_siblings)
    )
    return all(one is None or one.tag != "pre" or one.text.strip() != text for one in beside)


def _is_wrapper(button: Element) -> bool:
    """True if a button contains content, or is part of a title or sentence."""
    if _is_in_title(button):
        return not _is_copy_button(button)
    if button.attr("role") == "tab" or next(button.iter_elements(_IN_NO_BUTTON), None) is not None:
        return True
    if _is_in_sentence(button) or _holds_link(button):
        return True
    return _holds_prose(button) or _CALL.match(button.text.strip()) is not None


def convert_title_buttons(title: Element) -> None:
    """Convert the buttons in a title, before it is taken apart."""
    if title.find("button") is not None:
        for child in list(title):
            if isinstance(child, Element) and child.tag == "button":
                _unwrap_or_drop(child)


def _unwrap_or_drop(button: Element) -> None:
    if _is_copy_button(button):
        button.decompose()
    else:
        button.unwrap()


def _is_in_title(button: Element) -> bool:
    parent = button.parent
    return isinstance(parent, Element) and parent.tag in _MADE_OF_BUTTONS


def _is_copy_button(button: Element) -> bool:
    """True if a button at the end of a title copies the title or its URL."""
    if _TOOL.fullmatch(button.text) is None:
        return False
    if button.attr("aria-expanded") is not None or any(button.attr(name) for name in _OPENS):
        return False  # It is the title of what it opens.
    return not any(map(_text_of, button.next_siblings)) and any(map(_text_of, button.previous_siblings))


def _text_of(node: Node) -> str:
    return node.text.strip() if isinstance(node, Element | Text) else ""


def _is_in_sentence(button: Element) -> bool:
    """True if a button is part of a sentence."""
    before, after = button.previous_sibling, button.next_sibling
    if not isinstance(before, Text) or not isinstance(after, Text) or not before.data.strip():
        return False
    if _GOES_ON.match(after.data) is None:
        return False
    return len(before.data.split()) + len(after.data.split()) >= _SENTENCE


def _holds_link(button: Element) -> bool:
    """True if it contains a link with text."""
    link = button.find("a", href=True)
    return link is not None and bool(link.text.strip())


def _holds_prose(button: Element) -> bool:
    """True if a button contains emphasised text and more: a description, not a label."""
    if next(button.iter_elements(("p", "strong")), None) is None:
        return False
    if len(button.text.split()) < _PROSE and _STATUS.match(button.text.strip()) is None:
        return False
    return len(list(islice(button.stripped_strings, 2))) > 1


def _opens_content(button: Element, named: Callable[[str], Element | None]) -> bool:
    """True if a button opens a part of the page, and so is its title."""
    if not button.text.strip():
        return False
    if name := next((value for one in _OPENS if (value := button.attr(one))), ""):
        opened = named(name.lstrip("#"))
    elif button.attr("aria-expanded") is not None or _OPENING.search(button.attr("class") or ""):
        opened = next((node for node in button.next_siblings if isinstance(node, Element)), None)
    else:
        return False
    return opened is not None and bool(opened.text.strip())
