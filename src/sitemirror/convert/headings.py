"""Headings: one that shows nothing goes, one in a link takes the link into itself, one for the ear is one for all."""

from __future__ import annotations

from itertools import islice
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.generators import Vocabulary

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS: Final = (*HEADINGS, "ul", "ol", "dl", "pre", "table", "blockquote")
_LONGEST: Final = 200  # characters of a box that is a heading
_IN_NOTES: Final = HEADINGS[2:]  # A box with a larger one is more than a note.


def has_heading(element: Element, names: Vocabulary) -> bool:
    """Whether a heading of the page is in it, which has no place in a list; the titles of notes are none."""
    return any(not _heads_note(heading, names) for heading in element.iter_elements(HEADINGS))


def _heads_note(heading: Element, names: Vocabulary) -> bool:
    if heading.tag not in _IN_NOTES:
        return False
    around = [one for one in islice(heading.ancestors, 2) if isinstance(one, Element)]
    if not any(names.told[one.attr("class") or ""] == "admonition" for one in around):
        return False
    return heading.matches(names.titles) or heading.text.strip().casefold() in names.alerts


def shape_spoken_heading(box: Element) -> None:
    """Makes a heading of a box that is one to a screen reader, of the second level where it names none."""
    level = box.attr("aria-level") or "2"
    if len(box.text) > _LONGEST or next(box.iter_elements(_BLOCKS), None) is not None:
        return
    if (tag := f"h{level}") in HEADINGS:
        box.tag = tag
        shape_heading(box)


def shape_heading(heading: Element) -> None:
    """Leaves a heading that says something, on one line, and around a link rather than in one."""
    text = heading.text
    if not text.strip() and heading.find("img") is None:
        heading.decompose()
        return
    if "\xa0" in text:
        # The renderer would write an entity, in the very line that is searched most.
        for node in heading.descendants:
            if isinstance(node, Text) and "\xa0" in node.data:
                node.data = node.data.replace("\xa0", " ")
    link: Node | None = heading.parent
    for _level in range(4):
        if not isinstance(link, Element):
            return
        if link.tag == "a":
            break
        link = link.parent
    else:
        return
    # A card: the link moves into the heading, or the heading would be lost in the link.
    href = link.attr("href")
    own = [f"#{name}" for one in (link, heading) if (name := one.attr("id"))]
    if href and href not in own:  # else it leads to itself
        heading.wrap_children(Element("a", {"href": href}))
    if link.parent is not None:
        link.unwrap()
