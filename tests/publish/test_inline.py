"""Foreign text in Markdown stays text: rendered by a real renderer, it comes back as it went in."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitemirror import urls
from sitemirror.publish import inline
from sitemirror.text import printable

RENDERERS = [MarkdownIt("commonmark"), MarkdownIt("commonmark").enable(["table", "strikethrough"])]
NASTY = st.text(st.sampled_from("a1 _*`[]()<>!&;#|~$\\\"'\n\t\r-+=.:/@{}é\u202e\u0000") | st.characters(), max_size=40)
ON_ONE_LINE = NASTY.map(lambda value: " ".join(value.split()))


def only_link(markdown: str, renderer: MarkdownIt) -> tuple[str, str]:
    """Text and destination of the one link that `markdown`, a list item, consists of."""
    blocks = [token.type for token in renderer.parse(f"- {markdown}\n")]
    assert blocks == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    ]
    pieces = renderer.parseInline(markdown)[0].children or []
    assert pieces[0].type == "link_open"
    assert pieces[-1].type == "link_close"
    assert {piece.type for piece in pieces[1:-1]} <= {"text", "text_special"}
    return "".join(piece.content for piece in pieces[1:-1]), str(pieces[0].attrs["href"])


@given(ON_ONE_LINE)
@example("a](https://evil.example/) [b")
@example("`code` ~~gone~~ __bold__ snake_case _x_ x_")
@example("&lt;script&gt; &#60; &copy <b>")
@example("\\")
def test_link_text_renders_as_written(value: str) -> None:
    """Whatever a title contains, the link has that text and leads to its target."""
    for renderer in RENDERERS:
        text, href = only_link(inline.link(inline.text(value), "https://example.com/x"), renderer)
        assert text == printable(value)
        assert href == "https://example.com/x"


@given(NASTY)
def test_text_has_no_control_characters_and_one_line(value: str) -> None:
    """Neither line ends nor bidi controls survive, even in text that is not a link."""
    shown = inline.text(value)
    assert printable(shown) == shown
    assert "\n" not in shown


@given(NASTY)
@example("docs/a (b)/c d/index.md")
@example("wiki/C#/100%/?/index.md")
@example("日本/ü/index.md")
def test_file_link_leads_to_the_file(path: str) -> None:
    """The destination of a link to a file decodes to the file's own path."""
    for renderer in RENDERERS:
        _, href = only_link(inline.file_link("x", path), renderer)
        assert unquote_to_bytes(href) == path.encode("utf-8", "surrogatepass")
        assert ":" not in href


@given(st.text(st.sampled_from("abc/_-*~!$'(),;=?&[]|`\\{}<>%\"^ \n\u202eé"), max_size=40))
@example("a?x=1&copy;=2&lt;")
@example("C_(language)_)")
def test_url_link_leads_to_the_url(tail: str) -> None:
    """A URL is unchanged, except that blanks, controls and non-ASCII letters are percent-encoded."""
    url = "https://example.com/" + tail
    for renderer in RENDERERS:
        _, href = only_link(inline.link("x", url), renderer)
        assert unquote_to_bytes(href) == unquote_to_bytes(url.encode())


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "ftp://example.com/", "//example.com", ""])
def test_only_http_urls_become_links(url: str) -> None:
    """A listed `javascript:` URL is shown as text."""
    assert inline.link("shown", url) == "shown"


def test_paths_and_titles_are_not_overescaped() -> None:
    """Ordinary paths and titles are written unchanged."""
    for plain in ("/docs/my_page-2.html?a=1&b=2", "What's new in 3.12 (beta): #1, 50% faster!", "日本語"):
        assert inline.text(plain) == plain


def test_titles_are_collapsed_and_truncated() -> None:
    """White space becomes one blank, and long titles are cut."""
    assert inline.title("  Two\n\tlines\u2028and more ") == "Two lines and more"
    assert inline.title(" \n ") == ""
    assert len(inline.title("x" * 5_000)) == inline.TITLE_LIMIT


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/%E3%81%82/b", "/あ/b"),
        ("/a%2Fb/c%20d", "/a%2Fb/c d"),
        ("/%FF/%41", "/%FF/A"),
        ("/100%/x", "/100%/x"),
    ],
)
def test_decoded_paths_show_the_same_folders(path: str, shown: str) -> None:
    """Percent-encoding is undone for display, unless it is not UTF-8 or hides a slash."""
    assert urls.decoded(path) == shown
