"""Renders a shaped tree as Markdown: the renderer's options, and what its output still needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from turbohtml import Element, Markdown

from sitemirror.convert.characters import without_controls
from sitemirror.convert.markdown_escapes import unescaped, without_blank_lines
from sitemirror.convert.markdown_stars import starred
from sitemirror.convert.marks import resolve


class _Options(Markdown):
    """Options that are unpacked once; the renderer would do it for every page."""

    _flat: dict[str, object] | None = None

    def _unpack(self) -> dict[str, object]:
        flat = self._flat
        if flat is None:
            flat = super()._unpack()
            object.__setattr__(self, "_flat", flat)
        return flat


_OPTIONS: Final = _Options(
    # Cells never hold raw HTML, so that no markup of the page's gets past the escaping.
    tables=Markdown.Tables(cell_blocks="text"),
    # A backslash survives editors that strip trailing blanks.
    document=Markdown.Document(line_break="backslash"),
)
_BLANK_PARAGRAPHS: Final = re.compile(r"\n\n&#160;(?:&#160;|[ \xa0]|\n\n)*(?=\n\n|\Z)")


def render(elements: Sequence[Element]) -> str:
    """The Markdown of `elements`, one after the other: LF line ends, one at the end, no control characters."""
    parts = (element.to_markdown(_OPTIONS) for element in elements)
    text = without_controls("\n\n".join(part for part in parts if part)).strip("\n")
    if "&#160;" in text:
        # Paragraphs with nothing but a no-break space are spacing.
        text = _BLANK_PARAGRAPHS.sub("", "\n\n" + text).strip("\n")
    if "\n\n\n" in text:
        text = without_blank_lines(text)
    text = resolve(unescaped(starred(text)))
    return text + "\n" if text else ""
