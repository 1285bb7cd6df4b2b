"""Recognises a page that is only a redirect: an immediate meta refresh and nothing to read."""

from __future__ import annotations

import re
from typing import Final

import turbohtml

from sitemirror.convert.document import Document
from sitemirror.links.values import parse_refresh
from sitemirror.urls import InvalidUrl, normalize

_IMMEDIATE: Final = 1  # seconds; more is time to read
# "Redirecting to https://example.com/new… If you are not redirected, click here." and its like, in any language.
_MAX_TEXT: Final = 200
_URL: Final = re.compile(r"https?://\S+")


def refresh_target(document: Document) -> str | None:
    """The normalised target of an immediate refresh; `None` if the page has other content.

    The body's scripts and styles must be gone already: their text is not the page's.
    """
    found = declared_refresh(document)
    if found is None or found[0] > _IMMEDIATE:
        return None
    target = found[1]
    try:
        if target == normalize(document.url):
            return None  # It reloads itself: a page that changes, not a redirect.
    except InvalidUrl:
        return None
    body = document.body
    return None if body is not None and _says_more(body, document.base, target) else target


def declared_refresh(document: Document) -> tuple[int, str] | None:
    """After how many seconds the page sends its readers where, normalised, if it does. The first refresh counts."""
    for element in document.head:
        if element.tag == "meta" and (element.attr("http-equiv") or "").strip().lower() == "refresh":
            content = element.attr("content") or ""
            found = parse_refresh(content)
            if found is not None and element.closest("noscript, template") is None:  # Readers with scripts stay.
                url = document.absolute(content[found.start : found.end])
                return None if url is None else (found.seconds, url)
    return None


def _says_more(body: turbohtml.Element, base: str, target: str) -> bool:
    for anchor in body.find_all("a", href=True):
        try:
            if normalize(anchor.attr("href") or "", base) != target:
                return True
        except InvalidUrl:
            return True
    if body.find(["img", "pre", "table", "form", "video", "ul", "ol"]) is not None:
        return True
    return len(_URL.sub("", " ".join(body.text.split()))) > _MAX_TEXT
