"""One limiter against two. An ancestor waited in its main loop and again in its fetch function: twice the time.

The ancestor's way is played by the loop below, which sleeps at both places; ours is the program itself. Both are
measured at the server, from one page's request to the next.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import urllib.request
from itertools import pairwise
from pathlib import Path
from statistics import mean

from bench import record
from bench.program import expect, run
from tests.site import Site


def with_two_limiters(urls: list[str], seconds: float) -> None:
    """One page after the other, waiting where the ancestor waited."""

    def fetch(url: str) -> None:
        time.sleep(seconds)
        with urllib.request.urlopen(url) as answer:
            answer.read()

    for url in urls:
        time.sleep(seconds)
        fetch(url)


def gap_between_pages(site: Site, pages: int) -> float:
    """Seconds from one page's request to the next, on average."""
    times = [request.time for request in site.requests if request.path.startswith("/page/")]
    expect("pages asked for", len(times), pages)
    return mean(later - earlier for earlier, later in pairwise(times))


def measure(options: argparse.Namespace) -> record.Record:
    """Both ways over the same pages."""
    with Site() as site, tempfile.TemporaryDirectory() as out:
        paths = site.fill(options.pages)
        site.sitemap()
        ran = run("mirror", site.url, "--rate-limit", options.rate, "--output", Path(out), "--quiet")
        expect("pages saved", ran.report["successful"], options.pages)
        ours = gap_between_pages(site, options.pages)
        site.clear_log()
        with_two_limiters([site.url + path for path in paths], 1 / options.rate)
        doubled = gap_between_pages(site, options.pages)
    found = record.Record("one_limiter", {"pages": options.pages, "rate": f"{options.rate:g}/s"})
    found.add(
        record.Figure("page to page, two limiters", doubled, "s"),
        record.at_most("page to page, ours", ours, "s", 1.02 / options.rate),
        record.Figure(f"{options.pages} pages, two limiters", doubled * options.pages, "s"),
        record.Figure(f"{options.pages} pages, ours", ours * options.pages, "s"),
        record.at_least("ratio", doubled / ours, "×", 1.95),
    )
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "one_limiter",
            __doc__,
            [("--pages", 10, "pages on the site"), ("--rate", 1.0, "requests a second that both are told to keep to")],
        ),
    )
