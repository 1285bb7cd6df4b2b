"""Styles that keep the source's blanks and line ends say how text is wrapped, not that it is code."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize("value", ["pre", "pre-wrap", "pre-line", "break-spaces", "pre-wrap !important"])
def test_styled_prose_is_no_code(value: str) -> None:
    """Headings, links, bold text and cells are what they are, whatever an editor has put on them."""
    style = f'style="color:red; white-space: {value}; margin:0"'
    assert markdown(
        f'<h2 {style}>Head</h2><p {style}>Text <b>b</b> <a href="/x">l</a></p><p {style}></p>'
        f"<p>one <span {style}>two</span> three</p><table><tr><th>h<tr><td {style}>x y</table>"
    ) == ("## Head\n\nText **b** [l](https://example.com/x)\n\none two three\n\n| h |\n| --- |\n| x y |\n")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p {}>One\n two\n\nthree\n</p>", "One\\\ntwo\n\nthree\n"),
        ("<div {}>\n  One <b>x\ny</b>\n z\n</div>", "One **x\\\ny**\\\nz\n"),
        ("<table><tr><th>h<tr><td {}>x\ny</table>", "| h |\n| --- |\n| x<br>y |\n"),
        ('<div {}><p style="white-space:normal">a\nb</p>\n</div>', "a b\n"),
        ("<PRE {}>a\n  b</PRE>", "```\na\n  b\n```\n"),
    ],
)
def test_visible_line_ends_are_kept(html: str, expected: str) -> None:
    """A line end of the source is one on the screen, and an empty line parts two paragraphs."""
    assert markdown(html.format('style="white-space:pre-wrap"')) == expected
    assert markdown(html.format('STYLE="WHITE-SPACE:PRE-WRAP"')) == expected


def test_monospaced_box_of_lines_is_code() -> None:
    """Editors paste code as boxes that only a style makes code; a paragraph in such letters is not enough."""
    style = 'style="font-family: Consolas, monospace; white-space: pre"'
    assert markdown(f"<div {style}><div><span>if x:</span></div><div>    y</div></div>") == ("```\nif x:\n    y\n```\n")
    assert markdown(f"<div {style}>if x:\n    y</div>") == "```\nif x:\n    y\n```\n"
    assert markdown(f'<div {style}><h2>Head</h2>\n<p>Text <a href="/x">l</a></p></div>') == (
        "## Head\n\nText [l](https://example.com/x)\n"
    )


def test_navigation_only_page_is_read_the_same() -> None:
    """Where all of a page is kept, since nothing else is left of it, its styles are settled as well."""
    assert markdown('<nav><p style="white-space:pre">Home</p></nav>') == "Home\n"


def test_inline_code_with_preserved_blanks() -> None:
    """Ghost's editor gives the style to all code within text."""
    code = '<code spellcheck="false" style="white-space: pre-wrap;">EXPLAIN</code>'
    assert markdown(f"<p>Run {code} first, or <a href='/b'>read of {code}</a>.</p>") == (
        "Run `EXPLAIN` first, or [read of `EXPLAIN`](https://example.com/b).\n"
    )


def test_bold_and_strikethrough_by_style() -> None:
    """Google's editor has all that is pasted in one `b` which is not bold; others strike text out by a style."""
    html = '<b style="font-weight:normal;" id="docs-internal-guid-1"><p>Plain, <strong>bold</strong></p></b>'
    assert markdown(html) == "Plain, **bold**\n"
    assert markdown('<p><span style="text-decoration: line-through">$20</span> $15</p>') == "~~$20~~ $15\n"
    assert markdown('<p><b style="font-weight: 700">bold</b></p>') == "**bold**\n"
