"""Requirement: Progress Reporting."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror
from sitemirror.engine.rounds import BEYOND
from sitemirror.events import Event, Progress
from tests.conftest import RunCli
from tests.fetch.clocks import JumpingClock
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored


def test_stderr_progress_output(site: Site, out: Path, run_cli: RunCli) -> None:
    """Stderr progress output: one numbered line a URL, failures and skips included, and stdout is the report alone."""
    paths = site.fill(5)
    site.fault(paths[1], faults.status(500))
    site.page("/file.pdf", "%PDF", type="application/pdf")
    listed = [*paths, "/file.pdf"]
    site.sitemap(urls=listed)

    done = run_cli("mirror", site.url, *FAST, "--output", out)

    lines = [line for line in done.stderr.splitlines() if "Processing: " in line]
    assert lines == [f"[{number}/6] Processing: {site.url}{path}" for number, path in enumerate(listed, 1)]
    assert done.json["successful"] == 4
    assert "Processing" not in done.stdout

    site.heal(paths[1])
    again = run_cli("mirror", site.url, *FAST, "--output", out)
    [line] = [line for line in again.stderr.splitlines() if "Processing: " in line]
    assert re.fullmatch(rf"\[6/6\] Processing: {re.escape(site.url + paths[1])}", line)


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
