"""The anchors that a Markdown file has: those that GitHub and most renderers make from its headings."""

from __future__ import annotations

import re
from typing import Final

from sitemirror.convert.markdown_text import MarkdownText

_DROPPED: Final = re.compile(r"[^\w\- ]")
_NAMED: Final = re.compile(r"<[a-z][^>]*?\s(?:id|name)\s*=\s*[\"']?([^\"'\s>]+)", re.I)


def anchors(markdown: str) -> frozenset[str]:
    """Every fragment that leads somewhere in the file."""
    text = MarkdownText(markdown)
    found: dict[str, int] = {}
    for heading in text.headings():
        name = slug(heading)
        again = name
        while again in found:  # the second "Usage" is usage-1
            found[name] += 1
            again = f"{name}-{found[name]}"
        found[again] = 0
    named = (match[1] for tag in text.tags() for match in _NAMED.finditer(tag))
    return frozenset((*found, *named))


def slug(heading: str) -> str:
    """What GitHub makes of a heading's words."""
    return _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
