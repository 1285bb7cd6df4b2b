"""A benchmark's figures: a small table for people, a JSON file for later, each with what it was measured on."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NoReturn

from bench.program import DidNotWork
from sitemirror import __version__

RESULTS: Final = Path(__file__).parent / "results"
NOT_HERE: Final = 77  # exit code of a benchmark that was not run for want of programs or manuals
_LINE: Final = 120  # characters that fit below a picture
_LIBRARIES: Final = ("aiohttp", "uvloop", "turbohtml", "ada-url", "orjson", "pydantic")


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `goal` is empty for what is only told."""

    name: str
    value: float
    unit: str
    goal: str = ""
    met: bool | None = None

    @property
    def shown(self) -> str:
        if not self.unit and 0 <= self.value <= 1:
            return f"{self.value:.3f}"  # a score
        return f"{self.value:,.0f}" if self.value == int(self.value) else f"{self.value:,.2f}"


def at_least(name: str, value: float, unit: str, goal: float) -> Figure:
    """A figure that should not be smaller than `goal`."""
    return Figure(name, value, unit, f"≥ {goal:g}", value >= goal)


def at_most(name: str, value: float, unit: str, goal: float) -> Figure:
    """A figure that should not be larger than `goal`."""
    return Figure(name, value, unit, f"≤ {goal:g}", value <= goal)


@dataclass(slots=True)
class Record:
    """What one benchmark found out, under which conditions.

    `details` go into the JSON file as they are; `beside` are files to write next to it, by name.
    """

    name: str
    conditions: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)

    def add(self, *figures: Figure) -> None:
        self.figures += figures

    def show(self) -> None:
        """The table, on stdout."""
        print(f"{self.name}: {', '.join(f'{name} {value}' for name, value in self.conditions.items())}")
        width = max(len(figure.name) for figure in self.figures)
        for figure in self.figures:
            verdict = {True: "met", False: "MISSED", None: ""}[figure.met]
            goal = f"   goal {figure.goal:>8}  {verdict}" if figure.goal else ""
            print(f"  {figure.name:<{width}}  {figure.shown:>12} {figure.unit:<6}{goal}".rstrip())

    def footnotes(self) -> list[str]:
        """Where and when, for tables and pictures."""
        on, used = machine(), versions()
        where = f"{on.get('cpu', on['system'])}, {on['cores']} cores, {on.get('memory_gb', '?')} GB, {on['system']}"
        under = "; ".join(f"{name}: {value}" for name, value in self.conditions.items())
        lines = (f"{where}, Python {used['python']}, {datetime.now(UTC):%Y-%m-%d}", under)
        return [part for line in lines for part in textwrap.wrap(line, _LINE)]

    def save(self, folder: Path) -> Path:
        """The JSON file and what belongs beside it. A later run of the same benchmark replaces them."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        found = {
            "benchmark": self.name,
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": " ".join(["python", *sys.orig_argv[1:]]),
            "machine": machine(),
            "versions": versions(),
            "conditions": self.conditions,
            "figures": [
                {"name": f.name, "value": round(f.value, 4), "unit": f.unit, "goal": f.goal or None, "met": f.met}
                for f in self.figures
            ],
            **({"details": self.details} if self.details else {}),
        }
        for name, text in self.beside.items():
            (folder / name).write_text(text, encoding="utf-8")
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def machine() -> dict[str, Any]:
    """What it ran on, and how busy that was: other work on the machine shows in every wall-clock time."""
    described: dict[str, Any] = {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
    }
    if found := re.search(r"^model name\s*: (.+)$", _read("/proc/cpuinfo"), re.MULTILINE):
        described["cpu"] = found[1]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        described["memory_gb"] = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9)
    if hasattr(os, "getloadavg"):
        described["load"] = round(os.getloadavg()[0], 1)
    return described


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def versions() -> dict[str, str]:
    """Of everything that has a say in the figures."""
    found = {"sitemirror": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except ModuleNotFoundError:
            continue
    return found


def main(measure: Callable[[argparse.Namespace], Record], parser: argparse.ArgumentParser) -> None:
    """Runs one benchmark from its command line. Ends with 1 when it did not work, never because a figure is poor."""
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes (default: bench/results)")
    options = parser.parse_args()
    # Servers and programs that were started are ended on the way out, however it is taken.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        record = measure(options)
    except DidNotWork as problem:
        print(f"{parser.prog}: did not work: {problem}", file=sys.stderr)
        raise SystemExit(1) from None
    record.show()
    print(f"  {record.save(options.results)}")


def not_run(name: str, reason: str) -> NoReturn:
    """Ends a benchmark that cannot be run here."""
    print(f"bench.{name}: not run: {reason}", file=sys.stderr)
    raise SystemExit(NOT_HERE)


def parser(name: str, description: str | None, arguments: Sequence[tuple[str, Any, str]]) -> argparse.ArgumentParser:
    """A command line of plain options, each with its default and what it means."""
    made = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    for option, default, meaning in arguments:
        made.add_argument(option, type=type(default), default=default, help=f"{meaning} (default: %(default)s)")
    return made
