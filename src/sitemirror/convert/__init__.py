"""Convert a page from bytes to Markdown. Pure: bounded caches between pages change no result.

Names are loaded when they are first used, since the conversion is slow to load and HTML copies do without most of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sitemirror.convert.metadata.front_matter import front_matter, read_front_matter_url, with_front_matter
    from sitemirror.convert.page import convert_html, convert_text

__all__ = [
    "PageKind",
    "convert_html",
    "convert_text",
    "front_matter",
    "page_kind",
    "read_front_matter_url",
    "with_front_matter",
]


class PageKind(StrEnum):
    """Kinds of pages by media type. Other types are not pages."""

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
    """The kind of page for a Content-Type, whatever its parameters and case; `None` if it is not a page."""
    return _KINDS.get(content_type.partition(";")[0].strip().lower())


_MODULES = {
    **dict.fromkeys(("convert_html", "convert_text"), "page"),
    **dict.fromkeys(("front_matter", "read_front_matter_url", "with_front_matter"), "metadata.front_matter"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
