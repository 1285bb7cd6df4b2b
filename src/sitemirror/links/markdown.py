"""Makes the links of a Markdown page lead to other pages of the mirror. What the page says stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sitemirror.links.markdown_inline import Form
from sitemirror.links.markdown_text import Destination, MarkdownText
from sitemirror.links.source import Edit, apply

_MAYBE: Final = re.compile(r"\]\(|\]:|<[A-Za-z]")
# What would end a destination, or be read as something else in one; and what would be markup in the text of a link.
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f()<>\\|`]")
_REFERENCE: Final = re.compile(r"&(?=#?[A-Za-z0-9]+;)")
_ESCAPE: Final = r"\\\g<0>"
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&~!|]")


def relink_markdown(markdown: str, *, change: Callable[[str], str | None]) -> str:
    """`markdown` with every link for which `change` has an answer leading there.

    `change` is given each destination as the file names it, without escapes, in order. It answers with the new one, or
    with `None` to leave the link as it is. Pictures are asked for like links; text, code and raw HTML are never
    touched, and what is rendered as text stays the same.
    """
    if _MAYBE.search(markdown) is None:
        return markdown
    edits: list[Edit] = []
    for found in MarkdownText(markdown).destinations():
        new = change(found.url)
        if new is not None and new != found.url:
            destination = _REFERENCE.sub("&amp;", as_named(new)) or "<>"
            if found.form is not Form.AUTOLINK:
                edits.append((found.start, found.end, destination))
            elif (edit := _spelled_out(markdown, found, destination)) is not None:
                edits.append(edit)
    return apply(markdown, edits)


def as_named(destination: str) -> str:
    """What a destination will read as when the file has it."""
    return _UNSAFE.sub(_encoded, destination)


def _encoded(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _spelled_out(markdown: str, found: Destination, destination: str) -> Edit | None:
    """An autolink as a link with a text; `None` where that cannot be, and the link has to stay as it is."""
    start = found.start
    text = f"[{_MARKUP.sub(_ESCAPE, found.url)}]({destination})"
    if _stands(markdown, "!", start):
        return start - 1, found.end, rf"\!{text}"  # or it would be a picture
    gap = _back_over(markdown, start, " \t\n>".__contains__)
    word = _back_over(markdown, start, lambda char: char not in " \t\n<>")
    if (
        _stands(markdown, "]", start)  # Brackets after brackets are a label.
        or _stands(markdown, "](", gap)  # What is no destination in pointed brackets would become one.
        or _stands(markdown, "]:", gap)
        or (word < start and _stands(markdown, "<", word))  # It would be an autolink up to our end.
    ):
        return None
    return start, found.end, text


def _stands(markdown: str, mark: str, end: int) -> bool:
    """Whether `mark` stands before `end`, and is not escaped."""
    place = end - len(mark)
    if not markdown.endswith(mark, 0, end):
        return False
    return (place - _back_over(markdown, place, "\\".__eq__)) % 2 == 0


def _back_over(markdown: str, place: int, passed: Callable[[str], bool]) -> int:
    """Where the characters begin that stand before `place` and are `passed` over."""
    while place and passed(markdown[place - 1]):
        place -= 1
    return place
