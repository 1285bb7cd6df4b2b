"""Every URL of a style sheet leads into the mirror, and all else stays byte for byte."""

from __future__ import annotations

import time

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.css import find_urls, localize_css, relink_css, spelled, value
from tests.links.css_tokens import urls

SHEET = "https://example.com/css/site.css"


def into_the_mirror(url: str) -> str:
    """Everything on the site is saved under `../m/`."""
    return url.replace("https://example.com/", "../m/")


def localized(css: str, *, charset: str | None = None) -> str:
    """`css` localised, as text."""
    return localize_css(css.encode(), url=SHEET, charset=charset, target=into_the_mirror).decode()


REWRITTEN = {
    "bare": ("a { b: url(x.png) no-repeat }", "a { b: url(../m/css/x.png) no-repeat }"),
    "blanks": ("a{b:url(\t x.png\n )}", "a{b:url(\t ../m/css/x.png\n )}"),
    "double quotes": ('a{b:URL("x y.png")}', 'a{b:URL("../m/css/x%20y.png")}'),
    "single quotes": ("a{b:url( '/x.png' )}", "a{b:url( '../m/x.png' )}"),
    "two": ("a{b:url(x),url(y)}", "a{b:url(../m/css/x),url(../m/css/y)}"),
    "import": ("@import 'a.css' screen;", "@import '../m/css/a.css' screen;"),
    "import, tight": ('@IMPORT"a.css";', '@IMPORT"../m/css/a.css";'),
    "import, comment": ("@import/* why */ \"a.css\";", "@import/* why */ \"../m/css/a.css\";"),
    "import url": ("@import url(a.css) layer(x);", "@import url(../m/css/a.css) layer(x);"),
    "import quoted url": ('@import url("a.css");', '@import url("../m/css/a.css");'),
    "font": (
        "@font-face{src:url(f.eot?#iefix) format('x'),url(f.svg#f)}",
        "@font-face{src:url(../m/css/f.eot?#iefix) format('x'),url(../m/css/f.svg#f)}",
    ),
    "escapes": (r"a{b:u\72 l(x\29\.png)}", r"a{b:u\72 l(../m/css/x\).png)}"),
    "escaped name": (r"a{b:\75\52l('x')} @\69mport 'y';", r"a{b:\75\52l('../m/css/x')} @\69mport '../m/css/y';"),
    "line in a string": ("a{b:url('x\\\ny')}", "a{b:url('../m/css/xy')}"),
    "image-set": (
        "a{b:image-set('x.png' 1x, url(y.png) 2x, \"z\" type('image/png'))} c{d:-webkit-image-set(url(w) 1x)}",
        "a{b:image-set('../m/css/x.png' 1x, url(../m/css/y.png) 2x, \"../m/css/z\" type('image/png'))} "
        "c{d:-webkit-image-set(url(../m/css/w) 1x)}",
    ),
    "unclosed": ("a{b:url(x", "a{b:url(../m/css/x"),
    "unclosed string": ("@import 'x", "@import '../m/css/x"),
    "after a bad url": ("a{b:url(a b) url(c)}", "a{b:url(a b) url(../m/css/c)}"),
    "after a bad string": ("a{b:'url(a)\n;c:url(c)}", "a{b:'url(a)\n;c:url(../m/css/c)}"),
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITTEN)
def test_urls_are_rewritten(name: str) -> None:
    """Each form of URL, with the sheet otherwise unchanged."""
    before, after = REWRITTEN[name]
    assert localized(f"/* x */\r\n{before}") == f"/* x */\r\n{after}"


@pytest.mark.parametrize(
    "css",
    [
        "/* url(x.png) @import 'a' */",
        "a::after { content: \"url(x.png)\" }",
        'a::after { content: "\\"url(x.png)" }',
        "a { b: url(data:image/png;base64,AAAA) }",
        "a { b: url(#filter) url('') url() }",
        "a { b: my-url(x) urls(x) -url(x) src-url(x) 1url(x) éurl(x) url (x) }",
        "#url(x) { }",
        "@namespace svg url(http://www.w3.org/2000/svg); @namespace 'x.css';",
        "@-moz-document url(x), url-prefix('x') { }",
        "@charset 'x.css'; @media 'x.css';",
        "a { b: url(x y) url(x'y) url(x(y) url(x\"y) }",
        "a { b: url('x\n') }",
        "a { b: attr(data-x 'y') image('x') }",
        "a { b: url(https://other.example/x.png) url(HTTPS://other.example) }",
        "@import\nurl(about:blank);",
        "",
        "\\",
    ],
)  # fmt: skip
def test_other_text_is_unchanged(css: str) -> None:
    """Comments, strings, other functions, namespaces, broken URLs and other schemes."""
    assert localized(css) == css


