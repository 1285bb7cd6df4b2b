"""Runs sitemirror as a user does, in a process of its own, and measures it from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024


class DidNotWork(Exception):
    """The benchmark's own conditions were not met, so its figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of the program. `peak_mb` is the most memory the process had, by the system's own count."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ended:
    """One run of any program."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    stdout: bytes


def run(*arguments: str | Path | float, timeout: float = 600.0) -> Ran:
    """`sitemirror ARGUMENTS` to its end; raises `DidNotWork` unless it ends well."""
    ended = run_other([sys.executable, "-m", "sitemirror", *map(str, arguments)], timeout=timeout)
    return Ran(ended.seconds, ended.cpu_seconds, ended.peak_mb, json.loads(ended.stdout))


def run_other(command: Sequence[str], *, good: Container[int] = (0,), timeout: float = 600.0) -> Ended:
    """Any program to its end, measured the same way; raises `DidNotWork` unless it ends with one of `good`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=_environment())
        usage = _wait(process, timeout)
        seconds = time.perf_counter() - began
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - 4000))
        if process.returncode not in good:
            raise DidNotWork(f"{' '.join(command)} ended with {process.returncode}:\n{err.read().decode()}")
        return Ended(seconds, usage[0], usage[1], out.read())


def _wait(process: subprocess.Popen[bytes], timeout: float) -> tuple[float, float]:
    """CPU seconds and peak memory, as the system counts them to the very end."""
    deadline = time.monotonic() + timeout
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT / 1e6
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise DidNotWork(f"still running after {timeout:.0f} s")
        time.sleep(0.002)


def _environment() -> dict[str, str]:
    """Without settings that would change what is measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SITEMIRROR_")}


def expect(what: str, found: object, wanted: object) -> None:
    """A benchmark checks that the work was really done before it says how fast."""
    if found != wanted:
        raise DidNotWork(f"{what}: {found!r} instead of {wanted!r}")
