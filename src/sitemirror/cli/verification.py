"""Runs `verify` and says what it found: each problem as it is met, the report at the end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from sitemirror.cli import stdout
from sitemirror.cli.complaints import complain
from sitemirror.cli.progress import span
from sitemirror.publish.report import RunStatus, VerifyProblem, VerifyReport
from sitemirror.settings import Settings
from sitemirror.text import counted, printable


def run_verify(folder: Path, settings: Settings, program: str) -> int:
    """The exit code, after everything has been said."""
    from sitemirror import api

    try:
        with _interruptible():
            report = api.verify(folder, on_problem=None if settings.quiet else _tell)
    except KeyboardInterrupt as interrupt:
        stdout.print_object(
            {"status": RunStatus.INTERRUPTED.value, "command": "verify", "folder": printable(str(folder))}
        )
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    stdout.print_report(report)
    if not settings.quiet:
        _say(*(f"note: {warning}" for warning in report.warnings), _summary(report))
    if report.status is RunStatus.ERROR:
        complain(report.error or "", report.hint or "", program=program)
        return 1
    return 0


@contextmanager
def _interruptible() -> Iterator[None]:
    """Every signal that asks for the end is told: nothing is written here that could be left half done."""

    def end(number: int, _: object) -> NoReturn:
        raise KeyboardInterrupt(number)

    before = {
        number: signal.signal(number, end)
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(problem: VerifyProblem) -> None:
    _say(f"{problem.where}: {problem.message}")


def _summary(report: VerifyReport) -> str:
    checked = report.checked
    figures = (
        counted(checked.urls, "URL"),
        counted(checked.files, "file"),
        counted(checked.links, "local link"),
        counted(checked.anchors, "anchor"),
    )
    return f"{report.status}: {', '.join(figures)} checked; {span(report.elapsed_sec)}"


def _say(*lines: str) -> None:
    try:
        sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))
    except (OSError, ValueError):
        pass  # Nobody is listening on stderr any more; stdout and the exit code still tell.
