"""Plain text and Markdown pages, kinds of pages and charsets."""

from __future__ import annotations

import pytest

from sitemirror.convert import PageKind, convert_text, page_kind
from sitemirror.model import Page
from tests.convert.pages import page

URL = "https://example.com/readme.md"


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/html", PageKind.HTML),
        ("TEXT/HTML; charset=utf-8", PageKind.HTML),
        ("application/xhtml+xml", PageKind.HTML),
        ("text/plain", PageKind.TEXT),
        ("text/markdown", PageKind.TEXT),
        ("text/x-markdown", PageKind.TEXT),
        ("application/pdf", None),
        ("text/css", None),
        ("image/svg+xml", None),
        ("", None),
    ],
)
def test_page_types(content_type: str, kind: PageKind | None) -> None:
    """HTML, XHTML, plain text and Markdown are pages; nothing else is."""
    assert page_kind(content_type) is kind


def test_markdown_is_unchanged() -> None:
    """Text is not converted, escaped or reflowed; only its line ends are made one kind."""
    body = b"# Title\r\n\r\n*a* <b>c</b> [x](y)\r\n\tcode  \r\n\r\n\r\n"
    assert convert_text(body, url=URL) == Page(URL, "# Title\n\n*a* <b>c</b> [x](y)\n\tcode  \n", title="Title")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n## The *first* ##\n# Second\n", "The *first*"),
        ("Name\n====\ntext", "Name"),
        ("```\n# comment\n```\n# Real", "Real"),
        ("#hashtag\n\n- item\n---\n", "- item"),
        ("no heading", None),
        ("\n\n---\nrule", None),
        ("", None),
    ],
)
def test_the_first_heading_is_the_title(text: str, title: str | None) -> None:
    """ATX or setext, but not in code."""
    assert convert_text(text.encode(), url=URL).title == title


def test_empty_text_is_an_empty_page() -> None:
    """Blank lines alone are nothing."""
    assert convert_text(b"\n\r\n", url=URL) == Page(URL, "")


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Grüße, 世界".encode(), None),
        ("\ufeffGrüße, 世界".encode(), "iso-8859-1"),
        ("Grüße, 世界".encode("utf-16"), None),
        ("\ufeffGrüße, 世界".encode("utf-16-be"), "utf-8"),
        ("Grüße, 世界".encode("gb18030"), "GB18030"),
        ("Grüße, 世界".encode(), "no-such-charset"),
        ("Grüße, 世界".encode(), ""),
        ("Grüße, 世界".encode(), "\x00"),
    ],
)
def test_text_charsets(body: bytes, charset: str | None) -> None:
    """A BOM, then the header, then the bytes decide."""
    assert convert_text(body, url=URL, charset=charset).markdown == "Grüße, 世界\n"


def test_text_without_a_charset_is_detected() -> None:
    """Text in an old encoding comes out readable."""
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. Это русский текст."
    assert convert_text(text.encode("windows-1251"), url=URL).markdown == text + "\n"


@pytest.mark.parametrize(
    ("html", "charset"),
    [
        ("<p>žluťoučký</p>".encode("windows-1250"), "windows-1250"),
        ("<meta charset=windows-1250><p>žluťoučký</p>".encode("windows-1250"), None),
        (
            '<meta http-equiv=content-type content="text/html; charset=windows-1250"><p>žluťoučký</p>'.encode("cp1250"),
            None,
        ),
        ("<meta charset=windows-1250><p>žluťoučký</p>".encode(), "utf-8"),
        ("\ufeff<meta charset=windows-1250><p>žluťoučký</p>".encode(), "windows-1250"),
        ("\ufeff<p>žluťoučký</p>".encode("utf-16-le"), "utf-8"),
        ("<p>žluťoučký</p>".encode(), None),
        ("<p>žluťoučký</p>".encode(), "bogus"),
        (f"<!--{'x' * 5000}--><meta charset=windows-1250><p>žluťoučký</p>".encode("windows-1250"), None),
        ("<p>žluťoučký</p>", "windows-1250"),
    ],
)
def test_page_charsets(html: bytes | str, charset: str | None) -> None:
    """BOM, header, meta (also a late one), then the bytes themselves; an unknown label is as good as none."""
    assert page(html, charset=charset).markdown == "žluťoučký\n"


def test_wrong_bytes_do_not_stop_a_page() -> None:
    """What cannot be decoded is shown as such."""
    assert page(b"<p>a\xff\xfeb</p>", charset="utf-8").markdown == "a\ufffd\ufffdb\n"
    assert convert_text(b"a\xffb", url=URL, charset="utf-8").markdown == "a\ufffdb\n"
