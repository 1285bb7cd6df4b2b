"""What a page's blocks are kept or cut for."""

from __future__ import annotations

from sitemirror.convert.explain import explain

PAGE = """<body><nav><ul><li><a href="/">Home</a></ul></nav>
<main id="text"><h1>Title</h1><p>One <b>paragraph</b>
of text.</p><p hidden>unseen</p></main>
<aside>teaser</aside><footer>imprint</footer>"""


def test_every_block_is_told_with_the_reason() -> None:
    """All text of the page is told in its order, whether it is kept or not, and why."""
    found = explain(PAGE, url="https://example.com/", content="main")
    assert [(block.text, block.is_kept, block.reason) for block in found] == [
        ("Home", False, "navigation"),
        ("Title", True, "in the content: main#text"),
        ("One paragraph of text.", True, "in the content: main#text"),
        ("unseen", False, "hidden: nobody sees it"),
        ("teaser", False, "beside the content"),
        ("imprint", False, "footer"),
    ]


def test_a_page_that_is_all_navigation_is_kept() -> None:
    """What the conversion falls back to is told as kept, too."""
    found = explain('<nav><a href="/a">A</a></nav>', url="https://example.com/")
    assert [(block.text, block.is_kept) for block in found] == [("A", True)]


def test_a_frameset_has_no_blocks() -> None:
    """Without a body there is nothing to tell."""
    assert explain("<frameset><frame src=a></frameset>", url="https://example.com/") == []
