"""The two scripts that run all benchmarks, in full and small, know the same ones."""

from __future__ import annotations

import re
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"


def test_every_benchmark_has_a_small_version() -> None:
    """What `bench/run` measures, `bench/smoke` tries, and the README has its figures."""
    found = re.search(r"\$\{\*:-([a-z_ ]+)\}", (BENCH / "run").read_text(encoding="utf-8"))
    assert found is not None
    every = set(found[1].split())
    small = set(re.findall(r"^ +small (\w+) ", (BENCH / "smoke").read_text(encoding="utf-8"), re.MULTILINE))
    told = set(
        re.findall(r"^\| `python -m bench\.(\w+)", (BENCH / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert len(every) > 5
    assert small == every
    assert told == every
