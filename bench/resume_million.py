"""How soon a mirror of a million URLs goes on, and in how much memory.

A run is killed as by a power cut once its first page has been asked for, when all URLs are listed, and started again:
how long until it asks for a page. It ends after that page, and is started once more, from a state that was closed well.
Another run is killed half-way through the sitemaps: how long until it asks for one again. The server, a process of its
own, tells of each request when it comes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any, Final, Self

from bench import record
from bench.listed_million import REPEAT_EVERY, repeats_among
from bench.program import DidNotWork, Ended, Running, expect, sitemirror

_PATIENCE: Final = 600.0  # seconds
_LOOK: Final = 0.5  # seconds between two looks whether the run is still there


class TellingSite:
    """The site of `bench.listed_million`, with the requests that it gets."""

    def __init__(self, entries: int, each: int) -> None:
        self._command = [sys.executable, "-m", "bench.listed_million", "--tell"]
        self._command += ["--entries", str(entries), "--each", str(each)]
        self._heard: Queue[tuple[float, str]] = Queue()

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        self.url = self._server.stdout.readline().strip()
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.kill()
        self._server.wait()

    def _listen(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            self._heard.put((time.time(), line.strip()))

    def forget(self) -> None:
        """What was asked for up to now."""
        while not self._heard.empty():
            self._heard.get()

    def first(self, wanted: Callable[[str], bool], running: Running) -> float:
        """When a path like this was asked for, since the last call or `forget`; waits while the run can yet do so."""
        deadline = time.time() + _PATIENCE
        while True:
            is_over = not running.alive or time.time() > deadline
            try:
                moment, path = self._heard.get(timeout=_LOOK)
            except Empty:
                if is_over:
                    raise DidNotWork("the server was never asked for what it should have been") from None
                continue
            if wanted(path):
                return moment


def is_page(path: str) -> bool:
    """Whether `path` is a page of the site."""
    return path.startswith("/manual/")


def is_sitemap(number: int) -> Callable[[str], bool]:
    """Whether a path is a sitemap of the index, the `number`-th or one behind it."""
    return lambda path: path.startswith("/sitemap-") and int(path[9:].partition(".")[0]) >= number


def killed(site: TellingSite, command: list[str], wanted: Callable[[str], bool]) -> None:
    """Starts a run, and ends it as a power cut would once something has been asked for."""
    site.forget()
    with Running(command) as running:
        site.first(wanted, running)
        running.kill()


def resumed(
    site: TellingSite, command: list[str], wanted: Callable[[str], bool]
) -> tuple[float, Ended, dict[str, Any]]:
    """Starts the run again: seconds until something is asked for, then its end and its report."""
    site.forget()
    with Running(command) as running:
        moment = site.first(wanted, running)
        ended = running.wait(timeout=_PATIENCE)
    return moment - ended.began, ended, json.loads(ended.stdout)


def measure(options: argparse.Namespace) -> record.Record:
    """Killed with all listed, ended and started again; then killed while listing."""
    entries = options.urls * REPEAT_EVERY // (REPEAT_EVERY - 1)
    repeats = repeats_among(entries)
    pages = entries - repeats
    found = record.Record("resume_million", {"URLs": f"{pages:,}", "per sitemap": options.each})
    with TellingSite(entries, options.each) as site, tempfile.TemporaryDirectory(prefix="bench-") as out:

        def command(folder: str) -> list[str]:
            limits = ("--rate-limit", 0, "--max-pages", 1, "--quiet")
            return sitemirror("mirror", f"{site.url}/", *limits, "--output", Path(out, folder))

        def check(report: dict[str, Any], saved: int) -> None:
            expect("pages", report["total_pages"], pages)
            expect("not reached", report["not_reached"], pages - saved)
            expect("duplicates", report["duplicates"], repeats)

        killed(site, command("listed"), is_page)
        for saved, name in ((1, "killed with all listed"), (2, "ended after a page")):
            seconds, ended, report = resumed(site, command("listed"), is_page)
            check(report, report["successful"])
            expect("saved, at least", report["successful"] >= saved, True)
            found.add(
                record.at_most(f"{name}: until the first page is asked for", seconds, "s", 2),
                record.at_most(f"{name}: peak memory to the end", ended.peak_mb, "MB", 100),
            )
        half = -(-entries // options.each) // 2
        killed(site, command("listing"), is_sitemap(half))
        seconds, ended, report = resumed(site, command("listing"), is_sitemap(0))
        check(report, 1)
        found.add(
            record.Figure("killed while listing: until a sitemap is asked for", seconds, "s"),
            record.Figure("killed while listing: CPU time to the end", ended.cpu_seconds, "s"),
            record.at_most("killed while listing: peak memory to the end", ended.peak_mb, "MB", 100),
        )
    return found


if __name__ == "__main__":
    record.main(
        measure,
        record.parser(
            "resume_million",
            __doc__,
            [("--urls", 1_000_000, "distinct URLs"), ("--each", 50_000, "entries per sitemap")],
        ),
    )
