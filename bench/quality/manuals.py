"""Counts what the content area of Debian's manuals holds, and looks for it in the Markdown.

Headings, code blocks and tables are taken from the HTML by a selector for each manual, without any rule of the
converter's, and each must be found again; links that stand in the navigation only must not.

    python -m bench.quality.manuals --every 10
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import turbohtml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.quality.said import said
from sitemirror.convert import convert_html

URL: Final = "https://manual.example/x/y/page.html"
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
# What such a heading says is an alert's title, or its kind.
_TITLES: Final = ".note, .warning, .tip, .caution, .important, .admonition, .stab, .navbox, .t-navbar"
_WORD: Final = re.compile(r"\w+")
_MAX_SIZE: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Manual:
    """Where a manual's pages are, what of a page is its content, and what within it is not."""

    name: str
    root: str
    content: tuple[str, ...]
    not_content: str = "nav"


MANUALS: Final = (
    Manual("PostgreSQL", "/usr/share/doc/postgresql-doc-15/html", ("body",), ".navheader, .navfooter"),
    Manual("Python", "/usr/share/doc/python3.11/html", ("div.body",), ".related, .sphinxsidebar, .viewcode-back"),
    Manual(
        "cppreference",
        "/usr/share/cppreference/doc/html",
        ("#content",),
        "#toc, .printfooter, #catlinks, .t-navbar, #siteSub, #contentSub, .editsection, #cpp-footer-base, .noprint",
    ),
    Manual(
        "Django", "/usr/share/doc/python-django-doc/html", ("div.yui-g", "div.body"), ".related, .nav, .viewcode-back"
    ),
    Manual(
        "Rust",
        "/usr/share/doc/rust-doc/html",
        ("#content main", "#main-content", "body > main", "body"),
        ".sidebar, nav, .out-of-band, #copy-path, .hideme, .notable-traits, .tooltip, #help, .search-container",
    ),
)


@dataclass(slots=True)
class Count:
    """What was found on both sides."""

    pages: int = 0
    expected: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def pages(manual: Manual) -> list[Path]:
    """The manual's pages that are real files, in order; empty where it is not installed."""
    found = Path(manual.root).rglob("*.html")
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def check(manual: Manual, path: Path, count: Count) -> None:
    """Compares one page with its Markdown."""
    html = path.read_bytes()
    tree = turbohtml.parse(html, detect_encoding=True, positions=False)
    area = next((found for selector in manual.content if (found := tree.select_one(selector)) is not None), None)
    if area is None or len(html) > _MAX_SIZE or not area.text.strip() or tree.meta_refresh() is not None:
        return
    area.remove(f"script, style, template, {manual.not_content}")
    inside = {anchor.attr("href") for anchor in area.find_all("a", href=True)}
    markdown = convert_html(html, url=URL).markdown
    tokens = _MARKDOWN.parse(markdown)
    count.pages += 1
    text = _letters(said(markdown))
    headings = Counter(_letters(text) for text in _inline_after(tokens, "heading_open"))
    for heading in area.iter_elements(_HEADINGS):
        _expect(count, "heading", path, heading, headings[_sign(heading)] > 0 or _is_title(heading, text))
    blocks = Counter(_letters(token.content) for token in tokens if token.type in ("fence", "code_block"))
    for pre in area.find_all("pre"):
        if pre.find("pre") is None and pre.closest(".linenos, .line-numbers") is None:
            inline = pre.closest("td, th") is not None and _sign(pre) in text
            _expect(count, "code block", path, pre, blocks[_sign(pre)] > 0 or inline or _holds(blocks, pre))
    for table in area.find_all("table"):
        cells = [cell for cell in table.find_all(["td", "th"]) if cell.find("table") is None]
        gone = [cell for cell in cells if _sign(cell) and _sign(cell) not in text]
        _expect(count, "table", path, table, not gone)
    for href in _hrefs(tokens):
        if not any(_leads_to(href, own) for own in inside if own):
            count.left.append(f"{path}: {href}")


def _expect(count: Count, kind: str, path: Path, element: turbohtml.Element, found: bool) -> None:
    if not _sign(element):
        return
    count.expected[kind] += 1
    if not found:
        count.missing.append(f"{path}: {kind}: {' '.join(element.text.split())[:80]}")


def _is_title(heading: turbohtml.Element, text: str) -> bool:
    return heading.closest(f"{_TITLES}, table, summary, dt") is not None and (
        _sign(heading) in text or _sign(heading) in ("note", "tip", "important", "warning", "caution")
    )


def _holds(blocks: Counter[str], pre: turbohtml.Element) -> bool:
    """Whether a block has the code and something more: line numbers are not told apart here."""
    sign = _sign(pre)
    return len(sign) > 20 and any(sign in block for block in blocks)


def _sign(element: turbohtml.Element) -> str:
    return _letters(element.text)


def _letters(text: str) -> str:
    """Only what no markup and no escape touches."""
    return "".join(_WORD.findall(text.replace("_", ""))).casefold()


def _inline_after(tokens: list[Token], kind: str) -> Iterator[str]:
    for token, following in pairwise(tokens):
        if token.type == kind:
            yield "".join(child.content for child in following.children or ())


def _hrefs(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrGet("href"))


def _leads_to(href: str, own: str) -> bool:
    tail = own.replace("../", "").removeprefix("./")
    return href.endswith(tail) or tail.startswith("#") or "%" in href or "%" in tail


def measure(manual: Manual, every: int, seed: int = 7) -> Count:
    """Checks each `every`th page, drawn at random but always the same."""
    count = Count()
    found = pages(manual)
    for path in sorted(random.Random(seed).sample(found, len(found) // every)):
        check(manual, path, count)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=10, help="check one page of so many (1: all of them)")
    parser.add_argument("--show", type=int, default=10, help="how many of the missing to print")
    parser.add_argument("--manual", help="one manual only")
    options = parser.parse_args()
    wrong = 0
    print("| manual | pages | headings | code blocks | tables | missing | links of the navigation |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for manual in MANUALS:
        if options.manual not in (None, manual.name):
            continue
        count = measure(manual, options.every)
        kinds = " | ".join(f"{count.expected[kind]:,}" for kind in ("heading", "code block", "table"))
        print(f"| {manual.name} | {count.pages:,} | {kinds} | {len(count.missing)} | {len(count.left)} |", flush=True)
        for line in [*count.missing[: options.show], *count.left[: options.show]]:
            print(line, file=sys.stderr)
        wrong += len(count.missing) + len(count.left)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
