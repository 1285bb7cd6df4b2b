"""Every form a link can have on a page: where it leads, what it is for, and why it is none."""

from __future__ import annotations

import time

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.attributes import LinkKind
from sitemirror.links.found import Found, PageLinks
from sitemirror.links.html import page_links
from sitemirror.reasons import Reason
from tests.links.linked import HERE, URL, names, only, read

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
    '<img src="data:," data-src="x">',
    '<img data-lazy-src="x">',
    '<img data-original="x">',
    '<img data-srcset="x 2x">',
    '<picture><source data-srcset="x"></picture>',
    '<video><source data-src="x"></video>',
]
FRAMES = [
    '<iframe src="x"></iframe>',
    '<frameset><frame src="x"></frameset>',
    '<object type="text/html" data="x"></object>',
    '<embed type="text/html" src="x">',
    '<iframe data-src="x"></iframe>',
]


@pytest.mark.parametrize("html", NAVIGATION)
def test_navigation_leads_to_pages(html: str) -> None:
    """A link to another page is not a requisite."""
    assert only(html) == Found(HERE + "x", LinkKind.PAGE, requisite=False, attribute="href", nofollow=False)


@pytest.mark.parametrize("html", NEEDED_BY_HREF)
def test_linked_assets_are_requisites(html: str) -> None:
    """Files loaded by `<link>` are requisites."""
    assert only(html) == Found(HERE + "x", LinkKind.ASSET, requisite=True, attribute="href", nofollow=False)


@pytest.mark.parametrize("html", NEEDED_BY_SRC)
def test_embedded_assets_are_requisites(html: str) -> None:
    """Files that the page shows or runs are requisites, also lazily loaded ones."""
    assert only(html) == Found(HERE + "x", LinkKind.ASSET, requisite=True, attribute="src", nofollow=False)


@pytest.mark.parametrize("html", FRAMES)
def test_frames_are_requisite_pages(html: str) -> None:
    """A frame is a page at the same depth as the page around it."""
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
        "<p data-src='x'><div data-srcset='x 1x'></div>",
        "<img src=''><img src=' '><img src='#x'><script src=''></script><iframe src=''></iframe>",
        "<p style='fill: url(#gradient)'><svg><use href='#icon'/></svg>",
        "<a href='#top'>t</a><a href=''>t</a><a href=' #x '>t</a><a>t</a>",
    ],
)
def test_other_references_are_ignored(html: str) -> None:
    """Hints, endpoints, forms, comments, templates, and references within the page."""
    links = read(html)
    assert links.found == ()
    assert links.refused == ()


def test_noscript_and_shadow_roots_are_read() -> None:
    """Content that is shown without scripts counts; other templates do not."""
    html = (
        "<head><noscript><link rel=stylesheet href=a.css></noscript></head><noscript><img src=b.png></noscript>"
        "<div><template shadowrootmode=open><img src=c.png></template></div>"
        "<template><div><template shadowrootmode=open><img src=no.png></template></div></template>"
    )
    assert names(html) == ["a.css", "b.png", "c.png"]


def test_srcdoc_is_read() -> None:
    """Its links are resolved like the page's own; nesting is limited."""
    html = '<base href="sub/"><iframe srcdoc="<img src=a.png><p style=&quot;x: url(b.png)&quot;>"></iframe>'
    assert names(html) == ["sub/a.png", "sub/b.png"]
    nested = ""
    for number in range(5):
        inner = nested.replace("&", "&amp;").replace('"', "&quot;")
        nested = f'<img src={number}.png><iframe srcdoc="{inner}"></iframe>'
    assert names(nested) == ["4.png", "3.png", "2.png", "1.png"]


def test_links_are_in_document_order() -> None:
    """Attributes, styles and elements in document order."""
    html = (
        '<link rel=stylesheet href=1><style>@import "2"; p { src: url(3), url(4) }</style><body background=5>'
        '<p style="background: url(6)"><a href=7>t</a><img src=8 srcset="9, 10 2x"><video src=11 poster=12></video>'
        '<table><tr><td background=13><a href=14 style="cursor: url(15), auto">t</a></table>'
    )
    assert names(html) == [str(number) for number in range(1, 16)]


def test_links_are_deduplicated_by_attribute() -> None:
    """A URL as `href` and as `src` gives two edges."""
    html = '<a href="x#a">1</a><img src="x"><a href="./x">2</a><a href="../guide/x?">3</a><img srcset="x, x 2x">'
    assert [(found.url, found.attribute) for found in read(html).found] == [
        (HERE + "x", "href"),
        (HERE + "x", "src"),
        (HERE + "x?", "href"),
    ]


@pytest.mark.parametrize("flip", [False, True])
def test_stronger_role_wins(flip: bool) -> None:
    """A requisite that is also linked remains a requisite; one follow link makes a URL followable."""
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
def test_robots_meta_nofollow_applies_to_all_links(meta: str, nofollow: bool) -> None:
    """`<meta name=robots>` marks all links of the page, which are still found."""
    links = read(f"{meta}<a href=x>t</a>")
    assert links.nofollow is nofollow
    assert [found.url for found in links.found] == [HERE + "x"]
    assert not links.found[0].nofollow


FRAGMENTS = st.sampled_from(
    [
        *(NAVIGATION + NEEDED_BY_HREF + NEEDED_BY_SRC + FRAMES),
        *("<template>", "</template>", "<svg>", "</svg>", "<noscript>", "<base href='/b/'>", "<!--", "-->", "<style>"),
        *("</style>", "<p style='", "url(", "'>", '"', "<a href=", "javascript:", "<table>", "<frameset>", "\x00", "é"),
    ]
)


@given(st.lists(FRAGMENTS, max_size=12).map("".join), st.sampled_from([None, "utf-8", "", "x\0y", "\ud800", "utf-16"]))
def test_broken_markup_gives_normalised_links(html: str, charset: str | None) -> None:
    """Any markup gives normalised links, each (url, attribute) once."""
    check(page_links(html.encode(), url=URL, charset=charset))


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_do_not_raise(body: bytes, url: str) -> None:
    """Neither the page's bytes nor its URL raise an exception."""
    check(page_links(body, url=URL))
    check(page_links(b"<a href=x><img src='/y'>" + body, url=url))


def check(links: PageLinks) -> None:
    places = [(found.url, found.attribute) for found in links.found]
    assert len(set(places)) == len(places)
    assert all(str(ada_url.URL(url).href) == url and "#" not in url for url, _ in places)
    assert {found.attribute for found in links.found} <= {"href", "src"}
    assert all(found.requisite for found in links.found if found.kind is LinkKind.ASSET)
    assert {refused.reason for refused in links.refused} <= {Reason.NOT_HTTP, Reason.FILE_SCHEME, Reason.INVALID_LINK}


@pytest.mark.slow
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
def test_time_is_linear(one: str) -> None:
    """Ten times as many links take about ten times as long."""

    def seconds(count: int) -> float:
        html = "".join(one.replace("{n}", str(number)) for number in range(count)).encode()
        started = time.process_time()
        page_links(html, url=URL)
        return time.process_time() - started

    small, large = (min(seconds(count) for _ in range(3)) for count in (1_000, 10_000))
    assert large < 40 * small + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("filler", [",", "(", " ", "a,", "a (", ", "])
def test_srcset_is_read_in_linear_time(filler: str) -> None:
    """Long runs of one character are read in less than five seconds."""
    started = time.process_time()
    read(f"<img srcset='{filler * (300_000 // len(filler))}'>")
    assert time.process_time() - started < 5
