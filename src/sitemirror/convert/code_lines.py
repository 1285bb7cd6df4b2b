"""The lines of a code block that only their elements tell: where they end, their numbers, which were changed."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element, Text

_LANGUAGE: Final = re.compile(r"(?:^|\s)lang(?:uage)?-")
_CONTROLS: Final = frozenset(("button", "clipboard-copy", "input"))
_OWN_LINES: Final = "span.line, span[style*='display:block'], span[style*='display: block']"
_LEVELS: Final = 4  # of boxes around all of the lines
_MANY: Final = 3  # lines that count by themselves; of fewer, something has to say that they do
_NOT_COPIED: Final = re.compile(r"select-none|number|lineno|line-no|gutter|\bln\b", re.I)
_LINES: Final = (".ec-line", ".line")  # Expressive Code's, Shiki's
_ADDED: Final = frozenset(("ins", "add"))
REMOVED: Final = frozenset(("del", "remove"))
"""What marks a line that is no longer there: without its sign, the code would be wrong."""
CHANGED: Final = _ADDED | REMOVED
_CODE_OF_LINE: Final = ".code"


def split_listing(pre: Element) -> list[Element]:
    """Leaves the first of the variants that a code block holds; the others become blocks, which it returns.

    Code in one language that is cut in pieces has a line in each.
    """
    codes: list[Element] = []
    for child in pre:
        if isinstance(child, Element):
            if child.tag == "code":
                codes.append(child)
            elif child.tag not in _CONTROLS:
                return []
        elif isinstance(child, Text) and not child.data.isspace():
            return []
    if len(codes) < 2:
        return []
    names = [code.attr("class") or "" for code in codes]
    if len(set(names)) == len(names) and all(map(_LANGUAGE.search, names)):
        attributes = {name: value for name, value in pre.attrs.items() if name != "id"}
        variants = [Element("pre", attributes) for _ in names[1:]]
        pre.insert_after(*variants)
        for block, code in zip((pre, *variants), codes, strict=True):
            block.append(code)
        for rest in list(pre)[:-1]:
            rest.extract()
        return variants
    for code in codes[1:]:
        if isinstance(before := code.previous_sibling, Element) and not before.text.endswith("\n"):
            code.insert_before(Text("\n"))
    return []


def part_lines(pre: Element) -> None:
    """Ends the lines of code that only their elements part."""
    for line in pre.select(_OWN_LINES)[1:]:
        if not (isinstance(before := line.previous_sibling, Element) and before.tag == "br"):  # as Hexo's lines end
            line.insert_before(Text("\n"))


def join_roff(page: Element) -> bool:
    """Takes out the line ends that mandoc writes above each line of code that is indented, beside the line's own."""
    for end in page.select("pre br"):
        before, after = end.previous_sibling, end.next_sibling
        if isinstance(after, Text) and (before is None or (isinstance(before, Text) and before.data.endswith("\n"))):
            after.data = after.data.removeprefix("\n")
            end.decompose()
    return False


def drop_counted(pre: Element) -> None:
    """Takes out what begins each line and counts them, whatever it is called."""
    holder = pre
    lines: list[Element] = []
    for _level in range(_LEVELS):
        if any(isinstance(child, Text) and not child.data.isspace() for child in holder):
            return
        lines = [child for child in holder if isinstance(child, Element)]
        if len(lines) != 1:
            break
        holder = lines[0]
    numbers = [line[0] for line in lines if len(line)]
    counted = [one for one in numbers if isinstance(one, Element)]
    if not counted or len(counted) < len(lines):
        return
    first = counted[0].text.strip()
    if not first.isdecimal() or len(first) > 6:
        return
    begin = int(first)
    if any(one.text.strip() != str(number) for number, one in enumerate(counted, begin)):
        return
    if (len(lines) >= _MANY and begin == 1) or all(map(_is_beside, counted)):
        for line, one in zip(lines, counted, strict=True):
            one.decompose()
            if not line.text and line.tag == "div":
                line.append(Text("\n"))  # An empty box is no line.


def _is_beside(number: Element) -> bool:
    """Whether a number says that it is no part of the code, or stands beside a box with its line."""
    if isinstance(line := number.next_sibling, Element) and line.tag == "div":
        return True
    return number.attr("aria-hidden") == "true" or _NOT_COPIED.search(number.attr("class") or "") is not None


def show_changes(pre: Element, changes: frozenset[str]) -> bool:
    """Puts the signs back that highlighters leave to their style sheets, if any line has one of `changes`."""
    for selector in _LINES:
        lines = [(line, frozenset((line.attr("class") or "").split())) for line in pre.select(selector)]
        if any(names & changes for _, names in lines):
            break
    else:
        return False
    for line, names in lines:
        sign = "+" if names & _ADDED else "-" if names & REMOVED else " "
        (line.select_one(_CODE_OF_LINE) or line).insert(0, Text(sign))
    return True
