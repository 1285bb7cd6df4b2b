"""Kills runs and lets them go on, and compares what they leave with what an undisturbed run leaves.

`python -m tests.faults.kills --kills 200` is the long run; the tests use the same code with fewer kills.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import psutil

from bench.server import program
from tests.conftest import start_program
from tests.crawl.conftest import Copy, timeless
from tests.faults import town
from tests.manual.server import SOURCE, Manual
from tests.site import Site

PIPELINE: Final = 32
"""Pages beside those being fetched that a kill may cost, as `docs/reliability.md` promises."""

STEPS: Final = (
    "intent-committed:2", "file-written:9", "file-renamed:7", "rows-written:2", "rows-committed:2", "lines-appended:1",
    # of duplicates that become one, then of pages that change places
    "decided:1", "op-done:1", "op-done:2", "stage-done:1", "op-done:1", "stage-done:2", "settled:1",
    "file-renamed:5", "links-rewritten:1", "links-committed:1", "linked:1",
    "run-finished:1", "draft-written:1", "draft-renamed:1", "draft-renamed:2", "draft-renamed:3",
)  # fmt: skip
"""Every step of the crash order, in the order in which a run comes to them."""


class Asked(Protocol):
    """A request as a server has it in its log."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


class Served(Protocol):
    """A site with a log: the test site, or nginx."""

    @property
    def url(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def requests(self) -> Sequence[Asked]: ...

    def clear_log(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BehindNginx:
    """A manual of 1,169 pages behind nginx."""

    manual: Manual

    @property
    def url(self) -> str:
        return self.manual.url

    @property
    def port(self) -> int:
        return self.manual.port

    @property
    def requests(self) -> Sequence[Asked]:
        return [line for line in self.manual.requests() if not line.path.startswith("/mark-")]

    def clear_log(self) -> None:
        self.manual.forget()


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to run the program."""

    command: str
    concurrency: int
    more: tuple[str, ...] = ()

    def arguments(self, url: str, output: Path) -> list[str]:
        return [
            self.command, url, "--rate-limit", "0", "--concurrency", str(self.concurrency), "--quiet",
            "--max-retries", "0", "--output", str(output), *self.more,
        ]  # fmt: skip


KINDS: Final = (
    Kind("mirror", 1),
    Kind("mirror", 16),
    Kind("crawl", 1),
    Kind("crawl", 16),
    Kind("crawl", 16, ("--format", "both")),
)


def finish(process: subprocess.Popen[str], patience: int = 60) -> tuple[int, str]:
    """The exit code, and what was said on stderr.

    A run hangs when it sleeps whenever it is looked at, `patience` seconds in a row, and takes no processor time in
    between. One that only waits for its turn on a busy machine does not, however long that takes.
    """
    seen, idle = -1.0, 0
    while idle < patience:
        try:
            said = process.communicate(timeout=1)[1]
        except subprocess.TimeoutExpired:
            now = _work(process)
            seen, idle = now, idle + 1 if now == seen else 0
        else:
            return process.returncode, said
    stacks = _stacks(process)
    process.kill()
    said = process.communicate(timeout=10)[1]
    raise AssertionError(f"asleep for {patience} s: {said}\n{stacks}")


def _work(process: subprocess.Popen[str]) -> float:
    """A number that stays the same as long as the program and its workers do nothing and want nothing."""
    with suppress(psutil.Error):
        program = psutil.Process(process.pid)
        looked = [program, *program.children(recursive=True)]
        if all(one.status() == psutil.STATUS_SLEEPING for one in looked):
            return sum(sum(one.cpu_times()[:2]) for one in looked)
    return -time.monotonic()


def _stacks(process: subprocess.Popen[str]) -> str:
    """Where it stands, if py-spy is there to say."""
    if (spy := shutil.which("py-spy")) is None:
        return "py-spy, which would say where it stands, is not installed"
    done = subprocess.run([spy, "dump", "--pid", str(process.pid)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


@dataclass(frozen=True, slots=True)
class Moment:
    """When a run is ended, counted by what the server sees of it: how fast the machine is does not matter then."""

    requests: int  # that were made
    quiet: float  # or seconds without another one, as when the copy is being finished
    later: float  # seconds after that

    @classmethod
    def at_random(cls, chance: random.Random, most: int) -> Moment:
        late = chance.random() < 0.4
        return cls(most * 2 if late else chance.randint(1, most), chance.uniform(0.05, 0.6), chance.uniform(0, 0.05))

    def came(self, site: Served, process: subprocess.Popen[str]) -> bool:
        """Waits for it. False when the run was over sooner."""
        seen, since = 0, time.monotonic()
        while process.poll() is None:
            if (now := len(site.requests)) != seen:
                seen, since = now, time.monotonic()
            if seen >= self.requests or (seen and time.monotonic() - since > self.quiet):
                time.sleep(self.later)
                return process.poll() is None
            time.sleep(0.004)
        return False


@dataclass(slots=True)
class Victim:
    """One folder that is run into again and again, against the test site."""

    site: Served
    kind: Kind
    output: Path
    asked: set[str] = field(default_factory=set)
    kills: int = 0
    most_again: int = 0

    def run(self, *, failpoint: str = "", moment: Moment | None = None, signals: tuple[int, ...] = ()) -> int:
        """One run: to its end, to a step, or to a moment. Gives its exit code."""
        self.site.clear_log()
        env = {"SITEMIRROR_FAILPOINT": failpoint} if failpoint else None
        process = start_program(self.kind.arguments(self.site.url, self.output), env)
        try:
            if moment is not None and moment.came(self.site, process):
                for one in signals or (signal.SIGKILL,):
                    process.send_signal(one)
                    time.sleep(0.05)
            code, said = finish(process)
        finally:
            process.kill()  # which nothing but a fault of this harness leaves running
        # A signal that comes before the program listens, or after, ends it like any other program.
        ended = (-signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM, 130, 143)
        assert code in (0, *ended), f"exit code {code}: {said}"
        self._count(code)
        return code

    def _count(self, code: int) -> None:
        asked = [seen.path for seen in self.site.requests if seen.method == "GET"]
        again = [path for path in asked if path in self.asked and path not in town.AGAIN_IN_EVERY_RUN]
        self.most_again = max(self.most_again, len(again))
        assert len(again) <= self.kind.concurrency + PIPELINE, f"{len(again)} pages were fetched again: {again}"
        self.asked.update(asked)
        self.kills += code != 0

    def compare(self, whole: Mapping[str, Any]) -> None:
        """The same as what an undisturbed run left, but for times."""
        found = contents(self.output, self.site)
        for name, expected in whole.items():
            assert found[name] == expected, f"{name} differ: {_difference(expected, found[name])}"


def contents(output: Path, site: Served) -> dict[str, Any]:
    """All that may be compared of a copy."""
    copy = Copy(output / f"127.0.0.1_{site.port}")
    placeholders = [path for folder in ("_failed", "_skipped") for path in (copy.folder / folder).glob("*")]
    index = copy.folder / "mirror-index.json"
    return {
        "files": copy.files,
        "manifest": timeless(copy.manifest),
        "index": timeless(copy.index) if index.exists() else None,
        "placeholders": sorted(path.name for path in placeholders),
        "processed": sorted((copy.folder / "_processed.txt").read_text("utf-8").splitlines()),
        "temporary": [str(path) for path in output.rglob("*.tmp")],
    }


def _difference(expected: Any, found: Any) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        names = [name for name in {*expected, *found} if expected.get(name) != found.get(name)]
        return "; ".join(
            f"{name}: {str(expected.get(name))[:1500]} ≠ {str(found.get(name))[:1500]}" for name in sorted(names)[:4]
        )
    if isinstance(expected, list) and isinstance(found, list):
        missing = [one for one in expected if one not in found]
        much = [one for one in found if one not in expected]
        often = [one for one in found if found.count(one) != expected.count(one)]
        return f"missing {missing[:5]}, too much {much[:5]}, not as often {often[:5]}"
    return f"{str(expected)[:500]} ≠ {str(found)[:500]}"


def undisturbed(site: Served, kind: Kind, output: Path) -> dict[str, Any]:
    """What a run leaves that nobody disturbs."""
    assert Victim(site, kind, output).run() == 0
    return contents(output, site)


def through_every_step(site: Served, kind: Kind, folder: Path, steps: tuple[str, ...] = STEPS) -> int:
    """Kills one run at each step in turn, each time going on with the next. Gives the number of kills."""
    whole = undisturbed(site, kind, folder / "whole")
    victim = Victim(site, kind, folder / "killed")
    for step in steps:
        victim.run(failpoint=step)
    assert victim.run() == 0
    victim.compare(whole)
    return victim.kills


def each_step_alone(site: Served, kind: Kind, folder: Path, steps: tuple[str, ...] = STEPS) -> int:
    """Kills a run at each step and lets it go on, each in a copy of its own. Gives the number of kills."""
    whole = undisturbed(site, kind, folder / "whole")
    kills = 0
    for step in dict.fromkeys(steps):
        victim = Victim(site, kind, folder / step.replace(":", "-"))
        victim.run(failpoint=step)
        assert victim.run() == 0
        victim.compare(whole)
        kills += victim.kills
    return kills


def at_random(
    site: Served, kind: Kind, folder: Path, *, kills: int, seed: int, in_a_row: int = 10, signals: tuple[int, ...] = ()
) -> int:
    """Kills `kills` times at random moments, at most `in_a_row` times one copy. Gives the most pages fetched again."""
    chance = random.Random(seed)
    whole = undisturbed(site, kind, folder / "whole")
    requests = len(site.requests)
    done = most = number = 0
    while done < kills:
        number += 1
        victim = Victim(site, kind, folder / f"killed-{number}")
        while victim.kills < min(in_a_row, kills - done):
            victim.run(moment=Moment.at_random(chance, requests // 4), signals=signals)
        assert victim.run() == 0
        victim.compare(whole)
        done, most = done + victim.kills, max(most, victim.most_again)
    return most


def main() -> None:
    """The long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="random kills in all, shared among the kinds of runs")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--steps", action="store_true", help="also every named step, alone and in a row")
    parser.add_argument("--nginx", action="store_true", help="a real manual behind nginx instead of the test site")
    parser.add_argument("--kinds", type=int, nargs="*", default=range(len(KINDS)), help="which kinds of runs, from 0")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    if given.nginx:
        _against_nginx(given.kills, given.seed)
        return
    for number, place in enumerate(given.kinds):
        kind = KINDS[place]
        share = given.kills // len(given.kinds) + (number < given.kills % len(given.kinds))
        with Site() as site, tempfile.TemporaryDirectory() as folder:
            town.build(site, leaves=150)
            site.latency = 0.004
            if given.steps:
                print(f"{kind}: {through_every_step(site, kind, Path(folder) / 'row')} kills at steps in a row")
                print(f"{kind}: {each_step_alone(site, kind, Path(folder) / 'alone')} kills at steps alone")
            if share:
                most = at_random(site, kind, Path(folder) / "random", kills=share, seed=given.seed + place)
                print(f"{kind}: {share} kills, copy as without them; at most {most} pages fetched again after one")
            sys.stdout.flush()


def _against_nginx(kills: int, seed: int) -> None:
    if program() is None or not SOURCE.is_dir():
        sys.exit(f"needs nginx and {SOURCE}, which Debian's package postgresql-doc-15 has")
    for place, kind in enumerate((Kind("mirror", 16), Kind("crawl", 16))):
        with tempfile.TemporaryDirectory() as folder, Manual(Path(folder)) as manual:
            site = BehindNginx(manual)
            most = at_random(site, kind, Path(folder) / "random", kills=kills // 2, seed=seed + place)
            print(f"{kind}, nginx: {kills // 2} kills, copy as without them; at most {most} fetched again after one")
            sys.stdout.flush()


if __name__ == "__main__":
    os.umask(0o022)
    main()
