"""Where a reference leads: as in a browser, or nowhere and for what reason."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemirror.links.found import Refused
from sitemirror.links.html import page_links
from sitemirror.reasons import Reason
from tests.links.linked import HERE, URL, found_urls, names, read


@pytest.mark.parametrize(
    ("base", "where"),
    [
        ("/b/", "https://example.com/b/"),
        ("../", "https://example.com/docs/"),
        ("//cdn.example.net/v1/file", "https://cdn.example.net/v1/"),
        ("http://other.example/a/?q=/x/#f", "http://other.example/a/"),
        ("", HERE),
        ("data:text/html,x", HERE),
        ("javascript:0", HERE),
        ("file:///etc/", HERE),
        ("http://[", HERE),
    ],
)
def test_base_href_is_honoured(base: str, where: str) -> None:
    """Relative links are resolved against the first valid `<base href>`."""
    html = f"<base target=_top><a href=x>t</a><base href='{base}'><base href='/second/'><img src=y style='a: url(z)'>"
    assert found_urls(html) == [where + "x", where + "y", where + "z"]


def test_with_a_base_a_fragment_leads_to_another_page() -> None:
    """`#x` is resolved against the base like any other reference; SVG references are not."""
    html = "<base href='/b/'><a href='#x'>t</a><a href=''>t</a><svg><use href='#icon'/></svg>"
    assert found_urls(html) == ["https://example.com/b/"]


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("0;url=x", "x"),
        ("5; URL = 'x'", "x"),
        ('0;url="x"y', "x"),
        ("0 x", "x"),
        ("0,x", "x"),
        (" .5 ; url=x", "x"),
        ("0; 'x'", "x"),
        ("0;urx", "urx"),
        ("0;url='x", "x"),
        ("0;url=", None),
        ("30 ;", None),
        ("600 ; URL=", None),
        ("30 , x", "x"),
        ("x;url=y", None),
        ("5x;url=y", None),
        ("-1;url=y", None),
        ("", None),
        ("0;", None),
    ],
)
def test_refresh_is_parsed_leniently(content: str, url: str | None) -> None:
    """The standard's lenient syntax, with and without `url=` and quotes."""
    quoted = content.replace('"', "&quot;")
    assert names(f'<meta http-equiv="Refresh" content="{quoted}">') == ([url] if url else [])


def test_unfetchable_links_have_a_reason() -> None:
    """Each has a reason of the mirror index and is reported once."""
    html = (
        "<a href='mailto:a@example.com'>t</a><a href='MAILTO:a@example.com'>t</a><a href='mailto:a@example.com'>t</a>"
        "<a href='tel:+123'>t</a><a href='ftp://example.com/'>t</a><a href='file:///etc/passwd'>t</a>"
        "<a href='FILE:x'>t</a><a href='http://['>t</a><a href='https://u:p@example.com/'>t</a><a href='x:y'>t</a>"
    )
    links = read(html)
    assert links.found == ()
    assert links.refused == (
        Refused("mailto:a@example.com", Reason.NOT_HTTP),
        Refused("MAILTO:a@example.com", Reason.NOT_HTTP),
        Refused("tel:+123", Reason.NOT_HTTP),
        Refused("ftp://example.com/", Reason.NOT_HTTP),
        Refused("file:///etc/passwd", Reason.FILE_SCHEME),
        Refused("FILE:x", Reason.FILE_SCHEME),
        Refused("http://[", Reason.INVALID_LINK),
        Refused("https://***@example.com/", Reason.INVALID_LINK),
        Refused("x:y", Reason.NOT_HTTP),
    )


