"""What shows nothing leaves no sign of itself."""

from __future__ import annotations

import pytest

from sitemirror.convert.anchors import fragment_map
from tests.convert.pages import URL, markdown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul class=share><li><button><svg></svg></button></li><li>x</li><li></li></ul>", "- x\n"),
        ("<ul><li>x<ul><li><i class=icon></i></li></ul></li><li>y</li></ul>", "- x\n- y\n"),
        ("<p>a</p><ul><li data-slide=1> </li></ul>", "a\n"),
        ("<ol class=slides><li data-to=0></li><li data-to=1></li></ol><p>a</p>", "a\n"),
        ("<ol class=steps><li>x</li><li class=more></li></ol>", "1. x\n"),
        ("<h1><svg><title>Logo</title></svg></h1><p>a</p>", "a\n"),
        ("<p>a</p><h2><span></span></h2>", "a\n"),
        ('<ul><li><a id="x">\n</a>\n<h3>Head</h3></li></ul>', "- ### Head\n"),
        ('<ul><li>\n<a id="x"/>\n<p><a href="/b">B</a> c</p></li></ul>', "- [B](https://example.com/b) c\n"),
    ],
)
def test_empty_items_and_headings_are_omitted(html: str, text: str) -> None:
    """An icon that only a style sheet or a script draws leaves no bullet and no `#`."""
    assert markdown(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li><img src=/a.png></li></ul>", "- ![](https://example.com/a.png)\n"),
        ("<ul><li><input type=checkbox></li></ul>", "- [ ]\n"),
        ("<ul><li><ul><li>x</li></ul></li></ul>", "- \n  - x\n"),
        ("<ol><li></li><li>second</li></ol>", "1. \n2. second\n"),
        ("<ol class=x><li class=y></li><li>second</li></ol>", "1. \n2. second\n"),
        ("<ul><li></li><li>second</li></ul>", "- \n- second\n"),
    ],
)
def test_visible_items_are_kept(html: str, text: str) -> None:
    """A picture, a box to tick, an inner list; an item that counts for the next; one that Markdown wrote."""
    assert markdown(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p><br>a</p>", "a\n"),
        ("<p>a</p><br><br>b", "a\n\nb\n"),
        ("<p><span><br></span><b><br>a</b></p>", "**a**\n"),
        ("<ul><li><br>a</li></ul>", "- a\n"),
        ('<p><br>a <a href="/b"> </a></p>', "a\n"),
        ("<blockquote><br>a<br><br>b</blockquote>", "> a\\\n> \\\n> b\n"),
        ("<p>x</p><p><code>a</code><br>b</p><p><br>c</p>", "x\n\n`a`\\\nb\n\nc\n"),
        ("<p><br>a</p><pre>\n\nb</pre>", "a\n\n```\n\nb\n```\n"),
    ],
)
def test_leading_line_break_is_dropped(html: str, text: str) -> None:
    """Markdown has no use for the blank line that it draws."""
    assert markdown(html) == text


@pytest.mark.parametrize("tag", ["code", "dfn", "label", "bdi", "big", "s", "my-word", "var", "tt", "q"])
def test_line_break_after_text_is_kept(tag: str) -> None:
    """Whatever the word stands in, and whatever other line breaks go."""
    text = markdown(f"<p><br>a</p><div><{tag}>b</{tag}><br>c</div>")
    assert text.startswith("a\n\n")
    assert text.endswith("\\\nc\n")


def test_empty_item_keeps_its_number() -> None:
    """What links to it leads to the heading that it stands below."""
    html = '<h1>Top</h1><p>a</p><h2>Below</h2><ul><li id="here" class="x"></li><li>x</li></ul>'
    assert fragment_map(html, url=URL)["here"] == "below"
    assert fragment_map(html.replace('id="here" class="x">', 'class="x"><a id="here"></a>'), url=URL)["here"] == "below"
