"""Requirement: Bloom filter reduces memory usage 10×. Here duplicates are decided exactly, in the same memory."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from pathlib import Path
from typing import Final

import psutil
import pytest

from tests.conftest import StartCli
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored

FEW: Final = 20_000
MANY: Final = 70_000
MILLION: Final = 1_000_000
SITEMAPS: Final = 5
REPEATS: Final = 5_000
LIMIT: Final = 100 * 1024 * 1024
NAME: Final = "a-page-whose-name-is-so-long-that-a-structure-which-keeps-it-cannot-be-overlooked"


class Peak:
    """The most memory that each process of a family held, looked at every few milliseconds."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._most: dict[int, int] = {}
        self._watched = psutil.Process(process.pid)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        try:
            while self._watched.is_running():
                for each in (self._watched, *self._watched.children(recursive=True)):
                    self._most[each.pid] = max(self._most.get(each.pid, 0), _held(each))
                threading.Event().wait(0.01)
        except psutil.NoSuchProcess:
            pass

    def end(self) -> int:
        """Bytes, of all processes together."""
        self._thread.join(10)
        return sum(self._most.values())


def _held(process: psutil.Process) -> int:
    """What a process has held at most, if the system remembers it: then no short moment is missed."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    try:
        return int(process.memory_info().rss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def _list(site: Site, urls: int) -> None:
    """Sitemaps of `urls` URLs, which repeat some of each other's."""
    each, again = urls // SITEMAPS, REPEATS // SITEMAPS
    for number in range(SITEMAPS):
        own = [f"/section-{number}/{NAME}-{index}" for index in range(each)]
        others = [f"/section-{(number + 1) % SITEMAPS}/{NAME}-{index}" for index in range(again)]
        site.sitemap(f"/part-{number}.xml.gz", urls=[*own, *others])
    site.sitemap_index("/sitemap.xml", [f"/part-{number}.xml.gz" for number in range(SITEMAPS)])


@pytest.mark.slow
@pytest.mark.parametrize("command", ["list", "mirror"])
def test_process_1_million_urls(site: Site, out: Path, start_cli: StartCli, command: str) -> None:
    """Process 1 million URLs: under 100 MB, reckoned from two smaller sites; no URL lost, no duplicate counted."""
    for index in range(3):
        site.html_page(f"/section-0/{NAME}-{index}", f"{index}", f"<h1>{index}</h1>")
    options = ("--max-pages", 3) if command == "mirror" else ()
    held: dict[int, int] = {}
    for urls in (FEW, MANY):
        _list(site, urls)
        folder = out / f"{urls}"

        process = start_cli(command, site.url, *FAST, "--output", folder, *options)
        peak = Peak(process)
        stdout, stderr = process.communicate(timeout=50)

        report = json.loads(stdout)
        assert process.returncode == 0, stderr
        held[urls] = peak.end()
        assert report["duplicates"] == REPEATS
        if command == "list":
            assert report["total_urls"] == urls
            outlined = re.findall(
                rf"\({site.url}(/section-\d/{NAME}-\d+)\)", Path(report["outline"]).read_text("utf-8")
            )
            assert len(set(outlined)) == len(outlined) == urls
        else:
            assert report["total_pages"] == urls
            assert (report["successful"], report["not_reached"]) == (3, urls - 3)
            not_reached = Mirrored.of(site, folder).manifest["not_reached"]
            assert len(set(not_reached)) == len(not_reached) == urls - 3

    # Measured: under 20 bytes for each URL more. A set of nothing but their hashes takes over 80.
    each = (held[MANY] - held[FEW]) / (MANY - FEW)
    assert 0 < held[MANY] + each * (MILLION - MANY) < LIMIT, held
