"""Requirement: Bloom filter reduces memory usage 10×. Here duplicates are decided exactly, in the same memory."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartCli
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored

URLS = 60_000
SITEMAPS = 6
REPEATS = 6_000
LIMIT = 100 * 1024 * 1024


class Peak:
    """The most memory that a process and its children held, looked at every few milliseconds."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.bytes = 0
        self._watched = psutil.Process(process.pid)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        try:
            while self._watched.is_running():
                family = [self._watched, *self._watched.children(recursive=True)]
                self.bytes = max(self.bytes, sum(_held(each) for each in family))
                threading.Event().wait(0.01)
        except psutil.NoSuchProcess:
            pass

    def end(self) -> int:
        self._thread.join(10)
        return self.bytes


def _held(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


@pytest.mark.parametrize("command", ["list", "mirror"])
def test_process_1_million_urls(site: Site, out: Path, start_cli: StartCli, command: str) -> None:
    """Process 1 million URLs (a sixteenth of them here): under 100 MB, no URL lost, no duplicate counted."""
    each = URLS // SITEMAPS
    for number in range(SITEMAPS):
        own = [f"/section-{number}/a-page-with-a-name-of-usual-length-{index}" for index in range(each)]
        again = [f"/section-{(number + 1) % SITEMAPS}/a-page-with-a-name-of-usual-length-{i}" for i in range(1000)]
        site.sitemap(f"/part-{number}.xml.gz", urls=[*own, *again])
    site.sitemap_index("/sitemap.xml", [f"/part-{number}.xml.gz" for number in range(SITEMAPS)])
    for index in range(3):
        site.html_page(f"/section-0/a-page-with-a-name-of-usual-length-{index}", f"{index}", f"<h1>{index}</h1>")

    options = ("--max-pages", 3) if command == "mirror" else ()
    process = start_cli(command, site.url, *FAST, "--output", out, *options)
    peak = Peak(process)
    stdout, stderr = process.communicate(timeout=50)

    report = json.loads(stdout)
    assert process.returncode == 0, stderr
    assert 0 < peak.end() < LIMIT
    assert report["duplicates"] == REPEATS
    if command == "list":
        assert report["total_urls"] == URLS
        outline = Path(report["outline"]).read_text(encoding="utf-8")
        assert outline.count("a-page-with-a-name-of-usual-length-") >= URLS
    else:
        assert report["total_pages"] == URLS
        assert (report["successful"], report["not_reached"]) == (3, URLS - 3)
        not_reached = Mirrored.of(site, out).manifest["not_reached"]
        assert len(set(not_reached)) == len(not_reached) == URLS - 3
