"""Several programs at the same work, in turns: what else the machine does then falls on all of them alike.

Each ratio is taken within a round, between runs that are minutes apart at most; the median of the rounds is the figure,
the least and the most are its spread.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Self

from bench.program import DidNotWork, Ended


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run in one round: what was done, in how many seconds, and what else was measured.

    `kept` is the share of the pages' words that were found again in a sample of what was saved.
    """

    pages: int
    seconds: float
    ended: Ended
    kept: float = 1.0

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some values, with the least and the most of them."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterator[float] | list[float]) -> Self:
        found = list(values)
        return cls(median(found), min(found), max(found))

    def __str__(self) -> str:
        return f"{shown(self.median)} ({shown(self.least)} to {shown(self.most)})"


@dataclass(slots=True)
class CrawlLoop:
    """The outcomes of each, in the order of the rounds; and of those that did not work, why."""

    outcomes: dict[str, list[Outcome]]
    left_out: dict[str, str] = field(default_factory=dict)

    def rates(self, name: str) -> Spread:
        return Spread.of([outcome.rate for outcome in self.outcomes[name]])

    def faster(self, name: str, than: str) -> Spread:
        """How many times as many pages a second, round by round."""
        pairs = zip(self.outcomes[name], self.outcomes[than], strict=True)
        return Spread.of([ours.rate / theirs.rate for ours, theirs in pairs])

    def cpu(self, name: str) -> float:
        """Seconds of CPU time for a thousand pages."""
        return median(outcome.ended.cpu_seconds / outcome.pages * 1000 for outcome in self.outcomes[name])

    def memory(self, name: str) -> float:
        """The highest peak of all rounds, in MB."""
        return max(outcome.ended.peak_pss_mb for outcome in self.outcomes[name])

    def kept(self, name: str) -> float:
        return min(outcome.kept for outcome in self.outcomes[name])

    def raw(self) -> dict[str, list[dict[str, float]]]:
        """Every run, for the record."""
        return {
            name: [
                {
                    "pages": outcome.pages,
                    "seconds": round(outcome.seconds, 3),
                    "whole_seconds": round(outcome.ended.seconds, 3),
                    "cpu_seconds": round(outcome.ended.cpu_seconds, 3),
                    "peak_pss_mb": round(outcome.ended.peak_pss_mb, 1),
                    "kept": round(outcome.kept, 4),
                }
                for outcome in outcomes
            ]
            for name, outcomes in self.outcomes.items()
        }


Contender = Callable[[Path], Outcome]


def take_turns(contenders: Mapping[str, Contender], rounds: int, *, ours: tuple[str, ...]) -> CrawlLoop:
    """So many rounds, each in an empty folder; every round begins with another contender.

    A peer that does not do its work is left out from then on, with the reason; that one of ours does not, is an error.
    """
    done = CrawlLoop({name: [] for name in contenders})
    order = list(contenders)
    # Nothing is deleted before the end: for minutes afterwards ext4 steps over each inode that has been freed before it
    # takes a new one, which makes a file cost ten times as much, and falls on whoever comes next.
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for number in range(1, rounds + 1):
            for name in [name for name in order if name not in done.left_out]:
                # What the last one wrote is on its way to the disk; the next one shall not wait for it.
                os.sync()
                print(f"round {number} of {rounds}: {name}", file=sys.stderr)
                try:
                    done.outcomes[name].append(contenders[name](Path(tempfile.mkdtemp(dir=folder))))
                except DidNotWork as problem:
                    if name in ours:
                        raise
                    print(f"note: {name} is left out: {problem}", file=sys.stderr)
                    done.left_out[name] = str(problem).splitlines()[0]
                    del done.outcomes[name]
            order.append(order.pop(0))
    return done


def busy() -> float:
    """The load, with a word of warning when it would show in the figures."""
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0
    if load > (os.cpu_count() or 1) / 2:
        print(f"note: the machine is busy (load {load}); times will say little, ratios somewhat more", file=sys.stderr)
    return load


def shown(value: float) -> str:
    """Three digits that mean something, or all of a large number."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
