"""Headings, linked cards, and titles of notes, tabs and folded sections, each on one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from turbohtml import Element, Node, Text

from sitemirror.convert.elements.formulas import convert_mathml, convert_tex_script
from sitemirror.convert.elements.inline import convert_quotation, convert_sub_sup_kbd
from sitemirror.convert.generators import Vocabulary
from sitemirror.convert.render.markers import TAG_MARKERS, tex_of

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS: Final = (*HEADINGS, "ul", "ol", "dl", "pre", "table", "blockquote")
_LONGEST: Final = 200  # characters of a heading by role
_IN_NOTES: Final = HEADINGS[2:]  # A box with a higher heading is more than a note.


def has_heading(element: Element, names: Vocabulary) -> bool:
    """True if an element contains a heading other than the title of a note."""
    return any(not _heads_note(heading, names) for heading in element.iter_elements(HEADINGS))


def _heads_note(heading: Element, names: Vocabulary) -> bool:
    if heading.tag not in _IN_NOTES:
        return False
    around = [one for one in islice(heading.ancestors, 2) if isinstance(one, Element)]
    if not any(names.role_by_classes[one.attr("class") or ""] == "admonition" for one in around):
        return False
    return heading.matches(names.titles) or heading.text.strip().casefold() in names.alerts


def convert_aria_heading(box: Element) -> None:
    """Convert an element with the role of a heading; the default level is 2."""
    level = box.attr("aria-level") or "2"
    if len(box.text) > _LONGEST or next(box.iter_elements(_BLOCKS), None) is not None:
        return
    if (tag := f"h{level}") in HEADINGS:
        box.tag = tag
        convert_heading(box)


def convert_heading(heading: Element) -> None:
    """Convert a heading: drop it if empty, and move a link around it inside."""
    text = heading.text
    if not text.strip() and heading.find("img") is None:
        heading.decompose()
        return
    if "\xa0" in text:
        # The renderer would write an entity.
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
    # A card: Markdown links cannot contain a heading.
    href = link.attr("href")
    own = [f"#{name}" for one in (link, heading) if (name := one.attr("id"))]
    if href and href not in own:  # else it links to itself
        heading.wrap_children(Element("a", {"href": href}))
    if link.parent is not None:
        link.unwrap()


def convert_card(card: Element) -> bool:
    """Move the link of a card to its title, if it has one."""
    link = card.select_one("a.sd-stretched-link.sd-hide-link-text[href]")
    title = card.select_one(".sd-card-title")
    if link is None or title is None or title.find("a") is not None or not title.text.strip():
        return False
    title.wrap_children(Element("a", {"href": link.attr("href") or ""}))
    link.decompose()
    return True


_BLANKS: Final = re.compile(r"\s+")
_EMPHASIS: Final = {"em": "em", "i": "em", "strong": "strong", "b": "strong"}
# Elements whose plain text would be wrong or doubled.
_MORE_THAN_WORDS: Final[dict[str, Callable[[Element], None]]] = {
    "math": convert_mathml, "script": convert_tex_script, "q": convert_quotation, "sub": convert_sub_sup_kbd,
    "sup": convert_sub_sup_kbd, "kbd": convert_sub_sup_kbd,
}  # fmt: skip
_ONE_LINE: Final = re.compile(r";\s*mode\s*=\s*display", re.I)
_CONVERTED: Final = tuple(_MORE_THAN_WORDS)


def title_words(title: Element) -> list[Node]:
    """The text of a title, with code, as nodes."""
    _convert_title_markup(title)
    return [Text(text) if holder is None else Element("code", None, [Text(text)]) for text, holder in _pieces(title)]


def title_words_with_links(title: Element) -> list[Node]:
    """The text of a title with code and links, except a link that is the whole title and opens the box."""
    _convert_title_markup(title)
    kept: list[Node] = []
    title_text = title.text.strip()
    for text, holder in _pieces(title, ("code", "a")):
        address = "" if holder is None or holder.tag == "code" else holder.attr("href") or ""
        if holder is None:
            kept.append(Text(text))
        elif holder.tag == "code":
            kept.append(Element("code", None, [Text(text)]))
        elif address and not (address.startswith("#") and holder.text.strip() == title_text):
            kept.append(Element("a", {"href": address}, title_words(holder)))
        else:
            kept += title_words(holder)
    return kept


def title_line(title: Element) -> str:
    """The text of a title with markers for code, and for emphasis of a part of it."""
    _convert_title_markup(title)
    title_text = " ".join(title.text.split())
    emphasis = [
        one for one in title.iter_elements(tuple(_EMPHASIS)) if " ".join(one.text.split()) not in ("", title_text)
    ]
    for one in emphasis:
        opening, closing = TAG_MARKERS[_EMPHASIS[one.tag]]
        one.insert(0, Text(opening))
        one.append(Text(closing))
    return "".join(text if holder is None else _code_in_line(text) for text, holder in _pieces(title))


def _code_in_line(text: str) -> str:
    if (tex := tex_of(text)) is not None:
        return f"${tex}$"
    opening, closing = TAG_MARKERS["code"]
    return f"{opening}{text}{closing}"


def _convert_title_markup(title: Element) -> None:
    """Convert formulas and the like in a title, before it is taken apart."""
    for part in list(title.iter_elements(_CONVERTED)):
        if part.parent is not None:
            if part.tag == "math":
                part.attrs.pop("display", None)  # inline
            elif part.tag == "script":
                part.attrs["type"] = _ONE_LINE.sub("", part.attr("type") or "")
            _MORE_THAN_WORDS[part.tag](part)


def _pieces(title: Element, holders: Sequence[str] = ("code",)) -> list[tuple[str, Element | None]]:
    """Split the text of a title into pieces, each with the code or link element it comes from."""
    if next(title.iter_elements(tuple(holders)), None) is None:
        text = " ".join(title.text.split())
        return [(text, None)] if text else []
    pieces: list[tuple[str, Element | None]] = []
    seen: set[Node] = set()  # nodes of code and links
    for node in title.descendants:
        text = ""
        if node in seen:
            continue
        if isinstance(node, Element) and node.tag in holders:
            seen.update(node.descendants)
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
