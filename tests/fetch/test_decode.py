"""Content encodings: taken off exactly, in any split, and never past the limit."""

from __future__ import annotations

import gzip
import random
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.fetch.decode import STEP, BodyTooLarge, CorruptBody, Decoder, UnknownEncoding

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEGABYTE = 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=4)),
    "zstd": zstd.compress,
}
TEXT = "".join(chr(random.Random(5).randrange(32, 500)) for _ in range(50_000)).encode()


def decode(encoding: str | None, data: bytes, *, limit: int = 10 * MEGABYTE, step: int = 8192) -> bytes:
    decoder = Decoder(encoding, limit=limit)
    found = []
    for start in range(0, len(data), step):
        for piece in decoder.feed(data[start : start + step]):
            assert len(piece) <= max(2 * STEP, step)
            found.append(piece)
    return b"".join([*found, *decoder.finish()])


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("step", [1, 7, 8192, 10**9])
@pytest.mark.parametrize("body", [b"", b"x", b"<p>hello</p>", TEXT[:5000]])
def test_every_encoding_in_any_split(encoding: str, step: int, body: bytes) -> None:
    """A body decodes to the same bytes in any chunks."""
    assert decode(encoding, PACKERS[encoding](body), step=step) == body


@pytest.mark.parametrize("encoding", PACKERS)
def test_large_bodies_are_decoded_completely(encoding: str) -> None:
    """Several megabytes come out completely and in bounded chunks."""
    body = random.Random(3).randbytes(MEGABYTE) + b"abc" * MEGABYTE + TEXT
    assert decode(encoding, PACKERS[encoding](body), limit=len(body)) == body


@given(st.binary(max_size=2000), st.sampled_from(sorted(PACKERS)), st.integers(1, 2500))
def test_roundtrip(body: bytes, encoding: str, step: int) -> None:
    """Any bytes survive any encoding in any chunks."""
    assert decode(encoding, PACKERS[encoding](body), step=step) == body


MISUSED = ("UTF-8", "utf8", "iso-8859-1", "windows-1251", "gb2312", "binary", "8bit", "chunked", "aws-chunked")
"""What servers put into this header although nothing is encoded."""


@pytest.mark.parametrize("encoding", [None, "", "identity", "Identity", "none", " , ", *MISUSED])
def test_no_encoding(encoding: str | None) -> None:
    """A body without an encoding is unchanged."""
    assert decode(encoding, TEXT) == TEXT


@pytest.mark.parametrize("body", [b"hello world", TEXT, b"\x78\x9c no"])
def test_deflate_without_its_wrapper(body: bytes) -> None:
    """Raw deflate data without the zlib header is accepted."""
    assert decode("deflate", raw_deflate(body), step=1) == body


@pytest.mark.parametrize("names", ["gzip, br", "br,gzip", "gzip, gzip", "deflate, zstd , br", "GZIP"])
def test_stacked_encodings(names: str) -> None:
    """Several encodings are removed in reverse order."""
    data = TEXT
    for name in names.lower().replace(" ", "").split(","):
        data = PACKERS[name](data)
    assert decode(names, data, step=100) == TEXT


@pytest.mark.parametrize("names", ["gzip, aws-chunked", "UTF-8, gzip", "gzip,utf-8"])
def test_identity_beside_an_encoding(names: str) -> None:
    """`identity` and empty names do not hide the encoding beside them."""
    assert decode(names, gzip.compress(TEXT)) == TEXT


def test_gzip_of_several_members() -> None:
    """All members of a concatenated gzip body are decoded; trailing zeros are ignored."""
    data = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(b"three") + bytes(100)
    assert decode("gzip", data) == decode("gzip", data, step=1) == b"one two three"


def test_zstd_of_several_frames() -> None:
    """All frames of a concatenated zstd body are decoded; skippable ones are skipped."""
    skip = b"\x52\x2a\x4d\x18\x04\x00\x00\x00note"
    data = skip + zstd.compress(b"one ") + skip + zstd.compress(b"two")
    assert decode("zstd", data) == decode("zstd", data, step=1) == b"one two"


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("body", [b"<html>plain</html>", b"\xef\xbb\xbf <!doctype html><p>" + b"long " * 5000])
def test_wrong_content_encoding_is_ignored(encoding: str, body: bytes) -> None:
    """Plain HTML that claims to be compressed is used unchanged."""
    assert decode(encoding, body) == decode(encoding, body, step=1) == body


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("body", [b"a", b"\x1f", b"(", b"\x28\xb5", b"plain text"])
def test_short_plain_body_with_wrong_encoding(encoding: str, body: bytes) -> None:
    """Even one or two bytes that cannot be compressed data are used unchanged."""
    assert decode(encoding, body, step=1) == body


