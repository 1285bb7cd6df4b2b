"""Escape text from the network before it reaches a terminal, a log or a TSV."""

from __future__ import annotations

import html
import re
from typing import Final

# C0 and C1 controls, the line and paragraph separators, bidi controls and other invisible format characters.
# The two joiners (U+200C, U+200D) stay: Persian, Indic scripts and emoji need them.
UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)
_TOO_LARGE: Final = re.compile(r"&#[0-9]{1000,}+;?")  # Python refuses to parse so many digits.


def printable(value: str, *, limit: int = 2000) -> str:
    """Escape every control and invisible character; cut to `limit` characters."""
    shown = UNPRINTABLE.sub(_escape, value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: `1 page`, `1,234 pages`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def unescape(text: str) -> str:
    """Replace character references such as `&amp;`. Never raises."""
    return html.unescape(_TOO_LARGE.sub("\ufffd", text)) if "&" in text else text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
