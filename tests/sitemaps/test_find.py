"""Sitemaps are looked for where they are, in the right order, and recognised when they are seen."""

from __future__ import annotations

import gzip

import pytest

from sitemirror.sitemaps.encoding import looks_like_sitemap
from sitemirror.sitemaps.find import WELL_KNOWN, candidates, scope_folder, sitemap_links
from tests.sitemaps.reading import block, urlset


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/", "/"),
        ("", "/"),
        ("/docs", "/docs/"),
        ("/docs/", "/docs/"),
        ("/docs/index.html", "/docs/"),
        ("/docs/Start.PHP", "/docs/"),
        ("/docs/sitemap.xml.gz", "/docs/"),
        ("/index.html", "/"),
        ("/docs/v1.2", "/docs/v1.2/"),
        ("/docs/node.js", "/docs/node.js/"),
        ("/a/b/c", "/a/b/c/"),
    ],
)
def test_folder_of_a_start_path(path: str, folder: str) -> None:
    """A page stands for its folder, everything else for itself."""
    assert scope_folder(path) == folder


def test_candidates_for_a_whole_site() -> None:
    """Sitemaps of robots.txt come first and together, then common names one by one."""
    groups = candidates(
        "https://example.com/",
        ["https://example.com/a.xml", "/b.xml", "b.xml", " https://cdn.example.net/c.xml ", "http://[", "mailto:x", ""],
    )
    assert groups == [
        ["https://example.com/a.xml", "https://example.com/b.xml", "https://cdn.example.net/c.xml"],
        *[[f"https://example.com/{name}"] for name in WELL_KNOWN],
    ]


def test_candidates_for_a_section() -> None:
    """Sitemaps under the start path come before those of the whole site."""
    named = [
        "https://example.com/sitemap.xml",
        "/docs/sitemap.xml",
        "http://www.example.com/docs/b.xml",
        "/docs-old/c.xml",
    ]
    named.append("https://other.example/docs/d.xml")
    groups = candidates("https://example.com/docs/intro.html", named)
    assert groups == [
        ["https://example.com/docs/sitemap.xml", "http://www.example.com/docs/b.xml"],
        *[[f"https://example.com/docs/{name}"] for name in WELL_KNOWN[1:]],
        ["https://example.com/sitemap.xml", "https://example.com/docs-old/c.xml", "https://other.example/docs/d.xml"],
        *[[f"https://example.com/{name}"] for name in WELL_KNOWN[1:]],
    ]


def test_candidates_without_robots_txt() -> None:
    """No empty groups, ports are kept, and no URL is tried twice."""
    groups = candidates("http://localhost:8080/docs", [])
    assert groups[0] == ["http://localhost:8080/docs/sitemap.xml"]
    assert groups[5] == ["http://localhost:8080/sitemap.xml"]
    flat = [url for group in groups for url in group]
    assert len(flat) == len(set(flat)) == 2 * len(WELL_KNOWN)


def test_links_to_sitemaps() -> None:
    """Sitemap links of a page are resolved against its base, each once."""
    page = b"""<!doctype html><head><base href="/en/">
    <link rel="stylesheet" href="style.css"><link rel="SITEMAP" type="application/xml" href="map.xml">
    <link rel="alternate sitemap" href=" https://example.com/b.xml?a=1&amp;b=2#x "><link rel=sitemap href=map.xml>
    <link rel="sitemap"><link rel="sitemap" href="javascript:x"><link rel="sitemaps" href="no.xml">
    <a rel="sitemap" href="no.xml">no</a></head>"""
    assert sitemap_links(page, "https://example.com/de/index.html") == [
        "https://example.com/en/map.xml",
        "https://example.com/b.xml?a=1&b=2",
    ]
    without_base = page.replace(b'<base href="/en/">', b'<base href="http://[">')
    assert sitemap_links(without_base, "https://example.com/de/")[0] == "https://example.com/de/map.xml"
    assert sitemap_links(b"\x00\xff<", "https://example.com/") == []


SITEMAP = urlset(block("https://example.com/"))
PAGE = b"<!doctype html><title>x</title>"


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (SITEMAP, "application/xml"),
        (SITEMAP, "text/html"),
        (b"\n\xef\xbb\xbf" + SITEMAP, "text/plain"),
        (gzip.compress(SITEMAP * 100, mtime=0)[:300], "application/gzip"),
        (gzip.compress(gzip.compress(SITEMAP, mtime=0), mtime=0), ""),
        (SITEMAP.decode().encode("utf-16"), "text/xml"),
        (b"<sitemapindex>", "text/xml"),
        (b"<?xml version='1.0'?><?xml-stylesheet href='x'?><!-- x --><s:urlset>", "text/xml"),
        (b"<rss version='2.0'>", "application/rss+xml"),
        (b"<feed xmlns='x'>", "application/atom+xml"),
        (b"<rdf:RDF xmlns='x'>", "application/rdf+xml"),
        (b"\xef\xbb\xbf\n https://example.com/\n", "text/plain"),
        (gzip.compress(b"https://example.com/\n", mtime=0), "application/x-gzip"),
    ],
)
def test_sitemaps_are_recognised(head: bytes, content_type: str) -> None:
    """The first bytes decide, not the media type."""
    assert looks_like_sitemap(head, content_type)


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (PAGE, "text/html"),
        (PAGE, "application/xml"),
        (gzip.compress(PAGE, mtime=0), "application/gzip"),
        (PAGE + b"<p>about &lt;urlset> and <urlset> tags</p>", "text/html"),
        (b"<?xml version='1.0'?><html xmlns='x'><body>", "application/xhtml+xml"),
        (b"<svg xmlns='x'/>", "image/svg+xml"),
        (b"See https://example.com/\nhttps://example.com/", "text/plain"),
        (b"https://example.com/ is our site", "text/html"),
        (b'{"a": "https://example.com/"}', "application/json"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"", "text/plain"),
        (b"\x1f\x8b", "application/gzip"),
    ],
)
def test_other_files_are_not_recognised(head: bytes, content_type: str) -> None:
    """Pages, prose, images and empty bodies are not sitemaps."""
    assert not looks_like_sitemap(head, content_type)
