"""Remove characters that no text file should have: control characters, odd line ends, invisible text.

Escape sequences would reach a terminal, and U+2028 splits lines for some programs only. Tag characters, long runs of
zero-width characters and bidirectional overrides can carry text to an agent that no reader of the page sees.
"""

from __future__ import annotations

import re
from typing import Final

_C0: Final = bytes(code for code in (*range(32), 127) if code not in (9, 10))
_C1: Final = re.compile(b"\xc2[\x80-\x9f]")

_LINE_ENDS: Final = re.compile("\r\n?|\x85|\u2028|\u2029")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

# Flags of regions are spelled with tag characters, in up to six letters. One variation selector is normal; several are
# not. Short runs of zero-width characters belong to a letter or come from an editor. A match is always a whole run, so
# that removing it cannot create a new one.
_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_TAGS: Final = "\U000e0000-\U000e007f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_NO_WIDTH: Final = "\u200b-\u200f\u2060-\u206f\ufeff"
_SMUGGLED: Final = re.compile(f"({_FLAG})|[{_NO_WIDTH}{_SELECTORS}{_TAGS}]{{8,}}|[{_SELECTORS}{_TAGS}]{{2,}}|[{_TAGS}]")
_TURNED: Final = re.compile("[\u202d\u202e]([^\u202a-\u202e\n]*)\u202c?")
# The same in UTF-8; each begins with a byte that is fast to search for.
_WIDTHLESS: Final = rb"\xe2(?:\x80[\x8b-\x8f]|\x81[\xa0-\xaf])"
_ENDS: Final = b"\x81\x8b\x8c\x8d\x8e\x8f"  # last or middle bytes of zero-width characters
_SEVEN_MORE: Final = rb"(?:%b|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)){7}" % _WIDTHLESS
_NO_WIDTH_IN_UTF8: Final = re.compile(_WIDTHLESS + _SEVEN_MORE).search
_SELECTORS_IN_UTF8: Final = re.compile(
    rb"\xef(?:\xb8[\x80-\x8f](?:\xef\xb8[\x80-\x8f]|%b)|\xbb\xbf%b)" % (_SEVEN_MORE, _SEVEN_MORE)
).search
_TURNS_IN_UTF8: Final = re.compile(rb"\xe2\x80[\xad\xae]").search


def clean_text(text: str) -> str:
    """`text` with LF line ends and without control characters or invisible text."""
    return strip_invisible(text)[0]


def strip_invisible(text: str) -> tuple[str, int]:
    """Clean text like `clean_text`, and count the invisible texts removed."""
    if text.isprintable() and (text.isascii() or not has_invisible_text(text.encode())):
        return text, 0  # a title or a URL
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return _strip(text)
    return _strip(text) if has_controls(text, data) or has_invisible_text(data) else (text, 0)


def has_controls(text: str, data: bytes) -> bool:
    """True if `clean_text` would take control characters out; `data` is the same text in UTF-8."""
    # Searching bytes is many times faster than a regular expression over the text, and nearly all texts are clean.
    if any(map(data.__contains__, _C0)):  # one fast search each
        return True
    if len(data) == len(text):
        return False
    if (b"\xa8" in data or b"\xa9" in data) and ("\u2028" in text or "\u2029" in text):
        return True  # Their last bytes are rare, which makes this check fast.
    return b"\xc2" in data and _C1.search(data) is not None


def has_invisible_text(data: bytes) -> bool:
    """True if a text in UTF-8 may contain invisible text."""
    if data.isascii():
        return False
    if b"\xf3" in data:  # No other characters in use begin with it.
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


_MAX_TEXT: Final = 2_000  # Longer titles or descriptions are body text in the wrong element.


def one_line(text: str) -> str | None:
    """`text` on one line with single blanks; `None` if nothing is left."""
    text = " ".join(clean_text(text).split())
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 1].rstrip() + "…"
    return text or None
