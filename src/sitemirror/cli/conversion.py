"""Runs `convert`: one page from a file, a URL or stdin to Markdown on stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sitemirror.cli import stdout
from sitemirror.errors import UsageError
from sitemirror.settings import Settings

if TYPE_CHECKING:
    from sitemirror.engine.single import Source

_STDIN = "-"


def run_convert(target: str, base: str, settings: Settings) -> int:
    """The exit code. `base` is the URL of a page that is in a file."""
    page = _source(target, base, settings).page(settings.content)
    from sitemirror.convert import with_front_matter

    stdout.print_page(with_front_matter(page) if settings.front_matter else page.markdown)
    if not page.markdown and not settings.quiet:
        print("note: the page has no text", file=sys.stderr)
    return 0


def _source(target: str, base: str, settings: Settings) -> Source:
    from sitemirror import api

    if "://" in target:
        if base:
            raise UsageError("--url is for a page in a file", hint="leave it out: the address is known")
        return _fetched(target, settings)

    from sitemirror.engine.single import of_bytes, read_file

    url = api.start_of(base) if base else ""
    if target == _STDIN:
        return of_bytes(sys.stdin.buffer.read(), "stdin", url=url)
    return read_file(Path(target), url=url)


def _fetched(url: str, settings: Settings) -> Source:
    import asyncio

    from sitemirror import api
    from sitemirror.cli.client import load_client

    load_client()
    return asyncio.run(api.fetch_page(url, settings=settings))
