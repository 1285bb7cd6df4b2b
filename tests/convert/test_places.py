"""Where a block stands counts as much as what the model says of it: in the article, in the main part, in comments."""

from __future__ import annotations

import pytest
import turbohtml

from sitemirror.choices import Content
from sitemirror.convert.blocks import Reading
from sitemirror.convert.hints import Hints, hints
from sitemirror.convert.keep import keep

ARTICLE = Hints(graph=1, titles="the long way home | the daily walk")
TEXT = "A sentence of the text that people came for, and then some more of it. "


def kept(html: str, said: Hints, *, unlikely: str = "", at: float = -1.5, content: Content = Content.MAIN) -> str:
    """The kept blocks' first words, all of them being likely content but those that begin with `unlikely`."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    reading = Reading(body)
    odds = [at if unlikely and text.startswith(unlikely) else 1.0 for text in reading.texts]
    chosen = keep(reading, odds, content, said)
    return " ".join(text.split()[0] for text, is_kept in zip(reading.texts, chosen, strict=True) if is_kept)


@pytest.mark.parametrize("name", ["comments", "comment-list", "post-comments clearfix", "disqus_thread"])
def test_what_people_say_of_an_article_is_not_the_article(name: str) -> None:
    """Comments are left out, also where they are longer than what they are about."""
    page = f"<div><h1>The long way home</h1><p>One {TEXT}</p></div><div class='{name}'><p>Two {TEXT}</p></div>"
    assert kept(page, ARTICLE) == "The One"
    assert kept(page, Hints()) == "The One"
    assert kept(page, ARTICLE, content=Content.AUTO) == "The One Two"


def test_a_page_of_comments_is_its_comments() -> None:
    """Where nothing else is there, what is called comments is the page."""
    posts = "".join(f"<div class='comment'><p>{number} {TEXT}</p></div>" for number in ("One", "Two", "Three"))
    assert kept(f"<h1>What do you think?</h1>{posts}", Hints()) == "What One Two Three"


def test_the_article_is_the_one_with_the_title() -> None:
    """Other articles on the page of an article are left out, however sure their text is."""
    page = (
        f"<main><article><h1>The long way home</h1><p>One {TEXT * 3}</p></article>"
        f"<article><h2>Another walk</h2><p>Two {TEXT * 3}</p></article></main>"
    )
    assert kept(page, ARTICLE) == "The One"
    assert kept(page, Hints()) == "The One Another Two"  # It does not say that it is an article.


def test_an_article_with_little_in_it_is_a_teaser() -> None:
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
        ("", False),
    ],
)
def test_addresses_that_speak_of_documentation(url: str, is_documentation: bool) -> None:
    """A whole part of the path or of the host's name says so, not a word in one."""
    assert hints((), url).is_documentation is is_documentation


def test_documentation_keeps_what_its_main_part_has() -> None:
    """Of documentation `main` keeps what `auto` does, if it stands in what the page marks as its main part."""
    page = f"<main><h1>Title</h1><p>One {TEXT}</p><p>Unsure {TEXT}</p></main><div><p>Beside {TEXT}</p></div>"
    assert kept(page, Hints(), unlikely="Unsure") == "Title One Beside"
    assert kept(page, Hints(is_documentation=True), unlikely="Unsure") == "Title One Unsure"
    assert kept(page.replace("main>", "div>"), Hints(is_documentation=True), unlikely="Unsure").endswith("Beside")


def test_a_text_is_said_twice_only_where_it_stands_twice() -> None:
    """A second version for another screen is left out; a line that a text repeats is not."""
    line = f"<p>Line {TEXT}</p>"
    assert kept(f"<div>{line}<p>One {TEXT}</p>{line}</div><section>{line}</section>", Hints()) == "Line One Line"


def test_what_stands_between_kept_blocks_is_kept() -> None:
    """Whoever is quoted, and a caption, stay with the text around them; what stands between two texts does not."""
    page = f"<div><p>One {TEXT}</p><figure><figcaption>Caption</figcaption></figure><p>Two {TEXT}</p></div>"
    assert kept(page, Hints(), unlikely="Caption", at=-4, content=Content.AUTO) == "One Caption Two"
    apart = (
        f"<div><section><p>One {TEXT}</p></section></div><p>Advert</p><div><section><p>Two {TEXT}</p></section></div>"
    )
    assert kept(apart, Hints(), unlikely="Advert", at=-4, content=Content.AUTO) == "One Two"


def test_a_list_is_not_torn() -> None:
    """A list of single lines is kept whole if enough of it is likely, else not at all."""
    text = f"<p>Text {TEXT * 3}</p>"
    items = "".join(f"<li>{word}</li>" for word in ("Yes", "Yes", "No", "No", "No", "No"))
    assert (
        kept(f"<div>{text}</div><ul>{items}</ul>", Hints(), unlikely="No", at=-4, content=Content.AUTO).count("No") == 4
    )
    fewer = items.replace("<li>Yes</li>", "", 1)
    assert kept(f"<div>{text}</div><ul>{fewer}</ul>", Hints(), unlikely="No", at=-4, content=Content.AUTO) == "Text"


def test_menus_beside_the_main_part_go() -> None:
    """Where a page marks its main part, links alone outside of it have to be likely."""
    link = "<a href='/x'>Link</a>"
    page = f"<main><p>Text {TEXT * 3}</p></main><div><p>{link}</p><p>Aside {TEXT}</p></div>"
    assert kept(page, Hints(), unlikely="Link", content=Content.AUTO) == "Text Aside"
    assert "Link" in kept(page.replace("main>", "div>"), Hints(), unlikely="Link", content=Content.AUTO)
