"""Fix blank lines and line breaks: empty items and headings, stray breaks, adjacent blocks.

The renderer writes no blank line in an item with at most one paragraph: a rule below it would turn it into a heading,
and a second table or quote would continue the first.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from operator import attrgetter
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.render.markers import blank_line

_MARKED: Final = ("li", "h1", "h2", "h3", "h4", "h5", "h6")
_FIRST_IN_ITEM: Final = "li > :is(a:not([href]), span):first-child"
_MARKS: Final = ("b", "del", "em", "i", "s", "span", "strike", "strong", "u")
_SHOWN: Final = ("img", "picture", "video", "audio", "svg", "math", "iframe", "object", "hr", "input", "table", "pre")
_BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary",
        "table", "td", "th", "ul",
    )
)  # fmt: skip
_Step = Callable[[Node], Node | None]
_BEFORE: Final[_Step] = attrgetter("previous_sibling")
_AFTER: Final[_Step] = attrgetter("next_sibling")
_DEEPEST: Final = 20  # ancestors of a line break


def drop_empty_items(element: Element) -> int:
    """Remove empty items and headings, and empty elements before an item's text; returns their number."""
    found: list[Element] = []
    going_on: set[Node | None] = set()  # lists with visible items after the current one
    for one in reversed(list(element.iter_elements(_MARKED))):
        if _shows(one):
            going_on.add(one.parent)
        elif not _is_intended(one, going_on):
            found.append(one)
    found.reverse()
    # An element with a blank would end the line of the list marker.
    found += [one for one in element.select(_FIRST_IN_ITEM) if not _shows(one) and _is_first(one)]
    for one in found:
        if one.parent is not None:
            # Comments mark the positions of ids.
            one.insert_before(*[node for node in one.descendants if isinstance(node, Comment)])
            one.decompose()
    return len(found)


def drop_first_breaks(element: Element) -> int:
    """Remove line breaks at the beginning of paragraphs; returns their number."""
    known: dict[Element, bool] = {}
    found = [br for br in element.iter_elements("br") if _is_first(br, known)]
    for br in found:
        br.decompose()
    return len(found)


def drop_last_breaks(element: Element) -> int:
    """Remove line breaks at the end of paragraphs; returns their number."""
    known: dict[Element, bool] = {}
    found = [br for br in reversed(list(element.iter_elements("br"))) if _is_at_end(br, known, _AFTER)]
    for br in found:
        br.decompose()
    return len(found)


def lift_break(br: Element) -> None:
    """Move a line break out of emphasis that it begins or ends; unwrap emphasis without other content."""
    for _level in range(_DEEPEST):
        around = br.parent
        if not isinstance(around, Element) or around.tag not in _MARKS:
            return
        # not by its whole text, which may be long
        if next(around.stripped_strings, None) is None and next(around.iter_elements(_SHOWN), None) is None:
            around.unwrap()
        elif not any(map(_is_in_line, br.next_siblings)):
            around.insert_after(br)
        elif not any(map(_is_in_line, br.previous_siblings)):
            around.insert_before(br)
        else:
            return


def _is_in_line(node: Node) -> bool:
    return bool(node.data.strip()) if isinstance(node, Text) else isinstance(node, Element) and node.tag != "br"


def _is_intended(one: Element, going_on: Container[Node | None]) -> bool:
    """True if an empty item may be on purpose: it counts in an ordered list, or has no markup at all."""
    around = one.parent
    if one.tag != "li" or not isinstance(around, Element):
        return False
    if around.tag == "ol" and around in going_on:
        return True
    return not (one.attrs or around.attrs or any(isinstance(child, Element) for child in one))


def _shows(element: Element) -> bool:
    return bool(element.text.strip()) or next(element.iter_elements(_SHOWN), None) is not None


def _is_first(one: Element, known: dict[Element, bool] | None = None) -> bool:
    """True if nothing visible precedes it in its paragraph; `known` caches earlier results."""
    return _is_at_end(one, known, _BEFORE)


def _is_at_end(one: Element, known: dict[Element, bool] | None, step: _Step) -> bool:
    visited: list[Element] = []
    is_end = _find_end(one, visited, known if known is not None else {}, step)
    if known is not None:
        known.update(dict.fromkeys(visited, is_end))
    return is_end


def _find_end(one: Element, visited: list[Element], known: dict[Element, bool], step: _Step) -> bool:
    here = one
    for _level in range(_DEEPEST):
        visited.append(here)
        beside = step(here)  # one by one, since a parent may have very many
        while beside is not None and not _is_visible(beside):
            if isinstance(beside, Element) and beside in known:
                return known[beside]
            beside = step(beside)
        if beside is not None:
            return isinstance(beside, Element) and beside.tag in _BLOCKS
        parent = here.parent
        if not isinstance(parent, Element) or parent.tag in ("pre", "code"):
            return False
        if parent.tag in _BLOCKS:
            return True
        here = parent
    return False


def _is_visible(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return (
        isinstance(node, Element) and node.tag != "br" and (node.tag in _BLOCKS or node.tag in _SHOWN or _shows(node))
    )


_BOXES: Final = frozenset(("article", "aside", "dd", "div", "figure", "section", "span"))
_LISTS: Final = frozenset(("ul", "ol"))
_GOES_ON: Final = {"blockquote": frozenset(("blockquote",)), "table": frozenset(("blockquote", "table", *_LISTS))}
_OWN_BLOCKS: Final = frozenset(("blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "table", *_LISTS))
_SHOWS_NOTHING: Final = frozenset(("b", "br", "em", "font", "i", "span", "strong", "u"))


def separate_blocks(element: Element) -> int:
    """Insert a marker before blocks that need a blank line; returns their number."""
    found = [block for block in element.select("li :is(blockquote, table, hr)") if _would_run_on(block)]
    for block in found:
        block.insert_before(blank_line())
    return len(found)


def drop_blank_paragraphs(element: Element) -> int:
    """Remove empty paragraphs in items; returns their number."""
    found = [
        block
        for block in element.select("li :is(p, div)")
        if not block.text.strip() and all(part.tag in _SHOWS_NOTHING for part in block.select("*"))
    ]
    for block in found:
        block.decompose()
    return len(found)


def _would_run_on(block: Element) -> bool:
    """True if the block before it in its item would absorb it."""
    before = _before(block)
    if block.tag == "hr":
        return before is not None and not (isinstance(before, Element) and before.tag in _OWN_BLOCKS)
    return isinstance(before, Element) and before.tag in _GOES_ON[block.tag]


def _before(block: Element) -> Node | None:
    """The last visible node above a block in the same item."""
    here = block
    for _level in range(_DEEPEST):
        before = _first_visible(here.previous_siblings)
        if before is not None:
            return _last(before)
        parent = here.parent
        if not isinstance(parent, Element) or parent.tag not in _BOXES:
            return None
        here = parent
    return None


def _last(node: Node) -> Node:
    """The last visible node of a box."""
    for _level in range(_DEEPEST):
        if not isinstance(node, Element) or node.tag not in _BOXES:
            break
        last = _first_visible(reversed(node.children))
        if last is None:
            break
        node = last
    return node


def _first_visible(nodes: Iterable[Node]) -> Node | None:
    for node in nodes:
        if not isinstance(node, Comment) and not (isinstance(node, Text) and not node.data.strip()):
            return node
    return None
