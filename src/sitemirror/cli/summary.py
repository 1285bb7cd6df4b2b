"""Summarise a run for people: counts that add up, files, the next step, and the profile."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sitemirror.cli.progress import span
from sitemirror.publish.file_names import FAILED_LOG
from sitemirror.publish.report import ListReport, MirrorReport, Profile, RunStatus, SitesReport
from sitemirror.stopwatch import Stage
from sitemirror.text import counted


def summary(
    report: MirrorReport | ListReport | SitesReport,
    command_line: str,
    *,
    checks_saved_pages: bool = False,
    max_age: float | None = None,
) -> list[str]:
    """Describe a run that ended, and the next step; `command_line` started it.

    `checks_saved_pages`: the run asked the site for saved pages again. `max_age` is its --max-age, None if there is
    more than one.
    """
    if isinstance(report, ListReport):
        lines = _listed(report)
        if report.status is RunStatus.INTERRUPTED:
            lines.append(f"to resume, run the same command: {command_line}")
        return lines
    if isinstance(report, MirrorReport):
        lines = _saved(report, checks_saved_pages, max_age)
    else:
        lines = _sites(report, checks_saved_pages)
    lines += _next_step(report, command_line)
    is_done = report.status in (RunStatus.OK, RunStatus.PARTIAL) and not report.not_reached
    if is_done and not checks_saved_pages and report.successful > report.new + report.changed:
        lines.append("pages saved earlier were not checked for changes: --update checks them")
    return lines


def saved_before_failure(report: object, *, checks_saved_pages: bool = False) -> list[str]:
    """Describe what a failed run saved; empty if it had not started to save."""
    if isinstance(report, MirrorReport) and (report.successful or report.failed):
        return _saved(report, checks_saved_pages)
    return []


def _saved(report: MirrorReport, checks: bool, max_age: float | None = None) -> list[str]:
    lines = [f"{report.status}: {_figures(report, checks, max_age)}; {span(report.elapsed_sec)}"]
    if report.manifest:
        lines.append(f"manifest: {report.manifest}")
    if report.index:
        lines.append(f"contents: {report.index}")
    return lines


def _sites(report: SitesReport, checks: bool) -> list[str]:
    ends = (
        (report.sites_ok, "ok"),
        (report.sites_partial, "partial"),
        (report.sites_interrupted, "interrupted"),
        (report.sites_failed, "failed"),
    )
    sites = ", ".join(f"{number:,} {word}" for number, word in ends if number)
    total = f"{counted(report.total_sites, 'site')} ({sites}): {_figures(report, checks)}"
    return [
        f"{report.status}: {total}; {span(report.elapsed_sec)}",
        *(
            f"failed: {site.url}: {site.error}" + (f" ({site.hint})" if site.hint else "")
            for site in report.sites
            if site.status is RunStatus.ERROR
        ),
    ]


def _figures(report: MirrorReport | SitesReport, checks: bool, max_age: float | None = None) -> str:
    """Give the counts of a run: those of URLs in scope add up to their total, the others follow."""
    assets = report.assets or 0
    files = counted(report.successful - assets, "page") + (f" and {counted(assets, 'other file')}" if assets else "")
    out_of_scope = report.out_of_scope or 0
    rest = _present(
        (report.failed, "failed"),
        (report.skipped - out_of_scope, "skipped"),
        (report.not_reached, "not reached"),
    )
    changes = _changes(report, checks, max_age) if report.new < report.successful else ""
    if rest:
        total = f"{counted(report.total_pages - out_of_scope, 'URL')} in scope"
        figures = f"{total}: " + ", ".join([f"{files} saved" + (f" ({changes})" if changes else ""), *rest])
    else:
        figures = f"{files}: {changes}" if changes else f"{files} saved"
    apart = _present(
        (report.duplicates, "duplicate" if report.duplicates == 1 else "duplicates"),
        (out_of_scope, "out of scope"),
        (report.gone or 0, "no longer on the site"),
    )
    return "; ".join([figures, *([", ".join(apart)] if apart else [])])


def _changes(report: MirrorReport | SitesReport, checks: bool, max_age: float | None) -> str:
    outdated = report.refresh_failed or 0
    unchecked = (report.unchecked or 0) if checks else 0
    others = report.successful - report.new - report.changed - outdated - unchecked
    found = [f"{report.new:,} new"]
    if checks or report.changed:
        found.append(f"{report.changed:,} changed")
    found += _present((others, "unchanged" if checks else "saved earlier"), (outdated, "not updated"))
    age = "--max-age" if max_age is None else f"{max_age:g} {'day' if max_age == 1 else 'days'}"
    found += _present((unchecked, f"not checked (no date, no validator; younger than {age})"))
    return ", ".join(found)


def _present(*counts: tuple[int, str]) -> list[str]:
    return [f"{number:,} {word}" for number, word in counts if number > 0]


def _next_step(report: MirrorReport | SitesReport, command_line: str) -> list[str]:
    lines = []
    if report.failed and isinstance(report, MirrorReport):
        lines.append(f"why pages failed: {Path(report.output_dir) / FAILED_LOG}")
    elsewhere = (report.failed_elsewhere or 0) if isinstance(report, MirrorReport) else 0
    tried = report.failed - elsewhere
    if report.status is RunStatus.INTERRUPTED:
        lines.append(f"to resume, run the same command: {command_line}")
    elif report.not_reached:
        # The limit has a default, and a person may not know it.
        why = "stopped by --max-pages (0 = no limit); " if report.status is RunStatus.PARTIAL else ""
        lines.append(f"{why}to fetch the rest, run the same command: {command_line}")
    elif tried > (report.failed_permanently or 0):
        lines.append(f"to retry the failed pages, run the same command: {command_line}")
    elif tried > 0:
        lines.append("all failures are permanent, such as HTTP 404: a retry helps only after the site has changed")
    return lines


def _listed(report: ListReport) -> list[str]:
    repeated = f", {report.duplicates:,} listed more than once" if report.duplicates else ""
    found = f"{counted(report.total_urls, 'URL')} in {counted(len(report.sitemaps), 'sitemap')}{repeated}"
    lines = [f"{report.status}: {found}; {span(report.elapsed_sec)}"]
    if report.outline:
        lines.append(f"outline: {report.outline}")
    return lines


# --- profile -------------------------------------------------------------------------------------------------------

_STAGES: Final = {
    Stage.RATE_LIMIT: "rate limit (wait)",
    Stage.ASKED_TO_WAIT: "asked to wait",
    Stage.ANSWER: "until the answer",
    Stage.BODY: "receiving the body",
    Stage.CONVERSION: "until converted",
    Stage.LINKS: "until links rewritten",
    Stage.FLUSH: "onto the disk (beside)",
    Stage.CONVERTING: "converting",
    Stage.SAVING: "saving",
    Stage.STATE: "state",
    Stage.PUBLISHING: "publishing",
}

_SITES: Final = 10
"""Sites that are named; the JSON has all."""

_LEAST: Final = 0.005
"""Smallest share that is printed."""


def profile_lines(profile: Profile) -> list[str]:
    """Format the profile of a run."""
    named = (f"{one.limit.replace('_', ' ')} {one.share * 100:.0f} %" for one in profile.shares if one.share >= _LEAST)
    lines = [
        f"limit: {profile.explanation}",
        f"time: {', '.join(named)}",
        "phases: "
        + ", ".join(f"{phase.replace('_', '-')} {took:.2f} s" for phase, took in profile.phases.to_dict().items()),
        f"{'stage':<24}{'seconds':>10}{'count':>9}{'mean ms':>11}{'longest ms':>12}",
    ]
    lines += (
        f"{_STAGES[one.stage]:<24}{one.seconds:>10.2f}{one.count:>9,}{one.mean_sec * 1000:>11.2f}"
        f"{one.greatest_sec * 1000:>12.1f}"
        for one in profile.stages
    )
    depths = (f"{one.of} {one.mean:.1f} (at most {one.greatest})" for one in profile.depths)
    lines.append(f"at once, on average: {', '.join(depths)}")
    lines.append(_machine(profile))
    return lines


def profile_of_sites(report: SitesReport) -> list[str]:
    """Format the limit of each of many sites, the slowest first."""
    found = [(site, site.profile) for site in report.sites if isinstance(site, MirrorReport) and site.profile]
    found.sort(key=lambda each: -each[0].elapsed_sec)
    lines = [f"{site.url} ({span(site.elapsed_sec)}): limit: {profile.explanation}" for site, profile in found]
    more = f"{len(lines) - _SITES:,} more sites and " if len(lines) > _SITES else ""
    return [*lines[:_SITES], f"{more}the stages of each site: profile in the JSON"] if lines else []


def _machine(profile: Profile) -> str:
    processor, memory = f"{profile.cpu_sec:.2f} s", "unknown"
    if profile.peak_memory_mb is not None:
        memory = f"{profile.peak_memory_mb:.0f} MB"
    if profile.workers_cpu_sec:
        processor += f", workers {profile.workers_cpu_sec:.2f} s"
    if profile.workers_peak_memory_mb:
        memory += f", workers {profile.workers_peak_memory_mb:.0f} MB"
    return f"processor: {processor}; memory at most: {memory}"
