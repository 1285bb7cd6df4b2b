"""Anchors: what a heading is called in a link, and which heading an id of the HTML page leads to."""

from __future__ import annotations

import random
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
import turbohtml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitemirror.convert import convert_html
from sitemirror.convert.anchors import fragment_map, pack_fragments, unpack_fragments
from sitemirror.links.markdown import MarkdownText, Slugs, anchors
from tests.convert.pages import URL
from tests.convert.test_robustness import SOUPS

MANUAL = Path("/usr/share/doc/postgresql-doc-15/html")
GOLDEN = Path(__file__).parent.parent / "golden"
RENDERER = MarkdownIt("commonmark", {"html": True, "maxNesting": 10_000}).enable(["table", "strikethrough"])


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Getting started", "getting-started"),
        ("What's new in 3.11?", "whats-new-in-311"),
        ("C++ & C#: a - b", "c--c-a---b"),
        ("snake_case -- DASH", "snake_case----dash"),
        ("Größe", "größe"),
        ("日本語の見出し", "日本語の見出し"),
        ("Ελληνικά É", "ελληνικά-é"),
        ("हिन्दी", "हिन्दी"),
        ("😄 emoji ⓐ", "-emoji-ⓐ"),
        ("½ ² Ⅷ ٣", "--ⅷ-٣"),
        ("a\u00a0b\u2014c", "abc"),
        ("  two  spaces", "--two--spaces"),
    ],
)
def test_anchors_match_github(heading: str, anchor: str) -> None:
    """Lower case; letters, marks, digits, underscores and hyphens stay, blanks become hyphens, the rest is dropped."""
    assert Slugs().slug(heading) == anchor


def test_equal_headings_are_numbered() -> None:
    """The second of a name gets -1, and no number is given twice."""
    slugs = Slugs()
    headings = ["a", "a", "A!", "a-1", "a-1", "b", "a", "?", "!"]
    assert [slugs.slug(heading) for heading in headings] == ["a", "a-1", "a-2", "a-1-1", "a-1-2", "b", "a-3", "", "-1"]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# One\n\n## Two ##\n", {"one", "two"}),
        ("One\n===\n\nTwo\nlines\n---\n", {"one", "twolines"}),
        ("> # Quoted\n\n- # Item\n  ## Inner\n", {"quoted", "item", "inner"}),
        ("# A [link](https://e.x/) *and* `co_de` _em_ a_b_c **_x_**", {"a-link-and-co_de-em-a_b_c-x"}),
        ("# A ![picture](i.png) here <b>bold</b> &amp; \\*", {"a--here-bold--"}),
        ("# <https://e.x/a_b>", {"httpsexa_b"}),
        ("# [a][b] [b]\n\n[b]: https://e.x/\n", {"a-b"}),
        ("#No\n\n    # Code\n\n```\n# Fenced\n```\n\n\\# Escaped\n\n<div>\n# Raw\n</div>\n", set()),
        ('<a id="x"></a> <a name=\'y\'>z</a>\n\n<div id=w>\n</div>\n\n`<a id="no">`\n', {"x", "y", "w"}),
        ('---\ntitle: "T"\nurl: "https://e.x/"\n---\n\n# One\n', {"one"}),
        ("---\ntitle: T\n---\n", {"title-t"}),
        ("", set()),
    ],
)
def test_the_anchors_of_a_file(markdown: str, expected: set[str]) -> None:
    """Headings of either kind, wherever they stand, without their markup; ids of raw HTML; no code, no front matter."""
    assert anchors(markdown) == expected


def headings(markdown: str) -> list[str]:
    """What the headings of the rendered page say, pictures aside."""
    found: list[str] = []
    for token, inner in pairwise(RENDERER.parse(markdown)):
        if token.type == "heading_open":
            parts = (part for part in inner.children or [] if part.type not in ("html_inline", "image"))
            found.append("".join("\n" if part.type.endswith("break") else part.content for part in parts))
    return found


WORDS = r"""
    # ## a b_c _ __ * ** *** a* *b _a a_ __a a__ _a_ *b* . ! ) [ ] [x] [y](z) ![i](j) ` `c` ``c`` \_ \* \ &amp; &#42;
    & <b> </b> <a@b.c> <https://e.x/_a_> é « " _* *_ '
"""
LINES = st.lists(st.sampled_from([*WORDS.split(), " ", "\n"]), max_size=14).map("".join)


