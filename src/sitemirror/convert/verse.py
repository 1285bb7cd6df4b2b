"""Lines that a page ends where it pleases, as in a poem or an address: Markdown would join them."""

from __future__ import annotations

from turbohtml import Element


def shape_verse(box: Element) -> bool:
    """Makes paragraphs of a box with each line in an element of its own; an empty one parts two stanzas."""
    if box.tag != "div":
        return False  # In a cell its lines are parted already.
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
    for rest in box.select(":scope > div"):
        rest.decompose()  # What was further in, or empty.
    return True
