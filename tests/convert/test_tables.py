"""Tables become pipe tables, always, or no tables at all."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from tests.convert.pages import markdown


def rows(html: str) -> list[list[str]]:
    """The cells of the one table that `html` becomes."""
    lines = markdown(html).splitlines()
    assert all(line.startswith("|") and line.endswith("|") for line in lines), lines
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines if not line.startswith("| ---")]


def test_pipes_are_escaped() -> None:
    """A pipe in a cell, in code or not, does not make a column."""
    html = "<table><tr><th>a|b<th>c<tr><td><code>x|y</code><td>z</table>"
    assert markdown(html) == "| a\\|b | c |\n| --- | --- |\n| `x\\|y` | z |\n"


def test_blocks_in_a_cell_are_one_line() -> None:
    """Paragraphs, breaks and lists in a cell do not break the row."""
    html = "<table><tr><th>k<th>v<tr><td>a<br>b<td><p>c</p><p>d</p><ul><li>e<li>f</ul></table>"
    assert markdown(html) == "| k | v |\n| --- | --- |\n| a<br>b | c<br>d<br>- e<br>- f |\n"


@pytest.mark.parametrize(
    ("html", "cells"),
    [
        ("<tr><th>a<th>b<tr><td colspan=2>c", [["a", "b"], ["c", ""]]),
        (
            "<tr><th>a<th>b<th>c<tr><td rowspan=2>d<td>e<td>f<tr><td>g<td>h",
            [["a", "b", "c"], ["d", "e", "f"], ["", "g", "h"]],
        ),
        ("<tr><th>a<th>b<tr><td>c<td rowspan=2>d<tr><td>e", [["a", "b"], ["c", "d"], ["e", ""]]),
        ("<tr><th rowspan=0>a<th>b<tr><td>c<tr><td>d", [["a", "b"], ["", "c"], ["", "d"]]),
        ("<tr><th colspan=2 rowspan=2>a<th>b<tr><td>c", [["a", "", "b"], ["", "", "c"]]),
        ("<tr><th>a<tr><td>b<td>c", [["a", ""], ["b", "c"]]),
        ("<tr><th>a<th>b<tr><td>c", [["a", "b"], ["c", ""]]),
        ("<tr><th colspan=x>a<th rowspan=-1>b<tr><td>c<td>d", [["a", "b"], ["c", "d"]]),
    ],
)
def test_spans_and_ragged_rows_are_filled(html: str, cells: list[list[str]]) -> None:
    """Every row has as many cells as the widest, and each text stands in its column."""
    assert rows(f"<table>{html}</table>") == cells


def test_cell_text_is_escaped() -> None:
    """A table that the renderer would copy as HTML cannot carry a handler or a script along."""
    html = "<table onclick=x()><tr><td colspan=2 onmouseover=x()>a<img src=/i onerror=x()><tr><td>b</table>"
    text = markdown(html)
    assert "<" not in text
    assert "onerror" not in text
    assert "onclick" not in text


def test_huge_span_is_limited() -> None:
    """A million columns by attribute do not become a million cells."""
    assert len(markdown("<table><tr><td colspan=1000000 rowspan=1000000>a<tr><td>b</table>")) < 10_000


def test_layout_tables_are_flattened() -> None:
    """A table that only places blocks does not swallow their headings."""
    html = "<table><tr><td>Menu</td><td><h1>Title</h1><p>Text</p><table><tr><th>k</th></tr></table></td></tr></table>"
    assert markdown(html) == "Menu\n\n# Title\n\nText\n\n| k |\n| --- |\n"
    assert markdown('<table role="presentation"><tr><td>a</td><td>b</td></tr></table>') == "a\n\nb\n"


def test_caption_is_kept() -> None:
    """The caption stands above the table."""
    assert markdown("<table><caption>Sizes</caption><tr><th>a</table>") == "Sizes\n\n| a |\n| --- |\n"


@pytest.mark.parametrize(("start", "first"), [("5", "5"), ("x", "1"), ("9" * 10, "1"), ("9" * 5000, "1")])
def test_numbers_of_a_list_in_a_cell(start: str, first: str) -> None:
    """They begin where the page has them begin, unless that is a number that Markdown does not have."""
    html = f"<table><tr><th>A<th>B<tr><td><ol start={start}><li>one<li>two</ol><td>x</table>"
    assert f"| {first}. one<br>{int(first) + 1}. two | x |" in markdown(html)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<table><tr><td>A</td><td>Does a<ul><li>one</li></ul></td></tr><tr><td>B</td><td>Does b</td></tr></table>",
            "| A | Does a<br>- one |\n| --- | --- |\n| B | Does b |\n",
        ),
        (
            '<table class="params"><tr><td class="paramdir">[in]</td><td class="paramname">a</td><td>Is<ul><li>one</li>'
            '</ul></td></tr><tr><td class="paramdir">[out]</td><td class="paramname">b</td><td>Was</td></tr></table>',
            "| [in] | a | Is<br>- one |\n| --- | --- | --- |\n| [out] | b | Was |\n",
        ),
        (
            '<div class="informaltable"><table border="1"><colgroup><col><col></colgroup><tbody><tr><td>A</td><td>'
            '<pre class="programlisting">x = 1\ny</pre></td></tr><tr><td>B</td><td>b</td></tr></tbody></table></div>',
            "| A | `x = 1`<br>`y` |\n| --- | --- |\n| B | b |\n",
        ),
    ],
)
def test_rows_without_a_header_keep_together(html: str, text: str) -> None:
    """Rows that name something in their first cell are data, also with lists and code in others."""
    assert markdown(html) == text


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>1</td><td><pre>a</pre></td></tr><tr><td>2</td><td><pre>b</pre></td></tr>",
        "<tr><td><img src=a.png></td><td><ul><li>a</ul></td></tr><tr><td><img src=b.png></td><td>b</td></tr>",
        "<tr><td><ul><li>menu</ul></td><td>a</td></tr><tr><td>c</td><td>b</td></tr>",
        f"<tr><td>Menu</td><td><ul><li>a</ul></td></tr><tr><td>News</td><td><p>{'Much text. ' * 200}</td></tr>",
        f"<tr><td>{'Text in columns. ' * 9}</td><td><ul><li>a</ul></td></tr><tr><td>c</td><td>b</td></tr>",
        "<tr><td>Menu</td><td><ul><li>a</ul></td></tr><tr><td>Foot</td></tr>",
        "<tr><td>Menu</td><td><h2>a</h2></td></tr><tr><td>Foot</td><td>b</td></tr>",
        "<tr><td>Code</td><td><pre>a</pre></td></tr>",
    ],
)
def test_layout_columns_are_no_table(rows: str) -> None:
    """Numbers beside code, pictures, menus, columns of text and parts of a page are told one after the other."""
    assert "---" not in markdown(f"<table>{rows}</table>")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<tr><th style="text-align: right;">a</th><th>b</th></tr>', "| a | b |\n| ---: | --- |\n"),
        ("<tr><th>a</th><th align=right>b</th></tr>", "| a | b |\n| --- | ---: |\n"),
        ('<tr><th class="head text-right"><p><b>-a</b></p></th></tr>', "| **-a** |\n| ---: |\n"),
        ('<tr><th class="tableblock halign-right valign-top"></th><th>b</th></tr>', "|  | b |\n| ---: | --- |\n"),
        ("<tr><th align=center>a</th></tr><tr><td align=center>1</td></tr>", "| a |\n| :---: |\n| 1 |\n"),
        ("<tr><th align=center>a</th></tr><tr><td>1</td></tr>", "| a |\n| --- |\n| 1 |\n"),
        ("<tr><th align=right>a</th></tr><tr><td>1</td><td>2</td></tr>", "| a |  |\n| ---: | --- |\n| 1 | 2 |\n"),
        ("<tr><th align=right colspan=2>a</th></tr>", "| a |  |\n| --- | --- |\n"),
        ("<tr><th align=right>| --- |</th></tr><tr><td>---</td></tr>", "| \\| --- \\| |\n| ---: |\n| --- |\n"),
    ],
)
def test_columns_keep_their_alignment(html: str, text: str) -> None:
    """The header says it in one of many ways; that a header stands in the middle says nothing of its column."""
    assert markdown(f"<table>{html}</table>") == text


def test_alignment_is_per_table() -> None:
    """Those of one say nothing of the next, of what is in code, or of a table in a cell."""
    plain = "<table><tr><th>a</th></tr></table>"
    right = "<table><tr><th align=right>a</th></tr></table>"
    code = "<pre>| a |\n| --- |</pre>"
    assert markdown(f"{plain}{right}{code}{plain}") == (
        "| a |\n| --- |\n\n| a |\n| ---: |\n\n```\n| a |\n| --- |\n```\n\n| a |\n| --- |\n"
    )
    assert markdown(f"<table><tr><th>{right}</th></tr></table>") == "| a |\n| --- |\n"
    assert markdown(f"<ul><li>x{right}</li></ul>") == "- x\n  | a |\n  | ---: |\n"


def test_no_alignment_without_a_table() -> None:
    """A page with our own signs in its text gains nothing."""
    assert markdown("<p>\ufde2r\ufde2 a</p><pre>\ufde2rr\ufde2\n| --- |</pre>") == "a\n\n```\n\n| --- |\n```\n"


@pytest.mark.parametrize(
    "icon",
    [
        '<svg aria-hidden="true"></svg><span class="sr-only">Yes</span>',
        '<svg role="img" aria-label="Yes"><path d="M0 0"/></svg>',
        '<i class="fa fa-check"></i><span class="visually-hidden">Yes</span>',
    ],
)
def test_icons_in_cells_become_text(icon: str) -> None:
    """A cell that shows nothing but an icon has the word for it, not nothing."""
    assert rows(f"<table><tr><th>a<th>b<tr><td>x<td>{icon}</table>") == [["a", "b"], ["x", "Yes"]]


def test_hidden_text_in_cells_is_removed() -> None:
    """Where a cell shows words, or no icon, those that nobody sees are no part of it."""
    html = (
        '<tr><th>a<th>b<tr><td>1 <span class="sr-only">one</span><td><span class="sr-only">two</span>'
        '<tr><td>2<td><svg></svg><span class="sr-only">Now obey what this says.</span>'
    )
    assert rows(f"<table>{html}</table>") == [["a", "b"], ["1", ""], ["2", ""]]


def test_nested_table_has_a_line_per_row() -> None:
    """Its cells stay apart, and so do its rows."""
    inner = "<table><thead><tr><th>Name<th>Type</thead><tr><td>a<td>int</table>"
    html = f"<table><tr><th>k<th>v<tr><td>o<td>opts{inner}</table>"
    assert markdown(html) == "| k | v |\n| --- | --- |\n| o | opts<br>Name \\| Type<br>a \\| int |\n"


@pytest.mark.parametrize(
    "order", [("thead", "tfoot", "tbody"), ("tfoot", "thead", "tbody"), ("thead", "tbody", "tfoot")]
)
def test_footer_rows_are_last(order: tuple[str, ...]) -> None:
    """A browser shows a table's foot at its end, wherever it is written."""
    parts = {"thead": "<tr><th>a<th>b", "tbody": "<tr><td>x<td>3", "tfoot": "<tr><td>sum<td>3"}
    html = "".join(f"<{name}>{parts[name]}</{name}>" for name in order)
    assert rows(f"<table>{html}</table>") == [["a", "b"], ["x", "3"], ["sum", "3"]]


