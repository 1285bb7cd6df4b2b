"""Where a block stands counts as much as what the model says of it: in the article, in the main part, in comments."""

from __future__ import annotations

import pytest
import turbohtml

from sitemirror.convert.content.blocks import PageBlocks
from sitemirror.convert.content.features import Hints, read_hints
from sitemirror.convert.content.keep import choose_blocks
from sitemirror.settings import Content

ARTICLE = Hints(graph=1, titles="the long way home | the daily walk")
TEXT = "A sentence of the text that people came for, and then some more of it. "


def kept(html: str, said: Hints, *, unlikely: str = "", at: float = -1.5, content: Content = Content.MAIN) -> str:
    """The kept blocks' first words, all of them being likely content but those that begin with `unlikely`."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    reading = PageBlocks(body)
    odds = [at if unlikely and text.startswith(unlikely) else 1.0 for text in reading.texts]
    chosen = choose_blocks(reading, odds, content, said)
    return " ".join(text.split()[0] for text, is_kept in zip(reading.texts, chosen, strict=True) if is_kept)


@pytest.mark.parametrize("name", ["comment", "comment-body", "post-comment clearfix", "userComment", "CommentsItem"])
def test_comments_are_not_the_article(name: str) -> None:
    """Comments are left out, also where they are longer than what they are about; `auto` keeps them."""
    comments = "".join(f"<div class='{name}'><p>{word} {TEXT}</p></div>" for word in ("Two", "Three"))
    page = f"<div><h1>The long way home</h1><p>One {TEXT}</p></div><div>{comments}</div>"
    assert kept(page, ARTICLE) == "The One"
    assert kept(page, Hints()) == "The One Two Three"  # It may be a thread.
    assert kept(page, ARTICLE, content=Content.AUTO) == "The One Two Three"


@pytest.mark.parametrize("name", ["comments", "discussion", "responses"])
def test_section_about_comments_is_kept(name: str) -> None:
    """One part of that name may be a chapter: of a tutorial, of a paper, of an interface's description."""
    page = f"<h1>The long way home</h1><p>One {TEXT}</p><section id='{name}'><h2>Two</h2><p>Three {TEXT}</p></section>"
    assert kept(page, ARTICLE) == "The One Two Three"


def test_page_of_comments_is_kept() -> None:
    """Where hardly anything else is there, what is called comments is the page."""
    posts = "".join(f"<div class='comment'><p>{number} {TEXT}</p></div>" for number in ("One", "Two", "Three"))
    assert kept(f"<h1>The long way home</h1>{posts}", ARTICLE) == "The One Two Three"


def test_article_with_the_title_is_used() -> None:
    """Other articles on the page of an article are left out, however sure their text is."""
    page = (
        f"<main><article><h1>The long way home</h1><p>One {TEXT * 3}</p></article>"
        f"<article><h2>Another walk</h2><p>Two {TEXT * 3}</p></article></main>"
    )
    assert kept(page, ARTICLE) == "The One"
    assert kept(page, Hints()) == "The One Another Two"  # It does not say that it is an article.


def test_site_name_as_heading_hides_no_article() -> None:
    """Of the headings that the title has, the one in an article counts; in Japanese four characters are a name."""
    page = (
        f"<header><h1>The daily walk</h1></header><article><h2>谷の洪水</h2><p>One {TEXT * 3}</p></article>"
        f"<article><h2>Another walk</h2><p>Two {TEXT * 3}</p></article>"
    )
    assert kept(page, Hints(graph=1, titles="谷の洪水 | the daily walk")) == "谷の洪水 One"


def test_short_article_is_a_teaser() -> None:
    """An article element that has the title but not the text does not decide."""
    page = f"<div><article><h1>The long way home</h1></article><p>One {TEXT * 3}</p><p>Two {TEXT * 3}</p></div>"
    assert kept(page, ARTICLE) == "The One Two"


