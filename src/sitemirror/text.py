"""Text from the network: is it text, and what of it may reach a terminal, a log or a TSV?"""

from __future__ import annotations

import html
import re
from hashlib import blake2b
from itertools import islice
from typing import Final

# C0 and C1 controls, the line and paragraph separators, bidi controls and other invisible format characters.
# The two joiners (U+200C, U+200D) stay: Persian, Indic scripts and emoji need them.
UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)
_TOO_LARGE: Final = re.compile(r"&#[0-9]{1000,}+;?")  # Python refuses to parse so many digits.


# Controls that no text has. Backspaces are in manual pages of old printers, ESC is in Japanese encodings.
_BINARY: Final = bytes((*range(0x08), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
_MOST_BINARY: Final = 0.05  # of all characters; compressed data in any one-byte encoding has 0.1
_FEW: Final = 4  # characters that prove nothing
_SAMPLE: Final = 8192  # characters


def is_readable(text: str) -> bool:
    """Tell text from decoded binary data, by the share of control and replacement characters."""
    if len(text) > 3 * _SAMPLE:
        middle = len(text) // 2
        text = text[:_SAMPLE] + text[middle : middle + _SAMPLE] + text[-_SAMPLE:]
    data = text.encode("utf-8", "replace")
    binary = len(data) - len(data.translate(None, _BINARY)) + text.count("\ufffd")
    return binary < _FEW or binary <= _MOST_BINARY * len(text)


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


# --- words ---------------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"\w+")
_UNSEEN: Final = "title|script|style|template|noscript"
_HTML_PART: Final = re.compile(rf"<!--.*?(?:-->|\Z)|<({_UNSEEN})\b.*?(?:</\1\b|\Z)|<[^>]*>?|[^<]+", re.DOTALL | re.I)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+|\w+")
_LEAST_WORDS: Final = 3  # of a text that says something without its numbers
_DIGIT: Final = re.compile(r"\d")
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]*\)")
_FRONT_MATTER: Final = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def count_words(text: str, limit: int) -> int:
    """Count the words of a text up to a limit: one is often enough."""
    return sum(1 for _ in islice(_WORD.finditer(text), limit))


def count_words_of_html(html: str, limit: int) -> int:
    """Count the words of a page's text up to a limit; markup, scripts and the title do not count."""
    found = 0
    for part in _HTML_PART.finditer(html):
        if part[0][0] != "<":
            found += count_words(part[0].replace("&nbsp;", " "), limit - found)
            if found >= limit:
                break
    return found


def gist(text: str) -> bytes | None:
    """Return a hash of a text's words without those that contain a digit; `None` if hardly any are left.

    An error page often names the request and the time, and is the same page all the same.
    """
    words = [word for word in _NAME.findall(without_link_targets(text)) if not _DIGIT.search(word)]
    if len(set(words)) < _LEAST_WORDS:
        return None
    return blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=16, person=b"gist").digest()


def without_link_targets(markdown: str) -> str:
    """Return Markdown with the text of its links alone."""
    return _LINK_TARGET.sub("]", markdown)


def text_of_html(html: str) -> str:
    """Return a page's text: without markup, scripts and the title."""
    return " ".join(part[0] for part in _HTML_PART.finditer(html) if part[0][0] != "<")


def without_front_matter(markdown: str) -> str:
    """Return a Markdown file's text without the front matter before it."""
    found = _FRONT_MATTER.match(markdown)
    return markdown[found.end() :] if found else markdown