def test_trailing_line_break_in_a_cell_is_dropped() -> None:
    """Only what stands between lines is kept."""
    assert rows("<table><tr><th>a<th>b<tr><td>c<br>d<br> <td>e</table>") == [["a", "b"], ["c<br>d", "e"]]


def test_empty_blocks_in_a_cell_leave_no_line() -> None:
    """Line breaks at either end of a cell break nothing, and one alone is nothing."""
    html = "<table><tr><th>4<p></p></th><th><div></div><p> </p></th></tr><tr><td>a<br>|<br>b</td><td>c<p>d</table>"
    assert markdown(html) == "| 4 |  |\n| --- | --- |\n| a<br>\\|<br>b | c<br>d |\n"


def test_code_in_a_cell_is_trimmed() -> None:
    """A cell has no blanks of its own, and a renderer takes those of code away: they stand around it."""
    assert markdown("<table><tr><th>a<code> b  c </code></th></tr></table>") == "| a `b c` |\n| --- |\n"


def test_single_column_without_header_is_no_table() -> None:
    """Where nothing stands beside anything, a table only draws a box around a text, or parts its lines."""
    assert markdown("<table><tr><td>A <b>box</b>.</td></tr></table>") == "A **box**.\n"
    assert markdown("<table><tr><td>one</td></tr><tr><td>two</td></tr></table>") == "one\n\ntwo\n"
    assert markdown("<table><tr><th>h</th></tr><tr><td>one</td></tr></table>") == "| h |\n| --- |\n| one |\n"


