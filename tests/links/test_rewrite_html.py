"""Every link of a saved page leads into the mirror or to the web, and all else stays byte for byte."""

from __future__ import annotations

import pytest
import turbohtml

from sitemirror.links.rewrite_html import relink_html
from tests.links.localized import PAGE, SAVED, localized

LINKS = {
    "a": ('<a href="x.html">', '<a href="../m/docs/x.html">'),
    "area": ("<map><area href='/x'></map>", "<map><area href='../m/x'></map>"),
    "link": ('<link rel="stylesheet" href="s.css">', '<link rel="stylesheet" href="../m/docs/s.css">'),
    "icon": ("<link rel=icon href=/i.ico>", "<link rel=icon href=../m/i.ico>"),
    "iframe": ('<iframe src="f"></iframe>', '<iframe src="../m/docs/f"></iframe>'),
    "frame": (
        '<frameset><frame src="f"><frame src="/g"></frameset>',
        '<frameset><frame src="../m/docs/f"><frame src="../m/g"></frameset>',
    ),
    "refresh": (
        '<meta http-equiv="Refresh" content="3; URL=next.html">',
        '<meta http-equiv="Refresh" content="3; URL=../m/docs/next.html">',
    ),
    "refresh, quoted": (
        "<meta http-equiv=refresh content=\"0;url='next.html' \">",
        "<meta http-equiv=refresh content=\"0;url='../m/docs/next.html' \">",
    ),
    "refresh, bare": (
        "<meta http-equiv=refresh content='1 next.html#x'>",
        "<meta http-equiv=refresh content='1 ../m/docs/next.html#x'>",
    ),
    "img": ('<img src="i.png" alt="i.png">', '<img src="../m/docs/i.png" alt="i.png">'),
    "a blank before the fragment": ('<a href="b c #d">', '<a href="../m/docs/b%20c%20#d">'),
    "srcset": (
        '<img srcset="a.png, b.png 2x,/c.png 100w , d,e.png 3x">',
        '<img srcset="../m/docs/a.png, ../m/docs/b.png 2x,../m/c.png 100w , ../m/docs/d,e.png 3x">',
    ),
    "picture": (
        '<picture><source srcset="a.webp 1x" media="(min-width: 1px)"><img src="a.png"></picture>',
        '<picture><source srcset="../m/docs/a.webp 1x" media="(min-width: 1px)"><img src="../m/docs/a.png"></picture>',
    ),
    "preloaded picture": (
        '<link rel=preload as=image imagesrcset="a.png 1x" href=b.png>',
        '<link rel=preload as=image imagesrcset="../m/docs/a.png 1x" href=../m/docs/b.png>',
    ),
    "video": (
        '<video src="v.mp4" poster="p.jpg"><source src="w.webm"><track src="t.vtt"></video>',
        '<video src="../m/docs/v.mp4" poster="../m/docs/p.jpg"><source src="../m/docs/w.webm">'
        '<track src="../m/docs/t.vtt"></video>',
    ),
    "audio": ('<audio src="a.ogg"></audio>', '<audio src="../m/docs/a.ogg"></audio>'),
    "object": ('<object data="o.svg"></object>', '<object data="../m/docs/o.svg"></object>'),
    "embed": ('<embed src="e.pdf">', '<embed src="../m/docs/e.pdf">'),
    "input": ('<input type="image" src="b.png">', '<input type="image" src="../m/docs/b.png">'),
    "script": ('<script src="s.js"></script>', '<script src="../m/docs/s.js"></script>'),
    "svg image": ('<svg><image href="i.png"/></svg>', '<svg><image href="../m/docs/i.png"/></svg>'),
    "svg image, old": ('<svg><image xlink:href="i.png"/></svg>', '<svg><image xlink:href="../m/docs/i.png"/></svg>'),
    "svg use": ('<svg><use href="s.svg#icon"/></svg>', '<svg><use href="../m/docs/s.svg#icon"/></svg>'),
    "svg a": ('<svg><a xlink:href="x.html"></a></svg>', '<svg><a xlink:href="../m/docs/x.html"></a></svg>'),
    "background": ('<body background="b.gif">', '<body background="../m/docs/b.gif">'),
    "cell background": ("<table><td background=b.gif>", "<table><td background=../m/docs/b.gif>"),
    "inline style": (
        '<p style="color: red; background: url(b.png)">',
        '<p style="color: red; background: url(../m/docs/b.png)">',
    ),
    "inline style, quoted": (
        "<p style='background: url(\"b.png\")'>",
        "<p style='background: url(\"../m/docs/b.png\")'>",
    ),
    "inline style, references": (
        '<p style="background: url(&quot;b.png&quot;)">',
        '<p style="background: url(&quot;../m/docs/b.png&quot;)">',
    ),
    "style": (
        "<style>@import 'a.css'; p > q { x: url(b.png) }</style>",
        "<style>@import '../m/docs/a.css'; p > q { x: url(../m/docs/b.png) }</style>",
    ),
    "svg style": (
        "<svg><style>p { x: url(b.png?a&amp;b) }</style></svg>",
        "<svg><style>p { x: url(../m/docs/b.png?a&amp;b) }</style></svg>",
    ),
    "noscript": ('<noscript><img src="i.png"></noscript>', '<noscript><img src="../m/docs/i.png"></noscript>'),
    "template": ('<template><a href="x"></a></template>', '<template><a href="../m/docs/x"></a></template>'),
    "shadow root": (
        '<div><template shadowrootmode=open><a href="x"></a></template></div>',
        '<div><template shadowrootmode=open><a href="../m/docs/x"></a></template></div>',
    ),
    "srcdoc": (
        "<iframe srcdoc=\"<a href='x'>&eacute;</a>\"></iframe>",
        "<iframe srcdoc=\"<a href='../m/docs/x'>&#233;</a>\"></iframe>",
    ),
    "lazy": (
        '<img src="data:," data-src="i.png" data-srcset="i.png 1x, /j.png 2x"><img data-lazy-src=i.png>'
        '<source data-lazy-srcset="i.png 1x">',
        '<img src="data:," data-src="../m/docs/i.png" data-srcset="../m/docs/i.png 1x, ../m/j.png 2x">'
        '<img data-lazy-src=../m/docs/i.png><source data-lazy-srcset="../m/docs/i.png 1x">',
    ),
    "lazy frame": ('<iframe data-src="f"></iframe>', '<iframe data-src="../m/docs/f"></iframe>'),
    "form": ('<form action="send?a=1">', '<form action="https://example.com/docs/send?a=1">'),
    "form to itself": ('<form action="">', f'<form action="{PAGE}">'),
    "button": ('<button formaction="/go">', '<button formaction="https://example.com/go">'),
    "canonical": ('<link rel="canonical" href="/docs/page">', '<link rel="canonical" href="https://example.com/docs/page">'),
    "misnested": ("<b><a href=x><p></b>text</a>", "<b><a href=../m/docs/x><p></b>text</a>"),
    "in a table": ("<table><a href=x>y</a></table>", "<table><a href=../m/docs/x>y</a></table>"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINKS)
def test_every_form_of_link_is_rewritten(name: str) -> None:
    """Each element and attribute, with the page otherwise unchanged."""
    before, after = LINKS[name]
    page = "<!DOCTYPE html>\r\n<title>x</title> {} <p>tail"
    assert localized(page.format(before)) == page.format(after)


UNTOUCHED = """
<a href="mailto:x@y.example">|<a href="javascript:go('x.html')">|<a href="tel:1">|<a name="x">|<a href="#part">
|<a href="#">|<img src="data:image/png;base64,AAAA">|<img src="">|<img src>|<a href="http://[bad">
|<p href="x.html" src="x" data="x">|<p data-src="x">
|<!-- <a href="x.html"> -->|<script>document.write('<a href="x.html">')</script>
|<textarea><a href="x.html"></textarea>|<title><a href="x.html"></title>
|<style>/* url(x.png) */ a { b: "url(x.png)" }</style>|<style type="text/less">a{b:url(x)}</style>
|<a title='href="x.html"'>|<svg><use href="#icon"/></svg>|<svg><path fill="url(#f)" style="fill: url(#f)"/></svg>
|<a href="https://Other.example">|<a href="HTTPS://other.example/a b">|<form action="https://other.example/x">|<form>
|<meta http-equiv="refresh" content="30">|<meta http-equiv="refresh" content="url=x.html">
|<meta name="x" content="0;url=x.html">|<meta http-equiv="Content-Type" content="text/html; charset=utf-8">
|<xmp><a href="x.html"></xmp>|</a href="x.html">|<a href="x.html"
|<link rel="canonical" href="https://example.com/docs/page">|<img srcset="data:,x 1x">|<iframe srcdoc="<p>">
|<a href="about:blank">|<a ping="x" target="x">|<svg><title>&lt;a href="x"></title></svg>
|<a href="ftp://example.com/f">
""".replace("\n", "").split("|")  # fmt: skip


@pytest.mark.parametrize("html", UNTOUCHED)
def test_other_text_is_unchanged(html: str) -> None:
    """Other schemes, fragments, comments, scripts, text and unfinished tags."""
    assert localized(f"<p>{html}") == f"<p>{html}"


def test_fragments_are_kept() -> None:
    """Links keep their fragments; links to the page itself become fragments."""
    html = (
        '<a href="p.html#sec"><a href="page.html#sec"><a href="#sec"><a href="/docs/./page.html#"><a href="page.html">'
    )
    assert localized(html) == (
        '<a href="../m/docs/p.html#sec"><a href="#sec"><a href="#sec"><a href="#"><a href="../m/docs/page.html">'
    )


def test_links_are_resolved_as_in_a_browser() -> None:
    """Blanks, backslashes, dot segments and upper-case hosts lead to the saved URL."""
    for spelling in (
        " x.html\n",
        "./x.html",
        "../docs/x.html",
        "\\docs\\x.html",
        "//EXAMPLE.com/docs/x.html",
        "x.h\ntml",
    ):
        assert localized(f'<a href="{spelling}">') == '<a href="../m/docs/x.html">'
    assert localized('<a href="">') == '<a href="../m/docs/page.html">'
    assert localized("<a href>") == '<a href="../m/docs/page.html">'
    assert localized("<a href= >") == '<a href= "../m/docs/page.html">'
    assert localized("<a href=x href=y>") == "<a href=../m/docs/x href=y>"
    assert localized('<A HREF = "x" /><IMAGE SRC=y>') == '<A HREF = "../m/docs/x" /><IMAGE SRC=../m/docs/y>'


def test_links_to_unsaved_pages_become_absolute() -> None:
    """Relative links to pages that are not saved lead to the web."""
    html = '<a href="x.html#y"><img src="//cdn.example/i.png"><a href="//user:pw@example.com/secret"><a href="?a&b">'
    assert localized(html, target=str) == (
        f'<a href="https://example.com/docs/x.html#y"><img src="https://cdn.example/i.png">'
        f'<a href="https://user:pw@example.com/secret"><a href="{PAGE}?a&amp;b">'
    )


def test_empty_link_leads_to_the_copy() -> None:
    """`href=""` is the page itself and must not lead to the web."""
    html = '<a href=""><a href="#"><a href="?"><a href="/docs/page.html#a">'
    assert localized(html, target=str) == f'<a href=""><a href="#"><a href="{PAGE}?"><a href="#a">'
    assert localized('<base href="/docs/page.html"><a href="">', target=str) == '<base><a href="">'
    assert localized('<base href="/b/"><a href="">', target=str) == '<base><a href="https://example.com/b/">'


def test_target_is_called_once_per_url() -> None:
    """`target` gets each normalised URL once per page."""
    seen: list[str] = []

    def target(url: str) -> str:
        seen.append(url)
        return "x"

    localized('<a href="a#1"><a href="./a#2"><a href="A"><img src="a"><a href="mailto:x"><a href="#s">', target=target)
    assert seen == ["https://example.com/docs/a", "https://example.com/docs/A"]


def test_base_is_applied_and_removed() -> None:
    """Links are resolved against the base element, whose href is then removed."""
    html = (
        '<head><base target="_top"><base  href="/other/" ><base href=/third/></head>'
        '<a href="x"><a href="#part"><a href="/docs/page.html#part"><style>a{b:url(c)}</style><form action="y">'
    )
    assert localized(html) == (
        '<head><base target="_top"><base  ><base></head>'
        '<a href="../m/other/x"><a href="../m/other/#part"><a href="#part"><style>a{b:url(../m/other/c)}</style>'
        '<form action="https://example.com/other/y">'
    )
    kept = '<template><base href="/t/"></template><svg><base href="/s/"></base></svg><a href="x">'
    assert localized(kept) == '<template><base></template><svg><base href="../m/s/"></base></svg><a href="../m/docs/x">'
    for bad in ("data:text/html,x", "http://[", "javascript:0", ""):
        assert localized(f'<base href="{bad}"><a href="x">') == '<base><a href="../m/docs/x">'


def test_several_body_tags_are_merged() -> None:
    """Text before its tag opens a body, which takes the attributes of later tags."""
    html = '<p>x<html style="b:url({})"><BODY\nbackground="{}"><body/background={}>'
    assert localized(html.format("x", "y", "z")) == html.format("../m/docs/x", "../m/docs/y", "../m/docs/z")


def test_integrity_and_crossorigin_are_removed() -> None:
    """A rewritten file does not match its hash, and local files have no origin."""
    html = (
        '<link href="s.css" integrity="sha256-x" crossorigin="anonymous" rel=stylesheet><script integrity=sha256-y '
        "src=s.js crossorigin defer></script><video crossorigin><source src=v></video>"
        "<picture><source srcset='a 1x'><img crossorigin=''></picture>"
        "<svg><image crossorigin=anonymous href=i /></svg>"
    )
    assert localized(html) == (
        '<link href="../m/docs/s.css" rel=stylesheet><script src=../m/docs/s.js defer></script>'
        "<video><source src=../m/docs/v></video><picture><source srcset='../m/docs/a 1x'><img></picture>"
        "<svg><image href=../m/docs/i /></svg>"
    )
    assert localized(html, target=str).count("integrity") == 2
    assert localized(html, target=str).count("crossorigin") == 5


def test_integrity_is_removed_with_unchanged_link() -> None:
    """A link that is already local leads to a file that may have changed."""
    html = '<link rel=stylesheet href="s.css" integrity="sha256-x">'
    assert localized(html, target=lambda _: "s.css") == '<link rel=stylesheet href="s.css">'


def test_removed_attributes_leave_a_separator() -> None:
    """Removing an attribute never joins its neighbours."""
    html = '<script src=a integrity="x"async></script><script src=a integrity="x"/></script>'
    found = turbohtml.parse(localized(html, target=lambda _: "l")).find_all("script")
    assert [dict(script.attrs) for script in found] == [{"src": "l", "async": ""}, {"src": "l"}]


def test_content_security_policies_are_removed() -> None:
    """A policy names the site's hosts and would block local files."""
    html = '<meta charset=utf-8><META http-equiv="content-security-policy" content="img-src \'self\'"><p>'
    assert localized(html) == "<meta charset=utf-8><p>"


@pytest.mark.parametrize("link", ["a&b", "a&copy=1", 'a"b', "a'b", "a b", "a>b", "a=b", "a`b", "", "a<b", "x/"])
def test_values_are_escaped_by_context(link: str) -> None:
    """Any new link is read back as the same value."""
    for html in ('<a href="x">t</a>', "<a href='x'>t</a>", "<a href=x>t</a>", "<a href>t</a>", "<a href=x/>t</a>"):
        (anchor,) = turbohtml.parse(localized(html, target=lambda _: link)).find_all("a")
        assert (dict(anchor.attrs), anchor.text) == ({"href": link}, "t")


def test_character_references_are_read_as_in_a_browser() -> None:
    """`&amp;` is resolved; `&copy=1` in a query is not a copyright sign."""
    asked: list[str] = []
    localized(
        '<a href="?a=1&amp;b=2"><a href="?a&copy=1"><a href="caf&eacute;"><a href=\'&quot;x\'>',
        target=lambda url: asked.append(url) or "x",  # type: ignore[func-returns-value]
    )
    assert asked == [f"{PAGE}?a=1&b=2", f"{PAGE}?a&copy=1", f"{SAVED}docs/caf%C3%A9", f"{SAVED}docs/%22x"]


def test_commas_at_the_ends_of_a_srcset_url_are_encoded() -> None:
    """Otherwise they would end the candidate."""
    assert localized('<img srcset="a 1x, b 2x">', target=lambda _: ",x,y,,") == (
        '<img srcset="%2Cx,y%2C%2C 1x, %2Cx,y%2C%2C 2x">'
    )


def test_relinking_sees_current_links() -> None:
    """Links in a saved page are changed one by one; others are unchanged."""
    seen: list[str] = []

    def change(link: str) -> str | None:
        seen.append(link)
        return {"../a.html": "../a_1f.html", "https://cdn.example/s.js": "../s.js"}.get(link)

    html = (
        '<a href="../a.html#x">&amp;<a href="../b.html?q&amp;r#y"><a href="#z"><img srcset="../a.html 1x, c.png 2x">'
        '<script src="https://cdn.example/s.js" integrity="x"></script><style>a{b:url(../a.html)}</style>'
        '<form action="../a.html">'
    )
    assert relink_html(html.encode(), charset=None, change=change).decode() == (
        '<a href="../a_1f.html#x">&amp;<a href="../b.html?q&amp;r#y"><a href="#z">'
        '<img srcset="../a_1f.html 1x, c.png 2x">'
        '<script src="../s.js"></script><style>a{b:url(../a_1f.html)}</style><form action="../a.html">'
    )
    assert set(seen) == {"../a.html", "../b.html?q&r", "c.png", "https://cdn.example/s.js"}


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        (
            "<iframe srcdoc=\"<body background='/b.png'><img src='/c.png'>\"></iframe>",
            "<iframe srcdoc=\"<body background='../m/b.png'><img src='../m/c.png'>\"></iframe>",
        ),
        (
            '<a href="/c?<body background=/b.png>">x</a>',
            '<a href="../m/c?%3Cbody%20background=/b.png%3E">x</a>',
        ),
        (
            "<script>write('<body background=\"/b.png\">')</script><!-- <body style='background: url(/b.png)'> -->",
            "<script>write('<body background=\"/b.png\">')</script><!-- <body style='background: url(/b.png)'> -->",
        ),
        (
            "<script>write('<?xml-stylesheet href=\"/b.xsl\"?>')</script>",
            "<script>write('<?xml-stylesheet href=\"/b.xsl\"?>')</script>",
        ),
    ],
)
def test_tags_in_values_and_comments_are_ignored(text: str, copy: str) -> None:
    """Text that looks like a tag, in a value, script or comment, is not one."""
    assert localized(f'<body background="/a.png">{text}') == f'<body background="../m/a.png">{copy}'
