"""Short versions of the long runs: see `tests/README.md` for the whole ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.long_run import simulate
from tests.faults.soak import soak


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_simulated_run_keeps_its_pace_and_its_counters(out: Path) -> None:
    """Half an hour at one request a second, over midnight and with a wall clock that jumps back and forth."""
    simulate(1_800, out)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.name == "nt", reason="counts file descriptors")
@pytest.mark.parametrize("command", ["mirror", "crawl"])
def test_nothing_grows_with_the_pages(out: Path, command: str) -> None:
    """Memory and open files stay as they were after the first thousand pages, and every URL is accounted for."""
    soak(command, 2_500, 1_000, out)
