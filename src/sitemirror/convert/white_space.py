"""Styles that keep the line ends of the source. The renderer takes what has one for code; most of it is prose.

Editors write them on every paragraph, heading and span that is pasted from elsewhere, and more that make an element
another one: bold that is not bold around all of a text, and text that only its style strikes out or makes bold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.letters import mark_letters, marks_letters

STYLED: Final = "[style*='white-space' i]"
"""Finds what may have such a style."""

_DECLARED: Final = re.compile(r"(?:^|[;\s])white-space\s*:\s*([\w-]+)[^;]*;?", re.I)
_BOLD: Final = frozenset(("b", "strong"))
_NOT_BOLD: Final = re.compile(r"(?:^|[;\s])font-weight\s*:\s*(?:normal|[1-4]00)\b", re.I)
_KEEPING: Final = frozenset(("pre", "pre-wrap", "pre-line", "break-spaces"))
_TYPEWRITER: Final = re.compile(r"font[\w-]*\s*:[^;]*(?:mono|courier|consolas|menlo)", re.I)
_CODE: Final = ("pre", "code", "textarea")
_PIECES: Final = ":not(div, span, br, b, i, em, strong, font, code)"  # what a listing is not made of
_LINE_ENDS: Final = re.compile(r"[ \t]*+\n\s*+")
_BOXES: Final = frozenset(("div", "p", "li", "td", "section", "article"))
_INLINE: Final = frozenset(("a", "b", "code", "em", "font", "i", "span", "strong", "u"))
_SHOWN: Final = frozenset(("img", "picture", "video", "audio", "svg", "iframe", "object", "hr", "input"))
_MOST_BREAKS: Final = 100  # in a row
_MOST_MARKED: Final = 2000  # each is looked around for what it stands in
_LEAST_LINES: Final = 2


def settle_white_space(elements: Iterable[Element]) -> None:
    """Makes text with line breaks of what has such a style, code of what also looks like it, and what others make."""
    # A page has few such styles, and every element with any style is asked.
    found = [
        (element, style)
        for element in elements
        if (style := element.attr("style"))
        and (
            "white-space" in style
            or "WHITE-SPACE" in style
            or "font-weight" in style
            or "line-through" in style
            or "font-style" in style
        )
    ]
    marked: list[tuple[Element, str]] = []
    for element, style in found:
        if element.tag in _BOLD:
            if _NOT_BOLD.search(style):
                element.tag = "span"
        elif element.tag == "span":
            if "line-through" in style:
                element.tag = "del"
            elif marks_letters(style):
                marked.append((element, style))
        if declared := _DECLARED.search(style):
            _settle(element, style, declared)
    for element, style in marked if len(marked) <= _MOST_MARKED else ():
        mark_letters(element, style)


def thin_breaks(body: Element) -> None:
    """Leaves but some of many line breaks in a row: the renderer looks at all of a row for each one in it."""
    row = 0
    spare: list[Element] = []
    for node in body.descendants:
        if isinstance(node, Text):
            row = 0 if node.data.strip() else row
        elif isinstance(node, Element):
            row = row + 1 if node.tag == "br" else 0 if node.tag in _SHOWN else row
            if row > _MOST_BREAKS and node.tag == "br":
                spare.append(node)
    for br in spare:
        if br.closest("pre") is None:
            br.decompose()


def _settle(element: Element, style: str, found: re.Match[str]) -> None:
    if found[1].lower() not in _KEEPING:
        return
    if element.tag in _CODE:
        # Editors write it on every word of code in a text, too.
        if element.tag == "code" and "\n" not in element.text and element.find("br") is None:
            element.attrs["style"] = style[: found.start()] + ";" + style[found.end() :]
        return
    if _is_listing(element, style):
        element.tag = "pre"
        return
    element.attrs["style"] = style[: found.start()] + ";" + style[found.end() :]
    if "\n" in element.text.strip():
        _break_lines(element)


def _is_listing(element: Element, style: str) -> bool:
    """Whether it is a box of lines in a typewriter's letters, and of nothing else."""
    return (
        element.tag == "div"
        and _TYPEWRITER.search(style) is not None
        and element.select_one(_PIECES) is None
        and ("\n" in element.text.strip() or len(element.select("div, br")) >= _LEAST_LINES)
    )


def _break_lines(element: Element) -> None:
    """Ends the lines of its text where they are seen to end."""
    for text in [node for node in element.descendants if isinstance(node, Text)]:
        data = text.data
        if "\n" not in data or data.isspace() or not _is_kept(text, element):
            continue
        nodes: list[Node] = []
        here = 0
        for end in _LINE_ENDS.finditer(data):
            # Line ends at its edges are those of the markup around it, but beside other text.
            if (end.start() == 0 and not _is_inline(text.previous_sibling)) or (
                end.end() == len(data) and not _is_inline(text.next_sibling)
            ):
                continue
            nodes += (Text(data[here : end.start()]), _end(text, end[0].count("\n")))
            here = end.end()
        if nodes:
            text.replace_with(*nodes, Text(data[here:]))


def _is_kept(text: Text, element: Element) -> bool:
    """Whether nothing in between has a style of its own, or keeps its lines anyway."""
    for around in text.ancestors:
        if around is element:
            return True
        if isinstance(around, Element) and (around.tag in _CODE or _DECLARED.search(around.attr("style") or "")):
            return False
    return False


def _is_inline(node: Node | None) -> bool:
    return isinstance(node, Element) and node.tag in _INLINE


def _end(text: Text, lines: int) -> Element:
    """What ends a line; after an empty one a new paragraph begins, where there is a place for it."""
    parent = text.parent
    return Element("div" if lines > 1 and isinstance(parent, Element) and parent.tag in _BOXES else "br")
