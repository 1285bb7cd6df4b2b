"""Reshapes emphasis and code that the renderer could say with tags only: most of it needs none.

For the same words in another tree it writes other signs: what shows nothing is taken out, so that Markdown which is
rendered and converted again is the same.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeGuard

from turbohtml import Element, Node, Text

from sitemirror.convert.marks import MARKS

_SLANTED: Final = ("em", "i")
_STRONG: Final = ("strong", "b")
_EMPHASIS: Final = (*_SLANTED, *_STRONG)
_STRUCK: Final = ("del", "s", "strike")
_SPLIT: Final = (*_EMPHASIS, *_STRUCK)
_CODE: Final = ("code", "kbd", "samp", "tt")
# What Markdown has no sign for.
_NEUTRAL: Final = frozenset(
    (
        "abbr", "acronym", "bdi", "bdo", "big", "cite", "data", "dfn", "font", "ins", "mark", "small", "span", "sub",
        "sup", "time", "u", "var", "wbr",
    )
)  # fmt: skip
_BLOCKS: Final = ("blockquote", "div", "dl", "li", "ol", "p", "pre", "section", "table", "ul")
_ENDS_LABEL: Final = re.compile(r"[^\[\]]*\]:")
_MOST: Final = 20  # elements around emphasis that are looked at


def join_code(element: Element) -> int:
    """Makes one of code that is cut in pieces without anything between them. The number of cuts."""
    return _join(element, _CODE)


def spell_out_code(element: Element) -> int:
    """Writes code as a tag that would make its link the definition of one: `[…]:` counts for more than code does."""
    found = [code for code in element.select("a > code") if _ENDS_LABEL.match(code.text) and code.find("*") is None]
    opening, closing = MARKS["code"]
    for code in found:
        code.insert(0, Text(opening))
        code.append(Text(closing))
        code.tag = "span"
    return len(found)


def mend_emphasis(element: Element) -> int:
    """Leaves nothing beside emphasis or in it that keeps its signs from being read. The number of changes."""
    bared = _bare(element)
    return bared + _join(element, _SLANTED) + _join(element, _STRONG) + _free_spaces(element)


def end_lines(element: Element) -> int:
    """Ends emphasis with its line, and lets it begin again on the next one. The number of line breaks."""
    breaks = [(br, top) for br in element.iter_elements("br") if (top := _emphasis_around(br)) is not None]
    for br, top in reversed(breaks):  # from the last one, so that each moves no more than its own line
        end = top.parent
        while end is not None and isinstance(around := br.parent, Element) and around is not end:
            is_first = br.previous_sibling is None  # To count what is left would take as long as it is, for each line.
            after = Element(around.tag, None, list(br.next_siblings))
            around.insert_after(br)
            if len(after):
                br.insert_after(after)
            if is_first:
                around.decompose()
    return len(breaks)


def _emphasis_around(br: Element) -> Element | None:
    """The outermost emphasis that a line break stands in, with nothing else between them that would be split."""
    found = None
    here = br.parent
    for _level in range(_MOST):
        if not isinstance(here, Element) or (here.tag not in _SPLIT and here.tag not in _NEUTRAL):
            break
        found = here if here.tag in _SPLIT else found
        here = here.parent
    return found


def unnest(element: Element) -> int:
    """Takes emphasis out that is the third around its text, and shows no more than one around it does. The number."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part)])


def untangle(element: Element) -> int:
    """The same but for what is the same twice, which can be said; in a cell each line may be a piece of it."""
    return _unwrap([part for part in element.iter_elements(_EMPHASIS) if _is_nested(part) and not _is_twice(part)])


def mark_none_in_cells(element: Element) -> int:
    """Takes the emphasis out of tables, and leaves its words. How much there was."""
    return _unwrap([part for part in element.iter_elements(_SPLIT) if part.closest("table") is not None])


def _unwrap(parts: list[Element]) -> int:
    for part in parts:
        part.unwrap()
    return len(parts)


def _bare(element: Element) -> int:
    """Takes elements away that stand between emphasis and the text beside it or in it. Their number."""
    taken = 0
    holders: set[Node] = set()  # of blocks: asking one takes as long as it is
    for part in list(element.iter_elements(_SPLIT)):
        for _time in range(_MOST):
            near = [part.previous_sibling, part.next_sibling, part.parent]
            near += (part[0], part[-1]) if len(part) else ()
            neutral = [node for node in near if _is_neutral(node, holders)]
            if not neutral:
                break
            for node in dict.fromkeys(neutral):
                node.unwrap()
            taken += len(neutral)
    return taken


def _is_neutral(node: Node | None, holders: set[Node]) -> TypeGuard[Element]:
    if not isinstance(node, Element) or node.tag not in _NEUTRAL or node.parent is None or node in holders:
        return False
    if next(node.iter_elements(_BLOCKS), None) is None:
        return True
    holders.add(node)
    return False


def _join(element: Element, tags: tuple[str, ...]) -> int:
    """Makes one of what is cut in pieces that mean the same, without anything between them. The number of cuts."""
    joined = 0
    for part in list(element.iter_elements(tags)):
        if not isinstance(part.next_sibling, Element) or _has_break(part):
            continue  # What ends a line ends its emphasis as well.
        while part.parent is not None and isinstance(after := part.next_sibling, Element) and after.tag in tags:
            if _has_break(after):
                break
            part.extend(list(after.children))
            after.decompose()
            joined += 1
    return joined


def _has_break(part: Element) -> bool:
    return any(isinstance(child, Element) and child.tag == "br" for child in part)


def _free_spaces(element: Element) -> int:
    """Takes blanks out of the ends of emphasis, which can neither begin nor end with one. The number of ends."""
    freed = 0
    for part in list(element.iter_elements(_EMPHASIS)):
        if not len(part):
            continue
        first, last = part[0], part[-1]
        if isinstance(first, Text) and (size := len(first.data) - len(first.data.lstrip())):
            part.insert_before(Text(first.data[:size]))
            first.data = first.data[size:]
            freed += 1
        if isinstance(last, Text) and (size := len(last.data.rstrip())) < len(last.data):
            part.insert_after(Text(last.data[size:]))
            last.data = last.data[:size]
            freed += 1
    return freed


def _is_nested(part: Element) -> bool:
    kind = _SLANTED if part.tag in _SLANTED else _STRONG
    found = [around.tag for around in _around(part) if around.tag in _EMPHASIS]
    return len(found) > 1 and any(tag in kind for tag in found)


def _is_twice(part: Element) -> bool:
    around = part.parent
    if not isinstance(around, Element) or (around.tag in _SLANTED) != (part.tag in _SLANTED):
        return False
    if part.previous_sibling is not None or part.next_sibling is not None:  # To count would take as long as it is deep.
        return False
    outermost = deque(_around(part), maxlen=1)[0].parent
    return not isinstance(outermost, Element) or outermost.tag not in ("td", "th")


def _around(part: Element) -> Iterator[Element]:
    """What is around emphasis on its line, from the inside."""
    around = part.parent
    for _level in range(_MOST):
        if not isinstance(around, Element) or (
            around.tag not in _SPLIT and around.tag not in _NEUTRAL and around.tag != "a"
        ):
            return
        yield around
        around = around.parent
