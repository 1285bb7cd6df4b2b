"""Words that only a style sheet keeps apart: of elements side by side in a line, with no blank between them.

Pages that scripts build have none in their markup: a name, a date and a number of comments stand in three elements and
are drawn in three places. Without a blank they would be read as one word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from turbohtml import Comment, Element, Node, Text

_PARTS: Final = frozenset(
    ("a", "b", "bdi", "cite", "data", "em", "font", "i", "mark", "small", "span", "strong", "time", "u")
)
_UNSEEN: Final = frozenset(("svg", "script", "style", "template"))
_ENDS: Final = ".!?:)%"  # of a sentence, a remark or an amount
_CODE: Final = "pre, code, tt, samp, kbd"
_DEEPEST: Final = 20


def set_words_apart(nodes: Iterable[Node], depth: int = 0) -> None:
    """Puts a blank between those of the elements that are things of their own. `nodes` stand in one line."""
    for node in nodes:
        if type(node) is not Element or node.tag not in _PARTS:
            continue
        beside = node.next_sibling
        while beside is not None and (type(beside) is Comment or (type(beside) is Element and beside.tag in _UNSEEN)):
            beside = beside.next_sibling
        if type(beside) is Element and beside.tag in _PARTS and _are_two(node, beside) and node.closest(_CODE) is None:
            node.insert_after(Text(" "))
        if depth < _DEEPEST:
            set_words_apart(list(node), depth + 1)


def _are_two(one: Element, other: Element) -> bool:
    before, after = one.text, other.text
    if not before or not after:
        return False
    last, first = before[-1], after[0]
    if one.tag == other.tag == "a" and one.attr("href") != other.attr("href"):
        return _has_case(last) and _has_case(first)  # Two links are two things; but some scripts have no blanks.
    # "You" and "Tube" may be the halves of a name in two colours.
    if len(before.split(None, 1)) + len(after.split(None, 1)) < 3:
        return False
    # One letter is part of what is beside it: "iPhone", "x2", "3D", "$5M".
    if last.islower() and (len(before) == 1 or before[-2].isspace()):
        return False
    if last.isdigit() and (len(after) == 1 or after[1].isspace()):
        return False
    if first.isupper():
        return last.islower() or last.isdigit() or last in _ENDS
    return first.isdigit() and last.islower()


def _has_case(letter: str) -> bool:
    return letter.islower() or letter.isupper() or letter.isdigit()