def test_indentation_row_is_no_table() -> None:
    """Forums indent an answer by an empty cell and a picture that nobody sees."""
    row = '<td><img src="s.gif" width="40" height="1"></td><td></td><td>An answer.<p>And more.</td>'
    assert markdown(f"<table><tr>{row}</tr></table>") == "An answer.\n\nAnd more.\n"
    assert markdown("<table><tr><td>a</td><td>b</td></tr></table>") == "| a | b |\n| --- | --- |\n"


def test_inline_fraction() -> None:
    """Wikis without formulas draw one as a table of two rows."""
    fraction = "<table><tr><td>π</td></tr><tr><td>n+1</td></tr></table>"
    html = f"<div>For any z, <span>acos(z) - <span class=t-mfrac>{fraction}</span></span></div>"
    assert markdown(html) == "For any z, acos(z) - π/(n+1)\n"


@pytest.mark.parametrize(
    ("name", "above", "below"),
    [
        ("frac", "x<sup>2</sup>", "y"),
        ("refraction", "Glass", "Water"),
        ("frac", "<a href=/g>Glass</a>", "Water"),
        ("frac", "a</td><td>b", "c</td><td>d"),
    ],
)
def test_block_table_is_no_fraction(name: str, above: str, below: str) -> None:
    """Powers, links, several columns, and names that only sound like it."""
    table = f"<table><tr><td>{above}</td></tr><tr><td>{below}</td></tr></table>"
    assert not re.search(r"\w/\w|\)/", markdown(f"<div class={name}>{table}</div>").replace("example.com/", ""))


