"""How a run ends: exit codes, what is on stdout, and what signals do."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from sitemirror.cli.job import Interrupts
from sitemirror.cli.progress import Level, reporter

ROOT = Path(__file__).parents[2]

posix_signals = pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")


class Scripted:
    """A scripted run in a process of its own."""

    def __init__(self, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.scripted", *arguments],
            stdout=stdout,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            text=True,
            encoding="utf-8",
        )

    def until_ready(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line == "ready\n":
                return
        raise AssertionError("ended before it was ready")

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


@pytest.fixture
def scripted() -> Iterator[type[Scripted]]:
    started: list[Scripted] = []

    class Tracked(Scripted):
        def __init__(self, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE) -> None:
            super().__init__(*arguments, stdout=stdout)
            started.append(self)

    yield Tracked
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


@pytest.mark.parametrize(("script", "code", "status"), [("ok", 0, "ok"), ("partial", 0, "partial")])
def test_finished_run_exits_0(scripted: type[Scripted], script: str, code: int, status: str) -> None:
    """Ok and partial runs exit with 0; stdout is one JSON object."""
    returncode, out, err = scripted(script).end()
    assert returncode == code
    assert json.loads(out)["status"] == status
    assert "[1/3] Processing: https://example.com/\n" in err
    assert "manifest: output/example.com/_manifest.json\n" in err


def test_run_that_saved_nothing_exits_1(scripted: type[Scripted]) -> None:
    """A report with status error is a failure even without an exception."""
    returncode, out, err = scripted("nothing_saved").end()
    assert returncode == 1
    assert json.loads(out)["error"] == "no page could be saved"
    assert err.endswith("sitemirror: error: no page could be saved\nhint: look there\n")


def test_failed_run_prints_json(scripted: type[Scripted]) -> None:
    """The JSON has the error and the hint."""
    returncode, out, err = scripted("aborted").end()
    report = json.loads(out)
    assert returncode == 1
    assert report["status"] == "error"
    assert (report["command"], report["url"]) == ("mirror", "https://example.com/")
    assert report["error"] == "page https://example.com/a failed: HTTP 500"
    assert report["hint"] == "run the same command"
    assert "Traceback" not in err


def test_wrong_usage_found_by_the_library_leaves_stdout_empty(scripted: type[Scripted]) -> None:
    """Exit code 2 means that nothing was run."""
    returncode, out, err = scripted("misuse").end()
    assert (returncode, out) == (2, "")
    assert err.endswith("sitemirror: error: ftp is not the web\nhint: try https\n")


def test_unexpected_exception_is_one_line(scripted: type[Scripted]) -> None:
    """The text is escaped, and the hint offers the traceback."""
    returncode, out, err = scripted("bug").end()
    assert returncode == 1
    assert json.loads(out)["status"] == "error"
    assert "sitemirror: error: unexpected ZeroDivisionError: nobody thought of \\x1b[31mthis\n" in err
    assert "--verbose" in err
    assert "Traceback" not in err
    assert "\x1b" not in out + err


def test_verbose_shows_the_traceback(scripted: type[Scripted]) -> None:
    """With --verbose the traceback is printed."""
    _, out, err = scripted("bug", "--verbose").end()
    assert json.loads(out)["status"] == "error"
    assert "Traceback (most recent call last)" in err
    assert "scripted.py" in err
    assert "\x1b" not in err


def test_quiet_prints_only_the_report(scripted: type[Scripted]) -> None:
    """A successful quiet run leaves stderr empty."""
    returncode, out, err = scripted("ok", "--quiet").end()
    assert (returncode, err) == (0, "")
    assert json.loads(out)["successful"] == 3


@posix_signals
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_first_signal_stops_gracefully(scripted: type[Scripted], number: int, code: int) -> None:
    """The report is printed, and stderr says how to resume."""
    run = scripted("until_stopped")
    run.until_ready()
    run.process.send_signal(number)
    returncode, out, err = run.end()
    assert returncode == code
    assert json.loads(out)["status"] == "interrupted"
    assert "stopping… (press Ctrl+C again to stop at once)\n" in err
    assert "to resume, run the same command: sitemirror mirror https://example.com/\n" in err


@pytest.mark.slow
@posix_signals
@pytest.mark.parametrize("script", ["deaf", "deaf_but_idle"])
def test_second_signal_ends_the_process(scripted: type[Scripted], script: str) -> None:
    """Even a hanging run ends, and stdout has one JSON object."""
    run = scripted(script)
    run.until_ready()
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGINT)
    began = time.monotonic()
    returncode, out, _ = run.end()
    assert returncode == 130
    assert time.monotonic() - began < 30
    report = json.loads(out)
    assert out == json.dumps(report, indent=2) + "\n"  # as all reports are laid out
    assert report.pop("elapsed_sec") > 0.3
    assert report == {"status": "interrupted", "command": "mirror", "url": "https://example.com/", "warnings": []}


@posix_signals
def test_signal_after_the_run_is_ignored() -> None:
    """Between the end of the run and its report, there is nothing to stop."""

    class Over:
        def stop(self) -> None:
            raise AssertionError("it is over")

    async def watch() -> None:
        interrupts.watch(Over())

    with Interrupts(reporter(io.StringIO(), Level.QUIET), str) as interrupts:
        asyncio.run(watch())
        signal.raise_signal(signal.SIGTERM)

    assert interrupts.received == signal.SIGTERM


@posix_signals
def test_closed_stdout_is_no_error(scripted: type[Scripted]) -> None:
    """`sitemirror …"""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        os.close(reading)
        run = scripted("ok", stdout=pipe)
    assert run.process.stderr is not None
    err = run.process.stderr.read()
    run.process.stderr.close()
    assert run.process.wait(20) == 0
    assert "Broken pipe" not in err
    assert "Traceback" not in err
