"""Every form a link can have on a page: where it leads, what it is for, and why it is none."""

from __future__ import annotations

import time

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemirror.discover.links import Found, LinkKind, PageLinks, Refused, page_links
from sitemirror.discover.srcset import candidates

URL = "https://example.com/docs/guide/page.html"
HERE = "https://example.com/docs/guide/"


def read(html: str, url: str = URL) -> PageLinks:
    return page_links(html.encode(), url=url)


def only(html: str) -> Found:
    (found,) = read(html).found
    return found


def found_urls(html: str, url: str = URL) -> list[str]:
    return [found.url for found in read(html, url).found]


def names(html: str) -> list[str]:
    return [url.removeprefix(HERE) for url in found_urls(html)]


NAVIGATION = [
    '<a href="x">t</a>',
    '<map><area href="x"></map>',
    '<svg><a href="x">t</a></svg>',
    '<svg><a xlink:href="x">t</a></svg>',
    '<meta http-equiv="refresh" content="5; url=x">',
    *(
        f'<link rel="{rel}" href="x">'
        for rel in ("canonical", "alternate", "next", "prev", "license", "HELP", "up x", "prerender")
    ),
    '<link rel="alternate" type="application/rss+xml" href="x">',
    '<link rel="alternate" hreflang="de" href="x">',
    '<link rel="prefetch" href="x">',
    '<link rel="prefetch" as="document" href="x">',
]
NEEDED_BY_HREF = [
    *(
        f'<link rel="{rel}" href="x">'
        for rel in ("stylesheet", "alternate stylesheet", "icon", "Shortcut Icon", "apple-touch-icon", "manifest")
    ),
    '<link rel="modulepreload" href="x">',
    '<link rel="preload" as="font" href="x">',
    '<link rel="prefetch" as="script" href="x">',
]
NEEDED_BY_SRC = [
    '<img src="x">',
    '<img srcset="x 2x">',
    '<picture><source srcset="x"></picture>',
    '<video src="x"></video>',
    '<video poster="x"></video>',
    '<audio src="x"></audio>',
    '<video><source src="x"></video>',
    '<video><track src="x"></video>',
    '<object data="x"></object>',
    '<embed src="x">',
    '<input type="IMAGE" src="x">',
    '<script src="x"></script>',
    '<link rel="preload" as="image" imagesrcset="x 1x">',
    '<svg><image href="x"/></svg>',
    '<svg><image xlink:href="x"/></svg>',
    '<svg><use href="x#icon"/></svg>',
    '<svg><use xlink:href="x#icon"/></svg>',
    '<svg><filter><feImage href="x"/></filter></svg>',
    '<svg><script href="x"></script></svg>',
    '<body background="x">',
    '<table><tr><td background="x">',
    '<p style="background: url(x)">',
    "<style>p { background: url('x') }</style>",
    '<style>@import "x";</style>',
    '<svg><style>p { background: url("x") }</style></svg>',
]
FRAMES = [
    '<iframe src="x"></iframe>',
    '<frameset><frame src="x"></frameset>',
    '<object type="text/html" data="x"></object>',
    '<embed type="text/html" src="x">',
]


@pytest.mark.parametrize("html", NAVIGATION)
def test_navigation_leads_to_pages(html: str) -> None:
    """A link to another page is no part of this one."""
    assert only(html) == Found(HERE + "x", LinkKind.PAGE, requisite=False, attribute="href", nofollow=False)


@pytest.mark.parametrize("html", NEEDED_BY_HREF)
def test_linked_assets_are_requisites(html: str) -> None:
    """What `<link>` loads belongs to the page."""
    assert only(html) == Found(HERE + "x", LinkKind.ASSET, requisite=True, attribute="href", nofollow=False)


@pytest.mark.parametrize("html", NEEDED_BY_SRC)
def test_embedded_assets_are_requisites(html: str) -> None:
    """What the page shows or runs belongs to it, whatever the attribute is called."""
    assert only(html) == Found(HERE + "x", LinkKind.ASSET, requisite=True, attribute="src", nofollow=False)


