"""How plain and how steady the Markdown of manuals is.

Needless escapes: each backslash is taken out of its block, one at a time; if the rendered HTML stays the same, it was
not needed. Steady: the Markdown, rendered by a CommonMark renderer and converted again, should be the same bytes.
Footnotes are no part of CommonMark, so pages with footnotes are left out there.

    python -m bench.quality.exact
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from typing import Final

from markdown_it import MarkdownIt

from bench.corpus import installed, mixed
from bench.record import Figure, Record, at_least, at_most, main, not_run, parser
from sitemirror.convert import convert_html

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_FOOTNOTE: Final = re.compile(r"\[\^[\w-]+\]")
_LARGE: Final = 20_000  # characters of a block, such as a huge table: rendering it once for each escape takes minutes


def escapes(markdown: str) -> tuple[Counter[str], Counter[str]]:
    """The signs that are escaped, by whether they have to be: needless ones first."""
    needless, needed = Counter[str](), Counter[str]()
    lines = markdown.split("\n")
    for token in _MARKDOWN.parse(markdown):
        if token.level or token.map is None or token.nesting < 0 or token.type in ("fence", "code_block"):
            continue
        block = "\n".join(lines[slice(*token.map)])
        if "\\" not in block or len(block) > _LARGE:
            continue
        shown = _MARKDOWN.render(block)
        for found in _ESCAPE.finditer(block):
            same = _MARKDOWN.render(block[: found.start()] + block[found.start() + 1 :]) == shown
            (needless if same else needed)[found[1]] += 1
    return needless, needed


def measure(options: argparse.Namespace) -> Record:
    """Every page, converted, taken apart and converted again."""
    books = installed()
    if not books:
        not_run("quality.exact", "no manual is installed: see python -m bench.corpus --packages")
    record = Record("quality-exact", {"pages": options.pages})
    needless, needed = Counter[str](), Counter[str]()
    steady = asked = size = 0
    for page in mixed(books, options.pages).pages:
        url = f"https://docs.example.com/{page.quoted}"
        markdown = convert_html(page.file.read_bytes(), url=url).markdown
        size += len(markdown)
        found = escapes(markdown)
        needless += found[0]
        needed += found[1]
        if not _FOOTNOTE.search(markdown):
            asked += 1
            steady += convert_html(_MARKDOWN.render(markdown), url=url, content="full").markdown == markdown
    record.details = {"needless": dict(needless), "needed": dict(needed), "characters": size}
    record.add(
        Figure("escapes that are needed", needed.total(), ""),
        at_most("needless escapes in a million characters", needless.total() / size * 1_000_000, "", 20),
        at_least(f"the same bytes again, of {asked} pages", steady / asked, "", 0.97),
    )
    return record


if __name__ == "__main__":
    main(measure, parser("quality.exact", __doc__, (("--pages", 300, "pages of manuals"),)))
