"""Tells pages from other files by their media type. A module of its own, as the conversion is slow to load."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class PageKind(StrEnum):
    """Kinds of pages by content type. Everything else is no page."""

    HTML = "html"
    TEXT = "text"


_KINDS: Final = {
    "text/html": PageKind.HTML,
    "application/xhtml+xml": PageKind.HTML,
    "text/plain": PageKind.TEXT,
    "text/markdown": PageKind.TEXT,
    "text/x-markdown": PageKind.TEXT,
}


def page_kind(content_type: str) -> PageKind | None:
    """The kind of page that a media type is; parameters and case do not matter."""
    return _KINDS.get(content_type.partition(";")[0].strip().lower())
