"""What `auto` never takes out of the content: headings, tables and code, however unlikely the model finds them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import turbohtml

from sitemirror.convert.content.blocks import PageBlocks
from sitemirror.convert.content.features import Hints
from sitemirror.convert.content.keep import choose_blocks
from sitemirror.settings import Content
from tests.convert.pages import markdown

GOLDEN = Path(__file__).parent.parent / "golden"
_HEAD = re.compile(r"<head\b.*?</head>", re.S | re.I)
_FENCED = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1", re.S | re.M)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
_TARGET = re.compile(r"\]\([^)]*\)")
_LETTERS = re.compile(r"[^\W_]+")


def letters(text: str) -> str:
    """A text less everything that markup may have changed in it."""
    return "".join(_LETTERS.findall(_TARGET.sub("", text)))


@pytest.mark.parametrize("source", sorted(GOLDEN.glob("*.html")), ids=lambda path: path.stem)
def test_unknown_generator_keeps_structure(source: Path) -> None:
    """Without its head a generator's page is judged block by block, and no heading or line of code is lost."""
    expected = source.with_suffix(".md").read_text(encoding="utf-8").partition("\n---\n")[2]
    html = _HEAD.sub("<head></head>", source.read_text(encoding="utf-8"))
    found = letters(markdown(html, content="auto"))
    headings = [letters(heading) for heading in _HEADING.findall(_FENCED.sub("", expected))]
    # Doxygen's titles are known as such only where Doxygen is.
    marked = letters(" ".join(one.text for one in turbohtml.parse(html).find_all(re.compile("h[1-6]"))))
    assert headings
    for heading in headings:
        assert heading in found or heading not in marked
    for fenced in _FENCED.finditer(expected):
        for line in fenced[0].splitlines()[1:-1]:
            assert letters(line) in found


def made_page(random: Random) -> tuple[str, list[str]]:
    """A page of menus, teasers and a main part of sections at random, and all that the main part must give."""
    wanted: list[str] = []

    def said(kind: str) -> str:
        wanted.append(f"{kind}{len(wanted)}x{random.randrange(10**6)}")
        return wanted[-1]

    menu = "".join(f'<li><a href="/{n}">Menu {n}</a></li>' for n in range(random.randrange(3, 30)))
    sections = []
    for _ in range(random.randrange(4, 12)):
        rank = random.randrange(2, 5)
        name = random.choice(("related", "comments", "sidebar", "share", "section", "card", ""))
        bodies: list[Callable[[], str]] = [
            lambda: f"<pre>{said('code')}</pre>",
            lambda: f"<table><tr><th>{said('th')}<th>{said('th')}<tr><td>{said('td')}<td>{said('td')}</table>",
            lambda: f"<table class=menu><tr><th>{said('th')}<tr><td><a href=/>{said('td')}</a></table>",
            lambda: "<p>A paragraph that is long enough to be told from a label, and that says little more.</p>",
            lambda: '<ul><li><a href="/x">Share</a><li><a href="/y">Follow us</a></ul>',
        ]
        body = random.choice(bodies)
        sections.append(f'<div class="{name}"><h{rank}>{said("heading")}</h{rank}>{body()}</div>')
    return f'<ul class="menu">{menu}</ul><main>{"".join(sections)}</main><div class="footer">{menu}</div>', wanted


@pytest.mark.parametrize("seed", range(30))
def test_main_element_keeps_headings_tables_and_code(seed: int) -> None:
    """Whatever a section is called and holds, in the part that the page marks as its main one they all stay."""
    html, wanted = made_page(Random(seed))
    text = markdown(html, content="auto")
    assert [part for part in wanted if part not in text] == []


