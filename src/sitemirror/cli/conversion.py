"""Runs `convert`: one page from a file, a URL or stdin to Markdown on stdout, or what became of each of its blocks."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sitemirror.cli import stdout
from sitemirror.errors import UsageError
from sitemirror.settings import Settings
from sitemirror.text import counted, printable

if TYPE_CHECKING:
    from sitemirror.run.convert_one import Source

_STDIN = "-"


def run_convert(target: str, base: str | None, settings: Settings) -> int:
    """The exit code. `base` is the URL of a page that is in a file."""
    source = _source(target, base, settings)
    page = source.page(settings.content)
    from sitemirror.convert import PageKind, with_front_matter

    has_head = settings.front_matter and source.kind is not PageKind.TEXT  # Text stays as it is.
    stdout.print_page(with_front_matter(page) if has_head else page.markdown)
    if not page.markdown and not settings.quiet:
        print("note: the page has no text", file=sys.stderr)
    return 0


def run_explain(target: str, base: str | None, settings: Settings) -> int:
    """The exit code, after every block of the page has been shown under the reason why it is kept or cut."""
    blocks = [block for block in _source(target, base, settings).explained(settings.content) if block.text.strip()]
    lines: list[str] = []
    for (is_kept, reason), group in groupby(blocks, lambda block: (block.is_kept, block.reason)):
        lines += ("", f"{'kept' if is_kept else 'cut'}: {reason}")
        lines += (f"  {'+' if is_kept else '-'} {block.tag}: {' '.join(block.text.split())}" for block in group)
    stdout.print_page("".join(f"{line}\n" for line in lines[1:]))
    if not settings.quiet:
        kept = [block for block in blocks if block.is_kept]
        letters = sum(len(block.text) for block in kept), sum(len(block.text) for block in blocks)
        shown = f"{len(kept)} of {counted(len(blocks), 'block')} kept, {letters[0]:,} of {letters[1]:,} characters"
        print(shown, file=sys.stderr)
    return 0


def _source(target: str, base: str | None, settings: Settings) -> Source:
    if "://" in target:
        if base is not None:
            raise UsageError("--url is for a page in a file", hint="leave it out: the address is known")
        return _fetched(target, settings)

    from sitemirror.run.convert_one import of_bytes, read_file

    url = "" if base is None else _address(base)
    if not target:
        raise UsageError("no file and no URL is named", hint="give one, or - for standard input")
    if target == _STDIN:
        if sys.stdin is None:
            raise UsageError("stdin is closed", hint="give a page there, or name a file")
        return of_bytes(sys.stdin.buffer.read(), "stdin", url=url)
    return read_file(Path(target), url=url)


def _address(base: str) -> str:
    """Nothing is asked for there, so nobody would notice a host that was never meant: it has to be a whole URL."""
    from sitemirror import api

    if "://" not in base:
        hint = "give it as https://example.com/docs/page"
        raise UsageError(f"{printable(base, limit=200)!r} is not a whole URL", hint=hint)
    return api.start_of(base, credentials_hint="leave them out: nothing is asked for there")


def _fetched(url: str, settings: Settings) -> Source:
    import asyncio

    from sitemirror import api
    from sitemirror.cli.client import load_client

    load_client()
    return asyncio.run(api.fetch_page(url, settings=settings))
