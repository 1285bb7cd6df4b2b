"""Footnotes in GitHub's notation: `[^1]` in the text, `[^1]: …` at the place of the notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final

from turbohtml import Element, Text, parse

from sitemirror.convert.render.markers import FIRST_NOTE, footnote_definition, footnote_reference, id_comments

_LABEL: Final = re.compile(r"[\w.-]{1,40}")
_BACK: Final = "a[role=doc-backlink], .footnote-backref, .footnote-back, .reversefootnote, .data-footnote-backref"
_LABELS: Final = (
    ":scope > .label, :scope > dt, :scope > sup, :scope > .footnote-definition-label, :scope > .brackets, "
    ":scope > .backrefs, :scope > tbody > tr > td.label"
)
_INSET: Final = ".ltx_note_content"
_INSET_LABELS: Final = ":scope > :is(.ltx_note_mark, .ltx_tag_note)"
_POPOVERS: Final = ("data-bs-content", "data-content")  # Bootstrap
_UNREAD: Final = "script, style, template"
_NUMBERED: Final = "h5"
_ARROWS: Final = "↩↑^⏎↵⬆\ufe0e\ufe0f "


def convert_footnotes(page: Element, notes: Sequence[Element]) -> None:
    """Convert the `notes` that the text refers to; the others stay as they are."""
    by_id: dict[str, Element] = {}
    for note in notes:
        if (own := note.attr("id")) and own in by_id:
            continue  # Part of a note whose ids are known; nested notes would take quadratic time.
        inside = note.select("[id], a[name]")
        for name in (note.attr("id"), *(one.attr("id") or one.attr("name") for one in inside)):
            if name:
                by_id.setdefault(name, note)
    references: dict[Element, list[Element]] = {}
    within = frozenset(notes)
    for anchor in page.find_all("a", href=True):
        href = anchor.attr("href") or ""
        target = by_id.get(href[1:]) if href[:1] == "#" else None
        if target is not None and within.isdisjoint(anchor.ancestors) and _is_referable(target, anchor, page):
            references.setdefault(target, []).append(anchor)
    labels: set[str] = set()
    for note, anchors in references.items():
        label = anchors[0].text.strip("[]() \n")
        if not _LABEL.fullmatch(label) or label in labels:
            label = next(str(number) for number in range(1, len(notes) + 2) if str(number) not in labels)
        labels.add(label)
        names = {anchor.attr(name) for anchor in anchors for name in ("id", "name")}
        names |= {_sup(anchor).attr("id") for anchor in anchors}
        _convert_note(note, label, {f"#{name}" for name in names if name})
        for anchor in anchors:
            sup = _sup(anchor)
            sup.replace_with(
                *id_comments(sup.children),
                *(id_comments(anchor.children) if sup is not anchor else ()),
                footnote_reference(label),
            )
    _list_notes([note for note in notes if note in references])


def _is_referable(note: Element, anchor: Element, page: Element) -> bool:
    """True if a note is still in the page, and not inside of a link to it that was never closed."""
    return note.closest("a") is not anchor and any(one is page for one in note.ancestors)


def _sup(anchor: Element) -> Element:
    parent = anchor.parent
    if isinstance(parent, Element) and parent.tag in ("sup", "span") and _label_text(parent) == _label_text(anchor):
        return parent
    return anchor


def _label_text(mark: Element) -> str:
    return mark.text.strip("[]() \n")


def _convert_note(note: Element, label: str, ways_back: set[str]) -> None:
    note.remove(_LABELS)
    for anchor in note.find_all("a", href=True):
        text = anchor.text.strip("[]() \n")
        leads_back = anchor.attr("href") in ways_back and (text == label or not text.strip(_ARROWS) or text.isdecimal())
        if leads_back or anchor.matches(_BACK):
            parent, before = anchor.parent, anchor.previous_sibling
            anchor.decompose()
            if isinstance(before, Text):
                before.data = before.data.rstrip()
            if isinstance(parent, Element) and parent is not note and not parent.text.strip("[](), \xa0\n"):
                parent.decompose()
    for part in note.find_all("dd"):
        part.tag = "div"
    spot = note
    while isinstance(first := _first(spot), Element) and first.tag in ("div", "section", "p"):
        spot = first
    if isinstance(first, Text):
        first.data = first.data.lstrip(".: \n")
    spot.insert(0, footnote_definition(label))


def _first(element: Element) -> Element | Text | None:
    for child in element:
        if isinstance(child, Element) or (isinstance(child, Text) and child.data.strip()):
            return child
    return None


def note_in_popover(mark: Element) -> Element | None:
    """A note that is only in an attribute of its mark, shown on hover (pkgdown)."""
    html = next(filter(None, map(mark.attr, _POPOVERS)), None)
    body = parse(html, positions=False).find("body") if html else None
    if body is None:
        return None
    body.remove(_UNREAD)
    for name in _POPOVERS:
        for inner in body.select(f"[{name}]"):
            del inner.attrs[name]  # against notes nested without end
    return Element("div", None, list(body)) if body.text.strip() else None


def move_inset_note(mark: Element, content: Element | None, page: Element) -> Element | None:
    """Move an inline note to the end of the page and leave a reference; `None` if it is none."""
    content = content or mark.select_one(_INSET)
    number = mark.find("sup")
    if content is None or number is None:
        return None
    label = number.text.strip()
    name = mark.attr("id") or f"inset-{label}"
    content.remove(_INSET_LABELS)
    content.extract()
    content.tag = "div"
    content.attrs["id"] = name
    mark.replace_with(*id_comments(mark.children), Element("a", {"href": f"#{name}"}, [Text(label)]))
    page.append(content)
    return content


def convert_quoted_note(quote: Element) -> bool:
    """True if a quotation is a GitBook footnote; marks its label."""
    if not (quote.attr("id") or "").startswith("fn_"):
        return False
    for label in quote.select(":scope > sup"):
        label.tag, label.attrs["class"] = "span", "footnote-definition-label"
    return True


def notes_of(box: Element) -> list[Element]:
    """The notes in an element whose class is that of a note or of a list of notes."""
    if box.tag == "dl":
        return _split_list(box)
    if box.tag != "ol":
        if notes := _split_headed(box):
            return notes
        if box.find(["ol", "ul"]) is None or box.attr("id") is not None:
            return [box]
    return listed_notes(box)


def listed_notes(box: Element) -> list[Element]:
    """The items of the list that `box` is or contains."""
    rows = box if box.tag == "ol" else box.find("ol")
    return [child for child in rows or () if isinstance(child, Element) and child.tag == "li"]


def _split_list(dl: Element) -> list[Element]:
    """Wrap each term and definition of a list of notes, as in older docutils."""
    notes: list[Element] = []
    for child in list(dl):
        if isinstance(child, Element) and child.tag == "dt":
            notes.append(Element("div", {"id": child.attr("id") or ""}))
            child.insert_before(notes[-1])
        if isinstance(child, Element) and notes:
            notes[-1].append(child)
    dl.tag = "div"
    return notes


def _split_headed(box: Element) -> list[Element]:
    """Wrap each note of a box where notes have headings with their number, as in Texinfo."""
    notes: list[Element] = []
    for child in list(box):
        if isinstance(child, Element) and child.tag == _NUMBERED:
            back = child.find("a", id=True)
            if back is not None and (name := back.attr("id")) and _label_text(child).isdecimal():
                notes.append(Element("div", {"id": name}))
                child.replace_with(notes[-1])
                continue
        if notes:
            notes[-1].append(child)
    return notes


def _list_notes(notes: Sequence[Element]) -> None:
    """Put the notes of each parent in a list at the place of the first."""
    lists: dict[Element, Element] = {}
    for note in notes:
        parent = note.parent
        if not isinstance(parent, Element):
            continue
        if parent.tag == "ol":
            if parent.attr("start") != FIRST_NOTE:
                _remove_rule(parent)
            parent.attrs["start"] = FIRST_NOTE
            continue
        if parent not in lists:
            lists[parent] = Element("ol", {"start": FIRST_NOTE})
            note.insert_before(lists[parent])
            _remove_rule(lists[parent])
        lists[parent].append(note)
        note.tag = "li"


def _is_screen_reader_only(node: Element) -> bool:
    """True if an element, possibly in a box with its permalink, is for screen readers only."""
    only = next((child for child in node if isinstance(child, Element)), None) if node.tag == "div" else None
    return any("sr-only" in (one.attr("class") or "") for one in (node, only) if one is not None)


def _remove_rule(notes: Element) -> None:
    """Remove the rule between text and notes."""
    for node in chain(notes.previous_siblings, notes.parent.previous_siblings if notes.parent is not None else ()):
        if isinstance(node, Element):
            # the rule, or a heading for screen readers
            if node.tag == "hr" or _is_screen_reader_only(node):
                node.decompose()
            return
        if isinstance(node, Text) and node.data.strip():
            return
