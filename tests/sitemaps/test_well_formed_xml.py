"""Every form of a well-formed sitemap gives its URLs as their owner meant them."""

from __future__ import annotations

import pytest

from sitemirror.model import Entry, SitemapRef
from tests.sitemaps.reading import block, read, urlset


def test_urlset_gives_loc_lastmod_and_priority() -> None:
    """Each <url> becomes one entry with trimmed fields."""
    reading = read(
        urlset(
            "<url><loc>https://example.com/a</loc><lastmod> 2026-01-02T03:04:05+01:00\n</lastmod>"
            "<changefreq>daily</changefreq><priority> 0.80 </priority></url>",
            "<url><loc>https://example.com/b</loc></url>",
        )
    )
    assert reading.kind == "urlset"
    assert list(reading.events) == [
        Entry("https://example.com/a", "2026-01-02T03:04:05+01:00", "0.80"),
        Entry("https://example.com/b"),
    ]


def test_index_gives_child_sitemaps() -> None:
    """A sitemapindex names sitemaps, not pages."""
    reading = read(
        b"<sitemapindex><sitemap><loc>https://example.com/1.xml.gz</loc><lastmod>2026-01-02</lastmod></sitemap>"
        b"<sitemap><loc>/relative.xml</loc></sitemap></sitemapindex>"
    )
    assert reading.kind == "index"
    assert list(reading.events) == [
        SitemapRef("https://example.com/1.xml.gz", "2026-01-02"),
        SitemapRef("/relative.xml"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>https://example.com/a</loc></url></urlset>",
        b'<urlset xmlns="urn:wrong"><url xmlns=""><loc>https://example.com/a</loc></url></urlset>',
        b'<s:urlset xmlns:s="urn:x"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>',
        b"<s:urlset><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>",
        b"<URLSET><Url><LOC>https://example.com/a</LOC></Url></URLSET>",
        b"<url><loc>https://example.com/a</loc></url>",
    ],
    ids=["none", "wrong", "prefix", "undeclared", "capitals", "bare"],
)
def test_namespaces_and_case_do_not_matter(body: bytes) -> None:
    """Sitemaps with a missing, wrong or undeclared namespace are read like any other."""
    reading = read(body)
    assert (reading.locs, reading.problems) == (["https://example.com/a"], [])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://example.com/?a=1&amp;b=2", "https://example.com/?a=1&b=2"),
        ("https://example.com/?a=1&#38;b=&#x32;", "https://example.com/?a=1&b=2"),
        ("<![CDATA[https://example.com/?a=1&b=2]]>", "https://example.com/?a=1&b=2"),
        ("https://example.com/<![CDATA[?a=1&]]>b=2", "https://example.com/?a=1&b=2"),
        ("\n\t https://example.com/?a=1&amp;b=2 \r\n", "https://example.com/?a=1&b=2"),
        ("\u00a0\ufeffhttps://example.com/?a=1&amp;b=2\u200b\u2000", "https://example.com/?a=1&b=2"),
        ("<!-- here -->https://example.com/?a=1<!-- & -->&amp;b=2", "https://example.com/?a=1&b=2"),
        ("<url>https://example.com/?a=1&amp;b=2</url>", "https://example.com/?a=1&b=2"),
        ("/täst/日本", "/täst/日本"),
        ("a b.html", "a b.html"),
    ],
)
def test_loc_is_unescaped(written: str, meant: str) -> None:
    """Escapes, CDATA, comments and blanks are removed; the URL is not changed."""
    reading = read(urlset(block(written)))
    assert (reading.locs, reading.problems) == ([meant], [])


def test_extension_elements_are_no_pages() -> None:
    """The loc of an image, a video or a news item is not a page."""
    reading = read(
        urlset(
            "<url><image:image><image:loc>https://example.com/1.png</image:loc><loc>https://example.com/2.png</loc>"
            "</image:image><loc>https://example.com/a</loc><image:loc>https://example.com/3.png</image:loc>"
            "<video:video><video:content_loc>https://example.com/v</video:content_loc><lastmod>1999</lastmod>"
            "<priority>9</priority></video:video></url>",
            "<url><video:loc>https://example.com/v</video:loc></url>",
        )
    )
    assert reading.entries == [Entry("https://example.com/a")]
    assert reading.problems == ["1 entry without a URL"]


