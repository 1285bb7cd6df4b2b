"""Media types: parses Content-Type as browsers do, and sniffs bodies that came without one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

SNIFF_SIZE: Final = 512
"""Bytes that `sniff` wants to see, if there are so many."""

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTED_SAFE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_WHITE_SPACE: Final = " \t\r\n"
_UNKNOWN_TYPES: Final = frozenset({"*/*", "unknown/unknown", "application/unknown"})  # to browsers as well


@lru_cache(maxsize=256)  # A site has a handful of them.
def parse_content_type(header: str | None) -> tuple[str, str | None]:
    """The media type, lower-case, and the charset label; `("", None)` for an unusable header.

    Several Content-Type headers, or one with commas in it: the last valid one counts, and inherits the charset of an
    earlier one of the same type.
    """
    essence, charset = "", None
    for value in _split(header or "", ","):
        found = _parse(value)
        if found is None or found[0] in _UNKNOWN_TYPES:
            continue
        if found[0] != essence:
            essence, charset = found
        elif found[1] is not None:
            charset = found[1]
    return essence, charset


def _parse(value: str) -> tuple[str, str | None] | None:
    essence, _, rest = value.strip(_WHITE_SPACE).partition(";")
    kind, slash, subtype = essence.rstrip(_WHITE_SPACE).partition("/")
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    charset = next((content for name, content in _parameters(rest) if name == "charset"), None)
    return f"{kind}/{subtype}".lower(), charset.strip(_WHITE_SPACE) or None if charset is not None else None


def _parameters(rest: str) -> Iterator[tuple[str, str]]:
    """The valid `name=value` pairs. A quote counts only where a value begins."""
    while rest:
        found = re.match(r"[ \t\r\n]*([^;=]*)(=?)", rest)
        assert found is not None
        name, equals = found[1].lower(), found[2]
        rest = rest[found.end() :]
        quoted = bool(equals) and rest.startswith('"')
        if quoted:
            content, rest = _unquote(rest)
        noise, _, rest = rest.partition(";")
        if not quoted:
            content = noise.rstrip(_WHITE_SPACE)
        if equals and (content or quoted) and _QUOTED_SAFE.fullmatch(content):
            yield name, content


def _split(value: str, mark: str) -> Iterator[str]:
    """`value` cut at each `mark` outside double quotes."""
    start, quoted, position = 0, False, 0
    while position < len(value):
        char = value[position]
        if quoted and char == "\\":
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char == mark and not quoted:
            yield value[start:position]
            start = position + 1
        position += 1
    yield value[start:]


def _unquote(text: str) -> tuple[str, str]:
    """The inside of the quoted string that `text` begins with, and what follows it."""
    found = re.match(r'"((?:[^"\\]|\\.)*)(\\?)"?', text, re.S)
    assert found is not None
    # A backslash at the very end stands for itself.
    return re.sub(r"\\(.)", r"\1", found[1], flags=re.S) + found[2], text[found.end() :]


_HTML_OPENINGS: Final = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|<!--", re.I
)
_XML_ROOTS: Final = re.compile(
    rb"<(?:\?xml|rss|feed|urlset|sitemapindex|rdf:rdf|(?:[\w.-]+:)(?:urlset|sitemapindex))[\s>]", re.I
)
_XHTML: Final = re.compile(rb"<html[\s>]", re.I)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")

_MAGIC: Final = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x00\x00\x02\x00", "image/x-icon"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"BZh", "application/x-bzip2"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\x00asm", "application/wasm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"OTTO", "font/otf"),
    (b"ttcf", "font/collection"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
)
_TAR_AT: Final = 257  # place of the letters "ustar"
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/avi"}


def sniff(head: bytes) -> str:
    """The media type of a body that came without one, from its first bytes."""
    head = head[:SNIFF_SIZE]
    if found := _by_magic(head):
        return found
    if head.startswith((b"\xfe\xff", b"\xff\xfe")):
        return _sniff_text(head[2:].replace(b"\0", b""))
    return _sniff_text(head.removeprefix(b"\xef\xbb\xbf"))


def binary_type(head: bytes) -> str:
    """The media type of a binary file that was sent as a page, by its first bytes.

    Empty for what may be text, also if it begins with the letters by which a file would be known.
    """
    head = head[:SNIFF_SIZE]
    is_text = head[:1].isascii() and not _CONTROL.search(head) and not head.startswith(b"%PDF-")
    return "" if is_text else _by_magic(head)


def _by_magic(head: bytes) -> str:
    for mark, name in _MAGIC:
        # Letters prove nothing: a text may begin with "BM". Nor do two bytes.
        if head.startswith(mark) and (not (len(mark) < 3 or mark.isalnum()) or _CONTROL.search(head)):
            return name
    if head.startswith(b"RIFF") and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head.startswith(b"ustar", _TAR_AT):
        return "application/x-tar"
    return "video/mp4" if head[4:8] == b"ftyp" else ""


def _sniff_text(head: bytes) -> str:
    text = head.lstrip(b" \t\r\n\f")
    if _XML_ROOTS.match(text):
        return "application/xhtml+xml" if _XHTML.search(text) else "text/xml"
    if _HTML_OPENINGS.match(text):
        return "text/html"
    return "application/octet-stream" if _CONTROL.search(head) else "text/plain"
