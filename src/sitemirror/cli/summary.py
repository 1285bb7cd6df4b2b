"""The last words of a run, for a person: what came of it, where it is and what to do next."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sitemirror.cli.options import spell
from sitemirror.cli.progress import span
from sitemirror.publish.file_names import FAILED_LOG
from sitemirror.publish.report import ListReport, MirrorReport, RunStatus, SitesReport
from sitemirror.text import counted

_SECRET: Final = frozenset(map(spell, ("basic_auth", "header", "proxy")))


def summary(report: MirrorReport | ListReport | SitesReport, command_line: str) -> list[str]:
    """What a run did and what can be done now; `command_line` is how it was started."""
    if isinstance(report, MirrorReport):
        return [*_saved(report), *_next_step(report, command_line)]
    if isinstance(report, SitesReport):
        return [*_all_saved(report), *_next_step(report, command_line)]
    lines = _listed(report)
    if report.status is RunStatus.INTERRUPTED:
        lines.append(f"to resume, run the same command: {command_line}")
    return lines


def kept(report: object) -> list[str]:
    """What there is of a run that failed on its way; nothing where it had not got that far."""
    if isinstance(report, MirrorReport) and (report.successful or report.failed):
        return _saved(report)
    return []


def _saved(report: MirrorReport) -> list[str]:
    lines = [f"{report.status}: {_figures(report)}; {span(report.elapsed_sec)}"]
    if report.manifest:
        lines.append(f"manifest: {report.manifest}")
    if report.index:
        lines.append(f"contents: {report.index}")
    return lines


def _all_saved(report: SitesReport) -> list[str]:
    ends = (
        (report.sites_ok, "ok"),
        (report.sites_partial, "partial"),
        (report.sites_interrupted, "interrupted"),
        (report.sites_failed, "failed"),
    )
    sites = ", ".join(f"{number:,} {word}" for number, word in ends if number)
    total = f"{counted(report.total_sites, 'site')} ({sites}): {_figures(report)}"
    return [
        f"{report.status}: {total}; {span(report.elapsed_sec)}",
        *(
            f"failed: {site.url}: {site.error}" + (f" ({site.hint})" if site.hint else "")
            for site in report.sites
            if site.status is RunStatus.ERROR
        ),
    ]


def _figures(report: MirrorReport | SitesReport) -> str:
    shortfalls = (f"{number:,} {word}" for number, word in _shortfalls(report) if number)
    assets = report.assets or 0
    others = f" and {counted(assets, 'other file')}" if assets else ""
    saved = f"{counted(report.successful - assets, 'page')}{others} saved"
    if report.new < report.successful:  # Some were there before: what came of this run is the question then.
        saved += f" ({report.new:,} new, {report.changed:,} changed)"
    return ", ".join([saved, *shortfalls])


def _shortfalls(report: MirrorReport | SitesReport) -> tuple[tuple[int, str], ...]:
    return (
        (report.failed, "failed"),
        (report.skipped, "skipped"),
        (report.duplicates, "duplicate" if report.duplicates == 1 else "duplicates"),
        (report.not_reached, "not reached"),
        (report.gone or 0, "no longer on the site"),
    )


def _next_step(report: MirrorReport | SitesReport, command_line: str) -> list[str]:
    lines = []
    if report.failed and isinstance(report, MirrorReport):
        lines.append(f"why pages failed: {Path(report.output_dir) / FAILED_LOG}")
    if report.status is RunStatus.INTERRUPTED:
        lines.append(f"to resume, run the same command: {command_line}")
    elif report.not_reached:
        # The limit has a default, so whoever never gave it has to be told what it was that ended the run.
        why = "stopped by --max-pages (0 = no limit); " if report.status is RunStatus.PARTIAL else ""
        lines.append(f"{why}to go on with the rest, run the same command: {command_line}")
    elif report.failed > ((report.failed_elsewhere or 0) if isinstance(report, MirrorReport) else 0):
        lines.append(f"to try the failed pages again, run the same command: {command_line}")
    return lines


def _listed(report: ListReport) -> list[str]:
    repeated = f", {report.duplicates:,} listed more than once" if report.duplicates else ""
    found = f"{counted(report.total_urls, 'URL')} in {counted(len(report.sitemaps), 'sitemap')}{repeated}"
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
