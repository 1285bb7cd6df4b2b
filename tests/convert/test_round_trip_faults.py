"""What building documentation with real generators and reading it back has brought to light, one page part each."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from tests.convert.pages import markdown

ASCIIDOCTOR = '<meta name="generator" content="Asciidoctor 2.0.23">'
MATHJAX = '<script src="https://cdn.example.com/mathjax/MathJax.js"></script>'


def test_admonition_keeps_its_table() -> None:
    """Asciidoctor draws its boxes with a table; one of the author's own inside it is content."""
    html = f"""{ASCIIDOCTOR}<div class="admonitionblock warning"><table><tr>
        <td class="icon"><i class="fa icon-warning" title="Warning"></i></td>
        <td class="content"><div class="title">Before</div><div class="paragraph"><p>Text.</p></div>
        <table class="tableblock"><thead><tr><th>k</th></tr></thead><tbody><tr><td>v</td></tr></tbody></table>
        <div class="paragraph"><p>After.</p></div></td></tr></table></div>"""
    assert markdown(html) == ("> [!WARNING]\n> **Before**\n>\n> Text.\n>\n> | k |\n> | --- |\n> | v |\n>\n> After.\n")


@pytest.mark.parametrize(
    ("done", "to_do"),
    [
        ('<i class="fa fa-check-square-o"></i>', '<i class="fa fa-square-o"></i>'),
        ("&#10003;", "&#10063;"),
        ('<input type="checkbox" checked>', '<input type="checkbox">'),
    ],
    ids=["icons", "signs", "controls"],
)
def test_task_list_variants(done: str, to_do: str) -> None:
    """Asciidoctor has three ways to draw the box of a task."""
    html = f"""{ASCIIDOCTOR}<div class="ulist checklist"><ul class="checklist">
        <li><p>{done} one</p></li><li><p>{to_do} two</p></li><li><p>three</p></li></ul></div>"""
    assert [line for line in markdown(html).splitlines() if line] == ["- [x] one", "- [ ] two", "- three"]


def test_asciidoctor_strikethrough() -> None:
    """Its role for that is a class name, not an element."""
    assert markdown(f'{ASCIIDOCTOR}<p>a <span class="line-through">b</span> c</p>') == "a ~~b~~ c\n"


@pytest.mark.parametrize("content", ["auto", "main", "full"])
def test_footnotes_after_the_content_are_kept(content: str) -> None:
    """Asciidoctor puts them outside the element that has the text; they come along, and are referred to."""
    html = f"""{ASCIIDOCTOR}<div id="header"><h1>T</h1></div><div id="content"><p>Text<sup class="footnote">[<a
        id="_footnoteref_1" class="footnote" href="#_footnotedef_1">1</a>]</sup>.</p></div>
        <div id="footnotes"><hr><div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. The note.
        </div></div><div id="footer">Last updated</div>"""
    found = markdown(html, content=content)
    assert "Text[^1].\n" in found
    assert "[^1]: The note." in found


def test_formulas_between_delimiters_are_formulas() -> None:
    """A page that loads MathJax has formulas in its text with nothing around them but the delimiters."""
    html = rf"{MATHJAX}<p>With \(a_1 &lt; b\) and \(c*d*e\).</p><p><code>\(x\)</code></p>"
    assert markdown(html) == "With $a_1 < b$ and $c*d*e$.\n\n`\\(x\\)`\n"


def test_delimiters_without_a_script_are_text() -> None:
    """Nobody draws formulas on a page that loads nothing to draw them with."""
    assert "$" not in markdown(r"<p>In a regular expression, \(x\) is a group.</p>")


def test_docsy_is_recognised_by_scripts() -> None:
    """Hugo signs the home page alone, so a theme's alerts on other pages must be known without it."""
    html = """<script src="/js/tabpane-persist.js"></script>
        <div class="td-alert alert alert-caution" role="alert"><div class="td-alert-heading alert-heading">Mind</div>
        <div class="td-alert-body"><p>Body.</p></div></div>"""
    assert markdown(html) == "> [!CAUTION]\n> **Mind**\n>\n> Body.\n"


@pytest.mark.parametrize(
    "text", ["\n        graph LR\n  A --> B\n    ", "\n    graph LR\n      A --> B\n", "graph LR\n  A --> B"]
)
def test_diagram_is_dedented(text: str) -> None:
    """What the page's markup set the diagram in by is not part of it."""
    assert markdown(f'<pre class="mermaid">{text}</pre>') == "```mermaid\ngraph LR\n  A --> B\n```\n"


def test_emoji_image_becomes_character() -> None:
    """Material and others draw emoji as pictures; the character says the same without another site's help."""
    picture = '<img alt="✅" class="twemoji" src="https://cdn.example.com/2705.svg" title=":white_check_mark:">'
    assert markdown(f"<table><tr><th>a<tr><td>{picture}</table>") == "| a |\n| --- |\n| ✅ |\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><em>1</em><strong>1</strong><br></p>", "*1*__1__"),
        ("<p><em>1</em><strong>1</strong><br> </p><p>x</p>", "*1*__1__\n\nx"),
        ("<p><strong><br>a</strong></p>", "**a**"),
        ("<p><em><br><br>a</em> b</p>", "*a* b"),
        ("<p><em>a<strong>b<em>c</em></strong></em></p>", "*a<strong>bc</strong>*"),
        ("<p><strong>a<em>b<strong>c</strong></em></strong></p>", "**a<em>bc</em>**"),
        ("<table><tr><th>h<tr><td><b>a<br></b>b</table>", "| h |\n| --- |\n| **a**<br>b |"),
        ("<table><tr><th>h<tr><td>a<i><br>b</i></table>", "| h |\n| --- |\n| a<br>*b* |"),
    ],
)
def test_breaks_and_emphasis_round_trip(html: str, expected: str) -> None:
    """Line breaks at the ends of emphasis, and emphasis in emphasis of its own kind, are read as they were written."""
    assert markdown(html) == expected + "\n"
    assert markdown(MarkdownIt().enable("table").render(expected)) == expected + "\n"
