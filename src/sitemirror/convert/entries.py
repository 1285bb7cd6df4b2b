"""Lists that Word has as paragraphs, each with its bullet or number in front and as far in as it is deep.

What it writes behind the bullet is always the same: blanks in letters of seven points, which nothing else has.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Comment, Element, Node, Text

_SPACER: Final = "span[style*='font:7.0pt' i]"
_LEVEL: Final = re.compile(r"mso-list\s*:[^;]*\blevel(\d)", re.I)
_MARGIN: Final = re.compile(r"margin-left\s*:\s*(\d+(?:\.\d+)?)(pt|in|cm)", re.I)
_POINTS: Final = {"pt": 1.0, "in": 72.0, "cm": 28.35}
_STEP: Final = 36.0  # points that a list is further in than the one around it
_DEEPEST: Final = 9  # as Word's
_NUMBER: Final = re.compile(r"\(?(\d{1,9})[.)]")
_LETTERS: Final = re.compile(r"\(?[A-Za-z]{1,8}[.)]|\d[\d.]*")
_LONGEST: Final = 20  # characters of a label
_MADE: Final = "data-entries"  # how deep a list is that was made here
_LEVELS: Final = frozenset(map(str, range(1, _DEEPEST + 1)))


def shape_entry(paragraph: Element) -> bool:
    """Makes a paragraph with a bullet or a number an item, of the list above it if there is one."""
    spacer = paragraph.select_one(_SPACER) if paragraph.tag == "p" else None
    label = _label(paragraph, spacer) if spacer is not None else ""
    if spacer is None or not label or len(label) > _LONGEST:
        return False
    _take_label(paragraph, spacer)
    number = _NUMBER.fullmatch(label)
    holder = _list_for(paragraph, _level(paragraph.attr("style") or ""), number)
    item = Element("li")
    holder.append(item)
    if number is None and _LETTERS.fullmatch(label):
        item.append(Text(f"{label} "))
    item.extend(list(paragraph.children))
    paragraph.decompose()
    return True


def _label(paragraph: Element, spacer: Element) -> str:
    """What stands in front of the blanks."""
    said: list[str] = []
    for node in paragraph.descendants:
        if node is spacer:
            break
        if isinstance(node, Text):
            said.append(node.data)
    return "".join(said).strip()


def _take_label(paragraph: Element, spacer: Element) -> None:
    """Takes it out, with the blanks and the elements that hold nothing else."""
    top: Node = spacer
    while top.parent is not None and top.parent is not paragraph:
        top = top.parent
    for node in [*top.previous_siblings]:
        if not isinstance(node, Comment):  # which keeps a place that a link may lead to
            node.extract()
    inside = list(top.descendants) if isinstance(top, Element) else []
    until = inside.index(spacer) if spacer in inside else len(inside)
    for node in inside[:until]:
        if isinstance(node, Text):
            node.data = ""
    spacer.decompose()
    if isinstance(top, Element) and top.parent is not None and not top.text.strip():
        top.decompose()


def _level(style: str) -> int:
    if found := _LEVEL.search(style):
        return min(max(int(found[1]), 1), _DEEPEST)
    margin = _MARGIN.search(style)
    return min(max(round(float(margin[1]) * _POINTS[margin[2].lower()] / _STEP), 1), _DEEPEST) if margin else 1


def _list_for(paragraph: Element, level: int, number: re.Match[str] | None) -> Element:
    """The list that an item of this level belongs to: one that ends right above it, or a new one."""
    near = (node for node in paragraph.previous_siblings if not (isinstance(node, Text) and not node.data.strip()))
    above = next((node for node in near if not isinstance(node, Comment)), None)
    tag = "ul" if number is None else "ol"
    outer = above if isinstance(above, Element) and _depth(above) else None
    last = outer
    while last is not None and _depth(last) < level:
        item = last[-1]
        inner = item[-1] if isinstance(item, Element) and len(item) else None
        if not (isinstance(inner, Element) and _depth(inner)):
            made = _new(tag, level, number)
            (item if isinstance(item, Element) else last).append(made)
            return made
        last = inner
    if last is not None and last.tag == tag:
        return last
    made = _new(tag, level, number)
    if last is None or last is outer:
        paragraph.insert_before(made)
    else:
        last.insert_after(made)
    return made


def _depth(made: Element) -> int:
    """How deep a list is that was made here and has items; nothing for any other, whatever the page says of it."""
    depth = made.attr(_MADE) or ""
    return int(depth) if depth in _LEVELS and len(made) else 0


def _new(tag: str, level: int, number: re.Match[str] | None) -> Element:
    start = {"start": number[1]} if number is not None and number[1] != "1" else {}
    return Element(tag, {_MADE: str(level), **start})
