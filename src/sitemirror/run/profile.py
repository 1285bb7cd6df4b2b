"""Make the report of `--profile`: what held a run up, and what it used of the machine."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from sitemirror.publish.report import Depth, PhaseTimes, Profile, StageTimes, TimeShare
from sitemirror.run.session import Session
from sitemirror.settings import Settings
from sitemirror.stopwatch import IDLE, Limit, Phase, Running, Stage, Stopwatch
from sitemirror.text import counted

_KILOBYTES: Final = 1024


def start_watch(settings: Settings) -> Stopwatch:
    """Start a stopwatch for a run in this thread; one that measures nothing without `--profile`."""
    return Running(settings.concurrency, queued=_RunQueue().seconds) if settings.profile else IDLE


def profile(session: Session) -> Profile | None:
    """Make the profile of a run that ends now; `None` without `--profile`."""
    watch = session.watch
    if not isinstance(watch, Running):
        return None
    workers = session.pool.pids
    watch.look_at(len(workers))
    elapsed = watch.end()
    shares = _shares(watch.limits)
    return Profile(
        limit=shares[0].limit,
        explanation=_explain(shares, watch, session.settings),
        elapsed_sec=round(elapsed, 3),
        shares=shares,
        phases=PhaseTimes(**{phase: round(watch.phases.get(phase, 0.0), 3) for phase in Phase}),
        stages=tuple(
            StageTimes(
                stage=stage,
                seconds=round(times.seconds, 3),
                count=times.count,
                mean_sec=round(times.seconds / times.count, 6),
                greatest_sec=round(times.greatest, 6),
            )
            for stage, times in watch.stages.items()
            if times.count
        ),
        depths=_depths(watch, elapsed),
        cpu_sec=round(time.process_time(), 3),
        workers_cpu_sec=_total(_cpu_seconds, workers),
        peak_memory_mb=_own_peak_memory(),
        workers_peak_memory_mb=_total(_peak_memory, workers),
    )


def _shares(limits: dict[Limit, float]) -> tuple[TimeShare, ...]:
    """Sort the shares of the time, greatest first and `other` last."""
    seconds = {limit: max(spent, 0.0) for limit, spent in limits.items()}
    total = sum(seconds.values()) or 1.0
    order = sorted(seconds, key=lambda limit: (limit is Limit.OTHER, -seconds[limit]))
    return tuple(
        TimeShare(limit=limit, seconds=round(seconds[limit], 3), share=round(seconds[limit] / total, 4))
        for limit in order
    )


def _depths(watch: Running, elapsed: float) -> tuple[Depth, ...]:
    """Return the mean number in flight: total time divided by the run's time."""
    spent, span = watch.stages, elapsed or 1.0
    requests = (spent[Stage.ANSWER].seconds + spent[Stage.BODY].seconds) / span
    conversions = spent[Stage.CONVERSION].seconds / span
    return (
        Depth(of="requests", mean=round(requests, 2), greatest=watch.most_requests),
        Depth(of="conversions", mean=round(conversions, 2), greatest=watch.most[Stage.CONVERSION]),
        Depth(of="workers", mean=round(watch.mean_workers, 2), greatest=watch.most_workers),
    )


def _explain(shares: tuple[TimeShare, ...], watch: Running, settings: Settings) -> str:
    """Name the limit, and the next one if the machine was busy, which says nothing about the site."""
    greatest, second, *_ = shares
    text = _sentence(greatest, watch, settings)
    return f"{text}; next, {_sentence(second, watch, settings)}" if greatest.limit is Limit.MACHINE else text


def _sentence(greatest: TimeShare, watch: Running, settings: Settings) -> str:
    """Name a limit, its share and the options that bear on it."""
    part = f"{greatest.share:.0%}".replace("%", " %")
    match greatest.limit:
        case Limit.RATE_LIMIT:
            return f"the rate limit: {part} of the time was spent waiting for it; {_rate_option(settings)}"
        case Limit.ASKED_TO_WAIT:
            return f"the site's wish: {part} of the time was spent waiting because it asked for that"
        case Limit.SITE:
            answers = watch.stages[Stage.ANSWER]
            mean = answers.seconds / max(answers.count, 1)
            asked = f"--concurrency {settings.concurrency} asks for {counted(settings.concurrency, 'page')} at a time"
            return f"the site: {part} of the time was spent waiting for its answers ({mean:.3g} s each); {asked}"
        case Limit.NETWORK:
            return f"the network: {part} of the time was spent waiting for the rest of answers that had begun"
        case Limit.CONVERTER:
            who = counted(watch.most_workers, "worker") if watch.most_workers else "the main process, no worker"
            return f"the converter: {part} of the time was spent converting pages; {who} did it (--workers)"
        case Limit.DISK:
            return f"the disk: {part} of the time was spent waiting for it; the mirror is in {settings.output}"
        case Limit.SITEMIRROR:
            return f"sitemirror itself: {part} of the time its main process was busy with requests and records"
        case Limit.MACHINE:
            return f"the machine: {part} of the time other programs or the workers had all processors"
    return "nothing: there was no time to speak of"


def _rate_option(settings: Settings) -> str:
    """Name the option that sets the rate, and the rate."""
    rate = settings.content_rate
    if settings.content_rate_limit is not None:
        option = f"--content-rate-limit {settings.content_rate_limit:g}"
    elif settings.delay_seconds is not None:
        option = f"--delay-seconds {settings.delay_seconds:g}"
    else:
        option = f"--rate-limit {settings.rate_limit:g}"
        if settings.concurrency > 1:
            option += f" with --concurrency {settings.concurrency}"
    if not rate:  # Pages have no limit, so it was that of sitemaps.
        return f"--rate-limit {settings.rate_limit:g} holds for robots.txt and sitemaps"
    return f"{option} allows {rate:.3g} {'request' if rate == 1 else 'requests'} a second"


# --- the machine ---------------------------------------------------------------------------------------------------


def _total(measure: Callable[[int], float], pids: Iterable[int]) -> float | None:
    """Add up a measure of all processes; `None` if the system does not give it for each."""
    try:
        return round(sum(map(measure, pids)), 2)
    except (OSError, ValueError, LookupError, AttributeError):  # Only Linux has `/proc`.
        return None


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["VmHWM"].split()[0]) / _KILOBYTES


def _own_peak_memory() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / _KILOBYTES / (_KILOBYTES if sys.platform == "darwin" else 1), 2)  # bytes there, elsewhere KB


class _RunQueue:
    """Measures how long this thread was ready but not running. Always 0 where the system is not Linux.

    Without it, a busy machine looks like a slow disk.
    """

    __slots__ = ("_file",)

    def __init__(self) -> None:
        try:
            self._file = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        except OSError:
            self._file = -1

    def seconds(self) -> float:
        if self._file < 0:
            return 0.0
        try:
            return int(os.pread(self._file, 100, 0).split()[1]) * 1e-9
        except (OSError, ValueError, IndexError):
            return 0.0

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)
