"""Writes a page that came as XML so that it says the same as HTML, which is what its copy is read as.

In XML `<script src="x"/>` is a whole element. In HTML it is an open one that takes in the rest of the page.
"""

from __future__ import annotations

import re
from typing import Final

XHTML: Final = "application/xhtml+xml"

_VOID: Final = frozenset(
    b"area base br col embed hr img input link meta param source track wbr".split()  # which HTML closes by itself
)
_CLOSED: Final = re.compile(
    rb"<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|<(?:script|style)\b(?:[^>]*[^>/])?>(?:.*?</(?:script|style)|.*)"
    rb"|<!\[CDATA\[(?P<said>.*?)(?:\]\]>|\Z)"
    rb"|<(?P<name>[A-Za-z][\w.-]*+)(?P<attributes>(?:\s++[^\s=/><\"']++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+)\s*+/>",
    re.DOTALL,
)


def as_html(page: bytes) -> bytes:
    """`page` with an end tag for each element that is closed where it begins, and without sections of plain text."""
    return _CLOSED.sub(_opened, page) if b"/>" in page or b"<![CDATA[" in page else page


def _opened(found: re.Match[bytes]) -> bytes:
    if (said := found["said"]) is not None:
        return said.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    name = found["name"]
    if name is None or name in _VOID:
        return found[0]
    return b"<%b%b></%b>" % (name, found["attributes"], name)