def test_language_alternates_are_kept() -> None:
    """xhtml:link elements with a language and an address become the entry's alternates, in order."""
    reading = read(
        urlset(
            "<url><loc>https://example.com/en</loc>"
            '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de?a=1&amp;b=2"/>'
            '<xhtml:link rel="alternate" hreflang="x-default" href=" https://example.com/ "></xhtml:link>'
            '<xhtml:link rel="alternate" hreflang="fr"/>'
            '<xhtml:link rel="canonical" hreflang="it" href="https://example.com/it"/>'
            '<xhtml:link rel="alternate" media="only screen" href="https://m.example.com/"/></url>',
            block("https://example.com/next"),
        )
    )
    first, second = reading.entries
    assert first.alternates == (("de", "https://example.com/de?a=1&b=2"), ("x-default", "https://example.com/"))
    assert (first.loc, second.alternates) == ("https://example.com/en", ())


def test_entries_without_a_url_are_counted() -> None:
    """A <url> without a usable <loc> is dropped, and one problem counts them."""
    reading = read(urlset("<url/>", "<url><loc> </loc></url>", block("https://example.com/a"), "<url>words</url>"))
    assert reading.locs == ["https://example.com/a"]
    assert reading.problems == ["3 entries without a URL"]


def test_block_without_loc_elements_but_with_a_url() -> None:
    """A URL directly inside <url> is accepted."""
    reading = read(b"<sitemapindex><sitemap>\nhttps://example.com/1.xml?a&amp;b\n</sitemap></sitemapindex>")
    assert (reading.children, reading.problems) == ([SitemapRef("https://example.com/1.xml?a&b")], [])


def test_several_locs_in_one_block_are_several_entries() -> None:
    """Each loc keeps its own date."""
    reading = read(
        b"<urlset><url><loc>https://example.com/1</loc><lastmod>2001</lastmod><loc>https://example.com/2</loc>"
        b"<loc>https://example.com/3</loc><lastmod>2003</lastmod></url></urlset>"
    )
    assert reading.entries == [
        Entry("https://example.com/1", "2001"),
        Entry("https://example.com/2"),
        Entry("https://example.com/3", "2003"),
    ]


def test_overlong_fields_are_dropped() -> None:
    """Huge dates are ignored; too long URLs are counted."""
    reading = read(
        urlset(
            f"<url><loc>https://example.com/a</loc><lastmod>{'9' * 5000}</lastmod><priority>{'1' * 99}</priority>"
            "</url>",
            f"<url><loc>https://example.com/{'x' * 9000}</loc></url>",
        )
    )
    assert reading.entries == [Entry("https://example.com/a")]
    assert reading.problems == ["1 entry with a URL longer than 8,192 characters"]


@pytest.mark.parametrize(
    "start", [b"\xef\xbb\xbf", b"\n\r\n  \t", b"\xef\xbb\xbf\n", b"\n\xef\xbb\xbf\xef\xbb\xbf", b" " * 10_000]
)
def test_marks_and_blanks_before_the_declaration(start: bytes) -> None:
    """Bytes before the declaration, which XML forbids and many servers send, are ignored."""
    reading = read(start + urlset(block("https://example.com/a")))
    assert (reading.kind, reading.locs, reading.problems) == ("urlset", ["https://example.com/a"], [])


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_wide_encodings(codec: str) -> None:
    """UTF-16 and UTF-32 are recognised by their first bytes, with or without a byte order mark."""
    body = urlset(block("https://example.com/ä")).decode().replace(' encoding="UTF-8"', "")
    reading = read(body.encode(codec))
    assert (reading.locs, reading.problems) == (["https://example.com/ä"], [])


@pytest.mark.parametrize("codec", ["iso-8859-1", "windows-1251", "gb2312", "shift_jis", "euc-kr", "koi8-r"])
def test_declared_encodings(codec: str) -> None:
    """A declared encoding is used, even if expat does not know it."""
    letter = {"iso-8859-1": "é", "windows-1251": "Ж", "koi8-r": "Ж", "euc-kr": "한"}.get(codec, "日")
    body = urlset(block(f"https://example.com/{letter}")).decode().replace("UTF-8", codec)
    reading = read(body.encode(codec))
    assert (reading.locs, reading.problems) == ([f"https://example.com/{letter}"], [])


@pytest.mark.parametrize("codec", ["utf-16", "no-such-charset", "zlib_codec", "idna"])
def test_wrong_declarations_are_ignored(codec: str) -> None:
    """A body that wrongly declares UTF-16, or an unknown encoding, is read as UTF-8."""
    reading = read(urlset(block("https://example.com/é")).replace(b"UTF-8", codec.encode()))
    assert (reading.locs, reading.problems) == (["https://example.com/é"], [])
