"""Five slots against one, on a server that takes a second for every answer: waiting is what slots overlap.

Measured at the server, from the first page's request to the last page's answer; the whole command, with its start and
the requests that find the sitemap, is told beside it.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import record
from bench.program import expect, run
from tests.site import Site


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that the pages took, and that the whole command took."""

    pages: float
    whole: float


def mirror(site: Site, pages: int, slots: int) -> Times:
    """Mirrors the site into an empty folder with so many slots."""
    site.clear_log()
    with tempfile.TemporaryDirectory() as out:
        ran = run("mirror", site.url, "--rate-limit", 0, "--concurrency", slots, "--output", Path(out), "--quiet")
    expect("pages saved", ran.report["successful"], pages)
    expect("requests in flight", site.max_in_flight, slots)
    seen = [request for request in site.requests if request.path.startswith("/page/")]
    expect("page requests", len(seen), pages)
    return Times(max(request.finished or 0.0 for request in seen) - min(request.time for request in seen), ran.seconds)


def measure(options: argparse.Namespace) -> record.Record:
    """Both runs, one after the other, on the same site."""
    with Site() as site:
        site.fill(options.pages)
        site.sitemap()
        site.latency = options.latency
        one = mirror(site, options.pages, 1)
        many = mirror(site, options.pages, options.slots)
    found = record.Record(
        "concurrency", {"pages": options.pages, "latency": f"{options.latency} s", "slots": f"1 and {options.slots}"}
    )
    found.add(
        record.Figure("pages, 1 slot", one.pages, "s"),
        record.Figure(f"pages, {options.slots} slots", many.pages, "s"),
        record.at_least("ratio", one.pages / many.pages, "×", 0.96 * options.slots),
        record.Figure("whole command, 1 slot", one.whole, "s"),
        record.Figure(f"whole command, {options.slots} slots", many.whole, "s"),
        record.Figure("ratio of the whole", one.whole / many.whole, "×"),
    )
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "concurrency",
            __doc__,
            [
                ("--pages", 100, "pages on the site"),
                ("--latency", 1.0, "seconds before every answer"),
                ("--slots", 5, "the larger --concurrency"),
            ],
        ),
    )
