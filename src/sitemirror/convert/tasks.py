"""Lists of tasks whose boxes are drawn, as a sign or an icon, where others have a control."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element, Node, Text

_ICON: Final = re.compile(r"(?:^|\s)fa-(check-square|square-check)?(?:square)?(?:-o)?(?=\s|$)")
_SIGN: Final = re.compile(r"\s*([\u2713\u2714\u2611\u2705]|[\u274f\u2610])\s+")
_DONE: Final = ("on", "checked")
_STATES: Final = ("on", "off", "checked", "unchecked")  # of an item, in Org and Doxygen
_WRITTEN: Final = re.compile(r"\[[X\s]?\]")
_OPEN: Final = "\u274f\u2610"


def shape_checklist(rows: Element) -> None:
    """Gives every item of a list of tasks the control that the renderer knows."""
    for item in rows:
        if isinstance(item, Element) and item.tag == "li" and item.find("input") is None:
            _shape_item(item)


def _shape_item(item: Element) -> None:
    drawn = next((child for child in item if isinstance(child, Element)), None)
    names = [] if drawn is None else (drawn.attr("class") or "").split()
    if drawn is not None and "checkbox" in names and not drawn.text.strip():
        drawn.replace_with(_box("checkbox-on" in names))  # Notion
        return
    if item.attr("data-inline-task-id") is not None:
        item.insert(0, _box("checked" in (item.attr("class") or "").split()))  # Confluence
        return
    if (state := next((name for name in (item.attr("class") or "").split() if name in _STATES), None)) is not None:
        if drawn is not None and drawn.tag == "code" and _WRITTEN.fullmatch(drawn.text):
            drawn.decompose()  # Org, which writes the box as well, if it does not draw it
        elif isinstance(first := _first(item), Text) and (found := _SIGN.match(first.data)):
            first.data = f" {first.data[found.end() :]}"
        item.insert(0, _box(state in _DONE))
        return
    first = _first(item)
    if isinstance(first, Text):
        found = _SIGN.match(first.data)
        if found is None:
            return
        is_done = found[1] not in _OPEN
        first.data = f" {first.data[found.end() :]}"
        first.insert_before(_box(is_done))
    elif first is not None and first.tag == "i" and (icon := _ICON.search(first.attr("class") or "")):
        first.replace_with(_box(icon[1] is not None))


def _box(is_done: bool) -> Element:
    return Element("input", {"type": "checkbox", "checked": ""} if is_done else {"type": "checkbox"})


def _first(item: Element) -> Element | Text | None:
    """What the item's text begins with."""
    node: Node | None = item
    while isinstance(node, Element) and node.tag in ("li", "p", "div"):
        node = next(
            (one for one in node if isinstance(one, Element) or (isinstance(one, Text) and one.data.strip())), None
        )
    return node if isinstance(node, Element | Text) else None
