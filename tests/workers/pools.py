"""Pools for the tests, and a page for them to read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sitemirror.settings import Content
from sitemirror.workers.jobs import ConvertOptions, PageSource
from sitemirror.workers.pool import Pool

URL = "https://example.com/docs/"
PAGE = b"""<!doctype html><title>A page</title><link rel=canonical href="/docs/">
<meta name=description content="What it is about"><h1 id=top>Words \xc3\xa9</h1>
<p>See <a href="../next" rel=nofollow>next</a>,
<a href="mailto:x@y.example">write</a>.<img src="a.png" alt="A"></p>"""
ALL = ConvertOptions(Content.AUTO, front_matter=True, markdown=True, links=True, meta=True, anchors=True)


@asynccontextmanager
async def pool_of(workers: int) -> AsyncIterator[tuple[Pool, list[str]]]:
    warnings: list[str] = []
    readers = Pool(workers=workers, warn=warnings.append)
    try:
        yield readers, warnings
    finally:
        await readers.close()


def source(body: bytes = PAGE, url: str = URL) -> PageSource:
    return PageSource(body, url, "utf-8")


async def started(readers: Pool) -> list[int]:
    """The pids of the pool's workers, once all have said that they are there."""
    await readers.read("html", source(), ConvertOptions())
    for _ in range(2000):
        if readers.pids and len(readers.pids) == readers.count:
            return readers.pids
        await asyncio.sleep(0.01)
    raise AssertionError("no workers")
