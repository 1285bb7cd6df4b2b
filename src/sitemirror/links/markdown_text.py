"""A Markdown file as this stage needs it: its links with their places, its headings with their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sitemirror.links.markdown_blocks import Blocks, Kind, Leaf
from sitemirror.links.markdown_inline import Form, Inline
from sitemirror.links.markdown_spots import resolved

# As `frontmatter` writes it: a url is always among its lines.
_FRONT_MATTER: Final = re.compile(
    r"---\n(?:(?!url:)[A-Za-z_][A-Za-z0-9_-]*: .*\n)*url: .*\n(?:[A-Za-z_][A-Za-z0-9_-]*: .*\n)*---\n"
)


class Destination(NamedTuple):
    """Where a link of the file leads."""

    form: Form
    start: int  # in the file; an autolink with its pointed brackets
    end: int
    url: str  # without escapes


class MarkdownText:
    """The blocks of a file. Front matter of our own is no part of its text."""

    def __init__(self, markdown: str) -> None:
        front = _FRONT_MATTER.match(markdown)
        self._blocks = Blocks(markdown, 0 if front is None else front.end())
        self._labels = {definition.label for _, definition in self._blocks.definitions}

    def destinations(self) -> Iterator[Destination]:
        """Every destination that the file names: of links, pictures, autolinks and definitions."""
        for leaf in self._blocks.leaves:
            if leaf.kind is not Kind.HTML and ("](" in leaf.text or "<" in leaf.text):
                for link in Inline(leaf.text, self._labels).links:
                    yield _destination(leaf, link.form, *link.spot)
        for leaf, definition in self._blocks.definitions:
            yield _destination(leaf, Form.DEFINITION, *definition.spot)

    def headings(self) -> Iterator[str]:
        """What each heading says."""
        for leaf in self._blocks.leaves:
            if leaf.kind is Kind.HEADING:
                yield Inline(leaf.text, self._labels).plain()

    def tags(self) -> Iterator[str]:
        """The raw HTML of the file, as it stands."""
        for leaf in self._blocks.leaves:
            if leaf.kind is Kind.HTML:
                yield leaf.text
            elif "<" in leaf.text:
                yield from Inline(leaf.text, self._labels).tags


def _destination(leaf: Leaf, form: Form, start: int, end: int, url: str) -> Destination:
    if leaf.kind is Kind.CELL and "\\|" in leaf.text[start:end]:
        # In a table a pipe is escaped whatever it stands in, and before anything else is read.
        raw = leaf.text[start:end].replace("\\|", "|")
        raw = raw[1:-1] if raw.startswith("<") else raw
        url = raw if form is Form.AUTOLINK else resolved(raw)
    return Destination(form, leaf.place(start), leaf.place(end), url)
