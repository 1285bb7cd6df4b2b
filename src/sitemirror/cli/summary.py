"""The last words of a run, for a person: what came of it, where it is and what to do next."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sitemirror.cli.options import spell
from sitemirror.cli.progress import count, span
from sitemirror.publish.report import ListReport, MirrorReport, RunStatus

_SECRET: Final = frozenset(map(spell, ("basic_auth", "header", "proxy")))


def summary(report: MirrorReport | ListReport, command_line: str) -> list[str]:
    """What a run did and what can be done now; `command_line` is how it was started."""
    if isinstance(report, MirrorReport):
        return [*_saved(report), *_next_step(report, command_line)]
    lines = _listed(report)
    if report.status is RunStatus.INTERRUPTED:
        lines.append(f"to resume, run the same command: {command_line}")
    return lines


def _saved(report: MirrorReport) -> list[str]:
    figures = [
        f"{count(report.successful, 'page')} saved",
        *(f"{number:,} {word}" for number, word in _shortfalls(report) if number),
    ]
    lines = [f"{report.status}: {', '.join(figures)}; {span(report.elapsed_sec)}"]
    if report.manifest:
        lines.append(f"manifest: {report.manifest}")
    if report.index:
        lines.append(f"contents: {report.index}")
    return lines


def _shortfalls(report: MirrorReport) -> tuple[tuple[int, str], ...]:
    return (
        (report.failed, "failed"),
        (report.skipped, "skipped"),
        (report.duplicates, "duplicate" if report.duplicates == 1 else "duplicates"),
        (report.not_reached, "not reached"),
    )


def _next_step(report: MirrorReport, command_line: str) -> list[str]:
    lines = []
    if report.failed:
        lines.append(f"why pages failed: {Path(report.output_dir) / '_failed.log'}")
    if report.status is RunStatus.INTERRUPTED:
        lines.append(f"to resume, run the same command: {command_line}")
    elif report.not_reached:
        lines.append(f"to go on with the rest, run the same command: {command_line}")
    elif report.failed:
        lines.append(f"to try the failed pages again, run the same command: {command_line}")
    return lines


def _listed(report: ListReport) -> list[str]:
    repeated = f", {report.duplicates:,} listed more than once" if report.duplicates else ""
    found = f"{count(report.total_urls, 'URL')} in {count(len(report.sitemaps), 'sitemap')}{repeated}"
    lines = [f"{report.status}: {found}; {span(report.elapsed_sec)}"]
    if report.outline:
        lines.append(f"outline: {report.outline}")
    return lines


def command_line(program: str, arguments: Sequence[str]) -> str:
    """What was typed, ready to be typed again, but for secrets: this ends up in logs."""
    shown = [program]
    hide_next = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if hide_next:
            shown.append("***")
        elif equals and name in _SECRET:
            shown.append(f"{name}=***")
        else:
            shown.append(argument)
        hide_next = not hide_next and argument in _SECRET
    return subprocess.list2cmdline(shown) if os.name == "nt" else shlex.join(shown)