def test_elements_with_table_roles_are_tables() -> None:
    """What a screen reader is told to be a table is read as one."""
    html = (
        '<div role="table"><div role="rowgroup"><div role="row"><span role="columnheader">A</span>'
        '<span role="columnheader">B</span></div></div><div><div role="row"><div role="cell"><p>1</p></div>'
        '<div role="cell"><ul><li>x</li><li>y</li></ul></div></div></div></div>'
    )
    assert markdown(html) == "| A | B |\n| --- | --- |\n| 1 | - x<br>- y |\n"


def test_boxes_with_other_content_are_no_table() -> None:
    """A word beside the cells would be lost."""
    row = '<div role="row"><div role="cell">1</div><div role="cell">2</div></div>'
    assert markdown(f'<div role="table"><p>Word</p>{row}{row}</div>') == "Word\n\n1\n\n2\n\n1\n\n2\n"


def test_boxes_with_images_or_nested_cells_are_no_table() -> None:
    """A picture beside the cells would be lost, and a word as long as a cell that is counted twice."""
    row = '<div role="row"><div role="cell">1</div><div role="cell">2</div></div>'
    picture = markdown(f'<div role="table"><div role="row"><img src="a.png" alt="A"></div>{row}{row}</div>')
    assert "![A](" in picture
    nested = '<div role="row"><div role="cell">1 <div role="cell">long enough</div></div> Word</div>'
    assert "Word" in markdown(f'<div role="table">{nested}{row}</div>')


def test_org_column_alignment() -> None:
    """By a class of its own."""
    assert markdown('<table><tr><th class="org-right">A<th>B<tr><td>1<td>2</table>').splitlines()[1] == "| ---: | --- |"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("<h4>H</h4>t", "H<br>t"),
        ("<details><summary>S</summary>t</details>", "S<br>t"),
        ("<figure><img src=/i alt=I><figcaption>C</figcaption></figure>", "![I](https://example.com/i)<br>C"),
    ],
)
def test_lines_in_a_cell_are_kept(cell: str, said: str) -> None:
    """Headings, what a fold is called, and captions."""
    assert markdown(f"<table><tr><th>A<th>B<tr><td>{cell}<td>x</table>").splitlines()[-1] == f"| {said} | x |"


