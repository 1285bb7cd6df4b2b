"""Style sheets: what is a URL in them, and what only looks like one."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.attributes import LinkKind
from sitemirror.links.css import css_links, css_urls
from sitemirror.links.found import Found, Refused
from sitemirror.reasons import Reason

URL = "https://example.com/css/site.css"


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p { background: url(a.png) }", ["a.png"]),
        ("p { background: url('a.png') }", ["a.png"]),
        ('p { background: url("a.png") }', ["a.png"]),
        ("p { background: URL(  a.png\n) }", ["a.png"]),
        ("p { background: url( 'a b.png'\t) }", ["a b.png"]),
        ("p{background:url(a.png),url(b.png)}", ["a.png", "b.png"]),
        ("@font-face { src: url(f.woff2) format('woff2'), url(f.woff) format(\"woff\") }", ["f.woff2", "f.woff"]),
        ("--logo: url(a.png)", ["a.png"]),
        ("@import 'a.css';", ["a.css"]),
        ('@import "a.css" screen and (width > 1px);', ["a.css"]),
        ("@import url(a.css);@import url('b.css') layer(x);", ["a.css", "b.css"]),
        ("@IMPORT/* why */'a.css';", ["a.css"]),
        ("@charset 'x'; @import 'a.css'; @media print { @import 'b.css'; }", ["a.css", "b.css"]),
        ("<!-- @import 'a.css'; -->", ["a.css"]),
        ("p { background: url(a.png", ["a.png"]),  # the end of the sheet ends everything
        ("p { background: url('a.png", ["a.png"]),
        ("@import 'a.css", ["a.css"]),
        ("image-set('a.png' 1x, \"b.png\" 2x)", ["a.png", "b.png"]),
        ("-webkit-image-set(url(a.png) 1x, url('b.png') 2x), url(c.png)", ["a.png", "b.png", "c.png"]),
        ("image-set('a.avif' type('image/avif'), 'b.png' type( \"image/png\" ) 2x) 'c.png'", ["a.avif", "b.png"]),
        ("image-set(linear-gradient(red, blue) 1x, 'a.png' calc(1x * (2)))", ["a.png"]),
    ],
)
def test_urls_of_a_style_sheet(css: str, expected: list[str]) -> None:
    """Functions and imports in every spelling."""
    assert list(css_urls(css)) == expected


@pytest.mark.parametrize(
    "css",
    [
        "/* url(a.png) @import 'b.css'; */",
        "/* url(a.png)",
        "p::before { content: 'url(a.png)' }",
        'p::before { content: "say \\"url(a.png)\\" @import" }',
        "p::before { content: 'two\\\nlines url(a.png)' }",
        "p { background: my-url(a.png) }",
        "p { background: -url(a.png) }",
        "p { background: éurl(a.png) }",
        "p { background: url (a.png) }",
        "p { background: url(a b.png) }",
        "p { background: url(a'b.png) }",
        "p { background: url(a(b.png) }",
        "p { background: url('a\nb.png') }",
        "p { background: url() }",
        "@importer 'a.css';",
        "@namespace svg url(http://www.w3.org/2000/svg);",
        "@namespace 'http://www.w3.org/1999/xhtml';",
        "@-moz-document url(http://example.com/), url-prefix('http://example.com/') { p { color: red } }",
        "p { color: red }",
        "",
    ],
)
def test_text_that_looks_like_a_url_is_ignored(css: str) -> None:
    """Comments, strings, other functions, broken URLs and namespaces."""
    assert list(css_urls(css)) == []


@pytest.mark.parametrize(
    "css",
    [
        "p { content: 'never closed\n } q { background: url(x) }",
        "/* 'a */ q { background: url(x) } /* ' */",
        "p { background: url(a b) } q { background: url(x) }",
        "p { background: url('a\n) } q { background: url(x) }",
        'p { background: url(a"b) } q { background: url(x) }',
        "@namespace url(http://example.com/); q { background: url(x) }",
        "@document url(http://example.com/) { q { background: url(x) } }",
        "\\' q { background: url(x) }",
        "image-set('\n) ) q { background: url(x) }",
    ],
)
def test_errors_do_not_hide_later_urls(css: str) -> None:
    """A syntax error costs only its own declaration."""
    assert list(css_urls(css)) == ["x"]


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        (r"url(a\)b)", "a)b"),
        (r"url(a\ b)", "a b"),
        (r"url(\61 b)", "ab"),
        (r"url(\000061b)", "ab"),
        (r"url('\61 b')", "ab"),
        (r"url('a\'b')", "a'b"),
        (r'url("a\"b")', 'a"b'),
        ("url('a\\\nb')", "ab"),
        ("url('a\\\r\nb')", "ab"),
        (r"url(\e9 t\e9)", "été"),
        (r"url(\0)", "\ufffd"),
        (r"url(\d800)", "\ufffd"),
        (r"url(\ffffff)", "\ufffd"),
        (r"u\72l(a)", "a"),
        (r"b:c;@\69mport 'a'", "a"),
        (r"\75 \52\00006C(a)", "a"),
        (r"\url(a)", "a"),
        (r"@import 'a\2e css';", "a.css"),
    ],
)
def test_escapes_are_undone(css: str, expected: str) -> None:
    """A URL, and the word `url` itself, can be spelled with escapes."""
    assert list(css_urls(css)) == [expected]


def test_links_are_resolved_and_deduplicated() -> None:
    """Assets by `src`, in order, without fragments; `data:` and `#id` are not fetched."""
    css = (
        b"@import '../base.css'; a { b: url(i.png); c: url(./i.png#x); d: url(/r.png); e: url(//cdn.example/f.woff?#x);"
        b"f: url(data:image/png;base64,AAAA); g: url(data:image/png;base64,BBBB); h: url(#id); i: url('');"
        b"j: url(file:///x); k: url(http://[) }"
    )
    links = css_links(css, url=URL)
    assert [found.url for found in links.found] == [
        "https://example.com/base.css",
        "https://example.com/css/i.png",
        "https://example.com/r.png",
        "https://cdn.example/f.woff?",
    ]
    assert links.found[0] == Found(
        "https://example.com/base.css", LinkKind.ASSET, requisite=True, attribute="src", nofollow=False
    )
    assert links.refused == (
        Refused("file:///x", Reason.FILE_SCHEME),
        Refused("http://[", Reason.INVALID_LINK),
    )
    assert not links.nofollow


@pytest.mark.parametrize(
    ("css", "charset"),
    [
        ("url(é)".encode(), None),
        ("url(é)".encode("latin-1"), "ISO-8859-1"),
        ('@charset "windows-1252"; a{b:url(é)}'.encode("cp1252"), None),
        ('@charset "windows-1252"; a{b:url(é)}'.encode("cp1252"), "no-such-charset"),
        ('@charset "windows-1252"; a{b:url(é)}'.encode(), "utf-8"),
        ('@charset "utf-16"; a{b:url(é)}'.encode(), None),
        ('@charset "no-such-charset"; a{b:url(é)}'.encode(), None),
        ("url(é)".encode("utf-8-sig"), "latin-1"),
        (codecs.BOM_UTF16_LE + "url(é)".encode("utf-16-le"), None),
        (codecs.BOM_UTF16_BE + "url(é)".encode("utf-16-be"), "latin-1"),
        ("url(é)".encode(), "\ud800"),
        ("url(é)".encode(), "a\0b"),
    ],
)
def test_charset_precedence(css: bytes, charset: str | None) -> None:
    """The byte order mark has precedence, then the header, then `@charset`, then UTF-8."""
    assert [found.url for found in css_links(css, url=URL, charset=charset).found] == ["https://example.com/css/%C3%A9"]


WRITTEN = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
NOISE = st.sampled_from(
    ["", " ", "/* url(no) */", "'url(no)'", '"url(no)"', "p{color:red}", "\\'", "calc(1px)", "url(n o)", "@media x{"]
)


@given(st.lists(st.tuples(NOISE, WRITTEN, st.sampled_from(["bare", "'", '"', "import"])), max_size=6))
def test_css_strings_round_trip(parts: list[tuple[str, str, str]]) -> None:
    """Any text survives escaping and unescaping."""

    def escaped(text: str) -> str:
        return "".join(c if c.isalnum() and c.isascii() else f"\\{ord(c):x} " for c in text)

    forms = {"bare": "url({})", "'": "url('{}')", '"': 'url( "{}" )', "import": "@import '{}';"}
    # Outside the forms stands only what ends by itself, so that nothing runs into the next part.
    css = " ".join(noise + " " + forms[form].format(escaped(text)) for noise, text, form in parts)
    assert list(css_urls(css)) == [text for _, text, _ in parts]


@given(st.binary(max_size=300) | st.text("url('\")@import/*\\ \n;{}#x", max_size=200).map(str.encode))
def test_any_bytes_do_not_raise(css: bytes) -> None:
    """Any bytes give a set of links."""
    links = css_links(css, url=URL)
    assert len({found.url for found in links.found}) == len(links.found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pieces",
    [
        ['"', "'", "/*", "*/", "\\", "\\75", "u", "-", "(", ")", "{"],
        ["url(", 'url("', "url('", "url(x", "url(\\", 'url("x")x', "url(x y"],
        ["@import", "@import/*", "@import'", "@namespace", '@namespace"', "@document"],
        ["image-set(", "image-set('", "image-set(type(", "image-set()", "type("],
    ],
)
@pytest.mark.parametrize("between", ["", " ", "\n"])
def test_time_is_linear(pieces: list[str], between: str) -> None:
    """Unfinished constructs, repeated 20,000 times, are read in linear time."""
    started = time.process_time()
    for piece in pieces:
        for _ in css_urls((piece + between) * 20_000):
            pass
    assert time.process_time() - started < 5
