"""The table of URL attributes: what is found is rewritten, and what is rewritten is checked."""

from __future__ import annotations

import pytest
import turbohtml

from sitemirror.links.attributes import ATTRIBUTES, DRAWN_ATTRIBUTES, LAZY_SOURCES, LAZY_SRCSETS, STYLE, Syntax
from sitemirror.links.html import page_links
from sitemirror.links.local import html_links
from sitemirror.links.rewrite_html import localize_html

PAGE = "https://example.com/"
VALUES = {Syntax.SRCSET: "x.png 2x", Syntax.CSS: "background: url(x.png)", Syntax.REFRESH: "9; url=x.png"}
# Attributes without which an element holds no URL that counts.
NEEDED = {"link": "rel=stylesheet", "input": "type=image", "meta": "http-equiv=refresh"}
AROUND = {
    "frame": "<frameset>{}",
    **dict.fromkeys(("thead", "tbody", "tfoot", "tr"), "<table>{}"),
    **dict.fromkeys(("td", "th"), "<table><tr>{}"),
}
ROWS = [
    *((tag, row, AROUND.get(tag, "{}")) for tag, rows in ATTRIBUTES.items() for row in rows),
    *((tag, row, "<svg>{}</svg>") for tag, rows in DRAWN_ATTRIBUTES.items() for row in rows),
    ("p", STYLE, "{}"),
]
CASES = [
    pytest.param(around.format(f'<{tag} {NEEDED.get(tag, "")} {row.name}="{VALUES.get(row.syntax, "x.png")}">'), row)
    for tag, row, around in ROWS
    if row.role is not None
]


@pytest.mark.parametrize(("html", "row"), CASES)
def test_each_attribute_is_found_rewritten_and_verified(html: str, row: object) -> None:
    """Crawling, rewriting and verifying use every row of the table."""
    body = html.encode()
    assert [found.url for found in page_links(body, url=PAGE).found] == [f"{PAGE}x.png"]
    rewritten = localize_html(body, url=PAGE, charset=None, target=lambda _: "files/y.png")
    assert rewritten.count(b"files/y.png") == 1
    assert html_links(rewritten).references == {("files/y.png", "")}


@pytest.mark.parametrize(("html", "row"), CASES)
def test_parser_knows_all_but_lazy_attributes(html: str, row: tuple[str, object, object]) -> None:
    """`convert` makes URLs absolute with the parser's own table."""
    lazy = (*LAZY_SOURCES, *LAZY_SRCSETS)
    tree = turbohtml.parse(html)
    assert [link.url for link in tree.links()] == ([] if row[0] in lazy else ["x.png"])
