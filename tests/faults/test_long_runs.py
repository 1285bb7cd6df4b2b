"""Short versions of the long runs in `tests/README.md`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.long_run import simulate
from tests.faults.soak import soak


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_simulated_run_keeps_its_pace_and_counters(out: Path) -> None:
    """Half an hour at one request a second, over midnight and with a wall clock that jumps back and forth."""
    simulate(1_800, out)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.name == "nt", reason="counts file descriptors")
@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_memory_and_open_files_do_not_grow(out: Path, command: str) -> None:
    """After the first thousand pages both stay flat, and every URL is accounted for."""
    soak(command, 2_500, 1_000, out)