@given(LINES, st.sampled_from(["# {}", "{}\n===", "> ## {} ##", "1. ### {}"]))
def test_heading_text_matches_the_renderer(line: str, form: str) -> None:
    """Emphasis, code, links, escapes and references are read as CommonMark reads them."""
    # The renderer keeps the indentation of lines in code, and takes more than the standard for a label.
    assume("\n " not in line and "][[" not in line)
    text = form.format(line) + "\n\n[x]: y\n"
    assert [said for said in MarkdownText(text).headings() if said] == [said for said in headings(text) if said]


CASES = {
    "on the heading": ('<h2 id="x">Two</h2>', "two"),
    "in the heading": ('<h2><a id="x"></a>Two</h2>', "two"),
    "at the heading's end": ('<h2>Two <a id="x"></a></h2><h3>Three</h3>', "two"),
    "old name": ('<h2><a name="x">Two</a></h2>', "two"),
    "before the heading": ('<p>a</p><a name="x"></a>\n<h2>Two</h2>', "two"),
    "on the section": ('<p>a</p><section id="x"><div><div><h2>Two</h2></div></div><p>b</p></section>', "two"),
    "after the heading": ('<h2>Two</h2><p>a</p><p id="x">b</p>', "two"),
    "between headings": ('<h2>Two</h2><p id="x">b</p><h2>Three</h2>', "two"),
    "empty, before text": ('<h2>Two</h2><a id="x"></a><p>b</p><h2>Three</h2>', "two"),
    "on a picture": ('<h2>Two</h2><img id="x" src="i.png"><h2>Three</h2>', "two"),
    "on code": ('<h2>Two</h2><pre id="x">b</pre><h2>Three</h2>', "two"),
    "in a cell": ('<h2>Two</h2><table><tr><td id="x">b</td></tr></table><h2>Three</h2>', "two"),
    "at the end": ('<h2>Two</h2><a id="x"></a>', "two"),
    "second of the name": ('<h2>Two</h2><h2 id="x">Two</h2>', "two-1"),
    "with a permalink": ('<h2 id="x">Two<a class="headerlink" href="#x">¶</a></h2>', "two"),
    "marked up": ('<h2 id="x"><em>Two</em> <code>a_b</code> &amp; H<sub>2</sub>O</h2>', "two-a_b--h2o"),
    "heading in a cell": ('<h2>Two</h2><table><tr><th>a</th></tr><tr><td><h3 id="x">b</h3></td></tr></table>', "two"),
    "heading in a heading": ('<h2 id="x">Two <h3>Three</h3></h2>', "two"),
    "empty heading": ('<h2>Two</h2><h3 id="x"></h3><p>a</p>', "two"),
    "heading in an item": ('<h2>Two</h2><ul><li><h3 id="x">b</h3></li></ul>', "b"),
    "heading in a quote": ('<h2>Two</h2><blockquote id="x"><h3>b</h3></blockquote>', "b"),
    "heading in code": ('<h2>Two</h2><pre id="x"># a <h3>b</h3></pre>', "two"),
    "heading over two lines": ('<h2 id="x">Two<br>lines</h2>', "two-lines"),
    "empty, before another": ('<h2>Two</h2><p>a</p><a id="x"></a><a id="y"></a> <h3>b</h3>', "b"),
    "blanks within a tag": ('<h2>Two</h2><h3 id="x">b<sup> 1 </sup></h3>', "b-1-"),
    "signs only": ('<h2>Two</h2><h3 id="x">?!</h3><p>a</p>', "two"),
}


@pytest.mark.parametrize("name", CASES)
def test_ids_map_to_their_heading(name: str) -> None:
    """The heading that has the id or follows it at once, else the last one before it; and it is there in the file."""
    html, expected = CASES[name]
    page = f"<main><h1>One</h1><p>text</p>{html}</main>"
    assert fragment_map(page, url=URL)["x"] == expected
    assert expected in anchors(convert_html(page, url=URL).markdown)


def test_ids_without_a_heading_are_omitted() -> None:
    """Before the first heading the top of the file is the place; what is not converted has none."""
    html = '<nav><a id="n">x</a></nav><main id="m"><p id="x">a</p><h1 id="h">One</h1></main><footer id="f">b</footer>'
    assert fragment_map(html, url=URL) == {"h": "one"}
    assert fragment_map('<frameset id="x"><frame src="y"></frameset>', url=URL) == {}
    assert fragment_map("", url=URL) == {}


def test_first_of_equal_ids_wins() -> None:
    """As in a browser."""
    assert fragment_map('<h1 id="x">One</h1><h2 id="x">Two</h2>', url=URL) == {"x": "one"}


def test_navigation_only_pages_have_anchors() -> None:
    """Where the conversion takes the whole body, so does the map."""
    html = '<nav><h2 id="x">Two</h2><a href="/a">a</a></nav>'
    assert fragment_map(html, url=URL) == {"x": "two"}
    assert "two" in anchors(convert_html(html, url=URL).markdown)


