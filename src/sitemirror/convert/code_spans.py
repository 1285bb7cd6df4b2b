"""Code within text. Where it has lines of its own, a code span would join them: it becomes a code block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from turbohtml import Comment, Element, Node, Text

_SHORT: Final = 16  # characters, of code that is not looked into
_LONG: Final = 30  # of code that may have boxes in it
_BOXES: Final = ("div", "p", "ul", "ol", "li")  # within code, each has lines of its own
_LISTS: Final = ("ul", "ol")
_BROKEN: Final = ("br", *_BOXES)
_NOT_READ: Final = ("button",)
_DEEPEST: Final = 20  # levels that are set in; deeper ones stand below one another
# Signs for where a box begins or ends and how far it is set in: control characters, which a page has no use for.
_EDGE: Final = "\0"
_STEP: Final = "\1"
_SET_IN: Final = "\2"
_WRAP: Final = "\3"  # where the source is wrapped, which is a blank, but not at the beginning of a line
_EDGES: Final = re.compile(r"[ \x03]?\n?\x00[\x00\x01\x02\x03 ]*")
_STEPS: Final = re.compile(r"(\x01*)\x02")
_WRAPPED: Final = re.compile(r"[ \t]*+\n[ \t\n]*+")
_KEEPS_LINES: Final = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.I)
_MORE_THAN_LETTERS: Final = ":not(b, big, br, code, em, font, i, small, span, strong, u, var)"
_ONE_LINE: Final = "a, h1, h2, h3, h4, h5, h6, summary, dt, caption, label, button"
_LINK_IN_CODE: Final = "code > a[href]:first-child"
_HOLDS_NO_LINK: Final = "pre, a, h1, h2, h3, h4, h5, h6"  # the last ones: a heading that leads to itself
_SEPARATORS: Final = ", \t\n\xa0"
_NEUTRAL: Final = ("span", "font")
_BLOCKS: Final = frozenset(
    (
        "article", "blockquote", "br", "center", "dd", "div", "dl", "figcaption", "figure", "h1", "h2", "h3", "h4",
        "h5", "h6", "hr", "li", "main", "ol", "p", "pre", "section", "table", "ul", "body",
    )
)  # fmt: skip


def shape_code(root: Element) -> None:
    """Shapes all code that stands in no code block."""
    for link in root.select(_LINK_IN_CODE):
        if isinstance(code := link.parent, Element):
            _free_links(code)
    # Most of it is a word or two, and every question is asked of dozens on each page.
    found = [
        code
        for code in root.iter_elements("code")
        if "\n" in (text := code.text)
        or text[:1] == " " == text[-1:]
        or ((size := len(text)) > _SHORT and code.find("br") is not None)
        or (size > _LONG and code.find("div") is not None)
    ]
    for code in found:
        if code.closest("pre") is None and code.parent is not None:  # else it was in code that is a block now
            _shape_span(code)


def _free_links(code: Element) -> bool:
    """Puts code into the links that it consists of: a code span would hold their words, and lose where they lead."""
    if code.closest(_HOLDS_NO_LINK) is not None:
        return False
    links: list[Element] = []
    for node in code.children:
        if isinstance(node, Element):
            if node.tag != "a" or node.attr("href") is None:
                return False
            links.append(node)
        elif isinstance(node, Text) and node.data.strip(_SEPARATORS):
            return False
    if not links:
        return False
    for link in links:
        link.wrap_children(Element("code"))
    code.tag = "span"
    return True


def shape_output(samp: Element) -> None:
    """The same for what a program writes."""
    if samp.closest("pre") is None and not _free_links(samp):
        _shape_span(samp)


def shape_typed(tt: Element) -> None:
    """Makes code of what a typewriter writes, if it is no more than letters: code holds neither links nor blocks."""
    if tt.text.strip() and tt.select_one(_MORE_THAN_LETTERS) is None and tt.closest("pre, code") is None:
        tt.tag = "code"
        _shape_span(tt)


def _shape_span(code: Element) -> None:
    """Gives code the lines that it is seen to have, and no others."""
    if code.find("pre") is None:
        _shape_lines(code, code.text)
    else:
        _free_block(code, code.text)


def _free_block(code: Element, text: str) -> None:
    """Has a code block speak for itself that stands in code without need."""
    pre = code.find("pre")
    if pre is not None and pre.text.strip() == text.strip():
        code.tag = "div"


def _shape_lines(code: Element, text: str) -> None:
    keeps = "\n" in text and (style := code.attr("style")) is not None and _KEEPS_LINES.search(style) is not None
    if keeps or code.find("br") is not None or code.find("div") is not None:
        lines = [line.replace("\xa0", " ").rstrip() for line in _text(code, keeps=keeps).split("\n")]
        if len(lines) > 1 and code.closest(_ONE_LINE) is None:
            _place(code, lines)
            return
    if "\n" in text or (text[:1] == " " == text[-1:] and text.strip() and code.closest("td, th") is not None):
        # Source is wrapped where it pleases, and a cell has no blanks of its own; a code span would show every one.
        code.text = " ".join(text.split())


def _text(code: Element, *, keeps: bool) -> str:
    """Its text with the line ends that its elements make, and what is in a list set in."""
    for part in list(code.iter_elements(_NOT_READ)):
        part.decompose()
    if not keeps:
        for node in code.descendants:
            if isinstance(node, Text) and "\n" in node.data:
                node.data = _WRAPPED.sub(_WRAP, node.data)
    for part in list(code.iter_elements(_BROKEN)):
        if part.tag == "br":
            part.replace_with(Text("\n"))
            continue
        part.insert_before(Text(_EDGE))
        part.insert_after(Text(_EDGE))
        if part.tag == "li":
            part.insert(0, Text(_STEP * _depth(part, code) + _SET_IN))
        elif part.tag in _LISTS:
            part.insert_after(Text(_EDGE + _STEP * _depth(part, code) + _SET_IN))
    text = _EDGES.sub(_line_end, code.text).replace("\n" + _WRAP, "\n")
    return text.strip("\n" + _WRAP).replace(_WRAP, " ")


def _line_end(found: re.Match[str]) -> str:
    steps = _STEPS.findall(found[0])
    return "\n" + "  " * len(steps[-1] if steps else "")


def _depth(item: Element, code: Element) -> int:
    """In how many lists it stands."""
    depth = 0
    for around in item.ancestors:
        if around is code or depth == _DEEPEST:
            break
        depth += isinstance(around, Element) and around.tag in _LISTS
    return depth


def _place(code: Element, lines: Sequence[str]) -> None:
    """Makes a block of code that stands alone, and several spans of what is in a sentence or in a cell."""
    if code.closest("td, th") is None and (boxes := _boxes_of(code)) is not None:
        code.tag = "pre"
        code.set_text("\n".join(lines))
        for box in boxes:
            box.tag = "div"
        for beside in (_seen(code.previous_siblings), _seen(code.next_siblings)):
            if isinstance(beside, Element) and beside.tag == "br":
                beside.extract()  # A block has lines of its own.
        return
    nodes: list[Node] = []
    for line in lines:
        if nodes:
            nodes.append(Element("br"))
        if line.strip():
            nodes.append(Element("code", None, [Text(line.strip())]))
    code.replace_with(*nodes)


def _boxes_of(code: Element) -> list[Element] | None:
    """What is around code with nothing beside it, up to the box that it stands in; `None` if it is in a sentence."""
    boxes: list[Element] = []
    here = code
    for _level in range(_DEEPEST):
        if not (_is_edge(_seen(here.previous_siblings)) and _is_edge(_seen(here.next_siblings))):
            return None
        parent = here.parent
        if not isinstance(parent, Element):
            return None
        if parent.tag in _NEUTRAL or parent.tag == "p":
            boxes.append(parent)
        if parent.tag in _BLOCKS:
            return boxes
        if parent.tag not in _NEUTRAL:
            return None
        here = parent
    return None


def _is_edge(node: Node | None) -> bool:
    """Whether a line ends there."""
    return node is None or (isinstance(node, Element) and node.tag in _BLOCKS)


def _seen(siblings: Iterable[Node]) -> Node | None:
    """The first of them that is seen."""
    for node in siblings:
        if not isinstance(node, Comment) and not (isinstance(node, Text) and not node.data.strip()):
            return node
    return None
