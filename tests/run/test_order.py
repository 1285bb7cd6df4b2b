"""The outcome of a run does not depend on the order of answers, nor on interruptions."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.run.simulation import Mirror, random_site

SITES = int(os.environ.get("SITEMIRROR_MODEL_SITES", "80"))
"""Random sites to play; more for a longer search."""

ORDERS = 6
_SHARDS = 4


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_outcome_does_not_depend_on_order(shard: int) -> None:
    """Every order of answers, with interruptions and kills anywhere, gives the same account and the same files."""
    for seed in range(shard, SITES, _SHARDS):
        play(seed)


def play(seed: int) -> None:
    """Plays one site in several orders, half of them with interruptions."""
    site = random_site(Random(seed))
    expected: list[object] = []
    for order in range(ORDERS):
        mirror = Mirror(site, Random(seed * 1_000 + order), interruptions=order % 2 == 1)
        for number in range(1, len(site.runs) + 1):
            mirror.play(number)
            assert not (faults := list(mirror.faults())), f"site {seed}, order {order}, run {number}: {faults}"
            outcome = mirror.outcome()
            if order == 0:
                expected.append(outcome)
            assert outcome == expected[number - 1], f"site {seed}, order {order}, run {number}"
