"""sitemirror to Markdown against the others, each at what it does, on the same pages from the same server.

The server is nginx on loopback, the pages are real ones from six manuals. We find them in a sitemap, parse, convert,
and keep a state that survives a kill; wget, wget2, HTTrack, Scrapy and Crawlee are given a list and save HTML;
crawl4ai, trafilatura and Scrapy with markdownify are given a list and save Markdown. All take turns, round by round.
The slow ones get a sample of the pages, and are timed without their start, which would weigh more on fewer pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import chart, corpus, record, server
from bench.kept import Saves, check
from bench.peers import PEERS, Amount, Peer, Task, add_home
from bench.program import expect, run
from bench.rounds import Contender, CrawlLoop, Outcome, busy, shown, take_turns
from sitemirror import __version__

FULL: Final = "sitemirror --content full"
DEFAULT: Final = "sitemirror"
_OURS: Final = (FULL, DEFAULT)
_GOALS: Final = ((FULL, "Scrapy", 3.0), (DEFAULT, "Scrapy", 2.5), (FULL, "crawl4ai", 45.0), (FULL, "wget", 0.35))
_MEMORY_GOAL: Final = 250  # MB


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of one of them."""

    name: str
    version: str
    saves: str
    pages: int


def mirror(task: Task, *options: str) -> Outcome:
    """Our own, with every default but its politeness and `options`."""
    limits = ("--rate-limit", 0, "--concurrency", task.slots, "--max-pages", 0)
    ran = run("mirror", f"{task.server.url}/", *limits, *options, "--output", task.tree, "--quiet")
    expect("status", ran.report["status"], "ok")
    expect("pages saved", ran.report["successful"], len(task.pages))
    manifest = json.loads(Path(ran.report["manifest"]).read_text(encoding="utf-8"))
    paths = {page["url"]: Path(ran.report["output_dir"]) / page["path"] for page in manifest["pages"]}
    by_url = zip(task.pages.pages, task.pages.urls(task.server.url), strict=True)
    files = {page: paths[url] for page, url in by_url if url in paths}
    kept = check("sitemirror", Saves.MARKDOWN, task.pages.pages, files)
    return Outcome(len(task.pages), ran.seconds, ran, kept)


def measure(options: argparse.Namespace) -> record.Record:
    """All that can be had, in turns."""
    books = corpus.installed()
    pages = corpus.mixed(books, options.pages)
    sample = pages.first(min(options.sample, len(pages)) if options.sample else 0)
    pages.warm()
    wanted = [name for name in options.only.split(",") if name]
    peers = [peer for peer in PEERS if not wanted or peer.name in wanted]
    here = [peer for peer in peers if not peer.origin.missing(options.peers)]
    load = busy()
    with server.served(books, pages) as site:
        done = take_turns(_contenders(site, sample, here, options), options.rounds, ours=_OURS)
    missing = {peer.name: str(peer.origin.missing(options.peers)) for peer in peers if peer not in here}
    done.left_out = missing | done.left_out
    for name, reason in missing.items():
        print(f"note: {name} is not compared with: {reason}", file=sys.stderr)
    conditions = {**pages.described(), "sample for the slow": len(sample), "rounds": options.rounds}
    found = record.Record("compare", {**conditions, "slots": options.slots, "load before": load})
    rows = _rows(done, peers)
    _add_figures(found, done, rows)
    found.details = {
        "rounds": done.raw(),
        "left out": done.left_out,
        "versions": {row.name: row.version for row in rows},
    }
    found.beside = {"compare.svg": _picture(found, done, rows), "compare.md": _table(found, done, rows)}
    return found


def _contenders(
    site: server.CorpusServer, sample: corpus.Corpus, peers: Sequence[Peer], options: argparse.Namespace
) -> dict[str, Contender]:
    """Ours first, then the peers; each knows its own task but for the folder."""

    def ours(*arguments: str) -> Contender:
        return lambda out: mirror(Task(site, site.corpus, options.slots, out), *arguments)

    def theirs(peer: Peer) -> Contender:
        pages = site.corpus if peer.amount is Amount.WHOLE else sample
        return lambda out: peer.run(Task(site, pages, options.slots, out), options.peers)

    found = {FULL: ours("--content", "full"), DEFAULT: ours()}
    return found | {peer.name: theirs(peer) for peer in peers}


