"""Text that is edited in place: all that is not edited keeps its bytes.

One byte is one character here, whatever the charset: every charset of the web but UTF-16 and ISO-2022-JP leaves the
ASCII characters that markup is made of alone. Only the few values that are looked at are decoded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, Protocol

import turbohtml
from turbohtml.detect import detect  # noqa: F401  (the import registers the whatwg-* codecs)

Edit = tuple[int, int, str]
"""Start, end and the new text, which is ASCII or made of the source's own characters."""

_UTF_16: Final = {codecs.BOM_UTF16_LE: "utf-16le", codecs.BOM_UTF16_BE: "utf-16be"}
_UTF_8: Final = "utf-8"

# Browsers look for a declared charset in the first kilobyte.
_LOOKED_AT: Final = 1024
_DECLARED: Final = re.compile(
    r"<meta[\t\n\f\r /][^>]*?\bcharset[\t\n\f\r ]*+=[\t\n\f\r ]*+[\"']?[\t\n\f\r ]*+([^\t\n\f\r \"'/>;]++)", re.I
)
_DECLARED_IN_CSS: Final = re.compile(r'@charset "([^"]{1,40})";')
# Everything before the first element of a page's head.
_BLANK: Final = r"[\t\n\f\r ]++|<!--(?:-?>|.*?--!?>)"
_INSIDE_TAG: Final = r"(?:[\t\n\f\r /](?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)?+>"
_UP_TO_HEAD: Final = re.compile(
    rf"(?:{_BLANK}|<[!?](?!--)[^>]*+>)*+(?:<html{_INSIDE_TAG}(?:{_BLANK})*+)?+(?:<head{_INSIDE_TAG})?+", re.I | re.S
)
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")

# Two-byte characters whose second byte looks like ASCII; a backslash among them would end no CSS string.
_WIDE: Final = {
    "shift_jis": re.compile("[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]"),
    "gbk": re.compile("[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])"),
    "gb18030": re.compile("[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])"),
    "big5": re.compile("[\x81-\xfe][\x40-\x7e\xa1-\xfe]"),
    "euc-kr": re.compile("[\x81-\xfe][\x41-\xfe]"),
}


class Coding(Protocol):
    """How a text is to be read."""

    def decode(self, piece: str) -> str:
        """A part of the text, decoded."""

    def masked(self, piece: str) -> str:
        """A part of the text, as long as it is, without characters that only look like ASCII."""


class _Plain:
    """Text that is decoded already."""

    def decode(self, piece: str) -> str:
        return piece

    def masked(self, piece: str) -> str:
        return piece


PLAIN: Final = _Plain()