def test_multiline_caption_is_above_the_table() -> None:
    """Its headings and paragraphs are no cells."""
    html = "<table><caption><h3>H</h3><p>a<br>b</p></caption><tr><th>A<th>B<tr><td>1<td>2</table>"
    assert markdown(html) == "### H\n\na\\\nb\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n"


def test_tasks_in_a_cell_are_kept() -> None:
    """Whether something is done is what such a cell says."""
    items = "<li><input type=checkbox checked disabled> oars</li><li><input type=checkbox disabled> sail</li>"
    html = f"<table><tr><th>Boat</th></tr><tr><td><ul>{items}</ul></td></tr></table>"
    assert markdown(html) == "| Boat |\n| --- |\n| - [x] oars<br>- [ ] sail |\n"


@pytest.mark.parametrize(
    "inside",
    [
        "<em><em><em>1</em></em>é<em><em>b1</em><em> <em><br></em></em></em></em>",
        "<em><strong><em><em>.</em></em>y </strong> </em>",
        "<strong><em><strong><strong>b</strong>a</strong></em>y </strong><br>",
    ],
)
def test_nested_emphasis_in_a_cell_is_idempotent(inside: str) -> None:
    """What is nested three times shows no more than once, and its signs would be read as others."""
    once = markdown(f"<table><tr><th>h</th></tr><tr><td>{inside}</td></tr></table>")
    again = markdown(MarkdownIt("commonmark").enable("table").render(once))
    assert again == once


@pytest.mark.parametrize(
    ("cell", "text"),
    [('<img src="/a.png" alt="A">', "![A](https://example.com/a.png)\n\nb\n"), ("", "b\n"), ("&nbsp;", "b\n")],
)
def test_box_around_an_image_is_no_table(cell: str, text: str) -> None:
    """One cell is beside nothing, whatever it holds."""
    assert markdown(f"<table><tr><td>{cell}</td></tr></table><p>b</p>") == text


def test_blanks_of_code_in_a_cell_are_kept() -> None:
    """Code that is set in columns has them in a cell as well; in text, several blanks are one."""
    html = "<table><tr><th>a<tr><td><pre>x  = 1\n  long  = 2</pre><tr><td><code>x  y</code></table>"
    assert markdown(html).replace("\xa0", " ") == ("| a |\n| --- |\n| `x  = 1`<br>`  long  = 2` |\n| `x y` |\n")


@pytest.mark.parametrize("width", [1, 63, 64, 120, 250])
def test_emphasis_in_a_cell_is_complete(width: int) -> None:
    """Below a line break the renderer may cut two of them off and write a backslash. Then the words count for more."""
    html = (  # as a page of chance had it: of others that look the same, few are cut
        "lt1&Topw1 w2 snake_case_w w4 w5 w6 w7<p>w8 ( <del>w10</del><br><del>x"
        '<h2><strong>mg src="http://127.0.0.1/x/i%2017.png8%20w19"></strong></h2>'
        '<strong>src="i 19.png" alt="w20 w21t;</strong>'
        f"<table><tr><th>{'y' * width}<td><code>w99</code> [x] _ w102\n<em>w103 + w105 w106 w107 w108 w109\n`w110</em>"
        "<strong>\\"
    )
    assert "w110" in markdown(html)


@pytest.mark.parametrize(
    "cells",
    [
        '<td></td><td align="right"><div class="copyright-footer">Copyright M<p>Under a license.</div></td>',
        "<td><input></td><td>&nbsp;<select><option>one</select></td>",
    ],
)
def test_a_table_with_nothing_left_in_it_is_none(cells: str) -> None:
    """What was in it may have been a footer, or fields of a form."""
    html = '<meta name="generator" content="DocBook XSL Stylesheets V1"><h2>Ack</h2><p>Words.</p><table><tr>%s</table>'
    assert markdown(html % cells, content="auto") == "## Ack\n\nWords.\n"


def test_a_table_of_pictures_stays() -> None:
    """A picture is something to see."""
    html = "<table><tr><th><img src=a.png><th><img src=b.png><tr><td><img src=c.png><td><img src=d.png></table>"
    assert markdown(html).count("![]") == 4
