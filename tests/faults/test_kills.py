"""kill -9 at any moment: the next run resumes, and the copy is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.faults import town
from tests.faults.kills import Kind, at_random, each_step_alone, through_every_step
from tests.site import Site

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="kills with signals"),
    pytest.mark.timeout(300),  # some fifty starts of the program, on machines that have other things to do
]


@pytest.fixture
def place(site: Site) -> Site:
    town.build(site)
    site.latency = 0.002
    return site


@pytest.mark.parametrize("kind", [Kind("mirror", 16), Kind("crawl", 16)], ids=lambda kind: kind.command)
def test_kill_at_every_step_of_the_crash_order(place: Site, kind: Kind, tmp_path: Path) -> None:
    """Runs die one after the other, each at another step: the copy is as if none had."""
    assert through_every_step(place, kind, tmp_path) >= 14


@pytest.mark.parametrize("format", ["html", "both"])
def test_kill_while_links_are_made_local(place: Site, format: str, tmp_path: Path) -> None:
    """Files rewritten before a sync are not taken for damaged by the next run."""
    kind = Kind("crawl", 16, ("--format", format))
    assert each_step_alone(place, kind, tmp_path, ("links-rewritten:1", "links-committed:1")) == 2


@pytest.mark.parametrize("kind", [Kind("mirror", 1), Kind("crawl", 16)], ids=lambda kind: kind.command)
def test_kill_at_random_moments(place: Site, kind: Kind, tmp_path: Path) -> None:
    """Ten kills; at most concurrency + 32 pages are fetched again after each."""
    at_random(place, kind, tmp_path, kills=10, seed=int.from_bytes(os.urandom(2), "big"), in_a_row=5)


@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)], ids=["TERM", "INT twice"])
def test_signal_at_random_moments(place: Site, signals: tuple[int, ...], tmp_path: Path) -> None:
    """SIGTERM and repeated Ctrl+C lose no more than a kill."""
    kind = Kind("crawl", 16) if signals[0] == signal.SIGTERM else Kind("mirror", 16)
    at_random(place, kind, tmp_path, kills=3, seed=int.from_bytes(os.urandom(2), "big"), in_a_row=3, signals=signals)