@pytest.mark.parametrize("html", FRAMES)
def test_frames_are_pages_that_the_page_needs(html: str) -> None:
    """A frame is a page of its own at the depth of the page around it."""
    assert only(html) == Found(HERE + "x", LinkKind.PAGE, requisite=True, attribute="src", nofollow=False)


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="dns-prefetch" href="//cdn.example.com">',
        '<link rel="preconnect" href="//cdn.example.com">',
        '<link rel="pingback" href="x">',
        '<link rel="EditURI" href="x">',
        '<link rev="made" href="list@example.com">',
        '<link rel="alternate" type="application/json+oembed" href="x">',
        '<link rel="stylesheet" href="">',
        '<form action="x"><button formaction="y">b</button></form>',
        '<input type="text" src="x">',
        '<a ping="x">t</a>',
        '<blockquote cite="x">t</blockquote>',
        '<meta name="refresh" content="5; url=x">',
        '<meta http-equiv="refresh" content="5">',
        '<style type="text/less">@import "x";</style>',
        '<p style="color: red" background="x">',
        "<!-- <a href=x>t</a> -->",
        "<template><a href=x>t</a><img src=y><p style='background: url(z)'></template>",
        "<script>document.write('<a href=x>t</a>')</script>",
        "<textarea><a href=x></textarea>",
        "<img src=''><img src=' '><img src='#x'><script src=''></script><iframe src=''></iframe>",
        "<p style='fill: url(#gradient)'><svg><use href='#icon'/></svg>",
        "<a href='#top'>t</a><a href=''>t</a><a href=' #x '>t</a><a>t</a>",
    ],
)
def test_what_is_no_link(html: str) -> None:
    """Hints, endpoints, forms, comments, templates, and references within the page lead nowhere."""
    links = read(html)
    assert links.found == ()
    assert links.refused == ()


def test_a_noscript_counts_and_so_does_a_shadow_root() -> None:
    """What is shown without scripts is found; of templates, only those that are shown."""
    html = (
        "<head><noscript><link rel=stylesheet href=a.css></noscript></head><noscript><img src=b.png></noscript>"
        "<div><template shadowrootmode=open><img src=c.png></template></div>"
        "<template><div><template shadowrootmode=open><img src=no.png></template></div></template>"
    )
    assert names(html) == ["a.css", "b.png", "c.png"]


def test_the_order_is_that_of_the_page() -> None:
    """Attributes, styles and elements come in the order in which they stand."""
    html = (
        '<link rel=stylesheet href=1><style>@import "2"; p { src: url(3), url(4) }</style><body background=5>'
        '<p style="background: url(6)"><a href=7>t</a><img src=8 srcset="9, 10 2x"><video src=11 poster=12></video>'
        '<table><tr><td background=13><a href=14 style="cursor: url(15), auto">t</a></table>'
    )
    assert names(html) == [str(number) for number in range(1, 16)]


def test_the_same_url_is_found_once_for_each_attribute() -> None:
    """A repeated link is one link; as `href` and as `src` it is two edges."""
    html = '<a href="x#a">1</a><img src="x"><a href="./x">2</a><a href="../guide/x?">3</a><img srcset="x, x 2x">'
    assert [(found.url, found.attribute) for found in read(html).found] == [
        (HERE + "x", "href"),
        (HERE + "x", "src"),
        (HERE + "x?", "href"),
    ]


@pytest.mark.parametrize("flip", [False, True])
def test_of_two_roles_the_stronger_counts(flip: bool) -> None:
    """A style sheet that is also linked to stays needed, and one open link makes a URL followable, in any order."""
    parts = ['<a rel="nofollow" href="s.css">t</a>', '<link rel="stylesheet" href="s.css">']
    html = "".join(reversed(parts) if flip else parts)
    assert only(html) == Found(HERE + "s.css", LinkKind.ASSET, requisite=True, attribute="href", nofollow=False)


@pytest.mark.parametrize("rel", ["nofollow", "UGC", "noopener sponsored", " external\tNoFollow "])
def test_nofollow_links_are_marked(rel: str) -> None:
    """`rel` says that the site does not vouch for the link."""
    assert only(f'<a rel="{rel}" href="x">t</a>').nofollow
    assert only(f'<a rel="{rel}" href="x">t</a><a rel="{rel}" href="x">t</a>').nofollow
    assert not only(f'<a rel="{rel}" href="x">t</a><a href="x">t</a>').nofollow
    assert not only('<a rel="noopener" href="x">t</a>').nofollow


@pytest.mark.parametrize(
    ("meta", "nofollow"),
    [
        ('<meta name="robots" content="nofollow">', True),
        ('<meta name="ROBOTS" content="NOINDEX,NOFOLLOW">', True),
        ('<meta name="robots" content="noindex nofollow">', True),
        ('<meta name="robots" content="none">', True),
        ('<meta name="robots" content="index, follow"><meta name="robots" content="noarchive, nofollow">', True),
        ('<meta name="robots" content="noindex">', False),
        ('<meta name="otherbot" content="nofollow">', False),
        ('<meta property="robots" content="nofollow">', False),
        ('<template><meta name="robots" content="nofollow"></template>', False),
        ("", False),
    ],
)
def test_a_page_can_ask_not_to_be_followed(meta: str, nofollow: bool) -> None:
    """`<meta name=robots>` speaks for all links of the page, which are found none the less."""
    links = read(f"{meta}<a href=x>t</a>")
    assert links.nofollow is nofollow
    assert [found.url for found in links.found] == [HERE + "x"]
    assert not links.found[0].nofollow


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
    """Relative links count from the first `<base href>`, if that is a place to count from."""
    html = f"<base target=_top><a href=x>t</a><base href='{base}'><base href='/second/'><img src=y style='a: url(z)'>"
    assert found_urls(html) == [where + "x", where + "y", where + "z"]


