"""The titles of notes, tabs and folded sections: words on one line, with their code.

Those of notes have their links as well, and those of folded sections their emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.marks import MARKS

_BLANKS: Final = re.compile(r"\s+")
_EMPHASIS: Final = {"em": "em", "i": "em", "strong": "strong", "b": "strong"}


def words_of(title: Element) -> list[Node]:
    """What a title says, to be put in another element."""
    return [Text(text) if holder is None else Element("code", None, [Text(text)]) for text, holder in _pieces(title)]


def linked_words_of(title: Element) -> list[Node]:
    """What a title says, with the links in it. One that is all of a title and leads nowhere else opens the box."""
    kept: list[Node] = []
    said = title.text.strip()
    for text, holder in _pieces(title, ("code", "a")):
        address = "" if holder is None or holder.tag == "code" else holder.attr("href") or ""
        if holder is None:
            kept.append(Text(text))
        elif holder.tag == "code":
            kept.append(Element("code", None, [Text(text)]))
        elif address and not (address.startswith("#") and holder.text.strip() == said):
            kept.append(Element("a", {"href": address}, words_of(holder)))
        else:
            kept += words_of(holder)
    return kept


def line_of(title: Element) -> str:
    """What a title says, with marks around its code and its emphasis, unless that is all of it."""
    said = " ".join(title.text.split())
    emphasis = [one for one in title.iter_elements(tuple(_EMPHASIS)) if " ".join(one.text.split()) not in ("", said)]
    for one in emphasis:
        opening, closing = MARKS[_EMPHASIS[one.tag]]
        one.insert(0, Text(opening))
        one.append(Text(closing))
    opening, closing = MARKS["code"]
    return "".join(text if holder is None else f"{opening}{text}{closing}" for text, holder in _pieces(title))


def _pieces(title: Element, holders: Sequence[str] = ("code",)) -> list[tuple[str, Element | None]]:
    """The text of a title with single blanks, in pieces, each with the code or the link that it is all of, if any."""
    if next(title.iter_elements(tuple(holders)), None) is None:
        text = " ".join(title.text.split())
        return [(text, None)] if text else []
    pieces: list[tuple[str, Element | None]] = []
    told: set[Node] = set()  # with the code or the link that they stand in
    for node in title.descendants:
        text = ""
        if node in told:
            continue
        if isinstance(node, Element) and node.tag in holders:
            told.update(node.descendants)
            text = " ".join(node.text.split())
        elif isinstance(node, Text):
            text = _BLANKS.sub(" ", node.data)
            text = text if pieces else text.lstrip()
        if text:
            pieces.append((text, node if isinstance(node, Element) else None))
    if pieces and pieces[-1][1] is None:
        last, _ = pieces.pop()
        pieces += [(text, None)] if (text := last.rstrip()) else []
    return pieces
