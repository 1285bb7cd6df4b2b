"""Connections that a mirror opens, counted by the server: no more than there are slots, however many pages."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench import record
from bench.program import expect, run
from tests.site import Site


def connections(site: Site, pages: int, slots: int) -> int:
    """What the server counted while the site was mirrored into an empty folder."""
    site.clear_log()
    with tempfile.TemporaryDirectory() as out:
        ran = run("mirror", site.url, "--rate-limit", 0, "--concurrency", slots, "--output", Path(out), "--quiet")
    expect("pages saved", ran.report["successful"], pages)
    expect("pages asked for", len({path for path in site.paths() if path.startswith("/page/")}), pages)
    return site.connections


def measure(options: argparse.Namespace) -> record.Record:
    """One run for each number of slots."""
    found = record.Record("connections", {"pages": options.pages})
    with Site() as site:
        site.fill(options.pages)
        site.sitemap()
        for slots in (1, options.slots):
            opened = connections(site, options.pages, slots)
            found.add(record.at_most(f"connections, {slots} slot{'s' * (slots > 1)}", opened, "", slots))
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "connections",
            __doc__,
            [("--pages", 1000, "pages on the site"), ("--slots", 5, "the larger --concurrency")],
        ),
    )
