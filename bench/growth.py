"""Whether a page costs the same on a large site as on a small one, in time and in memory; and how soon a run goes on.

The large one is every file of six manuals, about 49,000; the small one is a fair sample of it, 5,000. Both are mirrored
in turns. Time is taken from the first request to the end of the process, since the start of the interpreter weighs more
on fewer pages. Memory is summed over all processes and looked at against the number of pages asked for. Then a large
run is killed half-way and started again, finished, and started once more: how long until the first request.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench import chart, corpus, record
from bench.program import DidNotWork, Ended, Running, expect, sitemirror
from bench.rounds import Contender, Outcome, busy, take_turns
from bench.server import CorpusServer, Log, Request, missing, served

_LONGEST: Final = 3600.0  # seconds
_SETTLED: Final = 2000  # pages after which memory should not grow any more
_SAMPLES_DRAWN: Final = 400


@dataclass(frozen=True, slots=True)
class Flatness:
    """Memory against pages: (pages asked for, MB) as it was sampled, and what it comes to."""

    points: tuple[tuple[int, float], ...]
    early: float
    late: float
    closing: float

    @classmethod
    def of(cls, ended: Ended, requests: Sequence[Request]) -> Flatness:
        """Early is the window after the first 2,000 pages, late is the last tenth, closing is after the last page."""
        times = sorted(request.time for request in requests if request.is_page)
        points = tuple((bisect_right(times, sample.time), sample.megabytes) for sample in ended.memory)
        pages = len(times)
        begin = min(_SETTLED, pages // 10)

        def typical(window: Iterator[float]) -> float:
            found = list(window)
            return median(found) if found else 0.0

        early = typical(mb for done, mb in points if begin <= done < 2 * begin)
        late = typical(mb for done, mb in points if 0.9 * pages <= done < pages)
        closing = max((mb for done, mb in points if done >= pages), default=0.0)
        return cls(points, early, late, closing)


@dataclass(frozen=True, slots=True)
class Resumed:
    """Seconds from the start of the process to its first request, and to its first request for a page."""

    first_request: float
    first_page: float | None


def command(site: CorpusServer, slots: int, out: Path) -> list[str]:
    """`sitemirror mirror` without its politeness."""
    limits = ("--rate-limit", 0, "--concurrency", slots, "--max-pages", 0)
    return sitemirror("mirror", f"{site.url}/", *limits, "--output", out, "--quiet")


def mirror(site: CorpusServer, slots: int, out: Path) -> Outcome:
    """All of a corpus from nothing; every URL must be accounted for and none have failed."""
    site.forget()
    with Running(command(site, slots, out)) as running:
        ended = running.wait(timeout=_LONGEST)
    check_report(json.loads(ended.stdout), site.corpus)
    first = min(request.time for request in site.requests())
    return Outcome(len(site.corpus), ended.seconds - (first - ended.began), ended)


def check_report(report: dict[str, Any], pages: corpus.Corpus) -> None:
    """Every page was saved, and every page that leads to another is counted as one with it."""
    expect("status", report["status"], "ok")
    expect("saved", report["successful"], len(pages) - pages.forwarding)
    expect("duplicates", report["duplicates"], pages.forwarding)
    expect("neither", report["failed"] + report["skipped"] + report["not_reached"], 0)


def kill_halfway(site: CorpusServer, slots: int, out: Path) -> None:
    """Starts a run and ends it as a power cut would, once half of the pages have been asked for."""
    site.forget()
    with Running(command(site, slots, out)) as running:
        deadline = time.monotonic() + _LONGEST
        while site.answered() < len(site.corpus) / 2:
            if not running.alive or time.monotonic() > deadline:
                raise DidNotWork(f"the run was over before it could be killed: {running.complaints()}")
            time.sleep(0.01)
        running.kill()


def resume(site: CorpusServer, slots: int, out: Path) -> tuple[Resumed, Ended]:
    """Runs on to the end over what is there."""
    site.forget()
    with Running(command(site, slots, out)) as running:
        ended = running.wait(timeout=_LONGEST)
    check_report(json.loads(ended.stdout), site.corpus)
    requests = site.requests()
    pages = [request.time for request in requests if request.is_page]
    first_page = min(pages) - ended.began if pages else None
    return Resumed(min(request.time for request in requests) - ended.began, first_page), ended


def measure(options: argparse.Namespace) -> record.Record:
    """Small and large in turns, then the large one killed, resumed, and resumed once it is whole."""
    books = corpus.installed()
    large = corpus.everything(books).first(options.pages)
    small = large.first(options.small)
    large.warm()
    load = busy()
    flat: list[Flatness] = []
    with ExitStack() as stack:
        sites = {name: stack.enter_context(served(books, pages, Log.ON)) for name, pages in _named(small, large)}
        least, most = sites

        def contender(name: str) -> Contender:
            def run(out: Path) -> Outcome:
                outcome = mirror(sites[name], options.slots, out)
                if name == most:
                    flat.append(Flatness.of(outcome.ended, sites[name].requests()))
                return outcome

            return run

        done = take_turns({name: contender(name) for name in sites}, options.rounds, ours=tuple(sites))
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            kill_halfway(sites[most], options.slots, Path(folder))
            halfway, _ = resume(sites[most], options.slots, Path(folder))
            finished, again = resume(sites[most], options.slots, Path(folder))
    expect("a page asked for by the run that went on", halfway.first_page is not None, True)
    conditions = {
        **large.described(),
        "forwarding": large.forwarding,
        "small": len(small),
        "rounds": options.rounds,
        "slots": options.slots,
    }
    found = record.Record("growth", {**conditions, "load before": load})
    ratio = done.faster(least, most)
    found.add(
        *(record.Figure(f"{name}: pages a second", done.rates(name).median, "") for name in sites),
        record.at_most("time per page, large against small", ratio.median, "×", 1.15),
        record.Figure("… least", ratio.least, "×"),
        record.Figure("… most", ratio.most, "×"),
        *_memory_figures(flat),
        record.at_most("killed half-way, run again: until the first request", halfway.first_request, "s", 3),
        record.at_most("… until the first page", halfway.first_page or 0.0, "s", 3),
        record.at_most("finished, run again: until the first request", finished.first_request, "s", 3),
        record.Figure("… to its end, with nothing to do", again.seconds, "s"),
    )
    found.details = {"rounds": done.raw()}
    found.beside["growth.svg"] = _picture(flat[-1], found)
    return found


def _named(small: corpus.Corpus, large: corpus.Corpus) -> list[tuple[str, corpus.Corpus]]:
    return [(f"{len(small):,} pages", small), (f"{len(large):,} pages, all", large)]


def _memory_figures(flat: Sequence[Flatness]) -> list[record.Figure]:
    """The worst of the rounds. There are none where the system does not tell."""
    found = [one for one in flat if one.early and one.late]
    if not found:
        return []
    worst = max(found, key=lambda one: one.late / one.early)
    return [
        record.Figure("memory after the first pages (PSS, all processes)", worst.early, "MB"),
        record.Figure("memory during the last tenth", worst.late, "MB"),
        record.at_most("… against the first", worst.late / worst.early, "×", 1.1),
        record.Figure("peak after the last page", max(one.closing for one in found), "MB"),
        record.Figure("peak", max(mb for one in found for _, mb in one.points), "MB"),
    ]


def _picture(flat: Flatness, found: record.Record) -> str:
    every = max(1, len(flat.points) // _SAMPLES_DRAWN)
    points = [(float(done), mb) for done, mb in flat.points[::every]]
    return chart.curve("Memory of all processes (PSS, MB)", "pages asked for", points, found.footnotes())


if __name__ == "__main__":
    if reason := missing():
        record.not_run("growth", reason)
    record.main(
        measure,
        record.parser(
            "growth",
            __doc__,
            [
                ("--pages", 0, "files of the large corpus; 0 = all"),
                ("--small", 5000, "files of the small one"),
                ("--rounds", 3, "runs of each"),
                ("--slots", 16, "requests in flight"),
            ],
        ),
    )
