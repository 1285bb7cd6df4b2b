"""A saved page stays in its charset, and bytes that are nothing in it stay as well."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemirror.links.rewrite_html import localize_html
from sitemirror.urls import normalize
from tests.links.localized import PAGE, into_the_mirror

CHARSETS = ["utf-8", "windows-1252", "iso-8859-2", "koi8-r", "shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr"]
TEXTS = {
    "windows-1252": "é",
    "iso-8859-2": "ł",
    "koi8-r": "ж",
    "shift_jis": "表示ソ",
    "euc-jp": "表示ソ",
    "gbk": "乗餦",
    "gb18030": "乗餦㐀",
    "big5": "功許",
    "euc-kr": "한글",
    "utf-8": "é日\U0001f600",
}


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("declared", ["header", "meta"])
def test_pages_keep_their_charset(charset: str, declared: str) -> None:
    """Links in any charset are rewritten, and other bytes are unchanged."""
    text = TEXTS[charset]
    meta = f'<meta charset="{charset}">'
    said = meta if declared == "meta" else ""
    page = (
        '{}<p title="{}">{}<a href="{}#{}">{}</a><p style="x: \'{}\', url({})"><style>a{{f:"{}";b:url({})}}</style>{}'
    )
    before = page.format(said, text, text, "x", text, text, text, "y", text, "z", text)
    after = page.format(meta, text, text, "../m/docs/x", text, text, text, "../m/docs/y", text, "../m/docs/z", text)
    body = before.encode(charset)
    header = charset if declared == "header" else None
    assert localize_html(body, url=PAGE, charset=header, target=into_the_mirror) == after.encode(charset)
    asked: list[str] = []
    link = f'{said}{text}<a href="{text}">&<a href="&amp;{text}">'.encode(charset)
    localize_html(link, url=PAGE, charset=header, target=lambda url: asked.append(url) or "x")  # type: ignore[func-returns-value]
    assert asked == [normalize(text, PAGE), normalize(f"&{text}", PAGE)]


@pytest.mark.parametrize(
    ("declaration", "header", "corrected"),
    [
        ('<meta charset="iso-8859-1">', "utf-8", '<meta charset="utf-8">'),
        (
            "<META http-equiv=Content-Type content='text/html;charset=UTF-8 '>",
            "windows-1251",
            "<META http-equiv=Content-Type content='text/html;charset=windows-1251 '>",
        ),
        ("<meta charset=latin1>", "windows-1252", "<meta charset=latin1>"),
        ("<meta charset=utf-16>", "UTF-8", "<meta charset=utf-16>"),
        ("<meta charset=latin1>", "bogus", "<meta charset=latin1>"),
        ("<meta charset=latin1>", None, "<meta charset=latin1>"),
        ("<meta charset=bogus>", "utf-8", "<meta charset=utf-8>"),
        ("\ufeff<meta charset=latin1>", "koi8-r", "\ufeff<meta charset=latin1>"),
        ("<p>charset=latin1", "utf-8", '<meta charset="utf-8"><p>charset=latin1'),
        ("<p>charset=latin1", "bogus", "<p>charset=latin1"),
        (
            '<!doctype html>\n<!-- <head> --><HTML data-x=">">\n<head\nclass=x><title>',
            "Shift_JIS",
            '<!doctype html>\n<!-- <head> --><HTML data-x=">">\n<head\nclass=x><meta charset="shift_jis"><title>',
        ),
        ("<?xml version='1.0'?><html><body>x", "koi8-r", "<?xml version='1.0'?><html><meta charset=\"koi8-r\"><body>x"),
        ("<header>x", "koi8-r", '<meta charset="koi8-r"><header>x'),
        ("<!--><p>x<!-- -->", "koi8-r", '<!--><meta charset="koi8-r"><p>x<!-- -->'),
    ],
)
def test_charset_of_the_header_is_written_into_the_page(declaration: str, header: str | None, corrected: str) -> None:
    """Only if the page declares none or another one."""
    found = localize_html(declaration.encode(), url=PAGE, charset=header, target=into_the_mirror)
    assert found.decode() == corrected


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declared", ["header", "mark"])
def test_utf_16_pages_keep_utf_16(codec: str, declared: str) -> None:
    """Lone surrogates and an odd last byte are unchanged."""
    mark = "\ufeff".encode(codec) if declared == "mark" else b""
    broken = "\ud800".encode(codec, "surrogatepass")
    page = '<p>é\U0001f600<a href="{}">日</a>'
    body = mark + broken + page.format("x").encode(codec) + b"!"
    found = localize_html(
        body, url=PAGE, charset=codec.replace("16-", "16") if declared == "header" else None, target=into_the_mirror
    )
    assert found == "\ufeff".encode(codec) + broken + page.format("../m/docs/x").encode(codec) + b"!"


def test_iso_2022_jp_pages_keep_their_charset() -> None:
    """Its two-byte characters look like ASCII, tags and quotes included."""
    page = '<meta charset=iso-2022-jp><p title="亜">粍<a href="{}">日本</a>'
    found = localize_html(page.format("x").encode("iso2022_jp"), url=PAGE, charset=None, target=into_the_mirror)
    assert found == page.format("../m/docs/x").encode("iso2022_jp")


def test_byte_order_mark_is_no_text() -> None:
    """A frameset after a byte order mark remains a frameset."""
    mark = b"\xef\xbb\xbf"
    found = localize_html(mark + b"<frameset><frame src=x>", url=PAGE, charset="windows-1252", target=into_the_mirror)
    assert found == mark + b"<frameset><frame src=../m/docs/x>"


def test_invalid_bytes_are_unchanged() -> None:
    """Bytes that are invalid in the page's charset are copied."""
    body = b'<p>\xff\xfe\x80\x00<a title="\xff" href="x">\xc3</a>\r\r\n\x0b'
    found = localize_html(body, url=PAGE, charset="utf-8", target=into_the_mirror)
    assert found == b'<meta charset="utf-8">' + body.replace(b'"x"', b'"../m/docs/x"')


@given(
    st.binary(max_size=120), st.sampled_from([None, "utf-8", "utf-16le", "shift_jis", "gbk", "iso-2022-jp", "bogus"])
)
@example(b"\x1b\xb2", "iso-2022-jp")
def test_bytes_without_links_are_unchanged(body: bytes, charset: str | None) -> None:
    """Any bytes are copied, except for the charset declaration."""
    found = localize_html(body, url=PAGE, charset=charset, target=str)
    declaration = codecs.BOM_UTF16_LE if charset == "utf-16le" else f'<meta charset="{charset}">'.encode()
    assert body in (found, found.replace(declaration, b"", 1))
