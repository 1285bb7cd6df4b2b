"""Text of a page as one line of bounded length, for titles and other metadata."""

from __future__ import annotations

from typing import Final

from sitemirror.convert.characters import without_controls

_MAX_TEXT: Final = 2_000  # A longer title or description is a page's body that lost its way.


def one_line(text: str) -> str | None:
    """`text` on one line without needless blanks; `None` if nothing is left."""
    text = " ".join(without_controls(text).split())
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 1].rstrip() + "…"
    return text or None
