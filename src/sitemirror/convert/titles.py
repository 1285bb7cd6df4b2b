"""The titles of boxes, tabs and folded sections: words on one line, of whose markup only code is kept."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.marks import MARKS

_BLANKS: Final = re.compile(r"\s+")


def words_of(title: Element) -> list[Node]:
    """What a title says, to be put in another element."""
    return [Element("code", None, [Text(text)]) if is_code else Text(text) for text, is_code in _pieces(title)]


def line_of(title: Element) -> str:
    """What a title says, with marks around its code."""
    opening, closing = MARKS["code"]
    return "".join(f"{opening}{text}{closing}" if is_code else text for text, is_code in _pieces(title))


def _pieces(title: Element) -> list[tuple[str, bool]]:
    """The text of a title with single blanks, in pieces that are code or are not."""
    if title.find("code") is None:
        text = " ".join(title.text.split())
        return [(text, False)] if text else []
    pieces: list[tuple[str, bool]] = []
    told: set[Node] = set()  # with the code that they stand in
    for node in title.descendants:
        text = ""
        if node in told:
            continue
        if isinstance(node, Element) and node.tag == "code":
            told.update(node.descendants)
            text = " ".join(node.text.split())
        elif isinstance(node, Text):
            text = _BLANKS.sub(" ", node.data)
            text = text if pieces else text.lstrip()
        if text:
            pieces.append((text, isinstance(node, Element)))
    if pieces and not pieces[-1][1]:
        last, _ = pieces.pop()
        pieces += [(text, False)] if (text := last.rstrip()) else []
    return pieces
