"""URLs are resolved as a browser does it, and the page's links are read."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.resolve import Resolver
from sitemirror.model import Link
from sitemirror.urls import normalize
from tests.convert.pages import URL, markdown, page

REFERENCES = """
a|a/b.html?x=1#y|../b|./c|/root|//other.example/x|?q=1|/a/../b|http://EXAMPLE.com|https://example.com:443/x|a b|a\tb
| /padded |é|\\back|https:relative|x:y|mailto:a@b.example|tel:+123|%7Euser|a/./b|a%2e%2e/b|..|.|https://münchen.example/ß
|//other.example/a%20b:c@d|//other.example|/%2e%2E/a|/a%20b:c|/@a|https://example.com/@a:b%|//xn--mnchen-3ya.example/
|https://xn--mnchen-3ya.example/|https://1.2.3/|https://0x7f.1/x|https://example.com/a?b='c'|ftp://example.com/f
""".strip().split("|")


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(
    "base", [URL, "https://example.com/", "https://example.com/a/b/?q=/x/y", "http://h.example:8080/d/"]
)
def test_references_resolve_as_in_a_browser(reference: str, base: str) -> None:
    """The short way for plain references gives what a WHATWG parser gives."""
    assert Resolver(base)[reference] == ada_url.URL(reference, base).href


@given(st.text("abAB01:/?#.%-_~=&@\\ é", min_size=1, max_size=20))
def test_any_reference_resolves_as_in_a_browser(reference: str) -> None:
    """No spelling of a reference makes the short way and the parser differ."""
    found = Resolver(URL)[reference]
    try:
        expected = str(ada_url.URL(reference, URL).href)
    except ValueError:
        assert found is None
        return
    assert found == (None if reference.startswith("#") else expected)


@given(
    st.sampled_from(["https", "http"]), st.text("abz09.-_xn", min_size=1, max_size=12), st.text("ab/.%?#", max_size=8)
)
def test_absolute_urls_match_a_browser(scheme: str, host: str, rest: str) -> None:
    """Hosts that only look plain (numbers, punycode) are not passed through unread."""
    reference = f"{scheme}://{host}/{rest}"
    try:
        expected = str(ada_url.URL(reference).href)
    except ValueError:
        assert Resolver(URL)[reference] is None
        return
    assert Resolver(URL)[reference] == expected


def test_images_and_links_are_absolute() -> None:
    """`/images/logo.png` is written with the page's host."""
    html = '<img src="/images/logo.png"><a href="../up.html#x">Up</a>'
    assert markdown(html) == "![](https://example.com/images/logo.png)[Up](https://example.com/up.html#x)\n"


def test_base_href_is_applied() -> None:
    """References count from the base element, the first with an href, itself resolved."""
    html = (
        '<head><base target="_top"><base href="/other/"><base href="/third/"></head><a href="x">X</a><img src="i.png">'
    )
    assert markdown(html) == "[X](https://example.com/other/x)![](https://example.com/other/i.png)\n"


def test_invalid_base_is_ignored() -> None:
    """A data: or broken base does not take the page's links with it."""
    for base in ("data:text/html,x", "http://[", "javascript:0"):
        assert markdown(f'<base href="{base}"><a href="x">X</a>') == "[X](https://example.com/docs/x)\n"


def test_fragment_links_stay_short() -> None:
    """`#part` stays as it is, whatever the base; `#` alone and no href are no links."""
    html = '<base href="/other/"><p><a href="#part">Part</a> <a href="#">Menu</a> <a>Plain</a></p>'
    assert markdown(html) == "[Part](#part) Menu Plain\n"


@pytest.mark.parametrize("blank", ["", " ", "\n", " \n "])
def test_empty_link_leads_to_the_page(blank: str) -> None:
    """Blanks around an address do not count, so blanks alone are an empty one."""
    assert f"[here]({URL})" in markdown(f'<p>Look <a href="{blank}">here</a> for more.</p>')


def test_invalid_links_become_text() -> None:
    """Scripts and data in a link are dropped, however they are spelled; mail addresses stay."""
    html = (
        '<p><a href="javascript:alert(1)">a</a> <a href=" JAVA&#10;SCRIPT:x">b</a> <a href="data:text/html,x">c</a> '
        '<a href="vbscript:x">d</a> <a href="http://[bad">e</a> <a href="mailto:x@y.example">f</a></p>'
    )
    assert markdown(html) == "a b c d e [f](mailto:x@y.example)\n"


def test_links_without_text_are_dropped_but_listed() -> None:
    """An empty link or one around an icon is noise in the text, and a link of the page all the same."""
    found = page('<a href="/a"></a><a href="/b" aria-label="Home"><svg/></a><a href="/c"><img src="/i" alt="Pic"></a>')
    assert found.markdown == "[![Pic](https://example.com/i)](https://example.com/c)\n"
    assert found.links == (
        Link("https://example.com/a"),
        Link("https://example.com/b", "Home"),
        Link("https://example.com/c", "Pic"),
    )


@pytest.mark.parametrize("between", [" ", "\n", "&nbsp;", "<span> </span>", "<br>"])
def test_link_around_a_blank_is_a_blank(between: str) -> None:
    """Editors leave such links between words; without the blank two words would be one."""
    html = f'<p>Buy a<a href="/a">{between}</a><a href="/b">phone</a> <em><a href="/a">{between}</a></em>now.'
    assert markdown(html) == "Buy a [phone](https://example.com/b) now.\n"


