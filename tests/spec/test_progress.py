"""Requirement: Progress Reporting."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror
from sitemirror.events import Event, Progress
from sitemirror.run.crawl_loop import BEYOND
from tests.conftest import RunHere
from tests.fetch.clocks import JumpingClock
from tests.site import Exchange, Site, faults
from tests.spec.mirrored import FAST, Mirrored


def test_stderr_progress_output(site: Site, out: Path, run_here: RunHere) -> None:
    """Stderr progress output: one numbered line a URL, failures and skips included, and stdout is the report alone."""
    paths = site.fill(5)
    site.fault(paths[1], faults.status(500))
    site.page("/file.pdf", "%PDF", type="application/pdf")
    listed = [*paths, "/file.pdf"]
    site.sitemap(urls=listed)

    done = run_here("mirror", site.url, *FAST, "--output", out)

    lines = [line for line in done.stderr.splitlines() if "Processing: " in line]
    assert lines == [f"[{number}/6] Processing: {site.url}{path}" for number, path in enumerate(listed, 1)]
    assert done.json["successful"] == 4
    assert "Processing" not in done.stdout

    site.heal(paths[1])
    again = run_here("mirror", site.url, *FAST, "--output", out)
    [line] = [line for line in again.stderr.splitlines() if "Processing: " in line]
    assert re.fullmatch(rf"\[6/6\] Processing: {re.escape(site.url + paths[1])}", line)


def test_the_numbers_of_an_update_agree(site: Site, out: Path, run_here: RunHere) -> None:
    """What is found is counted alike in every run: each listed URL in scope once, whatever it led to and whether or
    not it had to be asked for; and it is said what else the sitemap listed."""
    paths = site.fill(3)
    site.html_page("/end", "End", "<p>the end</p>")
    site.redirect("/old", "/end")
    site.redirect("/older", "/end")
    site.html_page("/other/x", "X", "<p>x</p>")
    site.sitemap(urls=[*paths, paths[0], "/other/x", "/old", "/older"])
    command = ("mirror", site.url, *FAST, "--output", out, "--exclude-path", "/other/*")
    left_out = "; not counted: 1 repeat, 1 out of scope"

    first, again, update = run_here(*command), run_here(*command), run_here(*command, "--update")

    assert f"found: 5 URLs{left_out}\n" in first.stderr
    assert f"found: 5 URLs, 5 already saved{left_out}\n" in again.stderr
    assert f"found: 5 URLs{left_out}\n" in update.stderr
    lines = [line for line in update.stderr.splitlines() if "Processing: " in line]
    assert lines == [f"[4/5] Processing: {site.url}/old", f"[5/5] Processing: {site.url}/older"]
    progress = Mirrored.of(site, out).progress
    assert (progress["processed"], progress["total"]) == (5, 5)


def test_progress_file_updates_from_the_first_page_on(site: Site, out: Path, run_here: RunHere) -> None:
    """Progress file updates: while the first page is asked for it tells of this run, not of the last one."""
    paths = site.fill(3)
    site.sitemap(urls=[(path, "2999-01-01") for path in paths])
    mirrored = Mirrored.of(site, out)
    seen: list[Any] = []

    async def step(exchange: Exchange) -> None:
        seen.append(mirrored.progress)
        await faults.ok()(exchange)

    site.fault(paths[0], step)
    for update in ((), ("--update",)):
        run_here("mirror", site.url, *FAST, "--output", out, *update)
        assert (mirrored.progress["processed"], mirrored.progress["eta_sec"]) == (3, 0)

    assert [(found["processed"], found["total"], found["eta_sec"]) for found in seen] == [(0, 3, None)] * 2


async def test_progress_file_updates(site: Site, out: Path) -> None:
    """Progress file updates: every 100 URLs `_progress.json` says how far the run is and how long it will take."""
    site.fill(230)
    site.sitemap()
    mirrored = Mirrored.of(site, out)
    file = mirrored.folder / "_progress.json"
    seen: dict[int, Any] = {}

    def look(event: Event) -> None:
        # The first URL after each hundred: what was due before it has to be there.
        if isinstance(event, Progress) and event.processed in (101, 201):
            seen[event.processed] = json.loads(file.read_bytes())

    # At 50 a second the whole takes 4.6 s: too short for the file to be written by the clock.
    await mirror(site.url, output=out, rate_limit=50, on_event=look, clock=JumpingClock())

    assert sorted(seen) == [101, 201]
    for number, written in seen.items():
        done = written["processed"]
        assert 100 * (number // 100) <= done <= number
        assert written["total"] == 230
        # Pages that were fetched and wait for their conversion: as many as a busy machine lets wait.
        assert done / 50 - 0.1 <= written["elapsed_sec"] <= (done + BEYOND + 1) / 50 + 0.1
        assert written["rate"] == pytest.approx(50, rel=0.25)
        assert written["eta_sec"] == pytest.approx((230 - done) / written["rate"], abs=0.1)
    assert seen[201]["elapsed_sec"] > seen[101]["elapsed_sec"]
    last = mirrored.progress
    assert {"processed", "total", "elapsed_sec", "eta_sec"} <= set(last)
    assert (last["processed"], last["total"], last["eta_sec"]) == (230, 230, 0)
