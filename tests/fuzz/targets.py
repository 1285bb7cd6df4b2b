"""What is fuzzed, and what must hold whatever goes in. Each target takes bytes, so that any fuzzer can drive it.

`test_fuzz.py` runs each for a moment with hypothesis, `scripts/fuzz` for as long as it is told, with atheris where that
is installed. A target raises `AssertionError` or anything else when something is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sitemirror.convert import convert_html, convert_text, front_matter, read_front_matter_url
from sitemirror.fetch.decode import BodyTooLarge, CorruptBody, Decoder, UnknownEncoding
from sitemirror.fetch.media_type import parse_content_type, sniff
from sitemirror.fetch.pace import parse_retry_after
from sitemirror.frontier.freshness import parse_lastmod
from sitemirror.links.css import css_links, localize_css
from sitemirror.links.html import page_links
from sitemirror.links.rewrite_html import localize_html
from sitemirror.model import Entry, SitemapRef
from sitemirror.publish.json_text import json_bytes
from sitemirror.run.robots import Robots
from sitemirror.sitemaps.entries import expand_batches
from sitemirror.sitemaps.parse import SitemapParser
from sitemirror.store.paths import asset_path, page_path
from sitemirror.text import UNPRINTABLE, printable
from sitemirror.urls import InvalidUrl, normalize, parts
from tests.links.localized import localize_markdown

URL: Final = "https://example.com/docs/page?x=1"
NOW: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_RESERVED: Final = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_REFUSED: Final = frozenset('<>:"\\|?*')
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def urls_and_paths(data: bytes) -> None:
    """Any text as a URL has one spelling and a file inside the tree that every system can hold."""
    text = _text(data)
    for base in (None, URL):
        try:
            url = normalize(text, base)
        except InvalidUrl:
            continue
        assert normalize(url) == url
        assert url.isascii()
        assert url.startswith(("http://", "https://"))
        found = parts(url)
        assert found.origin + found.path + ("" if found.query is None else f"?{found.query}") == url
        assert "@" not in found.authority
        for path in (page_path(url), asset_path(url)):
            _holds(path)


def _holds(path: str) -> None:
    names = path.split("/")
    assert len(path.encode()) <= 1000 + 240, path
    for name in names:
        assert name not in ("", ".", ".."), path
        assert len(name) <= 200, path
        assert len(name.encode()) <= 240, path
        assert not _REFUSED & set(name), path
        assert not _CONTROL.search(name), path
        assert not name.endswith((".", " ")), path
        assert not _RESERVED.fullmatch(name), path


def sitemaps(data: bytes) -> None:
    """Any bytes are read to their end, the same however they are cut, and give nothing longer than they are."""
    found = _read_sitemap([data])
    cut = max(1, len(data) // 3)
    assert _read_sitemap([data[at : at + cut] for at in range(0, len(data), cut)]) == found


def _read_sitemap(pieces: list[bytes]) -> list[str]:
    parser = SitemapParser(max_bytes=1 << 20)
    found = [item for piece in pieces for batch in parser.batches(piece) for item in expand_batches(batch)]
    found += parser.close()
    return [item.loc for item in found if isinstance(item, Entry | SitemapRef)]


def robots(data: bytes) -> None:
    """Any bytes are rules; asking them answers."""
    rules = Robots.parse(data, "sitemirror/1.0")
    for path in ("/", "/a/b?c=d", "/%E2%82%AC", "/" + _latin(data[:40])):
        try:
            rules.allowed(normalize(path, URL))
        except InvalidUrl:
            pass
    delay = rules.crawl_delay
    assert delay is None or delay == delay
    assert all(line.strip() for line in rules.sitemaps)


def headers_and_dates(data: bytes) -> None:
    """Retry-After, sitemap dates and content types: a value or none, never an error, never a time without end."""
    text = _latin(data)
    seconds = parse_retry_after(text, NOW)
    assert seconds is None or 0 <= seconds < float("inf")
    moment = parse_lastmod(text)
    assert moment is None or moment.tzinfo is not None
    kind, charset = parse_content_type(text)
    assert kind == kind.lower()
    assert charset is None or charset
    sniff(data)
    shown = printable(text)
    assert not UNPRINTABLE.search(shown)
    assert json.loads(json_bytes({"x": text})) == {"x": text}
    assert not UNPRINTABLE.search(json_bytes({"x": text}).decode())


def bodies(data: bytes) -> None:
    """Any bytes under any encoding unpack within the limit, or are called corrupt, unknown or too large."""
    for encoding in ("gzip", "deflate", "br", "zstd", "gzip, br", _latin(data[:8])):
        size = 0
        try:
            decoder = Decoder(encoding, limit=1 << 16)
            for part in (data[: len(data) // 2], data[len(data) // 2 :]):
                size += sum(map(len, decoder.feed(part)))
            size += sum(map(len, decoder.finish()))
        except (CorruptBody, UnknownEncoding, BodyTooLarge):
            pass
        assert size <= 1 << 16


def conversion(data: bytes) -> None:
    """Any bytes as a page: the same Markdown twice, no control in it, front matter that names the URL."""
    for content in ("auto", "main", "full"):
        page = convert_html(data, url=URL, content=content)
        assert page == convert_html(data, url=URL, content=content)
        assert not _CONTROL.search(page.markdown)
        block = front_matter(page)
        assert read_front_matter_url(block.encode()) == URL
        assert block.count("\n---\n") == 1
        assert not UNPRINTABLE.search(block.replace("\n", ""))
    text = convert_text(data, url=URL)
    assert read_front_matter_url(front_matter(text).encode()) == URL


def links(data: bytes) -> None:
    """Any bytes as a page or a style sheet: links are URLs in their one spelling, and rewriting is stable."""
    for found in (page_links(data, url=URL), css_links(data, url=URL)):
        for link in found.found:
            assert normalize(link.url) == link.url
        for refused in found.refused:
            assert not UNPRINTABLE.search(refused.text)
    html = localize_html(data, url=URL, charset="utf-8", target=_local)
    css = localize_css(data, url=URL, charset="utf-8", target=_local)
    assert isinstance(html, bytes)
    assert isinstance(css, bytes)
    markdown = convert_html(data, url=URL).markdown
    localized = localize_markdown(markdown, target=lambda url, _: _local(url) if url else None)
    assert not _CONTROL.search(localized)


def _local(url: str) -> str:
    return "../local.html" if url.startswith("https://example.com/") else url


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _latin(data: bytes) -> str:
    return data.decode("latin-1")


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "urls": urls_and_paths,
    "sitemaps": sitemaps,
    "robots": robots,
    "headers": headers_and_dates,
    "bodies": bodies,
    "conversion": conversion,
    "links": links,
}
