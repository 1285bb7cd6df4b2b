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


def test_gzip_of_any_depth_up_to_two() -> None:
    """A compressed sitemap is read, also when a server has compressed the compressed file once more."""
    for body in (SITEMAP, gzip.compress(SITEMAP), gzip.compress(gzip.compress(SITEMAP))):
        reading = read(body)
        assert (reading.locs, reading.problems, reading.decoded_bytes) == (LOCS, [], len(SITEMAP))


def test_deeper_nesting_is_not_unpacked() -> None:
    """A third layer is an attack, and is named as the binary data it is."""
    reading = read(gzip.compress(gzip.compress(gzip.compress(SITEMAP))))
    assert (reading.locs, reading.problems) == ([], ["binary data instead of a sitemap"])


def test_members_and_padding() -> None:
    """A file of several gzip members is one file, and padding after the last is ignored."""
    members = b"".join(gzip.compress(SITEMAP[at : at + 5000]) for at in range(0, len(SITEMAP), 5000))
    for padding in (b"", b"\0" * 512, b"\x1f", b"trailing rubbish"):
        reading = read(members + padding)
        assert (reading.locs, reading.problems) == (LOCS, [])
        assert read_pieces((members + padding)[at : at + 3] for at in range(0, len(members + padding), 3)) == reading


def test_truncated_gzip_keeps_what_was_complete() -> None:
    """A download that broke off gives all entries that arrived, and one sentence."""
    packed = gzip.compress(SITEMAP)
    for share in (0.1, 0.5, 0.99):
        reading = read(packed[: int(len(packed) * share)])
        assert reading.problems == ["gzip data ends early"]
        assert reading.truncated
        assert reading.locs == LOCS[: len(reading.locs)]
        assert len(reading.locs) > len(LOCS) * share * 0.5
    assert read(packed[:1]).problems == ["binary data instead of a sitemap"]
    assert read(packed[:5]).problems == ["gzip data ends early"]


def test_corrupt_gzip_keeps_what_was_read() -> None:
    """Damage in the middle ends the reading there; a wrong checksum at the end costs nothing."""
    packed = gzip.compress(SITEMAP)
    reading = read(packed[: len(packed) // 2] + random.Random(1).randbytes(len(packed)))
    assert reading.problems[-1] == "corrupt gzip data"
    assert len(reading.locs) > len(LOCS) // 4
    checksum = packed[:-8] + b"\0" * 8
    reading = read(checksum)
    assert (reading.locs, reading.problems) == (LOCS, ["corrupt gzip data"])
    assert read_pieces(checksum[at : at + 7] for at in range(0, len(checksum), 7)) == reading


def test_damage_in_the_inner_layer() -> None:
    """A damaged file that was compressed once more by the server is reported and kept like any other."""
    packed = gzip.compress(SITEMAP)
    for damaged, reason in ((packed[:-100], "gzip data ends early"), (packed[:-8] + bytes(8), "corrupt gzip data")):
        reading = read(gzip.compress(damaged))
        assert reading.problems == [reason]
        assert len(reading.locs) > len(LOCS) * 0.9


def test_refusal_in_a_torn_file() -> None:
    """A DTD in a download that broke off is refused as in a whole one."""
    body = b"<urlset><a><!DOCTYPE x [<!ENTITY y 'z'>]><url><loc>https://example.com/</loc></url></urlset>"
    reading = read(gzip.compress(body * 100)[:-9])
    assert reading.locs == []
    assert "DTD" in reading.problems[-1]


@pytest.mark.slow
def test_bomb_stops_at_the_limit() -> None:
    """Unpacking stops at the limit, in little memory, and what came before is kept."""
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
    """The limit holds for both layers of a twice compressed file."""
    inner = gzip.compress(b"\0" * 20_000_000, 9)
    assert read(gzip.compress(inner), max_bytes=1_000_000).problems == ["binary data instead of a sitemap"]
    outer_is_large = gzip.compress(gzip.compress(SITEMAP, 0) + b"\0" * 20_000_000, 9)
    reading = read(outer_is_large, max_bytes=2 * len(SITEMAP))
    assert (reading.locs, len(reading.problems)) == (LOCS, 1)


@pytest.mark.parametrize("packed", [SITEMAP, gzip.compress(SITEMAP, mtime=0)], ids=["plain", "gzip"])
def test_size_limit_is_exact(packed: bytes) -> None:
    """A file of exactly the limit passes; one byte less keeps everything before it and says so."""
    assert read(packed, max_bytes=len(SITEMAP)).problems == []
    reading = read(packed, max_bytes=len(SITEMAP) // 2)
    assert len(reading.problems) == 1
    assert "larger than" in reading.problems[0]
    assert reading.locs == LOCS[: len(reading.locs)]
    assert len(reading.locs) >= len(LOCS) // 2 - 2
    assert reading.decoded_bytes == len(SITEMAP) // 2


def test_limit_in_a_plain_list() -> None:
    """The line on which a list is cut may be torn, so it does not count."""
    reading = read(b"https://example.com/12\nhttps://example.com/34\n", max_bytes=44)
    assert reading.locs == ["https://example.com/12"]


@pytest.mark.slow
def test_row_of_empty_members_is_an_attack() -> None:
    """Members without content cannot keep the reader busy for ever."""
    start = time.process_time()
    reading = read(gzip.compress(b"") * 200_000)
    assert reading.problems == ["more than 10,000 gzip members"]
    assert time.process_time() - start < 10


def test_batches_bound_what_is_in_memory() -> None:
    """Well compressed bytes come out a few thousand entries at a time."""
    body = urlset(*["<url><loc>https://example.com/</loc></url>"] * 40_000)
    parser = SitemapParser(max_bytes=10**9)
    sizes = [len(expand_batches(batch)) for batch in parser.batches(zlib.compress(body, 9, 31))]
    assert sum(sizes) + len(parser.close()) == 40_000
    assert max(sizes) < 10_000
