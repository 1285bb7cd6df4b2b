"""Words that only a style makes bold or slanted, as editors and exports of word processors write them.

They are what `b` and `i` are, where the words around them look otherwise: what is bold in a heading is nothing special.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element

_BOLD: Final = re.compile(r"(?:^|[;\s])font-weight\s*:\s*(?:bold|[6-9]00)", re.I)
_SLANTED: Final = re.compile(r"(?:^|[;\s])font-style\s*:\s*(?:italic|oblique)", re.I)
_CODE: Final = ("pre", "code", "kbd", "samp", "tt", "textarea", "svg", "math")
# What is so without a style, or has one that says whether it is.
_NEAR_BOLD: Final = f"b, strong, h1, h2, h3, h4, h5, h6, th, dt, {', '.join(_CODE)}, [style*='font-weight' i]"
_NEAR_SLANTED: Final = f"i, em, cite, dfn, var, address, {', '.join(_CODE)}, [style*='font-style' i]"
_LINES: Final = (
    "p", "div", "ul", "ol", "dl", "pre", "table", "blockquote", "section", "article",
    "h1", "h2", "h3", "h4", "h5", "h6",
)  # fmt: skip


def marks_letters(style: str) -> bool:
    """Whether a style makes words bold or slanted."""
    return _BOLD.search(style) is not None or _SLANTED.search(style) is not None


def mark_letters(span: Element, style: str) -> None:
    """Makes emphasis of a `span` within a line whose style says that it is."""
    is_bold = _BOLD.search(style) is not None and _stands_out(span, _NEAR_BOLD, _BOLD, "font-weight")
    is_slanted = _SLANTED.search(style) is not None and _stands_out(span, _NEAR_SLANTED, _SLANTED, "font-style")
    if not (is_bold or is_slanted) or next(span.iter_elements(_LINES), None) is not None:
        return
    if is_bold and is_slanted:
        span.wrap_children(Element("em"))
    span.tag = "strong" if is_bold else "em"


def _stands_out(span: Element, near: str, pattern: re.Pattern[str], name: str) -> bool:
    """Whether the words around it are not like that; code has letters of its own."""
    around = span.parent
    found = around.closest(near) if isinstance(around, Element) else None
    if found is None:
        return True
    style = found.attr("style") or ""
    return found.tag not in _CODE and name in style.lower() and pattern.search(style) is None
