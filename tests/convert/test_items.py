"""Blocks in the items of a list: what stands right below another is not read as one with it."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown
from tests.convert.trees import to_html

TABLE = "<table><tr><th>{}</th></tr><tr><td>1</td></tr></table>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<hr></li><li>b</li></ul>", "- a\n\n  ---\n\n- b\n"),
        ("<ol><li><p>a<br>b</p><hr></li></ol>", "1. a\\\n   b\n\n   ---\n"),
        ("<ul><li>a<pre>b</pre><hr></li></ul>", "- a\n  ```\n  b\n  ```\n  ---\n"),
        ("<ul><li><hr></li></ul>", "- \n  ---\n"),
        (
            "<ul><li>a<blockquote>b</blockquote><div><blockquote>c</blockquote></div></li></ul>",
            "- a\n\n  > b\n\n  > c\n",
        ),
        (
            f"<ul><li>a<div>{TABLE.format('x')}</div><div>{TABLE.format('y')}</div></li></ul>",
            "- a\n\n  | x |\n  | --- |\n  | 1 |\n\n  | y |\n  | --- |\n  | 1 |\n",
        ),
        (
            f"<ul><li><blockquote>q</blockquote>{TABLE.format('x')}</li></ul>",
            "- \n  > q\n\n  | x |\n  | --- |\n  | 1 |\n",
        ),
        (f"<ul><li>a{TABLE.format('x')}</li></ul>", "- a\n  | x |\n  | --- |\n  | 1 |\n"),
    ],
    ids=["rule", "rule below lines", "rule below code", "rule alone", "quotes", "tables", "table below quote", "table"],
)
def test_blocks_of_an_item_are_separated(html: str, expected: str) -> None:
    """A rule makes no heading of the text above it, and quotes and tables are as many as before."""
    first = markdown(html)
    assert first == expected
    rendered = to_html(first)
    assert [rendered.count(tag) for tag in ("<hr", "<table", "<blockquote", "<h2")] == [
        html.count(tag) for tag in ("<hr", "<table", "<blockquote", "<h2")
    ]
    assert markdown(rendered) == first


def test_alerts_of_an_item_are_separated() -> None:
    """Two boxes, one after the other, are two alerts."""
    box = '<div class="admonition {0}"><p class="admonition-title">{0}</p><p>{1}</p></div>'
    html = f"<ol><li>Step.{box.format('note', 'a')}{box.format('warning', 'b')}</li></ol>"
    assert markdown(html) == "1. Step.\n\n   > [!NOTE]\n   > a\n\n   > [!WARNING]\n   > b\n"


def test_empty_paragraphs_are_spacing() -> None:
    """In an item and in a quote as between other paragraphs; code may speak of them."""
    assert markdown("<ol><li>a<p>&nbsp;</p></li><li>b</li></ol>") == "1. a\n2. b\n"
    assert markdown("<blockquote><p>a</p><p>&nbsp; &nbsp;</p><p>b</p></blockquote>") == "> a\n>\n> b\n"
    html = "<p>&nbsp;</p><pre>a\n\n&amp;#160;\n\nb</pre><p>x</p>"
    assert markdown(html) == "```\na\n\n&#160;\n\nb\n```\n\nx\n"