@pytest.mark.parametrize("encoding", PACKERS)
def test_truncated_data_is_detected(encoding: str) -> None:
    """An incomplete compressed body is an error."""
    data = PACKERS[encoding](TEXT)
    name = encoding.removeprefix("x-")
    for cut in (len(data) // 2, len(data) - 1):
        with pytest.raises(CorruptBody, match=f"truncated {name} body"):
            decode(encoding, data[:cut])


@pytest.mark.parametrize("encoding", PACKERS)
def test_corrupt_data_is_detected(encoding: str) -> None:
    """Damage in a compressed body is an error."""
    data = bytearray(PACKERS[encoding](TEXT))
    data[len(data) // 2 : len(data) // 2 + 64] = b"\xff" * 64
    with pytest.raises(CorruptBody, match=f"(corrupt|truncated) {encoding.removeprefix('x-')} body"):
        decode(encoding, bytes(data))


def test_wrong_checksum_is_detected() -> None:
    """A gzip body with a wrong checksum is corrupt."""
    data = bytearray(gzip.compress(TEXT))
    data[-6] ^= 1
    with pytest.raises(CorruptBody, match="corrupt gzip body"):
        decode("gzip", bytes(data))


@pytest.mark.parametrize("encoding", ["compress", "zip", "base64", "gzip, rot13", "br" + ",br" * 9])
def test_unknown_encodings_are_refused(encoding: str) -> None:
    """Unknown or too many encodings are refused before the body is read."""
    with pytest.raises(UnknownEncoding):
        Decoder(encoding, limit=100)


@pytest.mark.parametrize("encoding", [None, *PACKERS])
def test_the_limit_is_exact(encoding: str | None) -> None:
    """A body of exactly the limit passes; one byte more does not."""
    body = b"0123456789" * 1000
    data = PACKERS[encoding](body) if encoding else body
    assert decode(encoding, data, limit=len(body)) == body
    with pytest.raises(BodyTooLarge):
        decode(encoding, data, limit=len(body) - 1)


@pytest.mark.parametrize("encoding", PACKERS)
def test_bomb_stops_at_the_limit(encoding: str) -> None:
    """Of a body that decompresses to 64 MB, no more than the limit and one chunk is produced."""
    data = bomb(encoding, 64)
    pieces = Decoder(encoding, limit=MEGABYTE).feed(data[:MEGABYTE])
    taken: list[int] = []
    with pytest.raises(BodyTooLarge):
        taken.extend(len(piece) for piece in pieces)
    assert sum(taken) <= MEGABYTE


def bomb(encoding: str, megabytes: int) -> bytes:
    zeros = bytes(MEGABYTE)
    match encoding:
        case "br":
            packer = brotli.Compressor(quality=5)
            return b"".join(packer.process(zeros) for _ in range(megabytes)) + bytes(packer.finish())
        case "zstd":
            compressor = zstd.ZstdCompressor()
            return b"".join(compressor.compress(zeros) for _ in range(megabytes)) + compressor.flush()
    deflate = zlib.compressobj(1, wbits=15 if encoding == "deflate" else 31)
    return b"".join(deflate.compress(zeros) for _ in range(megabytes)) + deflate.flush()


def test_inner_layers_are_limited() -> None:
    """A huge intermediate layer is stopped although little comes out at the end."""
    empty = gzip.compress(b"")
    data = gzip.compress(empty * (2 * MEGABYTE // len(empty)))
    with pytest.raises(BodyTooLarge):
        decode("gzip, gzip", data, limit=MEGABYTE)


def test_endless_empty_members_are_refused() -> None:
    """A body of empty gzip members ends in an error."""
    with pytest.raises(CorruptBody):
        decode("gzip", gzip.compress(b"") * 70_000, step=65_536)


def test_zstd_windows_are_bounded() -> None:
    """A frame that needs a window over 8 MB is refused, as browsers do."""
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    data = zstd.ZstdCompressor(options=options).compress(b"x" * 1000, zstd.ZstdCompressor.FLUSH_BLOCK)
    with pytest.raises(CorruptBody):
        decode("zstd", data)


@given(st.binary(max_size=300), st.sampled_from(sorted(PACKERS)), st.integers(1, 50))
def test_any_bytes_decode_or_are_corrupt(data: bytes, encoding: str, step: int) -> None:
    """Any bytes in any encoding are decoded or reported as corrupt."""
    with suppress(CorruptBody):
        decode(encoding, data, step=step)


@pytest.mark.vectors
@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_vectors_of_encoded_files(vectors: Path, encoding: str) -> None:
    """Files that browsers decode, decode; the one with a window over 8 MB is refused as they refuse it."""
    folder = vectors / "http-wpt/fetch/content-encoding" / encoding / "resources"
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".headers"}
    assert found
    for name, data in found.items():
        if name.startswith("big.window"):
            with pytest.raises(CorruptBody):
                decode(encoding, data, limit=200 * MEGABYTE)
        else:
            assert decode(encoding, data, limit=200 * MEGABYTE)
