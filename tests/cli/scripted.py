"""A process whose run does what the test wants, so that signals, pipes and exit codes are the real ones.

python -m tests.cli.scripted SCRIPT [--quiet]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from sitemirror.cli import streams
from sitemirror.cli.job import Job, run_job
from sitemirror.errors import Aborted, UsageError
from sitemirror.events import Listener, PageStarted
from sitemirror.publish.report import ListReport, MirrorReport, RunStatus
from sitemirror.settings import Settings

URL = "https://example.com/"


def mirror_report(status: RunStatus, **changes: Any) -> MirrorReport:
    """A plausible report."""
    values = {
        "url": URL,
        "output_dir": "output/example.com",
        "total_pages": 3,
        "successful": 3,
        "failed": 0,
        "skipped": 0,
        "duplicates": 0,
        "not_reached": 0,
        "elapsed_sec": 1.0,
        "manifest": "output/example.com/_manifest.json",
        "index": "output/example.com/_index.md",
        **changes,
    }
    return MirrorReport(status=status, **{"new": values["successful"], **values})


class ScriptedRun:
    """Behaves to the command line as a library run does."""

    def __init__(self, play: Callable[[ScriptedRun], Awaitable[MirrorReport | ListReport]]) -> None:
        self.stopped = asyncio.Event()
        self._play = play

    def stop(self) -> None:
        self.stopped.set()

    def __await__(self) -> Generator[Any, Any, MirrorReport | ListReport]:
        return self._play(self).__await__()


async def ok(run: ScriptedRun) -> MirrorReport:
    return mirror_report(RunStatus.OK)


async def partial(run: ScriptedRun) -> MirrorReport:
    return mirror_report(RunStatus.PARTIAL, successful=2, failed=1)


async def nothing_saved(run: ScriptedRun) -> MirrorReport:
    return mirror_report(RunStatus.ERROR, successful=0, failed=3, error="no page could be saved", hint="look there")


async def until_stopped(run: ScriptedRun) -> MirrorReport:
    print("ready", file=sys.stderr, flush=True)
    await run.stopped.wait()
    return mirror_report(RunStatus.INTERRUPTED, successful=1, not_reached=2)


async def deaf(run: ScriptedRun) -> MirrorReport:
    """Never notices that it should stop, and keeps the event loop to itself."""
    print("ready", file=sys.stderr, flush=True)
    while True:
        time.sleep(0.01)


async def deaf_but_idle(run: ScriptedRun) -> MirrorReport:
    print("ready", file=sys.stderr, flush=True)
    await asyncio.sleep(60)
    return mirror_report(RunStatus.OK)


async def bug(run: ScriptedRun) -> MirrorReport:
    raise ZeroDivisionError("nobody thought\nof \x1b[31mthis")


async def aborted(run: ScriptedRun) -> MirrorReport:
    raise Aborted("page https://example.com/a failed: HTTP 500", hint="run the same command")


async def misuse(run: ScriptedRun) -> MirrorReport:
    raise UsageError("ftp is not the web", hint="try https")


SCRIPTS = {
    script.__name__: script
    for script in (ok, partial, nothing_saved, until_stopped, deaf, deaf_but_idle, bug, aborted, misuse)
}


def main(script: str, *flags: str) -> int:
    streams.prepare()

    def start(listener: Listener) -> ScriptedRun:
        listener(PageStarted(URL, 1, 3))
        return ScriptedRun(SCRIPTS[script])

    settings = Settings.of({flag.lstrip("-"): True for flag in flags})
    return run_job(Job("mirror", URL, settings, "sitemirror", "sitemirror mirror " + URL, start))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
