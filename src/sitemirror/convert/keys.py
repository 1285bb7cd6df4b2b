"""Small things within a line: keys, the way through menus, quotations, what is above or below the line, bold titles."""

from __future__ import annotations

from itertools import chain
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.marks import LINE_BREAK, MARKS

_OWN_LINES: Final = ("p", "div", "ul", "ol", "dl", "pre", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
_MAX_KEY: Final = 20  # characters
_NO_MARKS: Final = "code, samp, pre, kbd :is(sub, sup)"  # Code has no markup, nor has a text to be typed.


def shape_raised(element: Element) -> None:
    """Marks keys, and what stands above or below the line: 10<sup>5</sup> must not become 105."""
    if element.tag == "kbd" and (not element.text.strip() or element.find("a", href=True) is not None):
        element.tag = "span"  # A picture of a key, or a link: code shows neither.
        return
    if element.tag == "kbd" and not _is_key(element):
        if element.find("kbd") is not None:
            element.tag = "span"  # Keys that are pressed together, each marked up by itself.
        return
    if element.tag != "kbd" and next(element.iter_elements(_OWN_LINES), None) is not None:
        element.tag = "div"  # What holds paragraphs is in small print.
        return
    if element.text.strip() and not _is_reference(element) and element.closest(_NO_MARKS) is None:
        for br in element.find_all("br"):
            br.replace_with(Text(LINE_BREAK))
        opening, closing = MARKS[element.tag]
        element.insert(0, Text(opening))
        element.append(Text(closing))
        element.tag = "span"


def _is_reference(element: Element) -> bool:
    """Whether it is a footnote's link, which is its own mark; a power in the words of a link is none."""
    if element.find("a") is not None:
        return True
    link = element.closest("a")
    if link is None:
        return False
    return element.tag == "kbd" or (link.attr("href") or "#").startswith("#") or _is_all_of(element, link)


def _is_all_of(element: Element, link: Element) -> bool:
    """Whether nothing is said in the link but by the element. Not by its whole text: it may hold thousands of them."""
    here: Node | None = element
    while isinstance(here, Element) and here is not link:
        for beside in chain(here.previous_siblings, here.next_siblings):
            if isinstance(beside, Element | Text) and beside.text.strip():
                return False
        here = here.parent
    return True


def _is_key(kbd: Element) -> bool:
    """Whether it is a key, not an option or a text to be typed, and not several keys, each marked up by itself."""
    text = kbd.text
    is_option = len(text) > 1 and text.startswith(("-", "/"))
    return len(text) <= _MAX_KEY and not is_option and kbd.find("kbd") is None


def shape_key(element: Element) -> bool:
    """Marks a key that its class alone makes one."""
    element.text = element.text.strip()
    element.tag = "kbd"
    shape_raised(element)
    return True


def shape_step(arrow: Element) -> bool:
    """Writes what leads from a menu to what is in it, which may be an icon."""
    before = arrow.previous_sibling
    if isinstance(before, Text):
        before.data = before.data.replace("\xa0", " ")
    arrow.tag = "span"
    arrow.text = "›"
    return True


def shape_bold(title: Element) -> bool:
    """Writes a title that is no heading in bold."""
    if title.text.strip() and title.find(["strong", "b"]) is None:
        title.wrap_children(Element("strong"))
    return True


def shape_above(element: Element) -> bool:
    """Marks what a style sheet alone puts above the line."""
    element.tag = "sup"
    shape_raised(element)
    return True


def set_apart(element: Element) -> bool:
    """Puts blanks around a word that only a style sheet keeps away from the next one."""
    if isinstance(element.previous_sibling, Element):
        element.insert_before(Text(" "))
    element.insert_after(Text(" "))
    return True


def shape_within(box: Element) -> bool:
    """Leaves a box behind a text in its line, where its style puts it, unless it has more than one paragraph."""
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


def leave_out(element: Element) -> bool:
    """Takes out what is there to be pressed, by a name that nothing else has."""
    element.decompose()
    return True


def shape_item_label(label: Element) -> bool:
    """Leaves out what only draws an item's bullet or number; any other goes to the front of the item's text."""
    item = label.parent
    said = label.text.strip()
    if not isinstance(item, Element) or item.tag != "li" or len(said) > _MAX_KEY:
        return False
    text = item.find("p")
    is_counted = isinstance(item.parent, Element) and item.parent.tag == "ol" and said.rstrip(".").isdecimal()
    if is_counted or not any(map(str.isalnum, said)):
        label.decompose()
    elif text is not None:
        text.insert(0, Text(" "))
        text.insert(0, label.extract())
    return True


def shape_reading(rt: Element) -> None:
    """How a character is read stands above it; beside it, it needs parentheses."""
    rt.insert(0, Text("("))
    rt.append(Text(")"))


def shape_quotation(q: Element) -> None:
    """The renderer would write the marks without seeing them when it escapes what is beside them."""
    q.insert(0, Text('"'))
    q.append(Text('"'))
    q.unwrap()
