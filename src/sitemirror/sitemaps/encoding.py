"""Turn raw bytes into UTF-8 of a known format: undo gzip, convert charsets, detect the format.

All of it goes by the bytes: names and Content-Types of sitemaps are too often wrong.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Generator, Iterator
from enum import Enum
from typing import Final

HEAD: Final = 4096
"""Bytes from which the format is detected."""

# -- gzip

_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 16 + zlib.MAX_WBITS
_INPUT: Final = 16 * 1024
_OUTPUT: Final = 64 * 1024
# Real multi-member files (bgzip, pigz) have a member per 64 KB or more; an endless row of empty ones is an attack.
_MAX_MEMBERS: Final = 10_000


class GzipDecoder:
    """Undo one layer of gzip in small bounded steps. Other bytes pass unchanged.

    `problem` says what is wrong with the compressed data; nothing comes out after it.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._start = b""
        self._plain = False
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields decoded pieces of at most 64 KB each. Take them all before feeding more."""
        if not self._plain and self._stream is None and not self._over:
            data = self._start + data
            if len(data) < len(_MAGIC) and _MAGIC.startswith(data):
                self._start = data
                return
            self._start = b""
            if data.startswith(_MAGIC):
                self._open_member()
            else:
                self._plain = True
        for at in range(0, len(data), _OUTPUT if self._plain else _INPUT):
            if self._plain:
                yield data[at : at + _OUTPUT]
            elif self.problem is None and not self._over:
                yield from self._inflate(data[at : at + _INPUT])

    def close(self) -> Iterator[bytes]:
        """Yields what was held back, and sets `problem` if the data was incomplete."""
        if self._start and self._members == 0:
            yield self._start
        elif self._stream is not None and not self._stream.eof and self.problem is None:
            self.problem = "gzip data ends early"
        self._start = b""

    def _open_member(self) -> None:
        self._members += 1
        self._stream = zlib.decompressobj(_GZIP)

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data and self.problem is None:
            stream = self._stream
            if stream is None or stream.eof:
                data = self._start + data
                self._start = b""
                if len(data) < len(_MAGIC) and _MAGIC.startswith(data):
                    self._start = data
                    return
                if not data.startswith(_MAGIC):
                    # Padding and trailing rubbish after the last member are common and harmless.
                    self._over = True
                    return
                if self._members >= _MAX_MEMBERS:
                    self.problem = f"more than {_MAX_MEMBERS:,} gzip members"
                    return
                self._open_member()
                stream = self._stream
            assert stream is not None
            data = yield from self._inflate_member(stream, data)

    def _inflate_member(self, stream: zlib._Decompress, data: bytes) -> Generator[bytes, None, bytes]:
        """Decodes `data` until it is used up or the member ends; returns what follows the member."""
        while True:
            before = stream.copy()
            try:
                piece = stream.decompress(data, _OUTPUT)
            except zlib.error:
                yield from _decode_up_to_error(before, data)
                self.problem = "corrupt gzip data"
                return b""
            if piece:
                yield piece
            if stream.eof:
                return stream.unused_data
            data = stream.unconsumed_tail
            # A full piece may leave decoded bytes behind inside zlib even when all input is consumed.
            if not data and len(piece) < _OUTPUT:
                return b""


def _decode_up_to_error(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    # zlib drops what a failing call had already decoded, so the call is repeated in steps of one byte.
    for at in range(len(data)):
        step = data[at : at + 1]
        try:
            while piece := stream.decompress(step, _OUTPUT):
                yield piece
                step = stream.unconsumed_tail
        except zlib.error:
            return


# -- character encodings

_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_LONGEST_BOM: Final = 4
_WHITE_SPACE: Final = b" \t\r\n\x0b\x0c"
_DECLARED: Final = re.compile(rb"<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.I)
# The ones that real sitemaps declare. Python knows codecs that are no character sets (zlib, idna), so this is a list.
_CHARSETS: Final = re.compile(
    r"(?:iso8859-\d+|cp(?:125\d|932|949|950|866|437|850)|koi8-[ru]|gb(?:k|2312|18030)|big5(?:hkscs)?|shift_jis"
    r"|euc_(?:jp|kr)|mac-(?:roman|cyrillic)|tis-620)"
)


class Utf8Converter:
    """Converts a body to UTF-8 as it arrives. UTF-8 and its like pass unchanged, invalid bytes included.

    UTF-16 and UTF-32 are recognised by their first bytes, which sets `is_wide`.
    """

    def __init__(self) -> None:
        self.is_wide = False
        self._start: bytes | None = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes) -> bytes:
        """Converts the next bytes, as far as they are complete."""
        if self._start is not None:
            self._start += data
            if len(self._start) < _LONGEST_BOM:
                return b""
            data = self._detect(self._start)
        return data if self._decoder is None else self._decoder.decode(data).encode()

    def close(self) -> bytes:
        """Converts what is left."""
        rest = b"" if self._start is None else self._detect(self._start)
        return rest if self._decoder is None else self._decoder.decode(rest, final=True).encode()

    def convert_from(self, codec: str, seen: bytes) -> bytes:
        """Converts `seen`, which passed unchanged before, and everything after it from `codec`."""
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        return self._decoder.decode(seen).encode()

    def _detect(self, start: bytes) -> bytes:
        self._start = None
        for mark, codec in _BOMS:
            if start.startswith(mark):
                self.is_wide = True
                self._decoder = codecs.getincrementaldecoder(codec)("replace")
                return start if b"<" in mark else start[len(mark) :]
        return start


def declared_codec(head: bytes) -> str | None:
    """The codec that an XML declaration names, if it is another than UTF-8.

    A declared UTF-16 is ignored: this head was readable as bytes, so it is not UTF-16.
    """
    declared = _DECLARED.match(head)
    if declared is None:
        return None
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name
    except LookupError:
        return None
    return name if _CHARSETS.fullmatch(name) else None


def strip_start(data: bytes) -> bytes:
    """Strips white space and byte order marks, which are common before an XML declaration."""
    while True:
        data = data.lstrip(_WHITE_SPACE)
        if not data.startswith(codecs.BOM_UTF8):
            return data
        data = data[len(codecs.BOM_UTF8) :]


# -- formats

_PROLOG: Final = re.compile(rb"(?:\s++|<\?.*?\?>|<!--.*?-->)*+", re.S)
_PAGE: Final = re.compile(rb"<!doctype\s+html\b|<(?:html|head|body)[\s/>]", re.I)
_TAG_SOUP: Final = re.compile(
    rb"<(?:title|meta|link|script|style|div|p|h[1-6]|center|table|br|b|font|iframe|noscript|span|a|pre|ul)[\s/>]", re.I
)
_SITEMAP_ROOT: Final = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]", re.I)
_URL_LINE: Final = re.compile(rb"(?:^|[\r\n])[ \t]*https?://[^\s]", re.I)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class SitemapFormat(Enum):
    """The format of a body, with what is reported of those that are no sitemap."""

    XML = "XML"
    LATE_XML = "a sitemap after other output"
    TEXT = "a list of URLs"
    HTML = "HTML page instead of a sitemap"
    JSON = "JSON instead of a sitemap"
    BINARY = "binary data instead of a sitemap"
    EMPTY = "empty file"
    OTHER = "neither XML nor a list of URLs"


def detect_format(head: bytes) -> SitemapFormat:
    """The format of a body that begins with `head` (ASCII-compatible, see `strip_start`)."""
    if not head:
        return SitemapFormat.EMPTY
    has_root = has_sitemap_root(head)
    if head.startswith(b"<"):
        prolog = _PROLOG.match(head)
        body = prolog.end() if prolog else 0
        if _PAGE.match(head, body):
            return SitemapFormat.HTML
        if _TAG_SOUP.match(head, body):
            return SitemapFormat.LATE_XML if has_root else SitemapFormat.HTML
        return SitemapFormat.XML
    if has_root:
        return SitemapFormat.LATE_XML
    if head[:1] in b"{[":
        return SitemapFormat.JSON
    if _URL_LINE.search(head):
        return SitemapFormat.TEXT
    return SitemapFormat.BINARY if _CONTROL.search(head) else SitemapFormat.OTHER


def has_sitemap_root(head: bytes) -> bool:
    """True if `head` contains the root element of a sitemap or feed."""
    return _SITEMAP_ROOT.search(head) is not None


def looks_like_sitemap(head: bytes, content_type: str) -> bool:
    """True if a body that begins with `head` is a sitemap, a feed or a list of URLs rather than a page.

    A list of URLs must begin with one: any text may have a URL somewhere.
    """
    for _ in range(2):
        head = next(GzipDecoder().feed(head), b"")
    converter = Utf8Converter()
    start = strip_start(converter.feed(head) + converter.close())[:HEAD]
    match detect_format(start):
        case SitemapFormat.XML | SitemapFormat.LATE_XML:
            return has_sitemap_root(start)
        case SitemapFormat.TEXT:
            return "html" not in content_type.lower() and _URL_LINE.match(start) is not None
        case _:
            return False
