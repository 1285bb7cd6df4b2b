"""Run one job from start to exit code: events to stderr, the report to stdout, signals to the run.

The first Ctrl+C or SIGTERM asks the run to finish, the second ends the process. Both are safe at any moment, because
a page counts only when it is on disk.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from sitemirror.cli import streams
from sitemirror.cli.options import spell
from sitemirror.cli.progress import Level, Reporter, level_of, reporter, span
from sitemirror.cli.streams import BUG_HINT, complain, show_traceback
from sitemirror.errors import MORE_FILES, SitemirrorError, UsageError, describe_unexpected
from sitemirror.events import Listener
from sitemirror.publish.file_names import FAILED_LOG
from sitemirror.publish.report import ErrorReport, ListReport, MirrorReport, Profile, RunStatus, SitesReport
from sitemirror.settings import Format, Settings
from sitemirror.stopwatch import Stage
from sitemirror.text import counted, printable

STOPPING: Final = "stopping… (press Ctrl+C again to stop at once)"
STOPPED_AT_ONCE: Final = b"stopped at once; run the same command to go on\n"

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # The last is Windows' Ctrl+Break.


class Stoppable(Protocol):
    """What a run offers to those who want it to end."""

    def stop(self) -> None: ...


class Interrupts:
    """Installed around a run. Plain signal handlers, not the loop's: the second one must work in a busy loop too."""

    def __init__(self, talk: Reporter, report: Callable[[], str]) -> None:
        """`report` makes what goes to stdout when there is no time for a real one."""
        self.received: int | None = None
        self._talk = talk
        self._report = report
        self._run: Stoppable | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}
        self._leaving = False

    @property
    def exit_code(self) -> int:
        """What the shell expects of a process that a signal ended."""
        return 128 + self.received if self.received is not None else 1

    def __enter__(self) -> Self:
        for name in _NAMES:
            number = getattr(signal, name, None)
            # Under nohup a closed terminal is to be ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            # None: it was not set by Python and cannot be set again by it.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def watch(self, run: Stoppable) -> None:
        """From now on a signal stops `run`; one that came earlier does so at once. Called inside the event loop."""
        self._run, self._loop = run, asyncio.get_running_loop()
        if self.received is not None:
            self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._leave(number)
        self.received = number
        if self._loop is not None and not self._loop.is_closed():  # else the run is over, and only has to be told
            # Not here: the interrupted code may be in the middle of writing to the same stream.
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._talk.level is not Level.QUIET:
            self._talk.say(STOPPING)
        if self._run is not None:
            self._run.stop()

    def _leave(self, number: int) -> None:
        if not self._leaving:
            self._leaving = True
            _end_children()
            _write(2, self._talk.abandon() + STOPPED_AT_ONCE)
            _write(1, self._report().encode())
        os._exit(128 + number)


def _write(descriptor: int, data: bytes) -> None:
    try:
        os.write(descriptor, data)
    except OSError:
        pass


def _end_children() -> None:
    """Workers would finish the page that they are at: `os._exit` skips what usually ends them."""
    try:
        children = Path("/proc/thread-self/children").read_text("ascii").split()
    except OSError:  # Only Linux names them. Elsewhere they end with their page.
        return
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


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


_LEAST_FILES: Final = 32

Report = MirrorReport | ListReport | SitesReport


class Run(Awaitable[Report], Stoppable, Protocol):
    """A run as the library starts it: awaited for its report, or asked to stop."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of `list`, `mirror` or `crawl`, and what is needed to tell how it ended."""

    command: str  # list, mirror or crawl
    url: str  # or the file that lists the sites
    settings: Settings
    program: str
    command_line: str
    start: Callable[[Listener], Run]
    started: float = field(default_factory=time.monotonic)

    @property
    def prints_outline(self) -> bool:
        return self.command == "list" and self.settings.format is Format.MD


def run_job(job: Job) -> int:
    """The exit code, after everything has been said."""
    talk = reporter(sys.stderr, level_of(job.settings))
    interrupts = Interrupts(talk, lambda: "" if job.prints_outline else streams.object_text(_interrupted_report(job)))
    try:
        with interrupts:
            report = _finish(job, talk, interrupts)
    except UsageError as error:
        talk.close()
        complain(error.message, error.hint, program=job.program)
        return error.exit_code
    except SitemirrorError as error:
        talk.close()
        _tell_failure(job, talk, error)
        return error.exit_code
    except Exception as error:
        talk.close()
        _tell_bug(job, error)
        return 1
    talk.close()
    return _tell_end(job, talk, report, interrupts)


def _check_files() -> None:
    """Raises where so few files may be open that not even an event loop can be made, or not with a mirror beside it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_FILES:
        message = f"only {limit} files may be open at once, and {_LEAST_FILES} are needed"
        raise SitemirrorError(message, hint=MORE_FILES)


def _finish(job: Job, talk: Reporter, interrupts: Interrupts) -> Report:
    async def whole_run() -> Report:
        run = job.start(talk)
        interrupts.watch(run)
        return await run

    _check_files()
    # What is loaded by now stays until the end. Looking through it again and again would find nothing.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(whole_run())
    finally:
        gc.freeze()  # Python looks through all there is as it ends, and more than once.


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return None
    return uvloop.new_event_loop


def _tell_end(job: Job, talk: Reporter, report: Report, interrupts: Interrupts) -> int:
    if not job.prints_outline:
        streams.print_report(report)
    elif isinstance(report, ListReport) and report.outline:
        streams.print_file(Path(report.outline))
    if talk.level is not Level.QUIET:
        for line in summary(report, job.command_line):
            talk.say(line)
    _tell_profile(talk, report)
    match report.status:
        case RunStatus.ERROR:
            complain(report.error or "the run failed", report.hint or "", program=job.program)
            return 1
        case RunStatus.INTERRUPTED:
            return interrupts.exit_code
        case _:
            return 0


def _tell_profile(talk: Reporter, report: object) -> None:
    if talk.level is Level.QUIET:
        return
    lines: list[str] = []
    if isinstance(report, MirrorReport) and report.profile is not None:
        lines = profile_lines(report.profile)
    elif isinstance(report, SitesReport):
        lines = profile_of_sites(report)
    for line in lines:
        talk.say(line)


def _tell_failure(job: Job, talk: Reporter, error: SitemirrorError) -> None:
    if not job.prints_outline:
        streams.print_report(error.report or _bare_report(job, error.message, error.hint))
    if talk.level is not Level.QUIET:
        for line in kept(error.report):
            talk.say(line)
    _tell_profile(talk, error.report)
    complain(error.message, error.hint, program=job.program)


def _tell_bug(job: Job, error: Exception) -> None:
    message = describe_unexpected(error)
    if not job.prints_outline:
        streams.print_report(_bare_report(job, message, BUG_HINT))
    if job.settings.verbose:
        show_traceback(error)
    complain(message, BUG_HINT, program=job.program)


def _interrupted_report(job: Job) -> dict[str, object]:
    """For a second signal: there is no time to count anything."""
    return {
        "status": RunStatus.INTERRUPTED.value,
        "command": job.command,
        "url": printable(job.url),
        "elapsed_sec": _elapsed(job),
        "warnings": [],
    }


def _elapsed(job: Job) -> float:
    return round(time.monotonic() - job.started, 3)


def _bare_report(job: Job, message: str, hint: str) -> ErrorReport:
    return ErrorReport(command=job.command, url=job.url, error=message, hint=hint, elapsed_sec=_elapsed(job))
