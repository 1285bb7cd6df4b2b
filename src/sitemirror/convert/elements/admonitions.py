"""Notes, tips and warnings as GitHub alerts, whatever the markup of their boxes."""

from __future__ import annotations

import re
from typing import Final, TypeGuard

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.headings import title_words_with_links
from sitemirror.convert.generators import Vocabulary
from sitemirror.convert.render.markers import alert_above_block, alert_above_text, id_comments

_TOO_MUCH: Final = ("h1", "h2", "main", "article")  # in a box that is more than a note
_KIND_ATTRIBUTES: Final = ("data-callout-type", "data-callout", "data-type")
_BOXES: Final = frozenset(("div", "aside", "section", "details", "blockquote", "dl", "p"))
_TEXT: Final = frozenset(("p", "a", "b", "strong", "em", "i", "code", "span", "kbd", "img", "small", "sub", "sup"))
_CELLS: Final = ":scope > tr > :is(td, th), :scope > * > tr > :is(td, th)"
_KINDS: Final = frozenset(("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"))
_DISMISSED: Final = "alert-dismiss"  # begins Bootstrap's class names for messages that can be dismissed
_COLONS: Final = (":", "：")
_PROSE: Final = ("p", "pre", "ul", "ol", "dl")
_BOLD: Final = ("b", "strong")
_LINES: Final = ("p", "h3", "h4", "h5", "h6")
_DEEPEST: Final = 10  # levels of boxes
_MARK: Final = re.compile(r"\s*\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.I)
_SIGN_TAGS: Final = ("span", "i", "div")  # In other tags it is a word of the title, such as an operator or a key.
_WORD_TAGS: Final = ("code", "kbd", "samp", "tt")
_BOX: Final = "hint"  # a kind, but with several generators the class of every box
_MAX_KIND: Final = 40  # characters
_END_OF_TITLE: Final = ":!：. "


def convert_admonition(box: Element, names: Vocabulary) -> bool:
    """Convert `box` to an alert; `False` if it is none."""
    if box.tag not in _BOXES or _DISMISSED in (box.attr("class") or "") or _is_empty(box) or _is_around_one(box, names):
        return False
    title = box.find("dt" if box.tag == "dl" else "summary") if box.tag in ("dl", "details") else None
    if title is None:
        title = _title(box, names)
    if any(found is not title for found in box.iter_elements(_TOO_MUCH)):
        return False
    icon_kind = _remove_icon(box, names)
    if title is not None:
        _remove_sign(title)
    title_text = " ".join(title.text.split()) if title is not None else ""
    kind = _kind(box, names) or icon_kind or names.alerts.get(title_text.rstrip(_END_OF_TITLE).casefold())
    if (title_kind := title_text.rstrip(_END_OF_TITLE).upper()) in _KINDS:
        kind = title_kind  # The visible title wins over the class of the box.
    if kind is None and (not title_text or box.tag == "details"):
        return False  # a box without kind or title, or a folded section
    kind = kind or "NOTE"
    head: list[Element] = []
    if title is not None:
        if title_text and title_text.rstrip(_END_OF_TITLE).casefold() not in (kind.casefold(), f"{kind.casefold()}s"):
            head.append(Element("p", None, [Element("strong", None, title_words_with_links(title))]))
        _remove_title(title, box)
    _unwrap_layout(box, names)
    if title is None:
        kind = _remove_run_in_title(box) or kind
    first = head[0] if head else _first_visible(box)
    follows = box.find("img") is not None if first is None else isinstance(first, Text) or first.tag in _TEXT
    head.insert(0, alert_above_text(kind) if follows else alert_above_block(kind))
    if box.tag == "p":
        box.wrap(Element("blockquote"))
        box.insert_before(*head)
        return True
    box.tag = "blockquote"
    for number, element in enumerate(head):
        box.insert(number, element)
    return True


def convert_alert_syntax(quote: Element) -> None:
    """Convert a quotation that begins with GitHub's alert syntax."""
    line = _first_visible(quote)
    mark = line[0] if isinstance(line, Element) and line.tag == "p" and len(line) else None
    if not isinstance(line, Element) or not isinstance(mark, Text) or (found := _MARK.match(mark.data)) is None:
        return
    mark.data = mark.data[found.end() :]
    after = mark.next_sibling
    if not mark.data and isinstance(after, Element) and after.tag == "br":
        after.decompose()
    if not line.text.strip() and line.find("img") is None:
        line.decompose()
    first = _first_visible(quote)
    follows = isinstance(first, Text) or (first is not None and first.tag in _TEXT)
    quote.insert(0, (alert_above_text if follows else alert_above_block)(found[1].upper()))


def _is_empty(box: Element) -> bool:
    """True if a box is empty and filled by a script."""
    return box.select_one("*") is None and not box.text.strip()


def _is_around_one(box: Element, names: Vocabulary) -> bool:
    """True if a box contains only another box of the same class, which is the note."""
    inner = next((child for child in box if isinstance(child, Element)), None)
    if inner is None or inner.tag not in _BOXES or inner.attr("class") != box.attr("class"):
        return False
    is_note = any(names.roles.get(word) == "admonition" for word in (inner.attr("class") or "").split())
    return is_note and inner.text.strip() == box.text.strip()


def _remove_icon(box: Element, names: Vocabulary) -> str | None:
    """Remove an icon at the beginning of a note; returns the kind of alert it stands for."""
    first = _first_visible(box)
    if isinstance(first, Element) and first.tag == "p":
        first = next(filter(_is_visible, first), None)
    if not isinstance(first, Element) or box.text.strip() == first.text.strip():
        return None
    words = (first.attr("alt") or "").casefold().strip("[] \n").removesuffix("icon").strip()
    kind = names.alerts.get(words) if first.tag == "img" else None
    sign = first.text.strip()
    is_sign = first.attr("aria-hidden") == "true" and len(sign) == 1 and not sign.isalnum()
    if kind is not None or is_sign:
        after = first.next_sibling
        if isinstance(after, Text):
            after.data = after.data.lstrip()
        first.decompose()
    return kind


def _remove_sign(title: Element) -> None:
    """Remove a symbol in an element of its own at the beginning of a title."""
    first = next(filter(_is_visible, title), None)
    if not isinstance(first, Element) or first.tag not in _SIGN_TAGS:
        return
    sign = first.text.strip()
    if sign and not any(map(str.isalnum, sign)) and next(first.iter_elements(_WORD_TAGS), None) is None:
        first.decompose()


def _kind(box: Element, names: Vocabulary) -> str | None:
    """The kind of alert by class names or attributes of a box."""
    words = (box.attr("class") or "").lower().split()
    words += [value.lower() for name in _KIND_ATTRIBUTES if (value := box.attr(name))]
    # The last of several is the most specific: `hint` is a kind by itself, but not in `hint warning`.
    called = [word for word in (*reversed(words), *(word.rpartition("-")[2] for word in words)) if word in names.alerts]
    return names.alerts[next((word for word in called if word != _BOX), called[0])] if called else None


def _title(box: Element, names: Vocabulary) -> Element | None:
    """The box's own title, not that of an inner box, listing or table."""
    found = box.select_one(names.titles)
    if found is None or _is_below_text(found, box):
        return _table_title(box) or _kind_as_title(box, names)
    holder = found.parent
    while isinstance(holder, Element) and holder is not box:
        if any(names.roles.get(word) == "admonition" for word in (holder.attr("class") or "").split()):
            return None
        holder = holder.parent
    return found


def _is_below_text(title: Element, box: Element) -> bool:
    """True if more than an icon precedes a title."""
    holder: Node | None = title
    while isinstance(holder, Element) and holder is not box:
        for node in holder.previous_siblings:
            if isinstance(node, Text):
                if any(map(str.isalnum, node.data)):
                    return True
            elif isinstance(node, Element) and any(
                one.text.strip() for one in node.iter_elements(_PROSE, include_self=True)
            ):
                return True
        holder = holder.parent
    return False


def _table_title(box: Element) -> Element | None:
    """The header cell of a DocBook box that is laid out as a table."""
    table = _first_table(box)
    heads = [cell for cell in table.select(_CELLS) if cell.tag == "th"] if table is not None else []
    is_above = len(heads) == 1 and table is not None and heads[0].parent == table.find("tr")
    return heads[0] if is_above else None


def _kind_as_title(box: Element, names: Vocabulary) -> Element | None:
    """The first line of a box if it only names the kind of note, whatever its markup."""
    first = _first_visible(box)
    label = first.parent if isinstance(first, Text) else None
    if isinstance(label, Element) and label is not box and len(label) == 1:
        first = label  # text in a div of its own
    elif not isinstance(first, Element) or first.tag not in _LINES:
        return None
    if len(first.text) > _MAX_KIND:
        return None
    title_text = first.text.strip().rstrip(_END_OF_TITLE).casefold()
    return first if title_text in names.alerts and box.text.strip() != first.text.strip() else None


def _remove_run_in_title(box: Element) -> str | None:
    """Remove a bold word at the beginning of a note that names its kind; returns the kind."""
    first = _first_visible(box)
    word = next(filter(_is_visible, first), None) if isinstance(first, Element) and first.tag == "p" else first
    if not isinstance(word, Element) or word.tag not in _BOLD or len(word.text) > _MAX_KIND:
        return None
    title_text = word.text.strip()
    after = word.next_sibling
    goes_on = after.data.lstrip() if isinstance(after, Text) else ""
    kind = title_text.rstrip(_END_OF_TITLE).upper()
    has_colon = title_text.endswith(_COLONS) or goes_on.startswith(_COLONS)
    if kind not in _KINDS or not has_colon or box.text.strip() in (title_text, f"{title_text}:"):
        return None
    if isinstance(after, Text):
        # Only one colon goes with the word: `::before` may follow.
        after.data = goes_on if title_text.endswith(_COLONS) else goes_on[1:].lstrip()
    elif isinstance(after, Element) and after.tag == "br":
        after.decompose()
    _remove_title(word, box)
    return kind


def _remove_title(title: Element, box: Element) -> None:
    kept = id_comments(title.children)
    parent = title.parent
    title.decompose()
    for number, pin in enumerate(kept):
        box.insert(number, pin)
    # a heading that contained an icon and the title only
    if isinstance(parent, Element) and parent is not box and not parent.text.strip() and parent.find("img") is None:
        parent.decompose()


def _unwrap_layout(box: Element, names: Vocabulary) -> None:
    """Unwrap layout: definitions, or a table with an icon on the left."""
    if box.tag == "dl":
        for part in box.find_all(["dt", "dd"]):
            part.tag = "div"
        return
    table = _first_table(box)
    if table is None:
        return
    *others, last = table.select(_CELLS) or [table]
    texts = {other.text.strip().rstrip(_END_OF_TITLE).casefold() for other in others}
    if last is not table and all(not text or text in names.alerts for text in texts):  # else it is a data table
        table.insert_after(*last.children)
        table.decompose()


def _first_table(box: Element) -> Element | None:
    """The table at the beginning of a box."""
    first = next((child for child in box if isinstance(child, Element) and (len(child) or child.tag != "p")), None)
    return first if first is not None and first.tag == "table" else None


def _first_visible(box: Element) -> Element | Text | None:
    """The first visible node, looking into divs and sections."""
    found: Element | Text | None = box
    for _level in range(_DEEPEST):
        if not isinstance(found, Element) or (found is not box and found.tag not in ("div", "section")):
            return found
        found = next(filter(_is_visible, found), None)
    return found


def _is_visible(node: Node) -> TypeGuard[Element | Text]:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and (
        bool(node.text.strip()) or node.find("img") is not None or node.tag in ("hr", "img")
    )