def test_script_urls_are_reported_once_per_scheme() -> None:
    """`javascript:` is reported once per page, and `data:` not at all."""
    html = "".join(f"<a href='javascript:f({n})'>t</a><img src='data:image/png,{n}{'A' * 9000}'>" for n in range(20))
    links = read(html + "<iframe src='about:blank'></iframe>")
    assert [refused.text[:16] for refused in links.refused] == ["javascript:f(0)", "about:blank"]
    assert {refused.reason for refused in links.refused} == {Reason.NOT_HTTP}
    assert max(len(refused.text) for refused in links.refused) <= 100


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("java\nscript:alert(1)", Reason.NOT_HTTP),
        (" \x01javascript:alert(1)", Reason.NOT_HTTP),
        ("fi\tle:///etc/passwd", Reason.FILE_SCHEME),
        ("http://exa mple.com/", Reason.INVALID_LINK),
        ("mailto:" + "x" * 9000, Reason.NOT_HTTP),
        ("/" + "x" * 9000, Reason.INVALID_LINK),
        ("../" * 500_000, Reason.INVALID_LINK),
        ("http://\x1b[31m\u202e/\x07", Reason.INVALID_LINK),
    ],
)
def test_disguised_and_hostile_references(href: str, reason: Reason) -> None:
    """A scheme with a line end is still that scheme; reports are short and printable."""
    links = read(f'<a href="{href}">t</a>')
    assert links.found == ()
    (refused,) = links.refused
    assert refused.reason == reason
    assert refused.text.isprintable()
    assert len(refused.text) <= 2000


REFERENCES = r"""
a|a/b.html?x=1#y|../b|../../b|../../../../b|../b/../c|./c|/root|/|//other.example/x|?q=1|?|/a/../b|/./a|/%2e%2e/b
|http://EXAMPLE.com|https://example.com:443/x|a b|  /padded |é|\back|/\evil.example/x|https:relative|https:/x|http:x
|a%2e%2e/b|..|.|../|./|../..|..//x|https://münchen.example/ß|a:b|a/b:c|./a:b|;x|&|%41|~u|_x|-x|.hidden|..x|...|/..
|a?b/../c|a?b:c|//[::1]/x|///x|////x|http:///x|https://1.2.3/
""".replace("\n", "").split("|")


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(
    "base", [URL, "https://example.com/", "https://example.com/a/b/?q=/x/y", "http://h.example:8080/d/"]
)
def test_references_resolve_as_in_a_browser(reference: str, base: str) -> None:
    """The fast path for plain references agrees with a WHATWG parser."""
    check_against_the_parser(reference, base)


@given(st.text("abAB01:/?#.%-_~=&@\\ \t\né", min_size=1, max_size=20), st.sampled_from([URL, "http://h.example/"]))
@example("/\t/evil.example/x", URL)
@example("0 #", URL)
@example("..\t/x", URL)
@example("../\t../x", URL)
@example("%2e%2e/x", URL)
def test_any_reference_resolves_as_in_a_browser(reference: str, base: str) -> None:
    """The fast path and the parser agree on any reference."""
    check_against_the_parser(reference, base)


def check_against_the_parser(reference: str, base: str) -> None:
    quoted = reference.replace("&", "&amp;").replace('"', "&quot;")
    found = found_urls(f'<a href="{quoted}">t</a>', base)
    try:
        parsed = ada_url.URL(reference, base)
    except ValueError:
        assert found == []
        return
    plain = parsed.protocol in ("http:", "https:") and not parsed.username and not parsed.password
    within = not reference.strip("\t\n ").partition("#")[0]
    href = str(parsed.href).partition("#")[0]
    assert found == ([href] if plain and not within else [])


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ('<a href="/é">'.encode("utf-8-sig"), "latin-1"),
        ('<a href="/é">'.encode("latin-1"), "ISO-8859-1"),
        ('<meta charset="windows-1252"><a href="/é">'.encode("cp1252"), None),
        ('<meta charset="windows-1252"><a href="/é">'.encode("cp1252"), "no-such-charset"),
        ("<a href='/é'>".encode("utf-16"), None),
        ('<a href="/é">'.encode(), "utf-8"),
        (b'<a href="/&eacute;">', None),
    ],
)
def test_charset_precedence(body: bytes, charset: str | None) -> None:
    """Byte order mark, then header, then the page itself."""
    assert [found.url for found in page_links(body, url=URL, charset=charset).found] == ["https://example.com/%C3%A9"]
