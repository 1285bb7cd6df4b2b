"""Cards: boxes that are a link as a whole, by one without words that is spread over them."""

from __future__ import annotations

from turbohtml import Element


def shape_card(card: Element) -> bool:
    """Has the title of a card be the link that the card is; without a title it stays as it is."""
    link = card.select_one("a.sd-stretched-link.sd-hide-link-text[href]")
    title = card.select_one(".sd-card-title")
    if link is None or title is None or title.find("a") is not None or not title.text.strip():
        return False
    title.wrap_children(Element("a", {"href": link.attr("href") or ""}))
    link.decompose()
    return True