@pytest.mark.parametrize(
    ("url", "is_documentation"),
    [
        ("https://docs.example.com/a", True),
        ("https://example.com/docs/a", True),
        ("https://example.com/product/reference/a.html?x=1", True),
        ("https://example.com/api", True),
        ("https://example.com/blog/docs-are-fun", False),
        ("https://docs.com/", False),
        ("https://example.com/?page=docs", False),
        ("https://example.com?next=/docs/a", False),
        ("https://example.com#/docs/a", False),
        ("https://example.com/blog/guides/a", False),
        ("", False),
    ],
)
def test_documentation_urls(url: str, is_documentation: bool) -> None:
    """A whole part of the path or of the host's name says so, not a word in one."""
    assert read_hints((), url).is_documentation is is_documentation


def test_documentation_keeps_its_main_element() -> None:
    """Of documentation `main` keeps what `auto` does, if it stands in what the page marks as its main part."""
    page = f"<main><h1>Title</h1><p>One {TEXT}</p><p>Unsure {TEXT}</p></main><div><p>Beside {TEXT}</p></div>"
    assert kept(page, Hints(), unlikely="Unsure") == "Title One Beside"
    assert kept(page, Hints(is_documentation=True), unlikely="Unsure") == "Title One Unsure"
    assert kept(page.replace("main>", "div>"), Hints(is_documentation=True), unlikely="Unsure").endswith("Beside")


def test_documentation_keeps_the_title_above_main() -> None:
    """A heading above the main part is the page's title if that has none; code and tables there are something else."""
    page = f"<div><h1>Title</h1><pre>curl</pre></div><main><h2>Part</h2><p>One {TEXT}</p></main>"
    assert kept(page, Hints(is_documentation=True)) == "Title Part One"
    assert kept(page.replace("h2", "h1"), Hints(is_documentation=True)) == "Part One"


def test_at_least_one_block_is_kept() -> None:
    """Also where the main part has many blocks, none of them likely, and the likely one stands elsewhere."""
    page = f"<p>Sure {TEXT}</p><main>{f'<p>Unsure {TEXT}</p>' * 30}</main>"
    assert kept(page, Hints(is_documentation=True), unlikely="Unsure", at=-2.6)


def test_repeated_text_is_kept_if_repeated_on_the_page() -> None:
    """A second version for another screen is left out; a line that a text repeats is not."""
    line = f"<p>Line {TEXT}</p>"
    assert kept(f"<div>{line}<p>One {TEXT}</p>{line}</div><section>{line}</section>", Hints()) == "Line One Line"


def test_blocks_between_kept_blocks_are_kept() -> None:
    """Whoever is quoted, and a caption, stay with the text around them; what stands between two texts does not."""
    page = f"<div><p>One {TEXT}</p><figure><figcaption>Caption</figcaption></figure><p>Two {TEXT}</p></div>"
    assert kept(page, Hints(), unlikely="Caption", at=-4, content=Content.AUTO) == "One Caption Two"
    apart = (
        f"<div><section><p>One {TEXT}</p></section></div><p>Advert</p><div><section><p>Two {TEXT}</p></section></div>"
    )
    assert kept(apart, Hints(), unlikely="Advert", at=-4, content=Content.AUTO) == "One Two"


def test_list_is_kept_whole() -> None:
    """A list of single lines is kept whole if enough of it is likely; what is likely is kept in any case."""
    text = f"<p>Text {TEXT * 3}</p>"
    items = "".join(f"<li>{word}</li>" for word in ("Yes", "Yes", "No", "No", "No", "No"))
    page = f"<div>{text}</div><ul>{items}</ul>"
    assert kept(page, Hints(), unlikely="No", at=-4, content=Content.AUTO).count("No") == 4
    fewer = page.replace("<li>Yes</li>", "", 1)
    assert kept(fewer, Hints(), unlikely="No", at=-4, content=Content.AUTO) == "Text Yes"


def test_menus_above_main_are_removed() -> None:
    """Where a page marks its main part, links alone above it have to be likely; those below may be what it leads to."""
    link = "<div><p><a href='/x'>Link</a></p></div>"
    page = f"{link}<div><p>Aside {TEXT}</p></div><main><p>Text {TEXT * 3}</p></main>"
    assert kept(page, Hints(), unlikely="Link", content=Content.AUTO) == "Aside Text"
    assert kept(page + link, Hints(), unlikely="Link", content=Content.AUTO) == "Aside Text Link"
    unmarked = page.replace("main>", "div>")
    assert kept(unmarked, Hints(), unlikely="Link", content=Content.AUTO) == "Link Aside Text"