def test_with_a_base_a_fragment_leads_to_another_page() -> None:
    """`#x` is resolved like any other reference, as browsers do; what is drawn stays within the page."""
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
        ("x;url=y", None),
        ("5x;url=y", None),
        ("-1;url=y", None),
        ("", None),
        ("0;", None),
    ],
)
def test_refreshes_are_read_as_browsers_read_them(content: str, url: str | None) -> None:
    """The standard's lenient syntax, with and without `url=` and quotes."""
    quoted = content.replace('"', "&quot;")
    assert names(f'<meta http-equiv="Refresh" content="{quoted}">') == ([url] if url else [])


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("a.png", ["a.png"]),
        ("a.png, b.png 2x", ["a.png", "b.png"]),
        ("a,b.png 1x, c,d.png 2x", ["a,b.png", "c,d.png"]),
        ("a.png 1x,b.png 2x", ["a.png", "b.png"]),
        ("a.png,b.png", ["a.png,b.png"]),
        ("a.png, b.png,, ,c.png", ["a.png", "b.png", "c.png"]),
        (",a.png", ["a.png"]),
        ("a.png,", ["a.png"]),
        ("  \n a.png\t100w \n,\r\n b.png 200w 100h", ["a.png", "b.png"]),
        ("https://cdn.example/w_100,h_50/a.png 100w, b.png 1.5x", ["https://cdn.example/w_100,h_50/a.png", "b.png"]),
        ("data:image/png;base64,AAAA 1x, b.png 2x", ["data:image/png;base64,AAAA", "b.png"]),
        ("a.png 1q, b.png 2x", ["b.png"]),
        ("a.png 1x 2x, b.png", ["b.png"]),
        ("a.png 100w 1x, b.png 100w 100w, c.png 100h, d.png 0w, e.png 1.5w, f.png -1x, g.png +1x, h.png x", []),
        ("a.png 1e3x, b.png .5x, c.png 0x", ["a.png", "b.png", "c.png"]),
        ("a.png (1, 2) , b.png 1x", ["b.png"]),
        ("a.png (1, 2", []),
        ("", []),
        (" ,, ", []),
    ],
)
def test_srcset_is_read_by_the_standard_s_algorithm(srcset: str, expected: list[str]) -> None:
    """Commas belong to URLs unless they end one; candidates that browsers drop are dropped."""
    assert list(candidates(srcset)) == expected


@given(
    st.lists(
        st.tuples(
            st.text("az,/:?=", max_size=9).map("a{}z".format), st.sampled_from(["", " 1x", " 1.5x", " 30w", " 3w 4h"])
        ),
        max_size=5,
    ),
    st.sampled_from([", ", " , ", "\n,\t", ",\f"]),
)
def test_a_written_srcset_is_read_back(pairs: list[tuple[str, str]], comma: str) -> None:
    """Whatever URLs go in come out, however they are put apart."""
    assert list(candidates(comma.join(url + descriptor for url, descriptor in pairs))) == [url for url, _ in pairs]


def test_links_that_cannot_be_fetched_are_refused_with_the_reason() -> None:
    """The mirror index has a word for each; each is reported once."""
    html = (
        "<a href='mailto:a@example.com'>t</a><a href='MAILTO:a@example.com'>t</a><a href='mailto:a@example.com'>t</a>"
        "<a href='tel:+123'>t</a><a href='ftp://example.com/'>t</a><a href='file:///etc/passwd'>t</a>"
        "<a href='FILE:x'>t</a><a href='http://['>t</a><a href='https://u:p@example.com/'>t</a><a href='x:y'>t</a>"
    )
    links = read(html)
    assert links.found == ()
    assert links.refused == (
        Refused("mailto:a@example.com", "non-http(s) scheme"),
        Refused("MAILTO:a@example.com", "non-http(s) scheme"),
        Refused("tel:+123", "non-http(s) scheme"),
        Refused("ftp://example.com/", "non-http(s) scheme"),
        Refused("file:///etc/passwd", "file-scheme"),
        Refused("FILE:x", "file-scheme"),
        Refused("http://[", "invalid"),
        Refused("https://***@example.com/", "invalid"),
        Refused("x:y", "non-http(s) scheme"),
    )