def _rows(done: CrawlLoop, peers: Sequence[Peer]) -> list[Row]:
    """Of all that were measured, the fastest first."""
    known = dict.fromkeys(_OURS, (__version__, Saves.MARKDOWN.value))
    known |= {peer.name: (peer.version, peer.saves.value) for peer in peers if peer.name in done.outcomes}
    rows = [Row(name, *known[name], runs[0].pages) for name, runs in done.outcomes.items()]
    return sorted(rows, key=lambda row: -done.rates(row.name).median)


def _add_figures(found: record.Record, done: CrawlLoop, rows: Sequence[Row]) -> None:
    for row in rows:
        found.add(
            record.Figure(f"{row.name}: pages a second", done.rates(row.name).median, ""),
            record.Figure(f"{row.name}: CPU for 1,000 pages", done.cpu(row.name), "s"),
        )
    for ours, peer, goal in _GOALS:
        if peer in done.outcomes:
            ratio = done.faster(ours, peer)
            found.add(
                record.at_least(f"{ours} against {peer}", ratio.median, "×", goal),
                record.Figure(f"{ours} against {peer}, least", ratio.least, "×"),
                record.Figure(f"{ours} against {peer}, most", ratio.most, "×"),
            )
    for ours in _OURS:
        found.add(record.at_most(f"{ours}: peak memory, all processes (PSS)", done.memory(ours), "MB", _MEMORY_GOAL))


def _table(found: record.Record, done: CrawlLoop, rows: Sequence[Row]) -> str:
    """For people who read Markdown."""
    head = ("", "saves", "pages/s", "`full` ÷ it", "default ÷ it", "CPU s for 1,000", "peak memory", "words kept")
    lines = [f"| {' | '.join(head)} |", f"| --- | --- | {'---: | ' * (len(head) - 2)}".rstrip()]
    for row in rows:
        full, default = done.faster(FULL, row.name), done.faster(DEFAULT, row.name)
        cells = (
            f"{row.name} {row.version}",
            row.saves + (f" ({row.pages:,} pages)" if row.pages < rows_most(rows) else ""),
            str(done.rates(row.name)),
            f"{full}×" if row.name != FULL else "1×",
            f"{default}×" if row.name != DEFAULT else "1×",
            shown(done.cpu(row.name)),
            f"{done.memory(row.name):,.0f} MB",
            f"{done.kept(row.name):.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"| {name} | not measured: {reason} | | | | | | |" for name, reason in done.left_out.items()]
    return "\n".join([*lines, "", *found.footnotes(), ""])


def _picture(found: record.Record, done: CrawlLoop, rows: Sequence[Row]) -> str:
    bars = [
        chart.Bar(
            row.name, f"{row.version}, {row.saves}", done.rates(row.name), "ours" if row.name in _OURS else "peer"
        )
        for row in rows
    ]
    title = f"{rows_most(rows):,} documentation pages from nginx on loopback"
    return chart.bars(title, "pages a second, all processes on the same cores; more is better", bars, found.footnotes())


def rows_most(rows: Sequence[Row]) -> int:
    """The size of the whole corpus."""
    return max(row.pages for row in rows)


if __name__ == "__main__":
    if reason := server.missing():
        record.not_run("compare", reason)
    parser = record.parser(
        "compare",
        __doc__,
        [
            ("--pages", 3000, "pages of the corpus"),
            ("--sample", 600, "pages for the slow ones; 0 = all"),
            ("--rounds", 5, "runs of each"),
            ("--slots", 16, "requests in flight"),
            ("--only", "", "peers to compare with, by name, with commas; empty = all"),
        ],
    )
    add_home(parser)
    record.main(measure, parser)
