"""How the network cuts a body into pieces makes no difference to what is read."""

from __future__ import annotations

import gzip
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.sitemaps.parse import SitemapParser
from tests.sitemaps.reading import LIMIT, block, feed, numbered, read, read_pieces, urlset

PLAIN = urlset(*map(block, numbered(60)), '<url><xhtml:link rel="alternate" hreflang="de" href="/"/></url>')
BROKEN = PLAIN.replace(b"page-000030", b"?a&b\xff<![CDATA[&]]>&eacute;")
RSS = b"<rss><channel><item><link>https://example.com/1</link><pubDate>x</pubDate></item><item><guid>7</guid></item>"
BODIES = {
    "plain": PLAIN,
    "broken": BROKEN,
    "truncated": PLAIN[:3000],
    "utf-16": PLAIN.decode().replace("page-000030", "päge").encode("utf-16"),
    "latin-1": PLAIN.replace(b"UTF-8", b"ISO-8859-1").replace(b"page-000030", b"p\xe4ge"),
    "shift_jis": PLAIN.replace(b"UTF-8", b"Shift_JIS").replace(b"page-000030", "日本".encode("shift_jis")),
    "late": b"Warning: x\n" + PLAIN,
    "gzip": gzip.compress(PLAIN),
    "twice": gzip.compress(gzip.compress(BROKEN)),
    "torn gzip": gzip.compress(PLAIN)[:-20],
    "wrong checksum": gzip.compress(PLAIN)[:-8] + bytes(8),
    "members": gzip.compress(PLAIN[:1000]) + gzip.compress(PLAIN[1000:]) + b"\0\0",
    "rss": RSS,
    "text": b"\xef\xbb\xbfhttps://example.com/1\r\nno\rhttps://example.com/2\n\nhttps://example.com/3",
    "html": b"\n<!doctype html>" + b"<p>text</p>" * 600,
    "dtd": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><urlset><url><loc>https://example.com/&b;</loc></url>',
    "binary": bytes(range(256)) * 30,
    "blank": b" \n" * 3000,
    "mark": b"\xef",
    "magic": b"\x1f",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_byte_by_byte_gives_the_same(body: bytes) -> None:
    """Read byte by byte, a body gives the same as in one piece."""
    assert read_pieces(body[at : at + 1] for at in range(len(body))).events == read(body).events


@pytest.mark.parametrize("limit", [LIMIT, 2500], ids=["unlimited", "limited"])
@given(body=st.sampled_from(list(BODIES.values())), data=st.data())
def test_any_pieces_give_the_same(limit: int, body: bytes, data: st.DataObject) -> None:
    """Cut at any positions, a body gives the same events in the same order."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=20)))
    pieces = [body[start:end] for start, end in pairwise([0, *cuts, len(body)])]
    assert read_pieces(pieces, max_bytes=limit).events == read(body, max_bytes=limit).events


@given(st.binary(max_size=300))
def test_any_bytes_do_not_raise(body: bytes) -> None:
    """Random bytes give a reason and no entry."""
    for start in (b"", b"<urlset>", b"\x1f\x8b\x08\x00", b"\xff\xfe", b"https://example.com/\n"):
        reading = read(start + body)
        assert read_pieces([start, body]).events == reading.events
        assert reading.events or start == b"<urlset>" or body.strip()


def test_kind_is_known_early() -> None:
    """The first few kilobytes determine the kind of file, so long downloads can be stopped."""
    parser = SitemapParser(max_bytes=LIMIT)
    feed(parser, PLAIN[:2000])
    assert parser.kind is None
    feed(parser, PLAIN[2000:])
    assert parser.kind == "urlset"


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"<urlset>", b"<urlset>&"], ids=["sound", "broken"])
def test_memory_does_not_grow_with_the_file(start: bytes) -> None:
    """More entries need no more memory."""
    piece = "\n".join(map(block, numbered(600))).encode()
    parser = SitemapParser(max_bytes=10**9)
    feed(parser, start)
    peaks = []
    tracemalloc.start()
    for pieces in (6, 18):
        tracemalloc.reset_peak()
        for _ in range(pieces):
            for _ in parser.batches(piece):
                pass
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] < 4_000_000


SOUPS = {
    "names": b"".join(b"<a%d/>" % number for number in range(60_000)),
    "depth": b"<a>" * 200_000,
    "depth in an entry": b"<url>" + b"<a>" * 80_000,
    "locs": b"<url>" + b"<loc>https://example.com/</loc>" * 40_000,
    "children": b"<url>" + b"<b>text</b>" * 100_000,
    "text": b"<b>" + b"text " * 800_000,
    "loc": b"<url><loc>" + b"text " * 800_000,
    "comment": b"<!--" + b"text " * 800_000,
    "attributes": b"<url " + b"".join(b'a%d="" ' % number for number in range(150_000)) + b">",
}


@pytest.mark.slow
@pytest.mark.parametrize("soup", SOUPS.values(), ids=SOUPS)
def test_memory_is_bounded_for_hostile_files(soup: bytes) -> None:
    """Any number of names, levels or children needs a few megabytes at most."""
    parser = SitemapParser(max_bytes=10**9)
    tracemalloc.start()
    for at in range(0, len(soup), 65_536):
        for _ in parser.batches((b"<urlset>" if at == 0 else b"") + soup[at : at + 65_536]):
            pass
    parser.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16_000_000
