"""What ordered lists count with. Markdown has numbers that count up; letters, and numbers that count down, are written.

A text that speaks of step b, or of the third from the end, would lead nowhere without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from turbohtml import Element, Text

_TYPES: Final = {"a": "alpha", "A": "ALPHA", "i": "roman", "I": "ROMAN"}
# As Asciidoctor's and docutils' classes have them, and as styles do.
_NAMED: Final = re.compile(r"(?<![\w-])(lower|upper)-?(alpha|latin|roman)(?![\w-])", re.I)
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN: Final = 3999
_ALPHABET: Final = 26
_DIGITS: Final = 10  # of a number that a list cannot begin with, in Markdown


def shape_numbers(ol: Element) -> None:
    """Has the items of a list say what Markdown would count otherwise."""
    counting = _counting(ol)
    if counting is None and ol.attr("reversed") is None:
        return
    ranked = list(ranks(ol))
    if counting is None:
        for item, rank in ranked:
            item.attrs["value"] = rank
        return
    for item, rank in ranked:
        _text_of(item).insert(0, Text(f"{rank}. "))
    ol.tag = "ul"


def ranks(ol: Element) -> Iterator[tuple[Element, str]]:
    """The items of a list, each with what it is counted with."""
    items = [item for item in ol if isinstance(item, Element) and item.tag == "li"]
    counting = _counting(ol)
    is_reversed = ol.attr("reversed") is not None
    step = -1 if is_reversed else 1
    first = _number(ol.attr("start"))
    number = first if first is not None else len(items) if is_reversed else 1
    if is_reversed and number < len(items):
        number, step = 1, 1  # Markdown has no numbers below nothing.
    for item in items:
        own = _number(item.attr("value"))
        number = number if own is None else own
        yield item, _rank(number, counting)
        number += step


def _number(value: str | None) -> int | None:
    is_number = value is not None and value.isascii() and value.isdigit() and len(value) < _DIGITS
    return int(value) if value is not None and is_number else None


def _counting(ol: Element) -> str | None:
    """What a list counts with, if not with numbers."""
    if kind := _TYPES.get(ol.attr("type") or ""):
        return kind
    for said in filter(None, (ol.attr("class"), ol.attr("style"))):
        if found := _NAMED.search(said):
            kind = "roman" if found[2].lower() == "roman" else "alpha"
            return kind if found[1].lower() == "lower" else kind.upper()
    return None


def _rank(number: int, counting: str | None) -> str:
    if counting is None or number < 1 or (number > _MOST_ROMAN and counting.lower() == "roman"):
        return str(number)
    said = _roman(number) if counting.lower() == "roman" else _letters(number)
    return said if counting.islower() else said.upper()


def _roman(number: int) -> str:
    said: list[str] = []
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        said.append(sign * times)
    return "".join(said)


def _letters(number: int) -> str:
    said = ""
    while number:
        number, letter = divmod(number - 1, _ALPHABET)
        said = chr(ord("a") + letter) + said
    return said


def _text_of(item: Element) -> Element:
    """Where the text of an item begins: in its first paragraph, if that comes first."""
    for node in item:
        if isinstance(node, Element):
            return node if node.tag == "p" else item
        if isinstance(node, Text) and node.data.strip():
            break
    return item
