"""A crawl that keeps HTML and assets and makes the links local, against wget and HTTrack on the same site.

The site is Debian's PostgreSQL manual behind nginx on loopback. All three take every page, the style sheet and the
drawings, and rewrite links, and they take turns. wget has one connection, as it always has; HTTrack and sitemirror have
--slots of them, and HTTrack's limits on speed are lifted as it allows. CPU time is told too: it says more on a busy
machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import chart, record
from bench.corpus import Page
from bench.kept import Saves, check
from bench.peers import Program
from bench.program import Ended, expect, run, run_other
from bench.rounds import Contender, CrawlLoop, Outcome, busy, shown, take_turns
from bench.server import program
from sitemirror import __version__
from tests.manual.server import SOURCE, Manual

_OURS: Final = "sitemirror"
_GOALS: Final = {"wget": 1.0, "httrack": 3.0}
_SERVER_ERROR: Final = 8  # wget's; the manual has a mail address for a link, which wget asks for in vain
_LINK: Final = re.compile(rb'(href=")([^"#:]+\.html)')

Crawler = Callable[[Manual, int, Path], Outcome]


def sitemirror(manual: Manual, slots: int, out: Path) -> Outcome:
    """Our own, with every default but its politeness."""
    limits = ("--rate-limit", 0, "--concurrency", slots, "--max-pages", 0)
    ran = run("crawl", f"{manual.url}/", *limits, "--output", out, "--quiet")
    expect("status", ran.report["status"], "ok")
    home = out / f"127.0.0.1_{manual.port}"
    # By our map of paths every page has its folder; the start page has /index.html's.
    places = {name: home / name.removesuffix(".html") / "index.html" for name in manual.pages if name != "index.html"}
    return outcome(_OURS, manual, ran, places | {"index.html": home / "index.html"}, home)


def wget(manual: Manual, _: int, out: Path) -> Outcome:
    """`wget -r -p -k`, of any depth."""
    options = ("-q", "-r", "-l", "inf", "-p", "-k", "-np", "--no-config", "--no-proxy")
    ended = run_other(["wget", *options, "-P", str(out), f"{manual.url}/"], good=(0, _SERVER_ERROR))
    home = out / f"127.0.0.1:{manual.port}"
    return outcome("wget", manual, ended, {name: home / name for name in manual.pages}, home)


def httrack(manual: Manual, slots: int, out: Path) -> Outcome:
    """HTTrack without its own brakes: connections a second, bandwidth, robots.txt."""
    options = ("-q", "-s0", "--disable-security-limits", "-%c0", "-A0", f"-c{slots}", "-I0")
    ended = run_other(["httrack", f"{manual.url}/", "-O", str(out), *options])
    home = out / f"127.0.0.1_{manual.port}"
    return outcome("httrack", manual, ended, {name: home / name for name in manual.pages}, home)


CRAWLERS: Final[dict[str, Crawler]] = {_OURS: sitemirror, "wget": wget, "httrack": httrack}


def outcome(who: str, manual: Manual, ended: Ended, places: dict[str, Path], home: Path) -> Outcome:
    """What it took, once it is seen that every page and asset is there and that a sample still says what it said."""
    pages = {name: Page(name, manual.site / name) for name in manual.pages}
    files = {pages[name]: place for name, place in places.items()}
    kept = check(who, Saves.REWRITTEN, list(pages.values()), files)
    expect(f"assets that {who} did not save", [name for name in assets(manual) if not (home / name).is_file()], [])
    return Outcome(len(pages) + len(assets(manual)), ended.seconds, ended, kept)


def assets(manual: Manual) -> list[str]:
    """What pages need beside themselves."""
    return [path.name for ending in ("*.css", "*.svg") for path in manual.site.glob(ending)]


def trim(manual: Manual, count: int) -> None:
    """Leaves so many pages, and none that links to one that is gone. 0 = all of them."""
    if not count:
        return
    drawn = [name for name in manual.pages if b".svg" in (manual.site / name).read_bytes()]
    kept = list(dict.fromkeys(["index.html", *drawn, *manual.pages]))[:count]
    for name in set(manual.pages) - set(kept):
        (manual.site / name).unlink()
    manual.pages = sorted(kept)
    here = {name.encode() for name in kept}
    for name in kept:
        path = manual.site / name
        text = _LINK.sub(lambda link: link[0] if link[2] in here else link[1] + b"index.html", path.read_bytes())
        path.write_bytes(text)
    # The contents page reaches every page, as it does in the whole manual.
    links = b"".join(b'<a href="%s">%s</a>\n' % (name, name) for name in sorted(here))
    start = manual.site / "index.html"
    start.write_bytes(start.read_bytes().replace(b"</body>", b"<p>" + links + b"</p></body>"))


def measure(options: argparse.Namespace) -> record.Record:
    """All that are installed, in turns."""
    here = [name for name in CRAWLERS if name == _OURS or shutil.which(name)]
    for name in set(CRAWLERS) - set(here):
        print(f"note: {name} is not installed and not compared with", file=sys.stderr)
    load = busy()
    with tempfile.TemporaryDirectory() as folder, Manual(Path(folder)) as manual:
        trim(manual, options.pages)
        files = len(manual.pages) + len(assets(manual))

        def contender(crawler: Crawler) -> Contender:
            return lambda out: crawler(manual, options.slots, out)

        contenders = {name: contender(CRAWLERS[name]) for name in here}
        done = take_turns(contenders, options.rounds, ours=(_OURS,))
    found = record.Record(
        "crawl", {"files": files, "rounds": options.rounds, "slots": options.slots, "load before": load}
    )
    versions = {name: __version__ if name == _OURS else Program(name).version() for name in done.outcomes}
    found.details = {"rounds": done.raw(), "left out": done.left_out, "versions": versions}
    _add_figures(found, done)
    _add_files(found, done, versions, files)
    return found


def _add_figures(found: record.Record, done: CrawlLoop) -> None:
    for name in done.outcomes:
        found.add(
            record.Figure(f"{name}: files a second", done.rates(name).median, ""),
            record.Figure(f"{name}: CPU for 1,000 files", done.cpu(name), "s"),
            record.Figure(f"{name}: peak memory, all processes (PSS)", done.memory(name), "MB"),
        )
    for name in [name for name in done.outcomes if name in _GOALS]:
        ratio = done.faster(_OURS, name)
        found.add(
            record.at_least(f"speed against {name}", ratio.median, "×", _GOALS[name]),
            record.Figure(f"speed against {name}, least", ratio.least, "×"),
            record.Figure(f"speed against {name}, most", ratio.most, "×"),
            record.Figure(f"CPU of {name} against ours", done.cpu(name) / done.cpu(_OURS), "×"),
        )


def _add_files(found: record.Record, done: CrawlLoop, versions: dict[str, str], files: int) -> None:
    order = sorted(done.outcomes, key=lambda name: -done.rates(name).median)
    bars = [
        chart.Bar(name, f"version {versions[name]}", done.rates(name), "ours" if name == _OURS else "peer")
        for name in order
    ]
    title = f"A manual of {files:,} files, crawled with assets and local links"
    found.beside["crawl.svg"] = chart.bars(title, "files a second; more is better", bars, found.footnotes())
    lines = ["| | files/s | sitemirror ÷ it | CPU s for 1,000 | peak memory |", "| --- | ---: | ---: | ---: | ---: |"]
    for name in order:
        ratio = "1×" if name == _OURS else f"{done.faster(_OURS, name)}×"
        cells = (f"{name} {versions[name]}", str(done.rates(name)), ratio)
        lines.append(f"| {' | '.join(cells)} | {shown(done.cpu(name))} | {done.memory(name):,.0f} MB |")
    found.beside["crawl.md"] = "\n".join([*lines, "", *found.footnotes(), ""])


if __name__ == "__main__":
    if program() is None or not SOURCE.is_dir():
        record.not_run("crawl", "it needs nginx and Debian's postgresql-doc-15")
    record.main(
        measure,
        record.parser(
            "crawl",
            __doc__,
            [
                ("--rounds", 5, "runs of each"),
                ("--slots", 8, "requests in flight"),
                ("--pages", 0, "pages of the manual; 0 = all"),
            ],
        ),
    )
