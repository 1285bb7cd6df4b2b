"""When workers are started: by large runs, by busy ones, and never for nothing."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest

from sitemirror.workers import pool, worker
from sitemirror.workers.jobs import ConvertOptions
from sitemirror.workers.pool import LOOK_EVERY, suitable_workers
from tests.conftest import StartCli
from tests.site import Site, faults
from tests.workers.pools import PAGE, pool_of, source, started


async def test_a_small_run_starts_no_process() -> None:
    """Left to itself the pool reads a handful of pages here, however fast they come."""
    async with pool_of(0) as (readers, _):
        for _ in range(LOOK_EVERY - 2):
            await readers.read("html", source(), ConvertOptions())
        assert readers.pids == []


@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
async def test_a_busy_run_starts_workers_by_itself() -> None:
    """When nearly all time goes into reading, workers are started, and pages are read meanwhile."""
    async with pool_of(0) as (readers, warnings):
        for _ in range(20_000):
            await readers.read("html", source(), ConvertOptions())
            await asyncio.sleep(0)
            if readers.pids:
                break
        assert readers.pids
    assert warnings == []


@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
async def test_a_large_run_without_a_limit_starts_them_at_once() -> None:
    """A list of thousands of pages is known before the first of them comes; a list of few is worth no process."""
    async with pool_of(0) as (readers, _):
        readers.expect(20)
        await asyncio.sleep(0.3)
        assert readers.pids == []
        readers.expect(5_000)
        assert len(await started(readers)) == suitable_workers()
        assert readers._busy == 0.0  # Those that came before they were up waited for them.


@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
async def test_a_run_of_unknown_size_starts_one_at_once() -> None:
    """It reads the first pages; the others follow when there turn out to be many."""
    async with pool_of(0) as (readers, _):
        readers.expect_some(ConvertOptions(markdown=False))
        await readers.read("html", source(), ConvertOptions(markdown=False))
        assert len(readers.pids) == 1
        assert readers._busy == 0.0
        readers.expect(5_000)
        assert len(await started(readers)) == suitable_workers()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names a process's children")
@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
@pytest.mark.parametrize(
    ("options", "workers"),
    [(("--rate-limit", 0), 1), (("--rate-limit", 5), 0), (("--rate-limit", 0, "--max-pages", 9), 0)],
)
@pytest.mark.parametrize(("command", "asked_before"), [("crawl", 1), ("mirror", 0)])  # robots.txt
def test_a_run_without_a_limit_begins_with_a_worker(
    site: Site,
    out: Path,
    start_cli: StartCli,
    command: str,
    asked_before: int,
    options: tuple[str | float, ...],
    workers: int,
) -> None:
    """It is there while the first page is on its way. A run that is slow or small by its settings does without."""
    gate = threading.Event()
    site.html_page("/", "Home", "<p>Home</p>")
    site.sitemap()
    site.fault("/", faults.held(gate))
    process = start_cli(command, site.url, "--output", out, "--concurrency", 4, *options)
    site.wait_for(asked_before + 1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
    gate.set()
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert len(children) == workers


@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
async def test_many_sites_that_are_fast_together_start_them_at_once() -> None:
    """A hundred slow sites are as much work as a fast one; a dozen are not."""
    async with pool_of(0) as (readers, _):
        readers.expect_rate(12.0)
        await asyncio.sleep(0.3)
        assert readers.pids == []
        readers.expect_rate(500.0)
        assert len(await started(readers)) == suitable_workers()


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="no priorities that can be asked for")
async def test_workers_let_the_parent_go_first() -> None:
    """Requests go out on time however many pages wait to be converted."""
    async with pool_of(1) as (readers, _):
        (worker_pid,) = await started(readers)
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, worker_pid) > ours or ours >= 19


@pytest.mark.parametrize("program", [None, "hangs"])
async def test_a_large_run_does_without_workers_that_never_come(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None
) -> None:
    """A program that has its Python inside may have none to start, or start something else: pages are read here."""
    if program is not None:
        (tmp_path / program).write_text("#!/bin/sh\nexec sleep 60\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setattr(sys, "executable", program and str(tmp_path / program))
    monkeypatch.setattr(worker, "LONGEST_START", 0.2)
    monkeypatch.setattr(pool, "suitable_workers", lambda: 2)
    async with pool_of(0) as (readers, _):
        readers.expect(5_000)
        async with asyncio.timeout(30):
            assert (await readers.read("html", source(), ConvertOptions())).title == "A page"
        assert readers.pids == []


async def test_on_one_core_only_large_pages_go_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long list changes nothing about it, nor a worker that is up for a large page."""
    monkeypatch.setattr(pool, "suitable_workers", lambda: 0)
    async with pool_of(0) as (readers, _):
        readers.expect(5_000)
        await readers.read("html", source(PAGE * 1_000), ConvertOptions())
        assert len(readers.pids) == 1
        assert readers._here(len(PAGE))


@pytest.mark.skipif(suitable_workers() == 0, reason="one core: there is nothing to share")
@pytest.mark.parametrize("page", [PAGE * 30, PAGE + b"<!--%b-->" % (b"x" * worker.BYTES_AHEAD)], ids=["many", "large"])
async def test_workers_are_added_while_pages_queue_up(page: bytes) -> None:
    """A pool left to itself begins with one worker and ends with as many as the machine has use for, if they are.

    Of pages so large that a worker has but one of them in hand, too.
    """
    async with pool_of(0) as (readers, _):
        for _ in range(200):
            await asyncio.gather(*(readers.read("html", source(page), ConvertOptions()) for _ in range(24)))
            if len(readers.pids) == readers.count:
                break
        assert len(readers.pids) == readers.count == suitable_workers()


async def test_a_run_that_waits_for_its_server_starts_none() -> None:
    """Pages that come slowly are read here: a process for them would have nothing to do."""
    async with pool_of(0) as (readers, _):
        for _ in range(3 * LOOK_EVERY):
            await readers.read("html", source(), ConvertOptions())
            await asyncio.sleep(0.02)
        assert readers.pids == []
