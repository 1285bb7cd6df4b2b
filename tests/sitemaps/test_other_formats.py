"""Plain lists of URLs are sitemaps; pages, JSON, pictures and DTDs are rejected with a reason."""

from __future__ import annotations

import time

import pytest

from sitemirror.model import Entry
from sitemirror.sitemaps.parse import SitemapParser
from tests.sitemaps.reading import block, feed, read, read_pieces, urlset


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r", b"\n\n  \n"])
def test_plain_list(line_end: bytes) -> None:
    """One URL per line, with any line ends."""
    lines = [b"https://example.com/a", b"  HTTP://example.com/b?x=1&y=2\t", "https://example.com/ä".encode()]
    meant = ["https://example.com/a", "HTTP://example.com/b?x=1&y=2", "https://example.com/ä"]
    for body in (line_end.join(lines), line_end.join([*lines, b""]), b"\xef\xbb\xbf" + line_end.join(lines)):
        reading = read(body)
        assert (reading.kind, list(reading.events)) == ("text", [Entry(loc) for loc in meant])


def test_plain_list_in_utf_16() -> None:
    """Windows saves such lists in UTF-16."""
    assert read("https://example.com/ä\r\nhttps://example.com/b".encode("utf-16")).locs == [
        "https://example.com/ä",
        "https://example.com/b",
    ]


def test_other_lines_of_a_list_are_counted() -> None:
    """Comments, relative paths and other schemes are ignored with one problem that counts them."""
    body = b"# ours\nhttps://example.com/a\nftp://example.com/\nwww.example.com\nhttps://example.com/" + b"x" * 9000
    reading = read(body + b"\n\nhttps://example.com/b")
    assert reading.locs == ["https://example.com/a", "https://example.com/b"]
    assert reading.problems == ["ignored 4 lines that are no http(s) URL"]


@pytest.mark.slow
def test_endless_line_in_a_list() -> None:
    """An endless line needs no memory and does not hide later lines."""
    start = time.process_time()
    pieces = [b"https://example.com/a\n", *[b"x" * 65_536] * 300, b"\nhttps://example.com/b\n"]
    reading = read_pieces(pieces)
    assert reading.locs == ["https://example.com/a", "https://example.com/b"]
    assert reading.problems == ["ignored 1 line that is no http(s) URL"]
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html><body>Not found</body></html>",
        b"\n\n<!doctype HTML>\n<title>404</title>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html/>',
        b"<!-- served by 7 --><html><head>",
        b"<html xmlns='http://www.w3.org/1999/xhtml'><body>&nbsp;</body></html>",
        b"<h1>Forbidden</h1>",
        b"<!--" + b" long " * 3000 + b"--><html></html>",
        b"<!--" + b" long " * 3000 + b"--><!DOCTYPE html><p>",
        "\ufeff<!doctype html><p>".encode("utf-16"),
    ],
)
def test_page_instead_of_a_sitemap(body: bytes) -> None:
    """An HTML page in place of a sitemap is reported as one."""
    reading = read(body)
    assert (reading.kind, reading.locs) == ("html", [])
    assert reading.problems == ["HTML page instead of a sitemap"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"urls": ["https://example.com/"]}', "JSON instead of a sitemap"),
        (b'[\n"https://example.com/"]', "JSON instead of a sitemap"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data instead of a sitemap"),
        (b"PK\x03\x04" + bytes(range(256)), "binary data instead of a sitemap"),
        (b"", "empty file"),
        (b" \n\xef\xbb\xbf ", "empty file"),
        (b"Not found: https://example.com/", "neither XML nor a list of URLs"),
        (b"<svg xmlns='urn:x'/>", "XML, but not a sitemap: its root element is <svg>"),
        (b"<" + b"a" * 900 + b"/>", f"XML, but not a sitemap: its root element is <{'a' * 59}…>"),
    ],
)
def test_other_files_instead_of_a_sitemap(body: bytes, reason: str) -> None:
    """Any other content gives exactly one printable reason."""
    reading = read(body)
    assert (reading.kind, reading.locs, reading.problems) == (None, [], [reason])


def test_other_format_stops_the_download() -> None:
    """The parser stops once the first bytes show that this is not a sitemap."""
    parser = SitemapParser(max_bytes=10**9)
    events = feed(parser, b"<!doctype html>" + b"<p>text</p>" * 1000)
    assert parser.stopped
    assert len(events) == 1
    assert feed(parser, urlset(block("https://example.com/"))) == []
    assert parser.close() == []


@pytest.mark.parametrize(
    "doctype",
    [
        b'<!DOCTYPE foo [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/evil.dtd">',
        b'<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        b"<!DOCTYPE urlset>",
    ],
)
def test_dtds_are_refused(doctype: bytes) -> None:
    """Nothing of a document with a DTD is expanded, loaded or listed."""
    body = doctype + b"<urlset><url><loc>https://example.com/&x;</loc></url></urlset>"
    for whole in (body, b'<?xml version="1.0"?>\n' + body, b"<urlset>&" + body):
        reading = read(whole)
        assert reading.locs == []
        assert "DTD" in reading.problems[-1]


def test_output_before_the_sitemap_is_ignored() -> None:
    """Warnings that a server printed before the XML do not hide the sitemap."""
    sound = urlset(block("https://example.com/a"), block("https://example.com/b"))
    for before in (b"Notice: undefined index in x.php\n", b"<br />\n<b>Warning</b>: x in <b>y.php</b><br />\n"):
        reading = read(before + sound)
        assert reading.locs == ["https://example.com/a", "https://example.com/b"]
        assert (reading.kind, len(reading.problems)) == ("urlset", 1)
