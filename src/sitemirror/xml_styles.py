"""Finds the style sheets that an XML document, such as a drawing, names before its first element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sitemirror.references import unescape

_MARK: Final = "<?xml-stylesheet"
_HREF: Final = re.compile(
    rf"{re.escape(_MARK)}(?:\s++(?!href\b)[\w-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+"
    r"\s++href\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)')"
)
_UP_TO_ELEMENT: Final = re.compile(r"(?:[^<]++|<!--(?:.*?-->|.*)|<[!?])*+", re.DOTALL)


def style_sheets(document: bytes) -> Iterator[str]:
    """Their addresses."""
    if _MARK.encode() in document:  # as in few
        text = document.decode("utf-8", "replace")
        for start, end in style_sheet_spots(text):
            yield unescape(text[start:end])


def style_sheet_spots(text: str) -> Iterator[tuple[int, int]]:
    """Where their addresses stand, with XML's references in them."""
    if _MARK in text:
        before = _UP_TO_ELEMENT.match(text)
        for found in _HREF.finditer(text, 0, before.end() if before else 0):
            yield found.span(found.lastindex or 1)
