"""No page, however broken or hostile, raises, hangs or gets past the escaping."""

from __future__ import annotations

import time

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.robust import MONSTERS
from sitemirror.convert import convert_html, convert_text
from sitemirror.links.rewrite_html import localize_html
from sitemirror.links.values import xml_style_sheets
from sitemirror.settings import Content
from tests.convert.pages import URL, markdown
from tests.convert.trees import to_html


@pytest.mark.slow
@pytest.mark.parametrize("name", MONSTERS)
@pytest.mark.parametrize("content", ["full", "auto"])
def test_monsters_are_converted_in_time(name: str, content: str) -> None:
    """Depth and size cost time in proportion, and the end of the page is reached."""
    start = time.process_time()  # of this process alone, however busy the machine is
    text = convert_html(MONSTERS[name], url=URL, content=content).markdown
    assert time.process_time() - start < 10
    assert "end" in text


@pytest.mark.parametrize(
    "html", ["", " ", "\x00", "<", "</", "<!", "<!--", "<p", "text", "<html>", "<frameset>", "<plaintext>", "<br>\x1b"]
)
def test_fragments_are_converted(html: str) -> None:
    """Nothing, or next to nothing, is converted to nothing much."""
    for content in Content:
        for source in (html, html.encode()):
            text = convert_html(source, url=URL, content=content).markdown
            assert text == "" or (text.endswith("\n") and not text.endswith("\n\n"))


@pytest.mark.parametrize(
    "html",
    [
        '<meta name="description" content="A mark&amp;{}"><p>text',
        '<meta name="author" content="Ann&amp;{}"><p>text',
        '<script type="application/ld+json">{{"headline": "A&{}", "datePublished": "2020-01-01"}}</script><p>text',
        '<?xml-stylesheet href="a&{}"?><svg><style>a {{background: url("&{}")}}</style></svg>text',
    ],
)
def test_huge_numbers_are_ignored(html: str) -> None:
    """A reference to a character whose number nobody could count to is no character, and harms no page."""
    page = html.format(*[f"#{'1' * 5_000};"] * 2)
    assert "text" in convert_html(page, url=URL).markdown
    assert localize_html(page.encode(), url=URL, charset=None, target=str).endswith(b"text")
    assert len(list(xml_style_sheets(page.encode()))) == page.count("xml-stylesheet")


def test_bare_text_is_a_page() -> None:
    """A body without a single tag is its text."""
    assert markdown(b"just text\x00 & more") == "just text & more\n"


def test_framesets_are_links_to_their_frames() -> None:
    """A page of frames says where its content is."""
    frames = '<frame src="nav.html" name="Nav"><frame src="/body.html"><noframes>old</noframes>'
    html = f"<title>T</title><frameset>{frames}</frameset>"
    page = convert_html(html, url=URL)
    assert page.title == "T"
    assert page.markdown == "- [Nav](https://example.com/docs/nav.html)\n- <https://example.com/body.html>\n"
    assert [link.url for link in page.links] == ["https://example.com/docs/nav.html", "https://example.com/body.html"]


TAGS = """
    a aside article audio b base blockquote body button br caption center code col dd details dialog div dl dt em embed
    fieldset figure footer form frame frameset h1 h2 h3 h6 head header hr html i iframe img input label legend li link
    main map math meta nav noscript object ol option p picture pre q s script section select source span strong style
    sub summary sup svg table tbody td template text textarea tfoot th thead title tr tt u ul video
"""
ATTRIBUTES = """
    href='/x' | href='#' | href='' | href='javascript:x' | href='http://[' | src='/y' | src='data:,x' | hidden | open
    srcset='a 1x, b 2x' | role=main | role=navigation | role=tabpanel | role=note | style='display:none' | onclick=x()
    class='language-x' | class='highlight-y' | class=headerlink | class=admonition | id=content | colspan=3 | rowspan=0
    rowspan=2 | type=checkbox | width=1 height=1 | alt=z | title='t' | http-equiv=refresh content='0;url=/r'
    rel=canonical | data-src=/z | poster=/p | name=description content=d
"""
NAMES = st.sampled_from(TAGS.split())
MARKUP = st.sampled_from([part.strip() for line in ATTRIBUTES.splitlines() for part in line.split("|")])
PIECES = st.one_of(
    NAMES.map(lambda tag: f"<{tag}>"),
    st.tuples(NAMES, st.lists(MARKUP, max_size=3)).map(lambda found: f"<{found[0]} {' '.join(found[1])}>"),
    NAMES.map(lambda tag: f"</{tag}>"),
    st.sampled_from(
        [
            "text",
            " ",
            "\n",
            "&nbsp;",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "|",
            "*",
            "`",
            "\x00",
            "\x1b",
            "é",
            "]]>",
        ]
    ),
    st.text(max_size=5),
)
SOUPS = st.lists(PIECES, max_size=30).map("".join)


@given(SOUPS, st.sampled_from(list(Content)))
def test_any_markup_is_converted_deterministically(html: str, content: Content) -> None:
    """Never raises, always the same bytes, always well-formed output."""
    page = convert_html(html, url=URL, content=content)
    assert page == convert_html(html, url=URL, content=content)
    text = page.markdown
    text.encode()
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n"))
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)


@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "utf-16le", "shift_jis", "bogus"]))
def test_any_bytes_are_converted(body: bytes, charset: str | None) -> None:
    """Neither HTML nor text conversion raises for any bytes."""
    convert_html(body, url=URL, charset=charset)
    convert_text(body, url=URL, charset=charset)


@given(SOUPS)
def test_no_active_content_is_written(html: str) -> None:
    """Rendered with raw HTML allowed, the Markdown holds no script, handler, frame or script address."""
    rendered = turbohtml.parse(to_html(markdown(html)))
    allowed = {
        "html",
        "head",
        "body",
        "p",
        "a",
        "img",
        "br",
        "hr",
        "em",
        "strong",
        "code",
        "pre",
        "sub",
        "sup",
        "del",
        "s",
    }
    allowed |= {
        "ul",
        "ol",
        "li",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "details",
        "summary",
        "kbd",
    }
    for element in rendered.iter_elements():
        assert element.tag in allowed
        assert not any(name.startswith("on") for name in element.attrs)
        for name in ("href", "src"):
            assert not (element.attr(name) or "").lower().startswith(("javascript:", "vbscript:", "data:"))


@pytest.mark.parametrize("url", [URL, ""])
@pytest.mark.parametrize("blank", ["", " ", "\t", "\n", "\x01", "\xa0", "\u3000", "\u2003"])
def test_script_urls_become_text(url: str, blank: str) -> None:
    """However it is begun, an address that runs something is no link, whether or not the page's own URL is known."""
    for name in ("javascript", "JavaScript", "java\tscript", "vbscript"):
        text = convert_html(f'<a href="{blank}{name}:alert(1)">x</a>', url=url).markdown
        assert text == "x\n" or text.startswith(f"[x]({URL.rpartition('/')[0]}/%")
