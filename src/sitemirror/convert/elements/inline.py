"""Inline text: keys, quotations, sub- and superscripts, CSS text styles, line blocks, word spacing.

Editors write `white-space`, `font-weight` and `font-style` on every pasted paragraph and span. The renderer takes any
text with preserved white space for code, though most of it is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final

from turbohtml import Comment, Element, Node, Text

from sitemirror.convert.render.markers import LINE_BREAK, TAG_MARKERS

_OWN_LINES: Final = ("p", "div", "ul", "ol", "dl", "pre", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
_MAX_KEY: Final = 20  # characters
_NO_MARKS: Final = "code, samp, pre, kbd :is(sub, sup)"  # no markup within code


def convert_sub_sup_kbd(element: Element) -> None:
    """Mark keys, subscripts and superscripts: 10<sup>5</sup> must not become 105."""
    if element.tag == "kbd" and (not element.text.strip() or element.find("a", href=True) is not None):
        element.tag = "span"  # a picture of a key, or a link: not possible in code
        return
    if element.tag == "kbd" and not _is_key(element):
        if element.find("kbd") is not None:
            element.tag = "span"  # a combination of keys, each with its own element
        return
    if element.tag != "kbd" and next(element.iter_elements(_OWN_LINES), None) is not None:
        element.tag = "div"  # small print with paragraphs
        return
    if element.text.strip() and not _is_reference(element) and element.closest(_NO_MARKS) is None:
        for br in element.find_all("br"):
            br.replace_with(Text(LINE_BREAK))
        opening, closing = TAG_MARKERS[element.tag]
        element.insert(0, Text(opening))
        element.append(Text(closing))
        element.tag = "span"


def _is_reference(element: Element) -> bool:
    """True if it is the link of a footnote; a superscript within the text of a link is not."""
    if element.find("a") is not None:
        return True
    link = element.closest("a")
    if link is None:
        return False
    return element.tag == "kbd" or (link.attr("href") or "#").startswith("#") or _is_all_of(element, link)


def _is_all_of(element: Element, link: Element) -> bool:
    """True if a link has no text outside of `element`; compares no whole texts, which would be quadratic."""
    here: Node | None = element
    while isinstance(here, Element) and here is not link:
        for beside in chain(here.previous_siblings, here.next_siblings):
            if isinstance(beside, Element | Text) and beside.text.strip():
                return False
        here = here.parent
    return True


def _is_key(kbd: Element) -> bool:
    """True if it is a single key, not an option or text to type."""
    text = kbd.text
    is_option = len(text) > 1 and text.startswith(("-", "/"))
    return len(text) <= _MAX_KEY and not is_option and kbd.find("kbd") is None


def convert_key(element: Element) -> bool:
    """Mark a key that only its class makes one."""
    element.text = element.text.strip()
    element.tag = "kbd"
    convert_sub_sup_kbd(element)
    return True


def convert_menu_arrow(arrow: Element) -> bool:
    """Replace the arrow between menu items, which may be an icon, by `›`."""
    before = arrow.previous_sibling
    if isinstance(before, Text):
        before.data = before.data.replace("\xa0", " ")
    arrow.tag = "span"
    arrow.text = "›"
    return True


def convert_bold_title(title: Element) -> bool:
    """Make a title that is no heading bold."""
    if title.text.strip() and title.find(["strong", "b"]) is None:
        title.wrap_children(Element("strong"))
    return True


def convert_superscript(element: Element) -> bool:
    """Mark a superscript that only its class makes one."""
    element.tag = "sup"
    convert_sub_sup_kbd(element)
    return True


def add_blanks_around(element: Element) -> bool:
    """Put blanks around a word that is separated from its neighbours by style only."""
    if isinstance(element.previous_sibling, Element):
        element.insert_before(Text(" "))
    element.insert_after(Text(" "))
    return True


def convert_inline_box(box: Element) -> bool:
    """Make a box after text inline, as its style does, unless it has several paragraphs."""
    before = box.previous_sibling
    if not isinstance(before, Text) or not before.data.strip():
        return False
    inside = [child for child in box if isinstance(child, Element)]
    if any(child.tag in _OWN_LINES for child in inside[1:]) or (inside and inside[0].tag in _OWN_LINES[1:]):
        return False
    if inside and inside[0].tag == "p":
        inside[0].unwrap()
    box.tag = "span"
    return True


def drop_element(element: Element) -> bool:
    """Remove an element, such as a control with an unambiguous class."""
    element.decompose()
    return True


def convert_item_label(label: Element) -> bool:
    """Drop the bullet or number of an item; move any other label to the front of its text."""
    item = label.parent
    label_text = label.text.strip()
    if not isinstance(item, Element) or item.tag != "li" or len(label_text) > _MAX_KEY:
        return False
    text = item.find("p")
    is_counted = isinstance(item.parent, Element) and item.parent.tag == "ol" and label_text.rstrip(".").isdecimal()
    if is_counted or not any(map(str.isalnum, label_text)):
        label.decompose()
    elif text is not None:
        text.insert(0, Text(" "))
        text.insert(0, label.extract())
    return True


def convert_ruby_text(rt: Element) -> None:
    """Put ruby text in parentheses after its character."""
    rt.insert(0, Text("("))
    rt.append(Text(")"))


def convert_quotation(q: Element) -> None:
    """Replace `q` by quotation marks, so that the renderer considers them when escaping."""
    q.insert(0, Text('"'))
    q.append(Text('"'))
    q.unwrap()


_BLANKS: Final = re.compile(r"\A\s+|\s{2,}")


def code_span(line: str) -> Element:
    """A line of code within text, its indentation and runs of blanks kept as no-break spaces."""
    text = _BLANKS.sub(lambda blanks: "\xa0" * len(blanks[0]), line.rstrip())
    return Element("code", None, [Text(text)])


_BOLD: Final = re.compile(r"(?:^|[;\s])font-weight\s*:\s*(?:bold|[6-9]00)", re.I)
_SLANTED: Final = re.compile(r"(?:^|[;\s])font-style\s*:\s*(?:italic|oblique)", re.I)
_CODE: Final = ("pre", "code", "kbd", "samp", "tt", "textarea", "svg", "math")
# Bold or slanted by tag, or with a style that decides it.
_NEAR_BOLD: Final = f"b, strong, h1, h2, h3, h4, h5, h6, th, dt, {', '.join(_CODE)}, [style*='font-weight' i]"
_NEAR_SLANTED: Final = f"i, em, cite, dfn, var, address, {', '.join(_CODE)}, [style*='font-style' i]"
_LINES: Final = (
    "p", "div", "ul", "ol", "dl", "pre", "table", "blockquote", "section", "article",
    "h1", "h2", "h3", "h4", "h5", "h6",
)  # fmt: skip


def has_text_style(style: str) -> bool:
    """True if a style makes text bold or slanted."""
    return _BOLD.search(style) is not None or _SLANTED.search(style) is not None


def convert_styled_span(span: Element, style: str) -> None:
    """Convert a `span` that is bold or slanted by style to emphasis."""
    is_bold = _BOLD.search(style) is not None and _is_contrasting(span, _NEAR_BOLD, _BOLD, "font-weight")
    is_slanted = _SLANTED.search(style) is not None and _is_contrasting(span, _NEAR_SLANTED, _SLANTED, "font-style")
    if not (is_bold or is_slanted) or next(span.iter_elements(_LINES), None) is not None:
        return
    if is_bold and is_slanted:
        span.wrap_children(Element("em"))
    span.tag = "strong" if is_bold else "em"


def _is_contrasting(span: Element, near: str, pattern: re.Pattern[str], name: str) -> bool:
    """True if the text around it has another style; false in code."""
    around = span.parent
    found = around.closest(near) if isinstance(around, Element) else None
    if found is None:
        return True
    style = found.attr("style") or ""
    return found.tag not in _CODE and name in style.lower() and pattern.search(style) is None


STYLED: Final = "[style*='white-space' i]"
"""Selects elements that may have such a style."""

_DECLARED: Final = re.compile(r"(?:^|[;\s])white-space\s*:\s*([\w-]+)[^;]*;?", re.I)
_BOLD_TAGS: Final = frozenset(("b", "strong"))
_NOT_BOLD: Final = re.compile(r"(?:^|[;\s])font-weight\s*:\s*(?:normal|[1-4]00)\b", re.I)
_KEEPING: Final = frozenset(("pre", "pre-wrap", "pre-line", "break-spaces"))
_TYPEWRITER: Final = re.compile(r"font[\w-]*\s*:[^;]*(?:mono|courier|consolas|menlo)", re.I)
_CODE_TAGS: Final = ("pre", "code", "textarea")
_PIECES: Final = ":not(div, span, br, b, i, em, strong, font, code)"  # elements that a listing does not contain
_LINE_ENDS: Final = re.compile(r"[ \t]*+\n\s*+")
_BOXES: Final = frozenset(("div", "p", "li", "td", "section", "article"))
_INLINE: Final = frozenset(("a", "b", "code", "em", "font", "i", "span", "strong", "u"))
_SHOWN: Final = frozenset(("img", "picture", "video", "audio", "svg", "iframe", "object", "hr", "input"))
_MOST_BREAKS: Final = 100  # in a row
_MOST_MARKED: Final = 2000  # spans; each is compared with its ancestors
_LEAST_LINES: Final = 2


def convert_text_styles(elements: Iterable[Element]) -> None:
    """Convert `white-space`, `font-weight`, `font-style` and `line-through` in style attributes."""
    # Substring tests first: few styles are among these.
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
        if element.tag in _BOLD_TAGS:
            if _NOT_BOLD.search(style):
                element.tag = "span"
        elif element.tag == "span":
            if "line-through" in style:
                element.tag = "del"
            elif has_text_style(style):
                marked.append((element, style))
        if declared := _DECLARED.search(style):
            _convert_white_space(element, style, declared)
    for element, style in marked if len(marked) <= _MOST_MARKED else ():
        convert_styled_span(element, style)


def limit_breaks(body: Element) -> None:
    """Limit line breaks in a row, for which the renderer takes quadratic time."""
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


def _convert_white_space(element: Element, style: str, found: re.Match[str]) -> None:
    if found[1].lower() not in _KEEPING:
        return
    if element.tag in _CODE_TAGS:
        # Editors write it on inline code, too.
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
    """True if it is a box of lines in a monospaced font, and of nothing else."""
    return (
        element.tag == "div"
        and _TYPEWRITER.search(style) is not None
        and element.select_one(_PIECES) is None
        and ("\n" in element.text.strip() or len(element.select("div, br")) >= _LEAST_LINES)
    )


def _break_lines(element: Element) -> None:
    """Convert visible line ends in its text to line breaks."""
    for text in [node for node in element.descendants if isinstance(node, Text)]:
        data = text.data
        if "\n" not in data or data.isspace() or not _keeps_line_ends(text, element):
            continue
        nodes: list[Node] = []
        here = 0
        for end in _LINE_ENDS.finditer(data):
            # Line ends at the edges belong to the markup, unless inline elements follow.
            if (end.start() == 0 and not _is_inline(text.previous_sibling)) or (
                end.end() == len(data) and not _is_inline(text.next_sibling)
            ):
                continue
            nodes += (Text(data[here : end.start()]), _line_end(text, end[0].count("\n")))
            here = end.end()
        if nodes:
            text.replace_with(*nodes, Text(data[here:]))


def _keeps_line_ends(text: Text, element: Element) -> bool:
    """True if no element in between has a style of its own or is code."""
    for around in text.ancestors:
        if around is element:
            return True
        if isinstance(around, Element) and (around.tag in _CODE_TAGS or _DECLARED.search(around.attr("style") or "")):
            return False
    return False


def _is_inline(node: Node | None) -> bool:
    return isinstance(node, Element) and node.tag in _INLINE


def _line_end(text: Text, lines: int) -> Element:
    """The element that ends a line; an empty line starts a new paragraph if the parent allows it."""
    parent = text.parent
    return Element("div" if lines > 1 and isinstance(parent, Element) and parent.tag in _BOXES else "br")


_PARTS: Final = frozenset(
    ("a", "b", "bdi", "cite", "data", "em", "font", "i", "mark", "small", "span", "strong", "time", "u")
)
_UNSEEN: Final = frozenset(("svg", "script", "style", "template"))
_ENDS: Final = ".!?:)%"  # of a sentence or an amount
_IN_CODE: Final = "pre, code, tt, samp, kbd"
_DEEPEST: Final = 20


def separate_words(nodes: Iterable[Node], depth: int = 0) -> None:
    """Put blanks between adjacent inline elements that are separate words; `nodes` are on one line."""
    for node in nodes:
        if type(node) is not Element or node.tag not in _PARTS:
            continue
        beside = node.next_sibling
        while beside is not None and (type(beside) is Comment or (type(beside) is Element and beside.tag in _UNSEEN)):
            beside = beside.next_sibling
        if (
            type(beside) is Element
            and beside.tag in _PARTS
            and _are_two(node, beside)
            and node.closest(_IN_CODE) is None
        ):
            node.insert_after(Text(" "))
        if depth < _DEEPEST:
            separate_words(list(node), depth + 1)


def _are_two(one: Element, other: Element) -> bool:
    before, after = one.text, other.text
    if not before or not after:
        return False
    last, first = before[-1], after[0]
    if one.tag == other.tag == "a" and one.attr("href") != other.attr("href"):
        return _has_case(last) and _has_case(first)  # Two links are two words; but some scripts have no blanks.
    # "You" and "Tube" may be one name in two colours.
    if len(before.split(None, 1)) + len(after.split(None, 1)) < 3:
        return False
    # A single letter belongs to its neighbour: "iPhone", "x2", "3D", "$5M".
    if last.islower() and (len(before) == 1 or before[-2].isspace()):
        return False
    if last.isdigit() and (len(after) == 1 or after[1].isspace()):
        return False
    if first.isupper():
        return last.islower() or last.isdigit() or last in _ENDS
    return first.isdigit() and last.islower()


def _has_case(letter: str) -> bool:
    return letter.islower() or letter.isupper() or letter.isdigit()


def convert_line_block(box: Element) -> bool:
    """Convert a box with an element for each line to paragraphs; an empty line separates stanzas."""
    if box.tag != "div":
        return False  # In a cell its lines are separate already.
    stanza: Element | None = None
    for line in box.select(".line"):
        if not line.text.strip() and line.find("img") is None:
            stanza = None
            continue
        if stanza is None:
            stanza = Element("p")
            box.append(stanza)
        else:
            stanza.append(Element("br"))
        stanza.append(line)
        line.tag = "span"
    box.remove(":scope > div")  # nested or empty boxes
    return True
