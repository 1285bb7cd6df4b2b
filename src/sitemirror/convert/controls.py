"""What people press, tick and fill in says nothing in a file; what it is called sometimes does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from turbohtml import Element, Text

FIELDS: Final = ("input", "select", "datalist", "textarea", "canvas", "dialog")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_IN_NO_BUTTON: Final = (*_HEADINGS, "pre", "table", "ul", "ol", "blockquote")
_MADE_OF_BUTTONS: Final = (*_HEADINGS, "summary", "dt")
_OPENS: Final = ("aria-controls", "data-bs-target", "data-target")
_OPENING: Final = re.compile("accordion|collaps|disclosure", re.I)


def says_nothing(element: Element, named: Callable[[str], Element | None]) -> bool:
    """Whether it is a control whose own text goes with it; `named` finds an element by its id."""
    if element.tag in FIELDS:
        return element.attr("open") is None
    return element.tag == "button" and not _is_wrapper(element) and not _opens_content(element, named)


def shape_control(element: Element) -> None:
    """What a person would fill in or open says nothing in a file."""
    if element.attr("type") == "checkbox":
        # The box of a task list; the renderer knows it as the first thing in its item only.
        if isinstance(element.parent, Element) and element.parent.tag == "label":
            element.parent.unwrap()
    elif element.attr("open") is None:
        element.decompose()


def shape_label(label: Element) -> None:
    """Labels stand apart on the page, by nothing but their style."""
    label.insert_before(Text(" "))


def shape_button(button: Element, named: Callable[[str], Element | None]) -> None:
    """Buttons are controls, except those that carry a heading or name what they open; `named` finds that by its id."""
    parent = button.parent
    if isinstance(parent, Element) and parent.tag in _MADE_OF_BUTTONS:
        button.unwrap()
    elif button.attr("role") == "tab":
        button.tag = "p"
    elif next(button.iter_elements(_IN_NO_BUTTON), None) is not None:
        button.tag = "div"  # A heading that unfolds its section, or the rest of a page that forgot to close it.
    elif _opens_content(button, named):
        button.wrap_children(Element("strong"))
        button.tag = "p"
    else:
        button.decompose()


def _is_wrapper(button: Element) -> bool:
    """Whether there is more in it, or it in more, than a button has."""
    parent = button.parent
    is_part = isinstance(parent, Element) and parent.tag in _MADE_OF_BUTTONS
    return is_part or button.attr("role") == "tab" or next(button.iter_elements(_IN_NO_BUTTON), None) is not None


def _opens_content(button: Element, named: Callable[[str], Element | None]) -> bool:
    """Whether pressing it shows a part of the page: then it is that part's title."""
    if not button.text.strip():
        return False
    if name := next((value for one in _OPENS if (value := button.attr(one))), ""):
        opened = named(name.lstrip("#"))
    elif button.attr("aria-expanded") is not None or _OPENING.search(button.attr("class") or ""):
        opened = next((node for node in button.next_siblings if isinstance(node, Element)), None)
    else:
        return False
    return opened is not None and bool(opened.text.strip())
