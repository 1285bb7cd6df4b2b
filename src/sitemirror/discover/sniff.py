"""Tells from the first bytes what a body is. Names and Content-Types of sitemaps are too often wrong to go by."""

from __future__ import annotations

import codecs
import re
from enum import Enum
from typing import Final

HEAD: Final = 4096
BLANK: Final = b" \t\r\n\x0b\x0c"
UTF8_BOM: Final = codecs.BOM_UTF8

_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PROLOG: Final = re.compile(rb"(?:\s++|<\?.*?\?>|<!--.*?-->)*+", re.S)
_PAGE: Final = re.compile(rb"<!doctype\s+html\b|<(?:html|head|body)[\s/>]", re.I)
_TAG_SOUP: Final = re.compile(
    rb"<(?:title|meta|link|script|style|div|p|h[1-6]|center|table|br|b|font|iframe|noscript|span|a|pre|ul)[\s/>]", re.I
)
_SITEMAP_ROOT: Final = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]", re.I)
_URL_LINE: Final = re.compile(rb"(?:^|[\r\n])[ \t]*https?://[^\s]", re.I)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_DECLARED: Final = re.compile(rb"<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.I)
# What real sitemaps declare. Python knows codecs that are no character sets (zlib, idna), so this is a list.
_CHARSETS: Final = re.compile(
    r"(?:iso8859-\d+|cp(?:125\d|932|949|950|866|437|850)|koi8-[ru]|gb(?:k|2312|18030)|big5(?:hkscs)?|shift_jis"
    r"|euc_(?:jp|kr)|mac-(?:roman|cyrillic)|tis-620)"
)


class Shape(Enum):
    """What a body looks like."""

    XML = "XML"
    LATE_XML = "a sitemap after other output"
    TEXT = "a list of URLs"
    HTML = "HTML page instead of a sitemap"
    JSON = "JSON instead of a sitemap"
    BINARY = "binary data instead of a sitemap"
    EMPTY = "empty file"
    OTHER = "neither XML nor a list of URLs"


def wide_codec(start: bytes) -> tuple[str, int] | None:
    """Codec and length of the byte order mark of a body in 16 or 32 bits a character. Needs four bytes."""
    for mark, codec in _BOMS:
        if start.startswith(mark):
            return codec, len(mark)
    if start.startswith(b"<\0"):
        return "utf-16-le", 0
    if start.startswith(b"\0<"):
        return "utf-16-be", 0
    return None


def skip_blanks(data: bytes) -> bytes:
    """`data` from its first visible byte: blanks and marks before the XML declaration are common."""
    while True:
        data = data.lstrip(BLANK)
        if not data.startswith(UTF8_BOM):
            return data
        data = data[len(UTF8_BOM) :]


def shape(head: bytes) -> Shape:
    """What a body is that begins with `head` (ASCII-compatible, without leading blanks)."""
    if not head:
        return Shape.EMPTY
    has_root = has_sitemap_root(head)
    if head.startswith(b"<"):
        prolog = _PROLOG.match(head)
        body = prolog.end() if prolog else 0
        if _PAGE.match(head, body):
            return Shape.HTML
        if _TAG_SOUP.match(head, body):
            return Shape.LATE_XML if has_root else Shape.HTML
        return Shape.XML
    if has_root:
        return Shape.LATE_XML
    if head[:1] in b"{[":
        return Shape.JSON
    if _URL_LINE.search(head):
        return Shape.TEXT
    return Shape.BINARY if _CONTROL.search(head) else Shape.OTHER


def declared_codec(head: bytes) -> str | None:
    """The codec an XML declaration names, where that is another than UTF-8.

    A declared UTF-16 is not believed: this head was readable as bytes, so it is not.
    """
    declared = _DECLARED.match(head)
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        return None
    return name if _CHARSETS.fullmatch(name) else None


def has_sitemap_root(head: bytes) -> bool:
    """Whether the root element of a sitemap or feed stands in `head`."""
    return _SITEMAP_ROOT.search(head) is not None


def first_line_is_url(head: bytes) -> bool:
    """Whether a text (without leading blanks) begins with an http(s) URL."""
    return _URL_LINE.match(head) is not None
