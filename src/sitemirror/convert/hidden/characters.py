"""Removes characters that no text file should hold: control characters, odd line ends, invisible writing.

Escape sequences reach a reader's terminal, and U+2028 splits lines for some programs and not for others. Tag
characters, long runs without a width and reversed letters tell an agent what no reader of the page is told.
"""

from __future__ import annotations

import re
from typing import Final

_C0: Final = bytes(code for code in (*range(32), 127) if code not in (9, 10))
_C1: Final = re.compile(b"\xc2[\x80-\x9f]")

_LINE_ENDS: Final = re.compile("\r\n?|\x85|\u2028|\u2029")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

# A flag is spelled with tags: of a part of a country, in up to six letters. One selector chooses how a character looks;
# several say nothing that could be seen. Fewer characters without a width are a letter's own, or an editor's litter.
# Whatever is taken out is a whole run of such characters: nothing that is left becomes one by what has gone.
_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_TAGS: Final = "\U000e0000-\U000e007f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_NO_WIDTH: Final = "\u200b-\u200f\u2060-\u206f\ufeff"
_SMUGGLED: Final = re.compile(f"({_FLAG})|[{_NO_WIDTH}{_SELECTORS}{_TAGS}]{{8,}}|[{_SELECTORS}{_TAGS}]{{2,}}|[{_TAGS}]")
_TURNED: Final = re.compile("[\u202d\u202e]([^\u202a-\u202e\n]*)\u202c?")
# The same in UTF-8, where each begins with a byte that is found at the speed of memory.
_WIDTHLESS: Final = rb"\xe2(?:\x80[\x8b-\x8f]|\x81[\xa0-\xaf])"
_ENDS: Final = b"\x81\x8b\x8c\x8d\x8e\x8f"  # of what has no width, or the middle
_SEVEN_MORE: Final = rb"(?:%b|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)){7}" % _WIDTHLESS
_NO_WIDTH_IN_UTF8: Final = re.compile(_WIDTHLESS + _SEVEN_MORE).search
_SELECTORS_IN_UTF8: Final = re.compile(
    rb"\xef(?:\xb8[\x80-\x8f](?:\xef\xb8[\x80-\x8f]|%b)|\xbb\xbf%b)" % (_SEVEN_MORE, _SEVEN_MORE)
).search
_TURNS_IN_UTF8: Final = re.compile(rb"\xe2\x80[\xad\xae]").search


def clean_text(text: str) -> str:
    """`text` with LF line ends and without control characters or hidden writing."""
    return strip_invisible(text)[0]


def strip_invisible(text: str) -> tuple[str, int]:
    """Cleans text like `clean_text`, and counts the pieces of invisible writing."""
    if text.isprintable() and (text.isascii() or not has_invisible_text(text.encode())):
        return text, 0  # a title, an address
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return _strip(text)
    return _strip(text) if has_controls(text, data) or has_invisible_text(data) else (text, 0)


def has_controls(text: str, data: bytes) -> bool:
    """True if `clean_text` would take control characters out; `data` is the same text in UTF-8."""
    # Bytes are looked through many times faster than by a regular expression over the text, and nearly all are clean.
    if any(map(data.__contains__, _C0)):  # one by one, each at the speed of memory
        return True
    if len(data) == len(text):
        return False
    if (b"\xa8" in data or b"\xa9" in data) and ("\u2028" in text or "\u2029" in text):
        return True  # Their last bytes are rare; in the text they would be taken for brackets at first.
    return b"\xc2" in data and _C1.search(data) is not None


def has_invisible_text(data: bytes) -> bool:
    """True if a text in UTF-8 may have writing in it that nobody sees."""
    if data.isascii():
        return False
    if b"\xf3" in data:  # Nothing else that is in use begins so.
        return True
    if any(map(data.__contains__, _ENDS)) and _NO_WIDTH_IN_UTF8(data):
        return True
    if (b"\xad" in data or b"\xae" in data) and _TURNS_IN_UTF8(data):
        return True
    return b"\xef" in data and (b"\xb8" in data or b"\xbb" in data) and _SELECTORS_IN_UTF8(data) is not None


def _strip(text: str) -> tuple[str, int]:
    text, number = _TURNED.subn(r"\1", _CONTROLS.sub("", _LINE_ENDS.sub("\n", text)))

    def seen(found: re.Match[str]) -> str:
        nonlocal number
        if found[1] is not None:
            return found[1]
        number += 1
        return ""

    return _SMUGGLED.sub(seen, text), number


_MAX_TEXT: Final = 2_000  # A longer title or description is a page's body that lost its way.


def one_line(text: str) -> str | None:
    """`text` on one line without needless blanks; `None` if nothing is left."""
    text = " ".join(clean_text(text).split())
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 1].rstrip() + "…"
    return text or None
