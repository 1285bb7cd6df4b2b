"""Runs fuzz targets for longer: `python -m tests.fuzz SECONDS [TARGET …]`, every target if none is named.

With atheris where it is installed, which is led by the code that inputs reach, else with hypothesis.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

# The targets are imported where they are run: atheris watches what is imported under its eyes.


def main() -> int:
    """The number of targets that broke."""
    match sys.argv[1:]:
        case ["--one", engine, name, seconds]:
            (with_atheris if engine == "atheris" else with_hypothesis)(name, float(seconds))
            return 0
        case [seconds, *names]:
            from tests.fuzz.targets import TARGETS

            engine = "atheris" if find_spec("atheris") else "hypothesis"
            return sum(_one(engine, name, float(seconds)) for name in names or TARGETS)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


def _one(engine: str, name: str, seconds: float) -> int:
    """1 if the target broke. In a process of its own, since a crash may be of the process."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "tests.fuzz", "--one", engine, name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=Path(__file__).parents[2])
    ran = f"{name:12} {engine} {time.monotonic() - begun:6.0f} s"
    if done.returncode == 0:
        counts = [
            line for line in (done.stdout + done.stderr).splitlines() if line.endswith("examples") or "Done" in line
        ]
        print(ran, "ok", *counts[-1:], flush=True)
        return 0
    print(ran, "BROKE", done.returncode, done.stdout[-3000:], done.stderr[-5000:], sep="\n", flush=True)
    return 1


def with_hypothesis(name: str, seconds: float) -> None:
    """Rounds of some hundred examples until the time is up."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    from tests.fuzz.inputs import inputs
    from tests.fuzz.targets import TARGETS

    chosen = settings(
        max_examples=400,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        seed(number)(chosen(given(inputs(name))(TARGETS[name])))()
    print(f"{number * 400} examples")


def with_atheris(name: str, seconds: float) -> None:
    """Coverage-guided, from a corpus of what hypothesis makes."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from hypothesis import HealthCheck, Phase, given, settings

    from tests.fuzz.inputs import inputs

    with atheris.instrument_imports(include=["sitemirror"]):
        from tests.fuzz.targets import TARGETS
    with tempfile.TemporaryDirectory() as corpus:
        made = iter(range(1_000_000))

        @settings(
            max_examples=200,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(inputs(name))
        def collect(data: bytes) -> None:
            (Path(corpus) / str(next(made))).write_bytes(data)

        collect()
        limits = ("-max_len=4096", "-rss_limit_mb=4096", f"-max_total_time={int(seconds)}")
        atheris.Setup([sys.argv[0], *limits, corpus], TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
