"""Requirement: Checkpoint saves on keyboard interrupt."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import RunHere, StartCli
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
def test_user_interrupts_long_crawl(site: Site, out: Path, start_cli: StartCli, run_here: RunHere) -> None:
    """User interrupts long crawl: Ctrl+C after 500 URLs saves them all, exits 130, and the next run begins at 501."""
    paths = site.fill(510)
    site.sitemap()
    gate = threading.Event()
    site.fault(paths[500], faults.held(gate))
    command = ("mirror", site.url, *FAST, "--output", out)
    process = start_cli(*command, "--quiet")
    deadline = time.monotonic() + 40
    while not site.count(paths[500]):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)

    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=15)

    assert process.returncode == 130
    report = json.loads(stdout)
    assert (report["status"], report["successful"], report["not_reached"]) == ("interrupted", 500, 10)
    mirrored = Mirrored.of(site, out)
    assert mirrored.checkpoint["total_processed"] == 500
    assert mirrored.checkpoint["total_expected"] == 510
    # Workers, which a busy machine makes worth while, may finish a page before the one that came first.
    assert sorted(mirrored.processed) == [site.url + path for path in paths[:500]]
    assert (mirrored.manifest["complete"], mirrored.manifest["crawl_completed"]) == (False, None)
    assert len(mirrored.manifest["pages"]) == 500
    assert mirrored.manifest["not_reached"] == [site.url + path for path in paths[500:]]

    started = mirrored.manifest["crawl_started"]
    assert started == mirrored.checkpoint["started_at"]

    gate.set()
    site.clear_log()
    done = run_here(*command)

    assert [path for path in site.paths() if path.startswith("/page")] == paths[500:]
    assert f"[501/510] Processing: {site.url}{paths[500]}" in done.stderr
    assert (done.json["status"], done.json["successful"]) == ("ok", 510)
    assert mirrored.manifest["complete"] is True
    assert mirrored.manifest["crawl_started"] == started  # it is one crawl, whatever came between
    assert not list(out.rglob("*.tmp"))
