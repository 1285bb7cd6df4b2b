"""What a crawl that writes no Markdown keeps of a page: its title, its canonical URL, and where it forwards to."""

from __future__ import annotations

from typing import NamedTuple

from turbohtml import Namespace

from sitemirror.convert.document import Document
from sitemirror.convert.one_line import one_line


class Description(NamedTuple):
    """`None` where the page says nothing."""

    title: str | None
    canonical: str | None
    refresh: str | None


def describe(document: Document) -> Description:
    """The same as a conversion would say. May take scripts out of the tree."""
    title: str | None = None
    canonical: str | None = None
    for element in document.head:
        tag = element.tag
        if tag == "title":
            if title is None and element.namespace is Namespace.HTML:
                title = one_line(element.text)
        elif tag == "link":
            if canonical is None and "canonical" in (element.attr("rel") or "").lower().split():
                canonical = element.attr("href") or None
        elif tag == "meta" and "refresh" in (element.attr("http-equiv") or "").lower():
            return _from_everything(document)
    return _from_everything(document) if title is None else Description(title, document.absolute(canonical), None)


def _from_everything(document: Document) -> Description:
    """For the few pages that forward, or whose title is nowhere but in a heading or in some program's words."""
    from sitemirror.convert.page import describe_document  # It loads the whole conversion.

    page = describe_document(document)
    return Description(page.title, page.canonical, page.refresh)