class SourceText:
    """A document as received: `text` to look at and to take offsets from, and the way back to bytes."""

    def __init__(self, body: bytes, charset: str | None, declared: Callable[[bytes], str]) -> None:
        """Decode a body. `charset` is the header's; `declared` finds that of the document."""
        self._body = body
        self._declared = declared
        self._codec = ""  # of `text` as a whole; empty where it is the bytes one by one
        self._mark = b""
        self._tail = b""
        self._sent = None if _marked(body) else _canonical(charset) if charset else None
        self._charset = _marked(body) or self._sent
        if self._charset is None and (b"\x1b" in body or b"\0" in body or not _is_utf8(body)):
            self._charset = declared(body).lower()
        whole = self._whole()
        self.text = body.decode("latin-1") if whole is None else whole

    def decode(self, piece: str) -> str:
        if self._codec or piece.isascii():
            return piece
        return piece.encode("latin-1").decode(f"whatwg-{self.encoding()}", "replace")

    def encoding(self) -> str:
        """The charset of the document. Detecting it may read all of it."""
        if self._charset is None:
            self._charset = self._declared(self._body).lower()
        return self._charset

    def masked(self, piece: str) -> str:
        wide = None if self._codec or self._charset is None else _WIDE.get(self._charset)
        return piece if wide is None else wide.sub(lambda found: "x" * len(found[0]), piece)

    def redeclared(self) -> list[Edit]:
        """Edits that make the page declare the charset of its header, since a file has no header."""
        head = _UP_TO_HEAD.match(self.text)
        found = _DECLARED.search(self.text, 0, _LOOKED_AT)
        return self._redeclared(found, '<meta charset="{}">', head.end() if head else 0)

    def redeclared_in_css(self) -> list[Edit]:
        """The same for a style sheet, which else is read in the charset of the page that loads it."""
        found = _DECLARED_IN_CSS.match(self.text)
        return [] if self.text.isascii() else self._redeclared(found, '@charset "{}";', 0)

    def _redeclared(self, found: re.Match[str] | None, form: str, place: int) -> list[Edit]:
        charset = self._sent
        if charset is None:
            return []
        if self._codec.startswith("utf-16"):
            return [] if self._mark else [(0, 0, "\ufeff")]  # Nobody could read a declaration.
        if found is None:
            return [(place, place, form.format(charset))]
        label = _canonical(found[1]) or ""
        # Who can read a declaration is not reading UTF-16: it means UTF-8.
        return [] if (_UTF_8 if label.startswith("utf-16") else label) == charset else [(*found.span(1), charset)]

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The document with `edits`, which do not overlap."""
        text = apply(self.text, edits)
        if text is self.text:
            return self._body
        if not self._codec:
            return text.encode("latin-1")
        errors = "surrogatepass" if self._codec.startswith("utf") else "xmlcharrefreplace"
        return self._mark + text.encode(self._codec, errors) + self._tail

    def _whole(self) -> str | None:
        """The text of a document in one of the charsets that cannot be read byte by byte."""
        body = self._body
        if self._charset in ("utf-16le", "utf-16be"):
            self._mark = body[:2] if body[:2] in _UTF_16 else b""
            end = len(body) & ~1
            self._tail = body[end:]
            self._codec = "utf-16-le" if self._charset == "utf-16le" else "utf-16-be"
            return body[len(self._mark) : end].decode(self._codec, "surrogatepass")
        if self._charset == "iso-2022-jp":
            try:
                text = body.decode("iso2022_jp")
                is_same = text.encode("iso2022_jp") == body
            except UnicodeError:  # Python reads bytes that it cannot write.
                return None
            if is_same:
                self._codec = "iso2022_jp"
                return text
        return None


def apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` with `edits`; `text` itself if there are none."""
    pieces: list[str] = []
    here = 0
    for start, end, new in sorted(edits):
        pieces += (text[here:start], new)
        here = end
    return "".join((*pieces, text[here:])) if pieces else text


def parsable(text: str) -> str:
    """Replace line ends and byte order mark by blanks, so that a parser's column is the offset."""
    flat = text.replace("\n", " ").replace("\r", " ")
    for mark in ("\xef\xbb\xbf", "\ufeff"):
        if flat.startswith(mark):
            flat = " " * len(mark) + flat[len(mark) :]
    try:
        flat.encode("latin-1")  # far quicker than looking for the surrogates that UTF-16 may hold
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", flat)
    return flat


def declared_by_html(body: bytes) -> str:
    """The charset that a page declares in a meta element, else the detected one."""
    return turbohtml.parse(body, detect_encoding=True, positions=False).encoding or "utf-8"


def declared_by_css(body: bytes) -> str:
    """The charset that a style sheet declares in its first bytes, else UTF-8."""
    found = re.match(rb'@charset "([^"]{1,40})";', body)
    label = _canonical(found[1].decode("latin-1")) if found else None
    # As in HTML, who can read the declaration is not reading UTF-16.
    return label if label and not label.startswith("utf-16") else "utf-8"


def _marked(body: bytes) -> str | None:
    if body.startswith(codecs.BOM_UTF8):
        return "utf-8"
    return _UTF_16.get(body[:2])


@lru_cache(maxsize=64)
def _canonical(label: str) -> str | None:
    """The charset that a label names, if any."""
    try:
        found = turbohtml.parse(b"", encoding=label.strip(), positions=False).encoding
    except (LookupError, ValueError):
        return None
    return found.lower() if found else None


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
