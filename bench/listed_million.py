"""A site whose sitemap index lists a million URLs, made up as it is asked for; a process of its own.

Nothing is kept: what a client needs in memory is its own. One entry in 21 repeats an earlier URL exactly, in its own
sitemap or in one before, so that duplicates are met near and far.
"""

from __future__ import annotations

import argparse
import asyncio
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

REPEAT_EVERY: Final = 21
_FLUSH: Final = 500  # entries between two pieces of a sitemap
_SPREAD: Final = 7_919  # a prime, so that repeats come from all over what was listed before


def repeats_among(entries: int) -> int:
    """How many of the first `entries` entries repeat an earlier one."""
    return entries // REPEAT_EVERY


def page_path(number: int) -> str:
    """The path of a page: three levels of folders, as manuals have them."""
    return f"/manual/part-{number % 40}/chapter-{number % 1600 // 40}/section-{number}"


def page_number(path: str) -> int:
    """The page that a path or URL belongs to."""
    return int(path.rpartition("-")[2])


def listed(entry: int) -> int:
    """Which page the entry names."""
    if entry % REPEAT_EVERY != REPEAT_EVERY - 1:
        return entry - entry // REPEAT_EVERY
    earlier = entry - entry // REPEAT_EVERY
    return entry * _SPREAD % earlier


class SitemapTable:
    """What the server answers, for `entries` entries in sitemaps of `each`. `heard` is told of every request's path."""

    def __init__(self, entries: int, each: int, heard: Callable[[str], None]) -> None:
        self._entries = entries
        self._each = each
        self._heard = heard
        self.base = ""

    def answer(self, path: str) -> tuple[int, str, Iterator[bytes]]:
        """Status, Content-Type and body of `path`."""
        if path == "/sitemap.xml":
            return 200, "application/xml", self._index()
        if path.startswith("/sitemap-"):
            return 200, "application/gzip", self._packed(int(path[9:].partition(".")[0]))
        if path.startswith("/manual/"):
            return 200, "text/html; charset=utf-8", self._page(path)
        return 404, "text/html", iter((b"<h1>404</h1>",))

    def _index(self) -> Iterator[bytes]:
        yield b'<?xml version="1.0"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        for number in range(-(-self._entries // self._each)):
            yield f"<sitemap><loc>{self.base}/sitemap-{number}.xml.gz</loc></sitemap>\n".encode()
        yield b"</sitemapindex>\n"

    def _packed(self, number: int) -> Iterator[bytes]:
        packer = zlib.compressobj(1, wbits=31)
        for piece in self._sitemap(number):
            if packed := packer.compress(piece):
                yield packed
        yield packer.flush()

    def _sitemap(self, number: int) -> Iterator[bytes]:
        yield b'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        first = number * self._each
        last = min(first + self._each, self._entries)
        for start in range(first, last, _FLUSH):
            yield "".join(
                f"<url><loc>{self.base}{page_path(page)}</loc><lastmod>2025-{page % 12 + 1:02}-{page % 28 + 1:02}"
                f"</lastmod><priority>0.{page % 10}</priority></url>\n"
                for page in map(listed, range(start, min(start + _FLUSH, last)))
            ).encode()
        yield b"</urlset>\n"

    def _page(self, path: str) -> Iterator[bytes]:
        yield f"<!doctype html><title>{path}</title><main><h1>{path}</h1><p>A page.</p></main>".encode()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection's requests."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, _ = head.decode("latin-1").split(" ", 2)
                self._heard(path)
                status, kind, body = self.answer(path)
                writer.write(
                    f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
                )
                if method != "HEAD":
                    for piece in body:
                        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                        await writer.drain()
                    writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def serve(listing: SitemapTable) -> None:
    """Listens on a free port of loopback, says its URL on stdout, and stays until it is killed."""
    server = await asyncio.start_server(listing.talk, "127.0.0.1", 0)
    # A name, not an address: the domain lock then needs the list of public suffixes, as on any real site.
    listing.base = f"http://localhost:{server.sockets[0].getsockname()[1]}"
    print(listing.base, flush=True)
    await server.serve_forever()


def main() -> None:
    """Serves until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_050_000)
    parser.add_argument("--each", type=int, default=50_000, help="entries per sitemap")
    parser.add_argument("--tell", action="store_true", help="the path of every request on stdout, when it comes")
    options = parser.parse_args()
    heard = partial(print, flush=True) if options.tell else lambda _: None
    asyncio.run(serve(SitemapTable(options.entries, options.each, heard)))


if __name__ == "__main__":
    main()
