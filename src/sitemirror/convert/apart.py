"""Keeps the blocks of an item apart that would be one without a blank line between them.

The renderer leaves none in an item with no more than one paragraph: a rule below it makes a heading of it, and a second
table or quote goes on with the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.marks import apart

_BOXES: Final = frozenset(("article", "aside", "dd", "div", "figure", "section", "span"))
_LISTS: Final = frozenset(("ul", "ol"))
_GOES_ON: Final = {"blockquote": frozenset(("blockquote",)), "table": frozenset(("blockquote", "table", *_LISTS))}
_BLOCKS: Final = frozenset(("blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "table", *_LISTS))
_SHOWS_NOTHING: Final = frozenset(("b", "br", "em", "font", "i", "span", "strong", "u"))
_DEEPEST: Final = 20  # boxes within each other that are looked into


def set_apart(element: Element) -> int:
    """Puts a mark before blocks that need a blank line there. Their number."""
    found = [block for block in element.select("li :is(blockquote, table, hr)") if _is_read_on(block)]
    for block in found:
        block.insert_before(apart())
    return len(found)


def drop_spacing(element: Element) -> int:
    """Takes paragraphs out of items that show nothing; what is left may be one line. Their number."""
    found = [
        block
        for block in element.select("li :is(p, div)")
        if not block.text.strip() and all(part.tag in _SHOWS_NOTHING for part in block.select("*"))
    ]
    for block in found:
        block.decompose()
    return len(found)


def _is_read_on(block: Element) -> bool:
    """Whether what stands before it in its item would take it in."""
    before = _before(block)
    if block.tag == "hr":
        return before is not None and not (isinstance(before, Element) and before.tag in _BLOCKS)
    return isinstance(before, Element) and before.tag in _GOES_ON[block.tag]


def _before(block: Element) -> Node | None:
    """What is seen above it in the same item."""
    here = block
    for _level in range(_DEEPEST):
        before = _seen(here.previous_siblings)
        if before is not None:
            return _last(before)
        parent = here.parent
        if not isinstance(parent, Element) or parent.tag not in _BOXES:
            return None
        here = parent
    return None


def _last(node: Node) -> Node:
    """What a box ends with."""
    for _level in range(_DEEPEST):
        if not isinstance(node, Element) or node.tag not in _BOXES:
            break
        last = _seen(reversed(node.children))
        if last is None:
            break
        node = last
    return node


def _seen(nodes: Iterable[Node]) -> Node | None:
    for node in nodes:
        if not isinstance(node, Comment) and not (isinstance(node, Text) and not node.data.strip()):
            return node
    return None
