"""What is chosen as the page may be an element that a rule takes out."""

from __future__ import annotations

import pytest

from sitemirror.convert import convert_html

URL = "https://example.com/"


@pytest.mark.parametrize("content", ["auto", "main", "full"])
@pytest.mark.parametrize("tag", ["button", "select", "label", "img", "noscript", "video", "svg", "math", "em"])
def test_any_element_can_be_main(tag: str, content: str) -> None:
    """The renderer crashes on elements without a parent that end with a no-break space: it never meets one."""
    page = convert_html(f'<p>Above.</p><{tag} role="main">Text &nbsp;</{tag}>', url=URL, content=content)
    assert page.markdown.startswith(("Above.", "Text"))


def test_empty_title_is_no_heading() -> None:
    """It stands outside the main part, and is taken in as its title only if it has words."""
    html = "<header><h1>&nbsp;</h1></header><main><p>Hello there.</p></main>"
    assert convert_html(html, url=URL).markdown == "Hello there.\n"


def test_frames_are_links() -> None:
    """The list of them is an element of our own making, and rendered as one of the page's."""
    html = '<frameset><frame src="a.html" title="One &nbsp;"><frame src="b.html"></frameset>'
    markdown = convert_html(html, url=URL).markdown
    assert markdown == "- [One](https://example.com/a.html)\n- <https://example.com/b.html>\n"
