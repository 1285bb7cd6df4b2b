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
from sitemirror.cli.progress import Level, Reporter, level_of, reporter
from sitemirror.cli.streams import BUG_HINT, complain, show_traceback
from sitemirror.cli.summary import profile_lines, profile_of_sites, saved_before_failure, summary
from sitemirror.errors import MORE_FILES, SitemirrorError, UsageError, describe_unexpected
from sitemirror.events import Listener
from sitemirror.publish.report import ErrorReport, ListReport, MirrorReport, RunStatus, SitesReport
from sitemirror.settings import Format, Settings
from sitemirror.text import printable

STOPPING: Final = "stopping… (press Ctrl+C again to stop at once)"
STOPPED_AT_ONCE: Final = b"stopped at once; run the same command to resume\n"

PARTIAL: Final = 3
"""Exit code of a `partial` run with --strict."""

_NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # The last is Windows' Ctrl+Break.


class Stoppable(Protocol):
    """A run that can be asked to end."""

    def stop(self) -> None: ...


class Interrupts:
    """Signal handlers around a run. Not the event loop's: the second signal must work in a busy loop, too."""

    def __init__(self, talk: Reporter, report: Callable[[], str]) -> None:
        """`report` makes the text for stdout when there is no time for a real report."""
        self.received: int | None = None
        self._talk = talk
        self._report = report
        self._run: Stoppable | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}
        self._leaving = False

    @property
    def exit_code(self) -> int:
        """Exit code that a shell expects of a process that a signal ended."""
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
        """Let signals stop `run`, one that came earlier at once. Called inside the event loop."""
        self._run, self._loop = run, asyncio.get_running_loop()
        if self.received is not None:
            self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self._leave(number)
        self.received = number
        if self._loop is not None and not self._loop.is_closed():  # Else the run is over but for its report.
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
    """Kill the workers, which would finish their pages: `os._exit` skips the code that ends them."""
    try:
        children = Path("/proc/thread-self/children").read_text("ascii").split()
    except OSError:  # Only Linux names them. Elsewhere they end with their page.
        return
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


_SECRET: Final = frozenset(map(spell, ("basic_auth", "header", "proxy")))


def command_line(program: str, arguments: Sequence[str]) -> str:
    """Quote a command line for the shell, without its secrets: it ends up in logs."""
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


_LEAST_FILES: Final = 32

Report = MirrorReport | ListReport | SitesReport


class Run(Awaitable[Report], Stoppable, Protocol):
    """A run of the library: awaited for its report, or asked to stop."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of `list`, `mirror`, `crawl` or `update`, with the facts for its last messages."""

    command: str  # list, mirror, crawl or update
    url: str  # or the file that lists the sites, or the folders of mirrors
    settings: Settings
    program: str
    command_line: str
    start: Callable[[Listener], Run]
    started: float = field(default_factory=time.monotonic)

    @property
    def prints_outline(self) -> bool:
        return self.command == "list" and self.settings.format is Format.MD

    @property
    def prints_report(self) -> bool:
        """True if the JSON report goes to stdout."""
        if self.prints_outline:
            return False
        is_forced = self.settings.json or (self.command == "list" and self.settings.format is Format.JSON)
        return streams.shows_json(is_forced=is_forced)


def run_job(job: Job) -> int:
    """Run a job, print its end and return the exit code."""
    talk = reporter(sys.stderr, level_of(job.settings))
    interrupts = Interrupts(talk, lambda: streams.object_text(_interrupted_report(job)) if job.prints_report else "")
    try:
        with interrupts:
            report = _finish(job, talk, interrupts)
    except UsageError as error:
        talk.close()
        complain(error.message, error.hint, program=job.program)
        return error.exit_code
    except SitemirrorError as error:
        talk.close()
        _print_failure(job, talk, error)
        return error.exit_code
    except Exception as error:
        talk.close()
        _print_bug(job, error)
        return 1
    talk.close()
    return _print_end(job, talk, report, interrupts)


def _check_files() -> None:
    """Raise if the process may open too few files for an event loop and a mirror."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_FILES:
        message = f"only {limit} files may be open at once, but {_LEAST_FILES} are needed"
        raise SitemirrorError(message, hint=MORE_FILES)


def _finish(job: Job, talk: Reporter, interrupts: Interrupts) -> Report:
    async def whole_run() -> Report:
        run = job.start(talk)
        interrupts.watch(run)
        return await run

    _check_files()
    # Modules loaded by now stay until the end: the garbage collector need not look at them.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(whole_run())
    finally:
        gc.freeze()  # Python collects several times as it ends.


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return None
    return uvloop.new_event_loop


def _print_end(job: Job, talk: Reporter, report: Report, interrupts: Interrupts) -> int:
    if job.prints_report:
        streams.print_report(report)
    elif job.prints_outline and isinstance(report, ListReport) and report.outline:
        streams.print_file(Path(report.outline))
    if talk.level is not Level.QUIET:
        for line in summary(
            report, job.command_line, checks_saved_pages=job.settings.renews, max_age=job.settings.max_age
        ):
            talk.say(line)
    _print_profile(talk, report)
    match report.status:
        case RunStatus.ERROR:
            complain(report.error or "the run failed", report.hint or "", program=job.program)
            return 1
        case RunStatus.INTERRUPTED:
            return interrupts.exit_code
        case RunStatus.PARTIAL if job.settings.strict:
            return PARTIAL
        case _:
            return 0


def _print_profile(talk: Reporter, report: object) -> None:
    if talk.level is Level.QUIET:
        return
    lines: list[str] = []
    if isinstance(report, MirrorReport) and report.profile is not None:
        lines = profile_lines(report.profile)
    elif isinstance(report, SitesReport):
        lines = profile_of_sites(report)
    for line in lines:
        talk.say(line)


def _print_failure(job: Job, talk: Reporter, error: SitemirrorError) -> None:
    if job.prints_report:
        streams.print_report(error.report or _bare_report(job, error.message, error.hint))
    if talk.level is not Level.QUIET:
        for line in saved_before_failure(error.report, checks_saved_pages=job.settings.renews):
            talk.say(line)
    _print_profile(talk, error.report)
    complain(error.message, error.hint, program=job.program)


def _print_bug(job: Job, error: Exception) -> None:
    message = describe_unexpected(error)
    if job.prints_report:
        streams.print_report(_bare_report(job, message, BUG_HINT))
    if job.settings.verbose:
        show_traceback(error)
    complain(message, BUG_HINT, program=job.program)


def _interrupted_report(job: Job) -> dict[str, object]:
    """Return the report after a second signal: there is no time to count anything."""
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
