"""A million URLs in a sitemap index: memory of the whole process, seconds, and whether each URL was found exactly once.

`list` reads them and writes the outline; `mirror --max-pages 1` reads them, queues them, saves one page and writes the
manifest that accounts for all the others. The server makes the sitemaps up in a process of its own.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import record
from bench.listed_million import REPEAT_EVERY, page_number, repeats_among
from bench.program import DidNotWork, Ran, expect, run


@contextmanager
def site(entries: int, each: int) -> Iterator[str]:
    """The URL of a site whose sitemaps have so many entries."""
    command = [sys.executable, "-m", "bench.listed_million", "--entries", str(entries), "--each", str(each)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def check_each_once(numbers: Iterator[int], pages: int) -> None:
    """Raises unless every page from 0 to `pages` comes exactly once."""
    met = bytearray(pages)
    for number in numbers:
        if number >= pages or met[number]:
            raise DidNotWork(f"page {number} {'twice' if number < pages else 'is not on the site'}")
        met[number] = 1
    expect("pages lost", met.count(0), 0)


def numbers_in(path: Path, pattern: str) -> Iterator[int]:
    """The pages whose URLs stand where `pattern` finds them, line by line."""
    found = re.compile(pattern)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if match := found.search(line):
                yield page_number(match[1])


def list_all(url: str, pages: int, repeats: int) -> Ran:
    """`sitemirror list`, its counts and its outline checked."""
    with tempfile.TemporaryDirectory() as out:
        ran = run("list", url, "--rate-limit", 0, "--output", out, "--quiet")
        expect("URLs", ran.report["total_urls"], pages)
        expect("duplicates", ran.report["duplicates"], repeats)
        check_each_once(numbers_in(Path(ran.report["outline"]), r"\]\((http[^)]*/section-\d+)\)"), pages)
    return ran


def queue_all(url: str, pages: int, repeats: int) -> Ran:
    """`sitemirror mirror --max-pages 1`, its counts and its manifest checked."""
    with tempfile.TemporaryDirectory() as out:
        ran = run("mirror", url, "--rate-limit", 0, "--max-pages", 1, "--output", out, "--quiet")
        expect("pages", ran.report["total_pages"], pages)
        expect("saved", ran.report["successful"], 1)
        expect("not reached", ran.report["not_reached"], pages - 1)
        expect("duplicates", ran.report["duplicates"], repeats)
        check_each_once(numbers_in(Path(ran.report["manifest"]), r'^ *(?:\{"url": ?)?"(http[^"]*/section-\d+)"'), pages)
    return ran


def measure(options: argparse.Namespace) -> record.Record:
    """Both commands, each from nothing."""
    entries = options.urls * REPEAT_EVERY // (REPEAT_EVERY - 1)
    repeats = repeats_among(entries)
    pages = entries - repeats
    found = record.Record("million", {"URLs": f"{pages:,}", "repeats": f"{repeats:,}", "per sitemap": options.each})
    with site(entries, options.each) as url:
        for name, command in (("list", list_all), ("mirror --max-pages 1", queue_all)):
            ran = command(url, pages, repeats)
            found.add(
                record.at_most(f"{name}: peak memory", ran.peak_mb, "MB", 100),
                record.at_most(f"{name}: time", ran.seconds, "s", 25),
                record.Figure(f"{name}: CPU time", ran.cpu_seconds, "s"),
                record.at_most(f"{name}: URLs lost or doubled", 0, "", 0),
            )
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "million",
            __doc__,
            [("--urls", 1_000_000, "distinct URLs"), ("--each", 50_000, "entries per sitemap")],
        ),
    )
