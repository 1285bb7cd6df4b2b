"""What a reader of a Markdown file sees as words: the text that quality is scored on, markup and addresses left out."""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_TAG: Final = re.compile(r"<[^>]*>")


def said(markdown: str) -> str:
    """The text of `markdown`, a line per block. Pictures say nothing: their descriptions are seen by nobody."""
    lines: list[str] = []
    for token in _MARKDOWN.parse(markdown):
        if token.type in ("fence", "code_block"):
            lines.append(token.content)
        elif token.type == "html_block":
            lines.append(_TAG.sub(" ", token.content))
        elif token.type == "inline":
            parts = []
            for child in token.children or ():
                if child.type in ("text", "code_inline"):
                    parts.append(child.content)
                elif child.type in ("softbreak", "hardbreak"):
                    parts.append("\n")
            lines.append("".join(parts))
    return "\n".join(lines)
