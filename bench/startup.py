"""What the program's start costs, against Python's own: the version, help, and a whole run over a single page.

Each round starts all of them, one after the other, and each ratio is taken within its round. CPU time is compared, for
a start is nothing else and other work on the machine shows in it least. Python keeps what it compiles, as it does for
an installed program: a first start, which is not counted, sees to that.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from bench import record
from bench.program import Ended, expect, run_other, sitemirror
from sitemirror import __version__
from tests.site import Site

PYTHON: Final = "python -c pass"
VERSION: Final = "--version"
RUN: Final = "crawl of one page"

# Set by some test environments; empty counts as not set.
_COMPILED: Final = {"PYTHONDONTWRITEBYTECODE": ""}


def start(command: Sequence[str]) -> Ended:
    """One start, with what was compiled before."""
    return run_other(command, environment=_COMPILED)


def one_round(site: Site) -> dict[str, Ended]:
    """Each of them once."""
    with tempfile.TemporaryDirectory() as out:
        crawl = sitemirror("crawl", f"{site.url}/page", "--rate-limit", 0, "--output", Path(out), "--quiet")
        found = {
            PYTHON: start([sys.executable, "-c", "pass"]),
            VERSION: start(sitemirror("--version")),
            "--help": start(sitemirror("--help")),
            "mirror --help": start(sitemirror("mirror", "--help")),
            RUN: start(crawl),
        }
    expect("what --version says", found[VERSION].stdout.decode(), f"sitemirror {__version__}\n")
    expect("help is there", b"--rate-limit" in found["mirror --help"].stdout, True)
    expect("the page was saved", b'"status": "ok"' in found[RUN].stdout, True)
    return found


def measure(options: argparse.Namespace) -> record.Record:
    """All rounds, after one that is not counted."""
    with Site() as site:
        site.page("/page", "<title>Page</title><p>One page.</p>")
        one_round(site)
        rounds = [one_round(site) for _ in range(options.rounds)]
    found = record.Record("startup", {"rounds": options.rounds})
    for name in rounds[0]:
        cpu = median(each[name].cpu_seconds for each in rounds)
        found.add(record.Figure(f"{name}: CPU", cpu * 1000, "ms"))
        found.add(record.Figure(f"{name}: time", median(each[name].seconds for each in rounds) * 1000, "ms"))
    for name in list(rounds[0])[1:]:
        ratio = median(each[name].cpu_seconds / each[PYTHON].cpu_seconds for each in rounds)
        against = f"{name} against {PYTHON}"
        found.add(record.at_most(against, ratio, "×", 12) if name == VERSION else record.Figure(against, ratio, "×"))
    return found


if __name__ == "__main__":
    record.main(measure, record.parser("startup", __doc__, [("--rounds", 20, "starts of each")]))
