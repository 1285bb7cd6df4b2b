"""Rewrite XHTML pages as HTML, since the saved copy is opened as HTML.

In XML `<script src="x"/>` is a complete element. In HTML it is a start tag, and the rest of the page becomes its text.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

XHTML: Final = "application/xhtml+xml"

_VOID: Final = frozenset(
    b"area base br col embed hr img input link meta param source track wbr".split()  # HTML has no end tag for these.
)
_CLOSED: Final = re.compile(
    rb"<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)"
    rb"|(?P<tag><(?:script|style)\b(?:[^>]*[^>/])?>)(?P<raw>.*?)(?P<end></(?:script|style)|\Z)"
    rb"|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    rb"|<(?P<name>[A-Za-z][\w.-]*+)(?P<attributes>(?:\s++[^\s=/><\"']++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+)\s*+/>",
    re.DOTALL,
)
_SECTION: Final = re.compile(rb"(\s*+)<!\[CDATA\[(.*)\]\]>(\s*+)", re.DOTALL)
_ESCAPES: Final = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&apos;", b"'"), (b"&amp;", b"&"))
_ENCODING: Final = re.compile(rb"<\?xml\s[^>]*?\sencoding\s*+=\s*+[\"']([A-Za-z][\w.-]*+)[\"']")
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ROOT: Final = re.compile(rb"<html[\s>]")


def as_html(page: bytes) -> bytes:
    """Rewrite self-closing elements and CDATA sections for an HTML parser.

    Text of styles and scripts is unescaped. A page without a doctype gets one, since XML has no quirks mode.
    """
    root = _ROOT.search(page)
    if root is not None and b"<!doctype" not in page[: root.start()].lower():
        page = page[: root.start()] + b"<!DOCTYPE html>" + page[root.start() :]
    return _CLOSED.sub(_opened, page)


def charset_of(page: bytes) -> str | None:
    """The charset by XML's rules if no header names one; `None` if there is a byte order mark."""
    if page.startswith(_MARKS):
        return None
    found = _ENCODING.match(page)
    return "utf-8" if found is None else found[1].decode()


def _opened(found: re.Match[bytes]) -> bytes:
    if (cdata := found["cdata"]) is not None:
        return cdata.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    if (raw := found["raw"]) is not None:
        return found["tag"] + _as_raw(raw) + found["end"]
    name = found["name"]
    if name is None or name in _VOID:
        return found[0]
    return b"<%b%b></%b>" % (name, found["attributes"], name)


def _as_raw(text: bytes) -> bytes:
    """The text of a script or style element as HTML reads it."""
    if (section := _SECTION.fullmatch(text)) is not None:
        return b"".join(section.groups())
    if b"&" not in text or b"<![CDATA[" in text:
        return text
    unescaped = text
    for escape, char in _ESCAPES:
        unescaped = unescaped.replace(escape, char)
    return text if b"</" in unescaped or b"<!--" in unescaped else unescaped
