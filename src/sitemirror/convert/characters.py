"""Keeps out of a page's text what no text file should hold: control characters and odd line ends.

Escape sequences reach a reader's terminal, and U+2028 splits lines for some programs and not for others.
"""

from __future__ import annotations

import re
from typing import Final

_C0: Final = bytes(code for code in (*range(32), 127) if code not in (9, 10))
_C1: Final = re.compile(b"\xc2[\x80-\x9f]")

_LINE_ENDS: Final = re.compile("\r\n?|\x85|\u2028|\u2029")
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def without_controls(text: str) -> str:
    """`text` with LF line ends and without control characters."""
    if text.isprintable():
        return text  # a title, an address
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return _strip(text)
    return _strip(text) if has_controls(text, data) else text


def has_controls(text: str, data: bytes) -> bool:
    """Whether `without_controls` would change anything; `data` is the same text in UTF-8."""
    # Bytes are looked through many times faster than by a regular expression over the text, and nearly all are clean.
    if any(map(data.__contains__, _C0)):  # one by one, each at the speed of memory
        return True
    if len(data) == len(text):
        return False
    if (b"\xa8" in data or b"\xa9" in data) and ("\u2028" in text or "\u2029" in text):
        return True  # Their last bytes are rare; in the text they would be taken for brackets at first.
    return b"\xc2" in data and _C1.search(data) is not None


def _strip(text: str) -> str:
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
