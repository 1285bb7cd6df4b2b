"""Why blocks of a page are kept or removed."""

from __future__ import annotations

from sitemirror.convert import convert_html
from sitemirror.convert.explain import explain

PAGE = """<body><nav><ul><li><a href="/">Home</a></ul></nav>
<main id="text"><h1>Title</h1><p>One <b>paragraph</b>
of text.</p><p hidden>unseen</p></main>
<aside>teaser</aside><footer>imprint</footer>"""


def test_every_block_is_explained() -> None:
    """All text of the page in its order, kept or not, each with the reason."""
    found = explain(PAGE, url="https://example.com/", content="main")
    assert [(block.text, block.is_kept, block.reason) for block in found] == [
        ("Home", False, "navigation"),
        ("Title", True, "in the content: main#text"),
        ("One paragraph of text.", True, "in the content: main#text"),
        ("unseen", False, "hidden text"),
        ("teaser", False, "beside the content"),
        ("imprint", False, "footer"),
    ]


def test_navigation_only_page_is_kept() -> None:
    """What the conversion falls back to is told as kept, too."""
    found = explain('<nav><a href="/a">A</a></nav>', url="https://example.com/")
    assert [(block.text, block.is_kept) for block in found] == [("A", True)]


def test_frameset_has_no_blocks() -> None:
    """Without a body there is nothing to tell."""
    assert explain("<frameset><frame src=a></frameset>", url="https://example.com/") == []


def test_controls_are_not_shown_as_kept() -> None:
    """What the Markdown will not have is not said to be in it; a button that is a title is."""
    html = (
        "<main><h1>T</h1><p>Text.</p><form><textarea>typed</textarea><select><option>one</option></select></form>"
        "<button>Copy</button><button aria-controls=a>Question</button><div id=a>Answer</div></main>"
    )
    blocks = {block.text: block.is_kept for block in explain(html, url="https://example.com/")}
    page = convert_html(html, url="https://example.com/")
    assert {text for text, is_kept in blocks.items() if not is_kept} == {"typed", "one", "Copy"}
    assert all((text in page.markdown) is is_kept for text, is_kept in blocks.items())


def test_chrome_of_a_generator_is_not_shown_as_kept() -> None:
    """Line numbers and the like are cut, and a heading stays though a sign beside it goes."""
    html = (
        '<meta name=generator content="Asciidoctor 2"><div id=header><h1>Kites</h1><div class=details>'
        '<span class=author>Ada Wind</span></div></div><div id=content><h2><a class=anchor href="#a">§</a>'
        "Parts</h2><p>Spars.</p></div>"
    )
    blocks = [(block.text, block.is_kept, block.reason) for block in explain(html, url="https://example.com/")]
    assert blocks == [
        ("Kites", True, "the page"),
        ("Ada Wind", False, "added by the generator"),
        ("§Parts", True, "the page"),
        ("Spars.", True, "the page"),
    ]
    assert "Ada Wind" not in convert_html(html, url="https://example.com/").markdown