@pytest.mark.parametrize("link", ["a'b", 'a"b', "a(b)", "a b", "a\\b", "a\nb", "</style>"])
def test_new_links_are_escaped_by_context(link: str) -> None:
    """Any new link is read back as the same URL."""
    for css in ("a{b:url(x)}", "a{b:url('x')}", 'a{b:url("x")}', "@import 'x';"):
        found = localize_css(css.encode(), url=SHEET, charset=None, target=lambda _: link).decode()
        assert urls(found) == [link]
        assert "</" not in found


@pytest.mark.parametrize(
    ("codec", "header", "rule"),
    [
        ("utf-8", None, None),
        ("utf-8", "utf-8", None),
        ("windows-1252", "iso-8859-1", None),
        ("windows-1252", None, "iso-8859-1"),
        ("shift_jis", "Shift_JIS", None),
        ("shift_jis", None, "shift_jis"),
        ("big5", "big5", None),
        ("utf-16-le", "utf-16le", None),
        ("utf-8-sig", "windows-1252", None),
    ],
)
def test_sheets_keep_their_charset(codec: str, header: str | None, rule: str | None) -> None:
    """A name is encoded in the sheet's charset; a second byte equal to a backslash is not an escape."""
    text = {"shift_jis": "表ソ", "big5": "功許", "windows-1252": "é"}.get(codec, "é表")
    css = (f'@charset "{rule}";' if rule else "") + 'a{{f:"{0}";b:url({1})}} b{{c:url("{2}")}}'
    asked: list[str] = []

    def target(url: str) -> str:
        asked.append(url)
        return "../l"

    found = localize_css(css.format(text, text, f"x{text}").encode(codec), url=SHEET, charset=header, target=target)
    says = "\ufeff" if codec == "utf-16-le" else f'@charset "{codec}";' if header and codec != "utf-8-sig" else ""
    assert found == (says + css.format(text, "../l", "../l")).encode(codec)
    assert asked == [ada_url.URL(name, SHEET).href for name in (text, f"x{text}")]


def test_relinking_sees_current_links() -> None:
    """Links in a saved sheet are changed one by one; others are unchanged."""
    css = b"@import 'a.css'; b{c:url(../d.png#e)} f{g:url(a.css)} h{i:url(#j)} \xff"
    seen: list[str] = []

    def change(link: str) -> str | None:
        seen.append(link)
        return "n/a.css" if link == "a.css" else None

    found = relink_css(css, change=change)
    assert found == b"@import 'n/a.css'; b{c:url(../d.png#e)} f{g:url(n/a.css)} h{i:url(#j)} \xff"
    assert seen == ["a.css", "../d.png", "a.css"]


WORDS = r"""
    url( URL( u\72l( @import @namespace @document @-moz-document @media image-set( -webkit-image-set( type( ) ' " /* */
    \ ; { } x.png y # @ ( 1 - 'z.css' "w.css" * . 0 : \6 < _ é , /
"""
PIECES = st.sampled_from([*WORDS.split(), "\\75 rl(", "a\\29 b", "\n", "\r\n", " ", "\0", "\x7f"])


@pytest.mark.parametrize(
    ("css", "header", "after"),
    [
        ("a{}", "koi8-r", "a{}"),
        ('@charset "utf-8";a{f:"é"}', "utf-8", '@charset "utf-8";a{f:"é"}'),
        ('@charset "koi8-r";a{f:"é"}', "UTF-8", '@charset "utf-8";a{f:"é"}'),
        ('a{f:"é"}', None, 'a{f:"é"}'),
        ('a{f:"é"}', "bogus", 'a{f:"é"}'),
    ],
)
def test_charset_of_the_header_is_written_into_the_sheet(css: str, header: str | None, after: str) -> None:
    """Unless the sheet is ASCII."""
    assert localized(css, charset=header) == after


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_css_is_tokenised_by_the_standard(css: str) -> None:
    """A plain implementation of CSS Syntax finds the same URLs in the same order."""
    found = [value(css[spot.start : spot.end]) for spot in find_urls(css)]
    assert [url for url in found if url] == [url for url in urls(css) if url]


@given(st.text("ab'\"()\\ \n<\x7f/", max_size=12), st.sampled_from(["", "'", '"']))
def test_css_escapes_round_trip(url: str, quote: str) -> None:
    """Escaping and unescaping are inverse."""
    (spot,) = find_urls(f"a{{b:url({quote}{spelled('x' + url, quote)}{quote})}}")
    assert spot.quote == quote
    assert value(f"a{{b:url({quote}{spelled('x' + url, quote)}{quote})}}"[spot.start : spot.end]) == "x" + url


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["url(", "url('", "/*", "'", "@import ", "image-set(", "\\", "@namespace ", "a{b:url(x)}", "*", "@", "url(x y"],
)
def test_time_is_linear(piece: str) -> None:
    """No repetition makes a sheet slow."""
    start = time.process_time()
    localized(piece * (500_000 // len(piece)))
    assert time.process_time() - start < 5