def kept(html: str, odds: dict[str, float], titles: str = "") -> str:
    """What `auto` keeps of a page where each text has the odds that a test gives it, else bad ones."""
    body = turbohtml.parse(html).find("body")
    assert body is not None
    reading = PageBlocks(body)
    is_kept = choose_blocks(
        reading, [odds.get(text, -9.0) for text in reading.texts], Content.AUTO, Hints(titles=titles, path="/row")
    )
    return " ".join(text for text, one in zip(reading.texts, is_kept, strict=True) if one)


def test_heading_is_kept_with_its_text() -> None:
    """A heading over kept text is kept, those above it, and those of its rank beside it; one somewhere else is not."""
    html = "<div><h2>a</h2><h3>b</h3><p>text</p><h3>c</h3><p>no</p><h2>d</h2></div><div><h2>e</h2><p>no</p></div>"
    assert kept(html, {"text": 5.0}) == "a b text c d"


def test_headings_of_removed_menus_are_removed() -> None:
    """Where a list of links goes, its heading goes with it, whatever its neighbours head."""
    link = "<ul><li><a href=/>no</a></ul>"
    html = f"<div><h3>a</h3>{link}<h3>b</h3><p>text</p><h3>c</h3>{link}<h3>d</h3><img src=x></div>"
    assert kept(html, {"text": 5.0}) == "b text d"


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("<h1>How to  Row</h1>", "How to  Row text"),
        ("<h1><span>How to</span> <div>Row</div></h1>", "How to Row text"),
        ("<h1><a href=/>How to Row</a></h1>", "text"),
        ("<h1><a href=https://example.com/row?x=1#y>How to Row</a></h1>", "How to Row text"),
        ("<h1>Boats and more</h1>", "text"),
        ("<h1>How to</h1><h1>Row</h1>", "text"),
    ],
)
def test_title_above_everything_is_kept(heading: str, expected: str) -> None:
    """The page's one h1 is kept if the page is called so, though nothing stands beside it; a site's name is not."""
    html = f"<div class=hero>{heading}<p>no</p></div><div><p>text</p></div>"
    assert kept(html, {"text": 5.0}, "how to row - boats") == expected


def test_heading_in_its_own_box_is_kept() -> None:
    """What a heading stands over is what stands behind it in the smallest part that holds more than the heading."""
    html = "<section><div><h2>a</h2></div><div><p>text</p></div></section><section><div><h2>b</h2></div></section>"
    assert kept(html, {"text": 5.0}) == "a text"


def test_caption_is_kept_with_its_figure() -> None:
    """Of a table that is kept, and of code, which always is; not of a picture, which goes with the text around it."""
    table = "<table><tr><th>a<th>b<tr><td>c<td>d</table>"
    assert kept(f"<figure>{table}<figcaption>e</figcaption></figure>", {"d": 5.0}) == "a b c d e"
    assert kept("<figure><pre>x</pre><figcaption>e</figcaption></figure>", {}) == "x e"
    html = "<p>text</p><div><figure><img src=x><figcaption>no</figcaption></figure></div><p>no</p>"
    assert kept(html, {"text": 5.0}) == "text"


def test_table_is_kept_whole() -> None:
    """One cell that is content makes the table content, unless it is a table for layout."""
    cells = "<tr><{0}>a<td>b<tr><td>c<td>d"
    assert kept(f"<table>{cells.format('th')}</table>", {"d": 5.0}) == "a b c d"
    assert kept(f"<table>{cells.format('td')}</table>", {"d": 5.0}) == "d"


def test_code_is_kept_everywhere() -> None:
    """No site puts code into its menus."""
    assert kept("<div><p>no</p><pre>code</pre><p>text</p></div>", {"text": 5.0}) == "code text"


def test_self_linked_heading_is_no_link() -> None:
    """As within the heading, a permalink around it says nothing; a link to another place does."""
    html = '<a href="#a" id="a"><h2>A</h2></a><a href="#b"><h2 id="b">B</h2></a><a href="#a"><h2 id="c">C</h2></a>'
    assert markdown(html) == "## A\n\n## B\n\n## [C](#a)\n"
