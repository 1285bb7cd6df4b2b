"""gzip is recognised by its first bytes and undone within bounds; what a damaged file still says is kept."""

from __future__ import annotations

import gzip
import random
import time
import tracemalloc
import zlib

import pytest

from sitemirror.sitemaps.entries import expand_batches
from sitemirror.sitemaps.parse import SitemapParser
from tests.sitemaps.reading import block, numbered, read, read_pieces, urlset

LOCS = numbered(4000)
SITEMAP = urlset(*map(block, LOCS))


def test_gzip_up_to_two_layers() -> None:
    """A server may compress a compressed sitemap again."""
    for body in (SITEMAP, gzip.compress(SITEMAP), gzip.compress(gzip.compress(SITEMAP))):
        reading = read(body)
        assert (reading.locs, reading.problems, reading.decoded_bytes) == (LOCS, [], len(SITEMAP))


def test_third_gzip_layer_is_refused() -> None:
    """A third layer is an attack and treated as binary data."""
    reading = read(gzip.compress(gzip.compress(gzip.compress(SITEMAP))))
    assert (reading.locs, reading.problems) == ([], ["binary data instead of a sitemap"])


def test_gzip_members_and_padding() -> None:
    """Several gzip members are one file; padding after the last is ignored."""
    members = b"".join(gzip.compress(SITEMAP[at : at + 5000]) for at in range(0, len(SITEMAP), 5000))
    for padding in (b"", b"\0" * 512, b"\x1f", b"trailing rubbish"):
        reading = read(members + padding)
        assert (reading.locs, reading.problems) == (LOCS, [])
        assert read_pieces((members + padding)[at : at + 3] for at in range(0, len(members + padding), 3)) == reading


def test_truncated_gzip_keeps_complete_entries() -> None:
    """An incomplete download gives its complete entries and one problem."""
    packed = gzip.compress(SITEMAP)
    for share in (0.1, 0.5, 0.99):
        reading = read(packed[: int(len(packed) * share)])
        assert reading.problems == ["gzip data ends early"]
        assert reading.truncated
        assert reading.locs == LOCS[: len(reading.locs)]
        assert len(reading.locs) > len(LOCS) * share * 0.5
    assert read(packed[:1]).problems == ["binary data instead of a sitemap"]
    assert read(packed[:5]).problems == ["gzip data ends early"]


def test_corrupt_gzip_keeps_earlier_entries() -> None:
    """Damage ends the reading there; a wrong checksum at the end costs nothing."""
    packed = gzip.compress(SITEMAP)
    reading = read(packed[: len(packed) // 2] + random.Random(1).randbytes(len(packed)))
    assert reading.problems[-1] == "corrupt gzip data"
    assert len(reading.locs) > len(LOCS) // 4
    checksum = packed[:-8] + b"\0" * 8
    reading = read(checksum)
    assert (reading.locs, reading.problems) == (LOCS, ["corrupt gzip data"])
    assert read_pieces(checksum[at : at + 7] for at in range(0, len(checksum), 7)) == reading


def test_damaged_inner_layer_is_reported() -> None:
    """Damage in a file that was compressed twice is reported like any other."""
    packed = gzip.compress(SITEMAP)
    for damaged, reason in ((packed[:-100], "gzip data ends early"), (packed[:-8] + bytes(8), "corrupt gzip data")):
        reading = read(gzip.compress(damaged))
        assert reading.problems == [reason]
        assert len(reading.locs) > len(LOCS) * 0.9


def test_dtd_in_truncated_file_is_refused() -> None:
    """A DTD in an incomplete download is refused as in a complete one."""
    body = b"<urlset><a><!DOCTYPE x [<!ENTITY y 'z'>]><url><loc>https://example.com/</loc></url></urlset>"
    reading = read(gzip.compress(body * 100)[:-9])
    assert reading.locs == []
    assert "DTD" in reading.problems[-1]


@pytest.mark.slow
def test_bomb_stops_at_the_limit() -> None:
    """Decompression stops at the limit, in little memory, and earlier entries are kept."""
    bomb = gzip.compress(urlset(block("https://example.com/a"))[:-11] + b" " * 60_000_000 + b"</urlset>", 9)
    tracemalloc.start()
    start = time.process_time()
    reading = read(bomb, max_bytes=10_000_000)
    elapsed, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reading.locs == ["https://example.com/a"]
    assert "larger than 10,000,000 bytes when unpacked; read up to there" in reading.problems
    assert (peak < 8_000_000, elapsed < 10) == (True, True)


def test_bomb_inside_gzip_stops_at_the_limit() -> None:
    """The limit applies to both layers of a file that was compressed twice."""
    inner = gzip.compress(b"\0" * 20_000_000, 9)
    assert read(gzip.compress(inner), max_bytes=1_000_000).problems == ["binary data instead of a sitemap"]
    outer_is_large = gzip.compress(gzip.compress(SITEMAP, 0) + b"\0" * 20_000_000, 9)
    reading = read(outer_is_large, max_bytes=2 * len(SITEMAP))
    assert (reading.locs, len(reading.problems)) == (LOCS, 1)


@pytest.mark.parametrize("packed", [SITEMAP, gzip.compress(SITEMAP, mtime=0)], ids=["plain", "gzip"])
def test_size_limit_is_exact(packed: bytes) -> None:
    """A file of exactly the limit passes; one byte less truncates it, with a problem."""
    assert read(packed, max_bytes=len(SITEMAP)).problems == []
    reading = read(packed, max_bytes=len(SITEMAP) // 2)
    assert len(reading.problems) == 1
    assert "larger than" in reading.problems[0]
    assert reading.locs == LOCS[: len(reading.locs)]
    assert len(reading.locs) >= len(LOCS) // 2 - 2
    assert reading.decoded_bytes == len(SITEMAP) // 2


def test_partial_line_at_the_limit_is_dropped() -> None:
    """The line at which a list is truncated may be incomplete."""
    reading = read(b"https://example.com/12\nhttps://example.com/34\n", max_bytes=44)
    assert reading.locs == ["https://example.com/12"]


@pytest.mark.slow
def test_endless_empty_members_are_refused() -> None:
    """Empty members cannot keep the reader busy forever."""
    start = time.process_time()
    reading = read(gzip.compress(b"") * 200_000)
    assert reading.problems == ["more than 10,000 gzip members"]
    assert time.process_time() - start < 10


def test_batches_are_bounded() -> None:
    """Highly compressed bytes come out a few thousand entries at a time."""
    body = urlset(*["<url><loc>https://example.com/</loc></url>"] * 40_000)
    parser = SitemapParser(max_bytes=10**9)
    sizes = [len(expand_batches(batch)) for batch in parser.batches(zlib.compress(body, 9, 31))]
    assert sum(sizes) + len(parser.close()) == 40_000
    assert max(sizes) < 10_000