def test_anchors_use_charset_and_content_of_conversion() -> None:
    """The same bytes, charset and choice of content give the anchors of the same Markdown."""
    html = '<h1 id="t">Größe</h1><main><h2 id="x">Straße</h2><p>' + "text " * 200 + "</p></main>"
    assert fragment_map(html.encode("latin-1"), url=URL, charset="iso-8859-1")["x"] == "straße"
    assert fragment_map(html, url=URL, content="full") == {"t": "größe", "x": "straße"}


def test_marker_characters_in_the_page_are_harmless() -> None:
    """A page that holds the characters we mark headings with has no map, rather than a wrong one."""
    assert fragment_map('<h1 id="x">One \ufdd50\ufdd6</h1>', url=URL) == {}
    comments = "<!--\ufdd50--><!--\ufdd5999999999999--><!--\ufdd5x-->"
    assert fragment_map(f'{comments}<h1>One</h1><p id="x">a', url=URL) == {"x": "one"}


def test_map_is_stored_compactly() -> None:
    """What is packed comes back, and a heading is named once for all its ids; without names nothing is kept."""
    html = "".join(f'<h2 id="a{n}">Größe <a name="b &amp;\t{n}"></a></h2><p id="p{n}">' for n in range(300))
    packed = pack_fragments(html, url=URL)
    found = fragment_map(html, url=URL)
    assert unpack_fragments(packed) == found
    assert found["b &\t299"] == found["p299"] == "größe-299"
    assert packed.count("größe-299") == 1
    assert pack_fragments("<h1>One</h1>", url=URL) == ""
    assert unpack_fragments("") == {}


NAMED = SOUPS.map(
    lambda soup: soup.replace("<h1>", '<h1 id="a">').replace("<h2>", '<h2 id="b">').replace("<p>", "<p id=c>")
)


@given(NAMED)
@example('<h1 id="a">text<label>\x1b')
@example('<h1 id="a"><sub><aside>text')
def test_every_mapped_anchor_exists(html: str) -> None:
    """Whatever the page, no id leads to an anchor that the Markdown does not have."""
    for content in ("auto", "full", "main"):
        there = anchors(convert_html(html, url=URL, content=content).markdown)
        assert set(fragment_map(html, url=URL, content=content).values()) <= there


@pytest.mark.parametrize("page", sorted(GOLDEN.glob("*.html")), ids=lambda page: page.stem)
def test_saved_pages_keep_their_anchors(page: Path) -> None:
    """On pages of common generators ids are mapped, all of them to anchors of the golden Markdown."""
    found = fragment_map(page.read_bytes(), url=URL)
    assert found
    assert set(found.values()) <= anchors(page.with_suffix(".md").read_text(encoding="utf-8"))


@pytest.mark.skipif(not MANUAL.is_dir(), reason="Debian's package postgresql-doc-15 is not installed")
def test_manual_keeps_its_anchors() -> None:
    """In a real manual the id of every section, on the element around its title, leads to that title."""
    chosen = [*random.Random(3).sample(sorted(MANUAL.glob("*.html")), 60), MANUAL / "app-psql.html"]
    count = 0
    for page in chosen:
        html = page.read_bytes()
        url = f"https://e.x/{page.name}"
        places = fragment_map(html, url=url)
        assert set(places.values()) <= anchors(convert_html(html, url=url).markdown)
        for section in turbohtml.parse(html).select("div.sect1[id], div.sect2[id], div.sect3[id], div.refsect1[id]"):
            title = section.find(["h2", "h3", "h4"])
            assert title is not None
            anchor = Slugs().slug(" ".join(title.text.split()))
            assert re.fullmatch(re.escape(anchor) + r"(?:-\d+)?", places[section.attr("id") or ""])
            count += 1
    assert count > 50


@pytest.mark.slow
def test_time_is_linear() -> None:
    """A page of nothing but ids and headings takes no more than its share of time."""
    part = '<h2 id="h{0}">Same</h2><p id="p{0}">x <a name="a{0}"></a></p>'
    html = "".join(part.format(number) for number in range(10_000))
    start = time.process_time()
    assert len(fragment_map(html, url=URL)) == 30_000
    assert len(anchors(convert_html(html, url=URL).markdown)) == 10_000
    names = "".join(f'<a id="a{number}"></a><i id="i{number}"></i>' for number in range(20_000))
    assert len(fragment_map(f"{names}<h2>Same</h2>", url=URL)) == 40_000
    assert time.process_time() - start < 10
