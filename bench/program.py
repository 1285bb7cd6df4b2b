"""Runs sitemirror as a user does, and other programs beside it, in processes of their own, measured from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from bench.processes import MemoryWatch, Sample, adopt_orphans, kill_group, reap

# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
_TIMEOUT: Final = 600.0
# A program measured must not find proxies, or settings of ours, that change what is measured.
_UNWANTED: Final = ("PYTHONDONTWRITEBYTECODE", "SITEMIRROR_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY")


class DidNotWork(Exception):
    """The benchmark's own conditions were not met, so its figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Ended:
    """One run of any program.

    `peak_mb` is the most memory its largest process had, by the system's own count (RSS); `memory` are samples of the
    sum over all its processes (PSS). CPU time is that of all its processes.
    """

    began: float
    seconds: float
    cpu_seconds: float
    peak_mb: float
    memory: tuple[Sample, ...]
    stdout: bytes

    @property
    def peak_pss_mb(self) -> float:
        """The most that was sampled; 0 where the system does not tell."""
        return max((sample.megabytes for sample in self.memory), default=0.0)


@dataclass(frozen=True, slots=True)
class Ran(Ended):
    """One run of sitemirror, with the report that it printed."""

    report: dict[str, Any]


class Running:
    """A program that has been started. It does not outlive the block it is used in."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        adopt_orphans()
        self._command = command
        self._environment = _environment() | dict(environment or {})
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 -- closed in __exit__
        self._err = tempfile.TemporaryFile()  # noqa: SIM115

    def __enter__(self) -> Self:
        self.began = time.time()
        self._clock = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            env=self._environment,
            start_new_session=True,
        )
        self._watch = MemoryWatch(self._process.pid)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self.kill()
        self._out.close()
        self._err.close()

    @property
    def alive(self) -> bool:
        # Not poll(), which would take the end and what it tells of CPU time away from wait().
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def kill(self) -> None:
        """Ends it and all it started at once, as a power cut would."""
        kill_group(self._process.pid)
        self._process.wait()
        reap(self._process.pid)
        self._watch.stop()

    def wait(self, *, good: Container[int] = (0,), timeout: float = _TIMEOUT) -> Ended:
        """Its end; raises `DidNotWork` unless it ends in time and with one of `good`."""
        timer = threading.Timer(timeout, kill_group, [self._process.pid])
        timer.start()
        try:
            _, status, usage = os.wait4(self._process.pid, 0)
            seconds = time.perf_counter() - self._clock
        finally:
            timer.cancel()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        memory = self._watch.stop()
        cpu_seconds = usage.ru_utime + usage.ru_stime + reap(self._process.pid)
        if seconds >= timeout:
            raise DidNotWork(f"{' '.join(self._command)} was still running after {timeout:.0f} s")
        if self._process.returncode not in good:
            raise DidNotWork(f"{' '.join(self._command)} ended with {self._process.returncode}:\n{self.complaints()}")
        self._out.seek(0)
        peak = usage.ru_maxrss * _RSS_UNIT / 1e6
        return Ended(self.began, seconds, cpu_seconds, peak, memory, self._out.read())

    def complaints(self) -> str:
        """The end of what it wrote to stderr."""
        self._err.seek(max(0, self._err.seek(0, os.SEEK_END) - 4000))
        return self._err.read().decode(errors="replace")


def run(*arguments: str | Path | float, timeout: float = _TIMEOUT) -> Ran:
    """`sitemirror ARGUMENTS` to its end; raises `DidNotWork` unless it ends well."""
    ended = run_other(sitemirror(*arguments), timeout=timeout)
    report = json.loads(ended.stdout)
    return Ran(ended.began, ended.seconds, ended.cpu_seconds, ended.peak_mb, ended.memory, ended.stdout, report)


def sitemirror(*arguments: str | Path | float) -> list[str]:
    """The command line of `sitemirror ARGUMENTS`."""
    return [sys.executable, "-m", "sitemirror", *map(str, arguments)]


def run_other(
    command: Sequence[str],
    *,
    good: Container[int] = (0,),
    timeout: float = _TIMEOUT,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Any program to its end, measured the same way; raises `DidNotWork` unless it ends with one of `good`."""
    with Running(command, environment) as running:
        return running.wait(good=good, timeout=timeout)


def _environment() -> dict[str, str]:
    """Without settings that would change what is measured."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(_UNWANTED)}


def expect(what: str, found: object, wanted: object) -> None:
    """A benchmark checks that the work was really done before it says how fast."""
    if found != wanted:
        raise DidNotWork(f"{what}: {found!r} instead of {wanted!r}")
