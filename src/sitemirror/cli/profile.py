"""A run's profile as a person reads it: what the limit was, and a table of the stages."""

from __future__ import annotations

from typing import Final

from sitemirror.cli.progress import span
from sitemirror.publish.report import MirrorReport, Profile, SitesReport
from sitemirror.stopwatch import Stage

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
"""More of them are for the JSON."""

_LEAST: Final = 0.005
"""Smaller shares are not worth a word."""


def profile_lines(profile: Profile) -> list[str]:
    """What `--profile` says on stderr."""
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
    """The same for many sites: what the limit of each was, those first that took longest."""
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
