"""The conversion against test data that others wrote, where it is at hand."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import turbohtml

from sitemirror.convert import convert_html
from sitemirror.convert.document import parse
from sitemirror.convert.links import Resolver
from tests.convert.pages import URL, markdown
from tests.convert.trees import Tree, to_html, tree

VECTORS = os.environ.get("SITEMIRROR_VECTORS")
pytestmark = [
    pytest.mark.vectors,
    pytest.mark.skipif(VECTORS is None, reason="SITEMIRROR_VECTORS names no folder with the test data"),
]
FOLDER = Path(VECTORS or ".")

MARKDOWN_TAGS = frozenset(
    (
        *(
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "em",
            "strong",
            "a",
            "img",
            "code",
            "pre",
            "hr",
            "br",
            "del",
            "input",
        ),
        *("ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"),
    )
)
TAG = re.compile(r"<\s*/?\s*([A-Za-z][A-Za-z0-9-]*)")


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases of one JSON lines file."""
    with (FOLDER / name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def absolute(html: str) -> Tree:
    """`html` as a tree, with the URLs that a page of ours would have."""
    document = turbohtml.parse(html)
    body = document.find("body")
    assert body is not None
    urls = Resolver(URL)
    body.rewrite_links(urls.__getitem__)
    for anchor in body.select('a[href=""]'):
        anchor.attrs["href"] = URL
    return tree(body.inner_html)


def can_be_said(case: dict[str, Any]) -> bool:
    """Whether the example's HTML has only elements that Markdown has signs for, and no raw tags."""
    html = case["html"]
    return (
        all(tag.lower() in MARKDOWN_TAGS for tag in TAG.findall(html))
        and "<!" not in html
        and "<?" not in html
        and "<a " not in case["markdown"]
        and case["section"] not in ("Raw HTML", "HTML blocks", "Disallowed Raw HTML (extension)")
    )


# Each differs on purpose: empty headings and links are left out, and a backtick in a host stays as a browser has it.
COMMONMARK_DIFFERS = {79, 348, 486, 489}
GFM_DIFFERS = {49, 356}


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("md-commonmark/spec-0.31.2.jsonl", COMMONMARK_DIFFERS),
        ("md-gfm/gfm-spec-0.29.jsonl", GFM_DIFFERS),
        ("md-gfm/gfm-extensions.jsonl", set[int]()),
        ("md-gfm/regression.jsonl", set[int]()),
    ],
)
def test_markdown_comes_back_from_html(name: str, differs: set[int]) -> None:
    """HTML made from Markdown gives Markdown that renders to the same tree."""
    wrong = {
        case["example"]
        for case in cases(name)
        if can_be_said(case) and tree(to_html(markdown(case["html"]))) != absolute(case["html"])
    }
    assert wrong <= differs


@pytest.mark.parametrize(("name", "floor"), [("md-turndown/cases.jsonl", 0.89), ("md-markdownify/cases.jsonl", 0.85)])
def test_other_converters_cases(name: str, floor: float) -> None:
    """What other converters expect of their own defaults, compared as rendered.

    The rest differs on purpose: no empty header above a table without one, definition lists as plain terms, marked
    sub- and superscripts, `#` links as text, alternative text on one line.
    """
    chosen = [case for case in cases(name) if not case["options"]]
    right = sum(tree(to_html(markdown(case["html"]))) == absolute(to_html(case["expected"])) for case in chosen)
    assert right / len(chosen) >= floor


def test_detected_charsets() -> None:
    """Pages without a declaration are decoded as browsers guess."""
    pages = sorted((FOLDER / "charset-wpt" / "encoding-detection").glob("*.html"))
    assert len(pages) > 40
    for path in pages:
        body = path.read_bytes()
        expected = re.search(rb'characterSet, "([^"*]+)"', body)
        # Browsers do not guess ISO-2022-JP because scripts could hide in it; here no script runs.
        if expected is not None and not path.name.startswith("ja-ISO-2022-JP"):
            assert parse(body, url=URL).tree.encoding == expected[1].decode(), path.name


def test_declared_charsets() -> None:
    """A meta element counts wherever browsers let it count: text equal to the reference page's."""
    folder = FOLDER / "charset-wpt" / "html" / "syntax" / "charset"
    compared = 0
    for path in sorted(folder.glob("*.html")):
        match = re.search(rb'rel="match" href="([^"]+)"', path.read_bytes())
        if match is not None:
            reference = folder / match[1].decode()
            assert markdown(path.read_bytes()) == markdown(reference.read_bytes()), path.name
            compared += 1
    assert compared > 8


def treeconstruction() -> Iterator[str]:
    """The documents of the tree-construction tests; fragments are not pages."""
    for path in sorted((FOLDER / "html-wpt-treeconstruction").rglob("*.dat")):
        for block in re.split(r"(?:\A|\n\n)(?=#data\n)", path.read_bytes().decode()):
            head, mark, _ = block.partition("\n#errors")
            if mark and "#document-fragment" not in block and "#script-on" not in block:
                yield head.removeprefix("#data\n")


NOT_CONTENT = (
    "script, style, template, nav, footer, aside, select, textarea, button, svg, math, noscript, dialog, datalist, "
    "iframe, video, audio, [hidden], canvas, rp, title, noframes, noembed"
)


def letters(text: str) -> Counter[str]:
    """How often each letter and digit stands in `text`; blanks and signs depend on the rendering."""
    return Counter(char for char in text if char.isalnum())


def test_broken_trees_keep_their_text() -> None:
    """Whatever the parser makes of broken markup, the visible text of the body comes out."""
    documents = list(treeconstruction())
    assert len(documents) > 1000
    for html in documents:
        text = convert_html(html, url=URL, content="full").markdown
        body = turbohtml.parse(html).find("body")
        if body is not None:
            body.remove(NOT_CONTENT)
            rendered = turbohtml.parse(to_html(text)).find("body")
            assert rendered is not None
            assert letters(body.text) <= letters(rendered.text), html
