"""The conversion against test data that others wrote, where it is at hand."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.quality.commonmark import absolute, examples
from bench.quality.robust import lost_letters, tree_documents
from sitemirror.convert.document import parse_html
from tests.convert.pages import URL, markdown
from tests.convert.trees import to_html

VECTORS = os.environ.get("SITEMIRROR_VECTORS")
pytestmark = [
    pytest.mark.vectors,
    pytest.mark.skipif(VECTORS is None, reason="SITEMIRROR_VECTORS names no folder with the test data"),
]
FOLDER = Path(VECTORS or ".")


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases of one JSON lines file."""
    with (FOLDER / name).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# Left out on purpose: empty headings (79), links without text (486, 489). Told on purpose: a language that is an
# attribute of raw HTML (171).
COMMONMARK_DIFFERS = {79, 171, 486, 489}
# The same in GFM, and raw tables without a header (their first row becomes it) or with code in them, raw `del` around
# blocks (119 to 160).
GFM_DIFFERS = {49, 119, 130, 136, 137, 139, 159, 160}


@pytest.mark.parametrize(
    ("name", "differs", "floor"),
    [
        ("CommonMark", COMMONMARK_DIFFERS, 0.993),
        ("GFM", GFM_DIFFERS, 0.986),
        ("GFM's extensions", set[int](), 1.0),
        ("GFM's regressions", set[int](), 1.0),
    ],
)
def test_markdown_round_trips(name: str, differs: set[int], floor: float) -> None:
    """HTML that Markdown can say gives Markdown that renders to the same tree."""
    chosen = [example for example in examples(FOLDER, name) if example.can_be_said]
    wrong = {example.number for example in chosen if not example.comes_back}
    assert wrong <= differs
    assert len(chosen) >= {"CommonMark": 591, "GFM": 619}.get(name, 14)
    assert 1 - len(wrong) / len(chosen) >= floor


def test_raw_html_round_trips() -> None:
    """Over all examples in Markdown's elements, unclosed tags and comments included, nearly all come back."""
    every = [example for example in examples(FOLDER, "CommonMark") if example.is_markdown]
    assert len(every) >= 603
    assert sum(example.comes_back for example in every) / len(every) >= 0.97


# Each stands for a choice of ours; the numbers count the cases with the converter's own defaults, from 0.
TURNDOWN_DIFFERS = {
    "a line break in an alternative text or title is a blank": 4,
    "a code block is code, with or without `code` in it": 2,
    "a no-break space at the beginning of a line is spelled out": 1,
}
MARKDOWNIFY_DIFFERS = {
    "what looks like CDATA is a comment in HTML": 1,
    "a no-break space at the beginning of a quotation is spelled out": 1,
    "keys are marked as keys": 1,
    "definitions are items with a bold term": 8,
    "what a browser shows in place of a video is no label for it": 4,
    "raised and lowered text is marked": 2,
    "a link to `#` is a button": 2,
    "a table without a header has its first row for one": 5,
}


@pytest.mark.parametrize(
    ("name", "differs"),
    [("md-turndown/cases.jsonl", TURNDOWN_DIFFERS), ("md-markdownify/cases.jsonl", MARKDOWNIFY_DIFFERS)],
)
def test_cases_of_other_converters(name: str, differs: dict[str, int]) -> None:
    """What other converters expect of their own defaults, compared as rendered, but where we differ on purpose."""
    chosen = [case for case in cases(name) if not case["options"]]
    wrong = [
        case["html"]
        for case in chosen
        if absolute(to_html(markdown(case["html"]))) != absolute(to_html(case["expected"]))
    ]
    assert len(wrong) <= sum(differs.values()), wrong


def test_detected_charsets() -> None:
    """Pages without a declaration are decoded as browsers guess."""
    pages = sorted((FOLDER / "charset-wpt" / "encoding-detection").glob("*.html"))
    assert len(pages) > 40
    for path in pages:
        body = path.read_bytes()
        expected = re.search(rb'characterSet, "([^"*]+)"', body)
        # Browsers do not guess ISO-2022-JP because scripts could hide in it; here no script runs.
        if expected is not None and not path.name.startswith("ja-ISO-2022-JP"):
            assert parse_html(body, url=URL).tree.encoding == expected[1].decode(), path.name


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


def test_broken_trees_keep_their_text() -> None:
    """Whatever the parser makes of broken markup, the visible text of the body comes out."""
    documents = list(tree_documents(FOLDER))
    assert len(documents) > 1000
    assert [html for html in documents if lost_letters(html)] == []
