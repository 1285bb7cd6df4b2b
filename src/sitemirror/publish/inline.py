"""Escape text from the network for Markdown.

A page chooses its own title and URL. Neither may open a link, a code span, a tag or a new line in the files we write,
so every piece of foreign text in `_index.md`, an outline or a placeholder goes through here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from sitemirror.text import printable

TITLE_LIMIT: Final = 300
"""Longer titles are truncated; some pages put whole articles into their title."""

# Everything that CommonMark, GFM or GitHub's maths could take for markup in the middle of a line. An underscore inside
# a word never is, and most paths with underscores have them there, so those stay readable. The first letter of a bare
# link (GFM's "www." and "http://" extension) cannot be escaped; such a link leads to where it says, so it may stand.
_MARKUP: Final = re.compile(
    r"[\\`*\[\]<>|~$]"
    r"|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])"
    r"|&(?=#?[A-Za-z0-9]{1,40};)"
)
# Most labels and URLs need no escaping, and there may be a million: one match is enough.
_ORDINARY: Final = re.compile(r"[A-Za-z0-9 !\"#%'()+,\-./:;=?@^{}]*")
_ORDINARY_URL: Final = re.compile(r"https?://[A-Za-z0-9!\"#%'+,\-./:;=?@^{}*$~_|\[\]]*")
_ORDINARY_PATH: Final = re.compile(r"[A-Za-z0-9_.\-~/]*")
# Ordinary as a URL and as a label, and nothing in it to decode.
_ORDINARY_LINES: Final = re.compile(r"(?:[A-Za-z0-9!\"#'+,\-./:;=?@^{}\n]++|(?<=[A-Za-z0-9])_++(?=[A-Za-z0-9]))*+")
_IN_DESTINATION: Final = re.compile(r"[\\`()<>]|&(?=#?[A-Za-z0-9]{1,40};)")
_NOT_IN_URLS: Final = re.compile(r"[^\x21-\x7e]+")


def text(value: str, *, limit: int = sys.maxsize) -> str:
    """Escape `value` as inline Markdown on one line that renders as `printable` shows it."""
    if len(value) <= limit and _ORDINARY.fullmatch(value):
        return value
    return _MARKUP.sub(_backslashed, printable(value, limit=limit))


def title(value: str) -> str:
    """Escape a page's title as inline Markdown, with white space collapsed; may be empty."""
    return text(" ".join(value.split()), limit=TITLE_LIMIT)


def link(label: str, url: str) -> str:
    """Link to `url` with `label`, which is inline Markdown. Other schemes than http(s) become text."""
    if _ORDINARY_URL.fullmatch(url):
        return f"[{label}]({url})"
    if not url.startswith(("https://", "http://")):
        return label
    return f"[{label}]({_IN_DESTINATION.sub(_backslashed, _NOT_IN_URLS.sub(_percent, url))})"


def all_ordinary(urls: Sequence[str], start: str) -> bool:
    """True if each URL begins with `start` and has a path that needs no decoding or escaping."""
    lines = "\n" + "\n".join(urls)
    return lines.count("\n" + start) == len(urls) == lines.count("\n") and bool(_ORDINARY_LINES.fullmatch(lines))


def autolink(url: str) -> str:
    """Link that shows its own URL."""
    return link(text(url), url)


def file_link(label: str, path: str) -> str:
    """Link to a file; `path` is POSIX and relative, `label` is inline Markdown."""
    # Nothing but letters, digits, "_.-~" and "/" stays, so no viewer can read the path in another way.
    quoted = path if _ORDINARY_PATH.fullmatch(path) else quote(path.encode("utf-8", "surrogatepass"), safe="/")
    return f"[{label}]({quoted})"


def _backslashed(match: re.Match[str]) -> str:
    return "".join("\\" + char for char in match[0])


def _percent(match: re.Match[str]) -> str:
    return quote(match[0].encode("utf-8", "surrogatepass"), safe="")
