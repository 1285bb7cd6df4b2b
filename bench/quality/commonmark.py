"""How exactly Markdown comes back: the examples of CommonMark and GFM, from HTML to Markdown to HTML.

Each example's HTML is converted, the Markdown rendered by a CommonMark renderer, and both HTML texts compared as parsed
trees. What Markdown has no signs for cannot come back as Markdown, so two counts are given: all examples that use
Markdown's own elements only, and those of them that Markdown can say, which are well-formed and not empty.

    SITEMIRROR_VECTORS=... python -m bench.quality.commonmark
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import turbohtml

from sitemirror.convert import convert_html
from sitemirror.links.resolve import Resolver
from tests.convert.trees import Tree, to_html, tree

URL: Final = "https://example.com/docs/page.html"
SPECS: Final = {
    "CommonMark": "md-commonmark/spec-0.31.2.jsonl",
    "GFM": "md-gfm/gfm-spec-0.29.jsonl",
    "GFM's extensions": "md-gfm/gfm-extensions.jsonl",
    "GFM's regressions": "md-gfm/regression.jsonl",
}
_COMMONMARK: Final = tuple(
    "p,h1,h2,h3,h4,h5,h6,em,strong,a,img,code,pre,hr,br,ul,ol,li,blockquote".split(",")  # noqa: SIM905 - easier to read
)
_GFM: Final = ("table", "thead", "tbody", "tr", "th", "td", "del", "input")
_TAG: Final = re.compile(r"<\s*/?\s*([A-Za-z][A-Za-z0-9-]*)")
_VOID: Final = re.compile(r"<(br|hr|img|input)\b([^<>]*?)/?>")


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a specification."""

    number: int
    section: str
    html: str
    elements: frozenset[str]

    @property
    def is_markdown(self) -> bool:
        """Whether its HTML uses only elements that Markdown has signs for."""
        return all(tag.lower() in self.elements for tag in _TAG.findall(self.html))

    @property
    def can_be_said(self) -> bool:
        """Whether it is well-formed besides. Comments say nothing, so that they are no hindrance."""
        if not self.is_markdown or not self.html.strip():
            return False
        closed = _VOID.sub(r"<\1\2/>", self.html)
        try:
            ElementTree.fromstring(f"<r>{closed}</r>")
        except ElementTree.ParseError:
            return False
        return True

    @property
    def comes_back(self) -> bool:
        page = convert_html(self.html, url=URL, content="full")
        return absolute(to_html(page.markdown)) == absolute(self.html)


def examples(folder: Path, name: str) -> Iterator[Example]:
    """The examples of one of `SPECS`."""
    elements = frozenset(_COMMONMARK if name == "CommonMark" else [*_COMMONMARK, *_GFM])
    with (folder / SPECS[name]).open(encoding="utf-8") as lines:
        for line in lines:
            case: dict[str, Any] = json.loads(line)
            yield Example(case["example"], case["section"], case["html"], elements)


def absolute(html: str) -> Tree:
    """`html` as a tree, with the URLs that a page of ours would have. Text outside of blocks is a paragraph."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    urls = Resolver(URL)
    body.rewrite_links(urls.__getitem__)
    for anchor in body.select('a[href=""]'):
        anchor.attrs["href"] = URL
    found = tree(body.inner_html)
    return tuple(("p", (), item) if _is_inline(item) else item for item in found)


def _is_inline(item: object) -> bool:
    return isinstance(item, str) or (isinstance(item, tuple) and item[0] in ("a", "em", "strong", "code", "img"))


def main(arguments: list[str]) -> int:
    """Prints the figures; with `--show`, what does not come back."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.commonmark", description=__doc__)
    parser.add_argument("--show", action="store_true", help="show each example that does not come back")
    options = parser.parse_args(arguments)
    named = os.environ.get("SITEMIRROR_VECTORS")
    if not named:
        print("SITEMIRROR_VECTORS names no folder with the examples", file=sys.stderr)
        return 2
    for name in SPECS:
        every = [example for example in examples(Path(named), name) if example.is_markdown]
        right = {example.number for example in every if example.comes_back}
        said = [example for example in every if example.can_be_said]
        back = sum(example.number in right for example in said)
        print(
            f"{name}: {back} of {len(said)} that Markdown can say ({back / len(said):.4f}), "
            f"{len(right)} of {len(every)} in its elements ({len(right) / len(every):.4f})"
        )
        for example in every if options.show else ():
            if example.number not in right:
                print(f"  {example.number} {'' if example.can_be_said else '(raw) '}{example.html!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