def test_links_are_listed_once_and_normalised() -> None:
    """All http links of the page, navigation included, in order, without fragments, with their first text."""
    html = (
        '<nav><a href="/one#top">One\n  two</a></nav><main><p><a href="HTTPS://Example.com:443/one">again</a>'
        '<a href="#x">here</a><a href="mailto:a@b.example">mail</a><a href="https://u:p@example.com/secret">s</a></p></main>'
        '<map><area href="map" alt="Map"></map><footer><a href="/one?">q</a></footer>'
    )
    assert page(html, content="auto").links == (
        Link("https://example.com/one", "One two"),
        Link("https://example.com/docs/map", "Map"),
        Link("https://example.com/one?", "q"),
    )


@given(st.lists(st.text("abc:/?#.%@[]\\ é'\"", max_size=15), max_size=5))
def test_every_listed_link_can_be_fetched(references: list[str]) -> None:
    """Whatever a page holds, its links are normalised http(s) URLs."""
    html = "".join(f'<a href="{reference.replace(chr(34), "&quot;")}">x</a>' for reference in references)
    for link in page(html).links:
        assert normalize(link.url) == link.url


def test_page_without_valid_url_is_converted() -> None:
    """With an address that is none, relative links stay relative."""
    assert markdown('<a href="x">X</a><a href="https://a.example/">A</a>', url="") == "[X](x)[A](https://a.example/)\n"


@pytest.mark.parametrize("option", ["-a", "-?", "#", "x"])
def test_self_linked_options_are_kept(option: str) -> None:
    """A manual page's option is a permalink by its class only: it is what the reader looks for."""
    html = f'<dl><dt><a class="permalink" href="#a"><code>{option}</code></a></dt><dd>All</dd></dl>'
    assert f"`{option}`" in markdown(html)


@pytest.mark.parametrize("sign", ["¶", "#", "*", "»", "Link", ""])
def test_permalink_signs_are_removed(sign: str) -> None:
    """What only gives a heading's address is no part of it."""
    assert markdown(f'<h2 id="a">Oars <a class="permalink" href="#a">{sign}</a></h2><p>Two.</p>') == "## Oars\n\nTwo.\n"


@pytest.mark.parametrize(
    "way",
    [
        '<a href="#top_of_page"><span>top</span></a>',
        '<span><a href="#top">↑</a></span>',
        '<a href="#">[Back to top]</a>',
    ],
)
def test_up_link_in_heading_is_removed(way: str) -> None:
    """A link to the page's top beside a heading is not what the section is called."""
    assert markdown(f"<h2>NAME &nbsp;{way}</h2><p>x</p>") == "## NAME\n\nx\n"


def test_heading_named_top_is_kept() -> None:
    """What is all of a heading stays, wherever it leads."""
    assert markdown('<h2><a href="#top">Top</a></h2><p>x</p>') == "## Top\n\nx\n"


@pytest.mark.parametrize("href", ["#hash", "pattern.html#hash", "https://example.com/docs/page.html#hash"])
@pytest.mark.parametrize("sign", ["#", "§"])
def test_sign_in_code_or_between_words_is_no_permalink(href: str, sign: str) -> None:
    """Vim's manual links the key `#`, as a word of a sentence and in code."""
    html = f"<p>The key <a href='{href}'>{sign}</a> searches back.</p><pre>a '<a href='{href}'>{sign}</a>'</pre>"
    target = href if href.startswith("#") else f"https://example.com/docs/{href.rpartition('/')[2]}"
    assert markdown(html) == f"The key [{sign}]({target}) searches back.\n\n```\na '{sign}'\n```\n"


@pytest.mark.parametrize("html", ["<h2>One <a href='#x'>#</a> two</h2>", "<p>One two. <a href='#x'>#</a></p>"])
def test_sign_next_to_heading_or_text_is_a_permalink(html: str) -> None:
    """It stands there to be copied, not to be read."""
    assert "#x" not in markdown(html)


def test_permalink_on_its_own_line_is_removed() -> None:
    """pydoctor writes the sign with blanks and lines around it."""
    assert markdown('<div>f() <a href="#f">\n\n          ¶\n        </a></div><p>B</p>') == "f()\n\nB\n"


def test_arrow_to_the_top_is_removed() -> None:
    """A picture says so by its words; one of anything else stays."""
    html = '<p>Text.</p><div><a href="#page-header"><img alt="top" src="/up.gif"></a></div>'
    assert markdown(html) == "Text.\n"
    assert markdown('<a href="#b"><img alt="Map" src="/m.gif"></a>') == "[![Map](https://example.com/m.gif)](#b)\n"


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ('<a href="#setup">Setup<img alt="share" src="/s.svg"></a>', "## Setup"),
        ('Setup <a href="#setup"><img alt="Link icon" src="/s.svg"></a>', "## Setup"),
        ('Setup <a href="/share"><img alt="share" src="/s.svg"></a>', None),
        ('<a href="#setup"><img alt="Acme link" src="/s.svg"> Setup</a>', None),
    ],
)
def test_heading_icon_with_self_link_is_removed(heading: str, expected: str | None) -> None:
    """As sites made with Next.js have them; a picture that says something, or leads elsewhere, stays."""
    found = markdown(f'<h2 id="setup">{heading}</h2><p>Words.</p>')
    if expected is None:
        assert "/s.svg" in found
    else:
        assert found == f"{expected}\n\nWords.\n"
