"""Bytes become a tree here, once. Charset and base URL are settled in the same place, so that no rule guesses again."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

import turbohtml
from turbohtml.detect import detect

from sitemirror.urls import InvalidUrl, normalize

_UTF8: Final = ("utf-8", "utf8")
_HEAD: Final = ("base", "title", "meta", "link", "script")
_LISTS: Final = ("nav", "ol", "ul")
_LOOKED_FOR: Final = (*_HEAD, "style", *_LISTS)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed page. Later steps edit `tree` in place; whoever needs it untouched parses again."""

    tree: turbohtml.Document
    url: str
    base: str  # what relative URLs count from: the page's `<base href>`, else its own URL
    head: tuple[turbohtml.Element, ...]  # what belongs in a head, wherever a broken page has put it
    styles: tuple[turbohtml.Element, ...]  # its own style sheets
    lists: tuple[turbohtml.Element, ...]  # and navigation, as parsed: what a later step took out is still among them

    @property
    def body(self) -> turbohtml.Element | None:
        """`None` for a frameset."""
        return self.tree.find("body")

    def absolute(self, href: str | None) -> str | None:
        """A URL that the page names, normalised; `None` if it names none."""
        if href is None or not href.strip():
            return None
        try:
            return normalize(href, self.base)
        except InvalidUrl:
            return None


def parse(html: bytes | str, *, url: str, charset: str | None = None) -> Document:
    """Parses `html` as a browser does: the BOM decides the charset, then `charset` (the header's), meta, detection."""
    tree = _tree(html, charset)
    head: list[turbohtml.Element] = []
    styles: list[turbohtml.Element] = []
    lists: list[turbohtml.Element] = []
    href: str | None = None
    for element in tree.iter_elements(_LOOKED_FOR):  # Walking the tree once takes longer than all that is done here.
        tag = element.tag
        if tag in _LISTS:
            lists.append(element)
            continue
        if tag == "style":
            styles.append(element)
            continue
        head.append(element)
        if tag == "base" and not href:
            href = element.attr("href")
    return Document(tree, url, _base(href, url), tuple(head), tuple(styles), tuple(lists))


def decode(body: bytes, charset: str | None = None) -> str:
    """Plain text, with the same precedence as a page."""
    label = None
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    if charset is not None:
        try:
            label = codecs.lookup(f"whatwg-{charset.strip()}").name
        except (LookupError, ValueError):
            pass  # A header with an unknown charset says nothing; the bytes may.
    if label is None:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            label = detect(body).codec
    return body.decode(label or "utf-8", "replace")


def _tree(html: bytes | str, charset: str | None) -> turbohtml.Document:
    if isinstance(html, str):
        try:
            html.encode()
        except UnicodeEncodeError:
            html = html.encode("utf-8", "replace").decode()  # Lone surrogates can be in no file.
        return turbohtml.parse(html, positions=False)
    if charset is not None:
        if charset.lower() in _UTF8:
            # A tenth faster than to have the parser decode it, and the same where it is what the header says.
            try:
                return turbohtml.parse(html.decode("utf-8-sig"), positions=False)
            except UnicodeDecodeError:
                pass  # The parser knows what browsers make of it.
        try:
            return turbohtml.parse(html, encoding=charset, positions=False)
        except (LookupError, ValueError):
            pass
    return turbohtml.parse(html, detect_encoding=True, positions=False)


def _base(href: str | None, url: str) -> str:
    if not href:
        return url
    try:
        return normalize(href, url)
    except InvalidUrl:
        return url
