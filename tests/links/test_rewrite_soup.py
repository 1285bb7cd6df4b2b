"""However a page's tags are written or mixed up, its links are changed alike, and nothing else is."""

from __future__ import annotations

import ada_url
import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.rewrite_html import localize_html
from sitemirror.urls import InvalidUrl, normalize
from tests.links.localized import PAGE, into_the_mirror, localized

TAGS = """
    <svg> </svg> <table> <b> </b> <template> </template> <select> <math> <title> </title> <style> </style> <script>
    </script> <!-- --> <![CDATA[ ]]> <foreignObject> <frameset> <noscript> </noscript> <textarea> </textarea> <xmp> </p>
    <a%href= <A%HREF= <img%src= <use%href= <p%style= <td%background= <frame%src= <iframe%src= <form%action= <image%src=
    href=w% src=v% "x.html" 'y.html' z "a&amp;b" #f "#f" "" / > = " ' é & text < <plaintext>
"""
PIECES = st.sampled_from([*(piece.replace("%", " ") for piece in TAGS.split()), " ", "\n", "\r\n", "\r", "\0"])
LINKED = {("a", "href"), ("img", "src"), ("frame", "src"), ("iframe", "src"), ("form", "action"), ("td", "background")}


def outline(html: bytes) -> list[object]:
    """A page as a parser sees it: every element with its attributes, every text and comment, in order."""
    tree = turbohtml.parse(html, encoding="utf-8", positions=False)
    return [
        (node.tag, node.namespace, dict(node.attrs)) if isinstance(node, turbohtml.Element) else str(node)
        for node in tree.descendants
    ]


def expected(tag: str, namespace: turbohtml.Namespace, name: str, value: str) -> str:
    """What an attribute becomes, worked out from the browser's rules alone."""
    sent, clicked = (tag, name) == ("form", "action"), (tag, name) == ("a", "href")
    is_html = namespace is turbohtml.Namespace.HTML
    if not ((tag, name) in LINKED if is_html else name == "href"):
        return value
    if not (sent or clicked) and (not value.strip() or value.strip().startswith("#")):
        return value
    try:
        url = ada_url.URL(value, PAGE)
    except ValueError:
        return value
    url.hash = ""
    fragment = "".join(value.partition("#")[1:])
    if sent:
        return str(url.href) + fragment
    return fragment if fragment and url.href == PAGE else into_the_mirror(str(url.href)) + fragment


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_markup_changes_only_in_its_links(html: str) -> None:
    """The parsed tree is the same as before, with all links rewritten."""
    before = outline(html.encode())
    for node in before:
        match node:
            case (str(tag), turbohtml.Namespace() as namespace, dict(attrs)):
                attrs.update({name: expected(tag, namespace, name, value or "") for name, value in attrs.items()})
    assert outline(localize_html(html.encode(), url=PAGE, charset=None, target=into_the_mirror)) == before


@given(st.text("ab/.:?#&=%é \\'\"", max_size=20))
def test_rewriting_is_idempotent(reference: str) -> None:
    """A second pass changes nothing."""
    html = f'<a href="{reference.replace("&", "&amp;").replace(chr(34), "&quot;")}">'
    once = localized(html, target=str)
    try:
        normalize(reference, PAGE)
    except InvalidUrl:
        return
    assert localized(once, target=str) == once


@pytest.mark.parametrize("name", ["a", "link", "area"])
@pytest.mark.parametrize(
    "attributes",
    [
        'href="a.html#x"',
        'rel="next" href="a.html" title="A &amp; B" /',
        'rel="Canonical" href="a.html"',
        'rel="&#99;anonical" href="a.html"',
        'href="a.html" rel="canonical"',
        'href="#x"',
        'href=""',
        'href="?a=1"',
        'href="./a.html"',
        'href="a/../b.html"',
        'href="a/.%2e/b.html"',
        'href="a:b.html"',
        'href="a//b.html?"',
        'href="HTTPS://example.com/A"',
        'href="page.html#x"',
        'href="a.html" href="b.html"',
        'href="a.html" style="background: url(b.png)"',
        'href="a.html" integrity="x" crossorigin="y"',
        'href="a.html" imagesrcset="b.png 1x"',
    ],
)
def test_quoting_does_not_matter(name: str, attributes: str) -> None:
    """The fast pattern for plain tags and the full parser give the same result."""
    quoted = localized(f"<{name} {attributes}>")
    assert localized(f"<{name} {attributes} x='y'>").replace(" x='y'", "") == quoted
