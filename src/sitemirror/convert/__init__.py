"""Turns bytes into a page of Markdown. Pure: what is remembered between pages, within bounds, changes none of them.

What is imported from here is loaded when it is first used: a crawl that keeps HTML does without most of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitemirror.convert.media_types import PageKind, page_kind
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

_HOMES = {
    **dict.fromkeys(("PageKind", "page_kind"), "media_types"),
    **dict.fromkeys(("convert_html", "convert_text"), "page"),
    **dict.fromkeys(("front_matter", "read_front_matter_url", "with_front_matter"), "metadata.front_matter"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
