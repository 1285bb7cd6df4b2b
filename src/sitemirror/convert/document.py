"""Parse a page once; the only module that decides charset and base URL."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

import turbohtml
from turbohtml.detect import detect

from sitemirror.urls import InvalidUrl, normalize, with_encoded_query

_UTF8: Final = ("utf-8", "utf8")
_HEAD: Final = ("base", "title", "meta", "link", "script")
_LISTS: Final = ("nav", "ol", "ul")
_UNRENDERED: Final = ("script", "style", "template", "textarea")
_CHROME: Final = ("nav", "footer", "aside", "noscript")
_COLLECTED: Final = (*_HEAD, *_UNRENDERED, *_LISTS, *_CHROME, "pre", "br")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed page. Later steps edit `tree` in place; parse again for an unmodified tree."""

    tree: turbohtml.Document
    url: str
    base: str  # for relative URLs: the page's `<base href>`, else its own URL
    head: tuple[turbohtml.Element, ...]  # elements of the head, also where a broken page has them in its body
    # The following are as parsed, and still contain elements that a later step removed.
    styles: tuple[turbohtml.Element, ...]  # inline style sheets
    unrendered: tuple[turbohtml.Element, ...]  # elements whose text is hardly ever rendered
    lists: tuple[turbohtml.Element, ...]  # lists and navigation
    chrome: tuple[turbohtml.Element, ...]  # by tag not content: navigation, footers, asides
    listings: tuple[turbohtml.Element, ...]
    breaks: int  # number of `br`

    @property
    def body(self) -> turbohtml.Element | None:
        """`None` for a frameset."""
        return self.tree.find("body")

    def absolute(self, href: str | None) -> str | None:
        """Resolve and normalise a URL of the page; `None` if it is empty or invalid."""
        if href is None or not href.strip():
            return None
        try:
            return normalize(with_encoded_query(href, self.tree.encoding), self.base)
        except InvalidUrl:
            return None


def parse_html(html: bytes | str, *, url: str, charset: str | None = None) -> Document:
    """Parse `html` as a browser does.

    The charset is that of the BOM, else `charset` (from the header), else that of a meta element, else detected.
    """
    tree = _tree(html, charset)
    head: list[turbohtml.Element] = []
    styles: list[turbohtml.Element] = []
    unrendered: list[turbohtml.Element] = []
    lists: list[turbohtml.Element] = []
    chrome: list[turbohtml.Element] = []
    listings: list[turbohtml.Element] = []
    breaks = 0
    href: str | None = None
    for element in tree.iter_elements(_COLLECTED):  # one walk for everything: walking costs more than the loop
        tag = element.tag
        if tag in _LISTS:
            lists.append(element)
            if tag == "nav":
                chrome.append(element)
        elif tag == "br":
            breaks += 1
        elif tag == "pre":
            listings.append(element)
        elif tag in _CHROME:
            chrome.append(element)
        else:
            if tag in _UNRENDERED:
                unrendered.append(element)
            if tag == "style":
                styles.append(element)
            elif tag in _HEAD:
                head.append(element)
                if tag == "base" and not href:
                    href = element.attr("href")
    found = (tuple(head), tuple(styles), tuple(unrendered), tuple(lists), tuple(chrome), tuple(listings))
    return Document(tree, url, _base(href, url), *found, breaks)


def decode_text(body: bytes, charset: str | None = None) -> str:
    """Decode plain text, with the same precedence of charsets as a page."""
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
            pass  # An unknown charset in a header is ignored.
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
            html = html.encode("utf-8", "replace").decode()  # Lone surrogates cannot be encoded.
        return turbohtml.parse(html, positions=False)
    if charset is not None:
        if charset.lower() in _UTF8:
            # `bench.quality.speed`: parsing takes a tenth less than with the parser's own decoding.
            try:
                return turbohtml.parse(html.decode("utf-8-sig"), positions=False)
            except UnicodeDecodeError:
                pass  # The parser follows the browsers' table of names.
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
