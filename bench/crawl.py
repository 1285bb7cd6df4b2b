"""A crawl that keeps HTML and assets and makes the links local, against wget and HTTrack on the same site.

The site is Debian's PostgreSQL manual behind nginx on loopback. All three take every page, the style sheet and the
drawings, and rewrite links; rounds alternate, so that what else the machine does falls on all of them. Each ratio is
taken within its round. wget has one connection, as it always has; HTTrack and sitemirror have --slots of them, and
HTTrack's limits on speed are lifted as it allows. CPU time is told too: it says more on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Final

from bench import record
from bench.program import Ended, Ran, expect, run, run_other
from tests.manual.server import SOURCE, Manual, nginx

NOT_HERE: Final = 77
_GOALS: Final = {"wget": 1.0, "httrack": 3.0}
_SERVER_ERROR: Final = 8  # wget's; the manual has a mail address for a link, which wget asks for in vain

Crawler = Callable[[Manual, int, Path], Ended | Ran]


def sitemirror(manual: Manual, slots: int, out: Path) -> Ran:
    """Our own, with every default but its politeness."""
    limits = ("--rate-limit", 0, "--concurrency", slots, "--max-pages", 0)
    ran = run("crawl", f"{manual.url}/", *limits, "--output", out, "--quiet")
    expect("status", ran.report["status"], "ok")
    found = (out / f"127.0.0.1_{manual.port}").rglob("*")
    saved = {path.relative_to(out / f"127.0.0.1_{manual.port}").as_posix() for path in found}
    # By our map of paths every page has its folder; the start page has /index.html's.
    pages = {page.removesuffix(".html") + "/index.html" for page in manual.pages if page != "index.html"}
    complete("sitemirror", saved, {*pages, "index.html", *assets(manual)})
    return ran


def wget(manual: Manual, _: int, out: Path) -> Ended:
    """`wget -r -p -k`, of any depth."""
    options = ("-q", "-r", "-l", "inf", "-p", "-k", "-np", "--no-config", "--no-proxy")
    ended = run_other(["wget", *options, "-P", str(out), f"{manual.url}/"], good=(0, _SERVER_ERROR))
    complete("wget", names(out / f"127.0.0.1:{manual.port}"), {*manual.pages, *assets(manual)})
    return ended


def httrack(manual: Manual, slots: int, out: Path) -> Ended:
    """HTTrack without its own brakes: connections a second, bandwidth, robots.txt."""
    options = ("-q", "-s0", "--disable-security-limits", "-%c0", "-A0", f"-c{slots}", "-I0")
    ended = run_other(["httrack", f"{manual.url}/", "-O", str(out), *options])
    complete("httrack", names(out / f"127.0.0.1_{manual.port}"), {*manual.pages, *assets(manual)})
    return ended


def names(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def assets(manual: Manual) -> list[str]:
    """What pages need beside themselves."""
    return [path.name for ending in ("*.css", "*.svg") for path in manual.html.glob(ending)]


def complete(who: str, saved: set[str], wanted: Iterable[str]) -> None:
    """A crawler that saved less was not faster."""
    expect(f"files that {who} did not save", sorted(set(wanted) - saved), [])


def times(crawlers: dict[str, Crawler], manual: Manual, rounds: int, slots: int) -> dict[str, list[Ended | Ran]]:
    """So many rounds; each begins with another of them."""
    took: dict[str, list[Ended | Ran]] = {name: [] for name in crawlers}
    order = list(crawlers)
    for _ in range(rounds):
        for name in order:
            with tempfile.TemporaryDirectory() as out:
                took[name].append(crawlers[name](manual, slots, Path(out)))
        order.append(order.pop(0))
    return took


def measure(options: argparse.Namespace) -> record.Record:
    """All that are installed, side by side."""
    crawlers: dict[str, Crawler] = {"sitemirror": sitemirror}
    for name, crawler in (("wget", wget), ("httrack", httrack)):
        if shutil.which(name):
            crawlers[name] = crawler
        else:
            print(f"note: {name} is not installed and not compared with", file=sys.stderr)
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown"
    with tempfile.TemporaryDirectory() as folder, Manual(Path(folder)) as manual:
        files = len(manual.pages) + len(assets(manual))
        took = times(crawlers, manual, options.rounds, options.slots)
    found = record.Record(
        "crawl", {"files": files, "rounds": options.rounds, "slots": options.slots, "load before": load}
    )
    for name, runs in took.items():
        found.add(
            record.Figure(name, median(ran.seconds for ran in runs), "s"),
            record.Figure(f"{name}, a second", median(files / ran.seconds for ran in runs), "files"),
            record.Figure(f"{name}, CPU", _cpu(runs), "s"),
        )
    for name in [name for name in crawlers if name in _GOALS]:
        ratios = [other.seconds / ours.seconds for other, ours in zip(took[name], took["sitemirror"], strict=True)]
        found.add(
            record.at_least(f"speed against {name}", median(ratios), "×", _GOALS[name]),
            record.Figure(f"speed against {name}, least", min(ratios), "×"),
            record.Figure(f"speed against {name}, most", max(ratios), "×"),
            record.Figure(f"CPU of {name} against ours", _cpu(took[name]) / _cpu(took["sitemirror"]), "×"),
        )
    return found


def _cpu(runs: list[Ended | Ran]) -> float:
    return median(ran.cpu_seconds for ran in runs)


if __name__ == "__main__":
    if nginx() is None or not SOURCE.is_dir():
        print("bench.crawl: not run: it needs nginx and Debian's postgresql-doc-15", file=sys.stderr)
        raise SystemExit(NOT_HERE)
    record.main(
        measure,
        record.parser("crawl", __doc__, [("--rounds", 5, "runs of each"), ("--slots", 8, "requests in flight")]),
    )