def test_scripts_and_bodies_in_urls_are_reported_once_a_scheme() -> None:
    """A page full of `javascript:` and `data:` does not fill the report."""
    html = "".join(f"<a href='javascript:f({n})'>t</a><img src='data:image/png,{n}{'A' * 9000}'>" for n in range(20))
    links = read(html + "<iframe src='about:blank'></iframe>")
    assert [refused.text[:16] for refused in links.refused] == ["javascript:f(0)", "data:image/png,0", "about:blank"]
    assert {refused.reason for refused in links.refused} == {"non-http(s) scheme"}
    assert max(len(refused.text) for refused in links.refused) <= 100


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("java\nscript:alert(1)", "non-http(s) scheme"),
        (" \x01javascript:alert(1)", "non-http(s) scheme"),
        ("fi\tle:///etc/passwd", "file-scheme"),
        ("http://exa mple.com/", "invalid"),
        ("mailto:" + "x" * 9000, "non-http(s) scheme"),
        ("/" + "x" * 9000, "invalid"),
        ("../" * 500_000, "invalid"),
        ("http://\x1b[31m\u202e/\x07", "invalid"),
    ],
)
def test_disguised_and_hostile_references(href: str, reason: str) -> None:
    """A scheme broken by a line end is still that scheme, and what is reported is short and printable."""
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
    """The short way for plain references gives what a WHATWG parser gives."""
    check_against_the_parser(reference, base)


@given(st.text("abAB01:/?#.%-_~=&@\\ \t\né", min_size=1, max_size=20), st.sampled_from([URL, "http://h.example/"]))
@example("/\t/evil.example/x", URL)
@example("0 #", URL)
@example("..\t/x", URL)
@example("../\t../x", URL)
@example("%2e%2e/x", URL)
def test_any_reference_resolves_as_in_a_browser(reference: str, base: str) -> None:
    """No spelling of a reference makes the short way and the parser differ."""
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
def test_the_charset_decides_what_a_link_says(body: bytes, charset: str | None) -> None:
    """The mark, then the header, then the page itself."""
    assert [found.url for found in page_links(body, url=URL, charset=charset).found] == ["https://example.com/%C3%A9"]


FRAGMENTS = st.sampled_from(
    [
        *(NAVIGATION + NEEDED_BY_HREF + NEEDED_BY_SRC + FRAMES),
        *("<template>", "</template>", "<svg>", "</svg>", "<noscript>", "<base href='/b/'>", "<!--", "-->", "<style>"),
        *("</style>", "<p style='", "url(", "'>", '"', "<a href=", "javascript:", "<table>", "<frameset>", "\x00", "é"),
    ]
)


@given(st.lists(FRAGMENTS, max_size=12).map("".join), st.sampled_from([None, "utf-8", "", "x\0y", "\ud800", "utf-16"]))
def test_no_page_is_too_broken(html: str, charset: str | None) -> None:
    """Whatever the markup, the answer is a set of normalised links, each (url, attribute) once."""
    check(page_links(html.encode(), url=URL, charset=charset))


@given(st.binary(max_size=200), st.text(max_size=20))
def test_no_bytes_raise(body: bytes, url: str) -> None:
    """Neither what is in the page nor what its URL is makes it fail."""
    check(page_links(body, url=URL))
    check(page_links(b"<a href=x><img src='/y'>" + body, url=url))


def check(links: PageLinks) -> None:
    places = [(found.url, found.attribute) for found in links.found]
    assert len(set(places)) == len(places)
    assert all(str(ada_url.URL(url).href) == url and "#" not in url for url, _ in places)
    assert {found.attribute for found in links.found} <= {"href", "src"}
    assert all(found.requisite for found in links.found if found.kind is LinkKind.ASSET)
    assert {refused.reason for refused in links.refused} <= {"non-http(s) scheme", "file-scheme", "invalid"}


@pytest.mark.parametrize(
    "one",
    [
        "<a href='p{n}.html'>t</a>",
        "<a href='../{n}/#x'>t</a>",
        "<a href='mailto:{n}'>t</a>",
        "<p style='background: url(p{n}.png)'>",
        "<img srcset='{n} 1x, {n}b 2x'>",
        "<template><a href=x>",
        "<div><a href='{n}'>",
        "<base href='/{n}/'>",
    ],
)
def test_the_time_grows_with_the_page(one: str) -> None:
    """Ten times as many links take about ten times as long."""

    def seconds(count: int) -> float:
        html = "".join(one.replace("{n}", str(number)) for number in range(count)).encode()
        started = time.process_time()
        page_links(html, url=URL)
        return time.process_time() - started

    small = min(seconds(1_000) for _ in range(3))
    assert seconds(10_000) < 40 * small + 0.1


@pytest.mark.parametrize("filler", [",", "(", " ", "a,", "a (", ", "])
def test_a_hostile_srcset_is_read_in_linear_time(filler: str) -> None:
    """A long run of one character is read in well under a second."""
    started = time.process_time()
    read(f"<img srcset='{filler * (300_000 // len(filler))}'>")
    assert time.process_time() - started < 5
