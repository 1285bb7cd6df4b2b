"""Bombs: a gigabyte of zeros in a small body costs neither memory nor time."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from pathlib import Path

import pytest

from sitemirror.fetch.response import Stream
from sitemirror.model import Lane, Skipped
from sitemirror.reasons import Cause, Reason
from tests.fetch.conftest import MakeClient
from tests.fetch.raw import RawServer, reply
from tests.fetch.test_decode import bomb

MEGABYTE = 1024 * 1024
LIMIT = 10 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_page_bomb_is_refused(client: MakeClient, server: RawServer, encoding: str) -> None:
    """A page that decompresses to 100 MB is refused with little memory."""
    server.fallback = reply("200 OK", bomb(encoding, 100), "Content-Type: text/html", f"Content-Encoding: {encoding}")
    found = await client()
    await _refused_within_bounds(found.get(server.url(), limit=LIMIT))


@pytest.mark.slow
@pytest.mark.vectors
@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("zeros_1GiB.gz", "gzip"),
        ("zeros_1GiB.br", "br"),
        ("zeros_1GiB.zst", "zstd"),
        ("zeros_1GiB.gz.gz", "gzip, gzip"),
        ("sitemap_1GiB.xml.gz", "gzip"),
    ],
)
async def test_vectors_of_bombs(client: MakeClient, server: RawServer, vectors: Path, name: str, encoding: str) -> None:
    """A gigabyte in disguise is refused as a page, and cut at the limit as a sitemap."""
    data = (vectors / "bombs/gen" / name).read_bytes()
    server.fallback = reply("200 OK", data, "Content-Type: text/html", f"Content-Encoding: {encoding}")
    found = await client()
    await _refused_within_bounds(found.get(server.url(), limit=LIMIT))
    size = 0
    async with found.fetcher.stream(server.url(), lane=Lane.SITEMAP, limit=LIMIT) as stream:
        assert isinstance(stream, Stream)
        async for chunk in stream.chunks():
            size += len(chunk)
    assert stream.error == Cause(Reason.TOO_LARGE)
    assert size <= LIMIT


async def _refused_within_bounds(request: object) -> None:
    assert asyncio.iscoroutine(request)
    tracemalloc.start()
    began = time.perf_counter()
    try:
        outcome = await request
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, Skipped)
    assert outcome.text == "exceeds size limit"
    assert peak < LIMIT + 4 * MEGABYTE
    assert time.perf_counter() - began < 20
