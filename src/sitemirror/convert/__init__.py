"""Turns bytes into a page of Markdown. Pure: nothing is remembered between pages."""

from __future__ import annotations

from sitemirror.convert.frontmatter import front_matter, read_front_matter_url, with_front_matter
from sitemirror.convert.page import PageKind, convert_html, convert_text, page_kind

__all__ = [
    "PageKind",
    "convert_html",
    "convert_text",
    "front_matter",
    "page_kind",
    "read_front_matter_url",
    "with_front_matter",
]
