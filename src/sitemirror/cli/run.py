"""Runs one job from start to exit code: events to stderr, the report to stdout, signals to the run."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from sitemirror.cli import stdout
from sitemirror.cli.complaints import BUG_HINT, complain, show_traceback
from sitemirror.cli.progress import Level, Reporter, level_of, reporter
from sitemirror.cli.signals import Interrupts, Stoppable
from sitemirror.cli.summary import kept, summary
from sitemirror.errors import MORE_FILES, SitemirrorError, UsageError, confess
from sitemirror.events import Listener
from sitemirror.publish.report import ErrorReport, ListReport, MirrorReport, RunStatus, SitesReport
from sitemirror.settings import Format, Settings
from sitemirror.text import printable

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
    interrupts = Interrupts(talk, lambda: "" if job.prints_outline else stdout.object_text(_interrupted_report(job)))
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
        stdout.print_report(report)
    elif isinstance(report, ListReport) and report.outline:
        stdout.print_file(Path(report.outline))
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
        from sitemirror.cli.profile import profile_lines

        lines = profile_lines(report.profile)
    elif isinstance(report, SitesReport):
        from sitemirror.cli.profile import profile_of_sites

        lines = profile_of_sites(report)
    for line in lines:
        talk.say(line)


def _tell_failure(job: Job, talk: Reporter, error: SitemirrorError) -> None:
    if not job.prints_outline:
        stdout.print_report(error.report or _bare_report(job, error.message, error.hint))
    if talk.level is not Level.QUIET:
        for line in kept(error.report):
            talk.say(line)
    _tell_profile(talk, error.report)
    complain(error.message, error.hint, program=job.program)


def _tell_bug(job: Job, error: Exception) -> None:
    message = confess(error)
    if not job.prints_outline:
        stdout.print_report(_bare_report(job, message, BUG_HINT))
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
