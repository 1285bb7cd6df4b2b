"""Serves a built site on loopback, with the addresses that the generator meant it to have."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from bench.quality.roundtrip.written import MADE


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".html": "text/html; charset=utf-8"}

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of `folder`, which may still be empty, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def source_target(href: str, page: str) -> str:
    """A link of a source, in the spelling that both sides share: `page#anchor`, or the URL."""
    path, mark, anchor = href.partition("#")
    if "://" in href or href.startswith("mailto:"):
        return _external(href)
    if path and not path.endswith((".md", "/")):
        return MADE  # a label, which the generator looks up
    where = normpath(join(dirname(page), path)).removesuffix(".md") if path else page
    return f"{where.removesuffix('/index').rpartition('/')[2]}{mark}{anchor}"


def _external(href: str) -> str:
    return unquote(href if urlsplit(href).path else f"{href}/")


def output_target(href: str, base: str, page: str) -> str:
    """A link of the output, in the same spelling."""
    if href.startswith("#"):
        return source_target(href, page)
    if "://" in href and not href.startswith(base):
        return _external(href)
    if href.startswith("mailto:"):
        return unquote(href)
    parts = urlsplit(href)
    name = parts.path.removesuffix("/").rpartition("/")[2].removesuffix(".html").removesuffix(".md")
    if name in ("", "docs", "_index"):
        name = "index"
    return f"{name}#{parts.fragment}" if parts.fragment else name
