"""What a run has used of the machine, and what the machine kept from it, as far as the system tells."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sitemirror.publish.report import Depth, PhaseTimes, Profile, StageTimes, TimeShare
from sitemirror.run.session import Session
from sitemirror.settings import Settings
from sitemirror.stopwatch import IDLE, Limit, Phase, Running, Stage, Stopwatch
from sitemirror.text import counted

_KILOBYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds and MB. None where the system does not say."""

    cpu_sec: float
    workers_cpu_sec: float | None
    peak_memory_mb: float | None
    workers_peak_memory_mb: float | None


def usage(workers: Iterable[int]) -> Usage:
    """Of this process since it began, and of the workers with these process ids, together."""
    pids = list(workers)
    processor, memory = [_cpu_of(pid) for pid in pids], [_peak_of(pid) for pid in pids]
    return Usage(time.process_time(), _sum(processor), _own_peak(), _sum(memory))


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _own_peak() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / _KILOBYTES / (_KILOBYTES if sys.platform == "darwin" else 1)  # bytes there, elsewhere KB


def _cpu_of(pid: int) -> float | None:
    """From `/proc`, so on Linux only: elsewhere nobody tells of a process that still runs."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None


def _peak_of(pid: int) -> float | None:
    try:
        for line in Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / _KILOBYTES
    except (OSError, ValueError):
        pass
    return None


class RunQueue:
    """How long the thread that makes this was ready but got no processor. Only Linux tells; elsewhere it is always 0.

    Without it, a crowded machine looks like a slow disk.
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


def start_watch(settings: Settings) -> Stopwatch:
    """A stopwatch for a run that begins now, in this thread."""
    return Running(settings.concurrency, queued=RunQueue().seconds) if settings.profile else IDLE


def profile(session: Session) -> Profile | None:
    """The profile of a run that ends now; None when none was asked for."""
    watch = session.watch
    if not isinstance(watch, Running):
        return None
    watch.look_at(len(session.pool.pids))
    used = usage(session.pool.pids)
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
        cpu_sec=round(used.cpu_sec, 3),
        workers_cpu_sec=_rounded(used.workers_cpu_sec),
        peak_memory_mb=_rounded(used.peak_memory_mb),
        workers_peak_memory_mb=_rounded(used.workers_peak_memory_mb),
    )


def _shares(limits: dict[Limit, float]) -> tuple[TimeShare, ...]:
    """Greatest first, but what nobody can name last."""
    seconds = {limit: max(spent, 0.0) for limit, spent in limits.items()}
    total = sum(seconds.values()) or 1.0
    order = sorted(seconds, key=lambda limit: (limit is Limit.OTHER, -seconds[limit]))
    return tuple(
        TimeShare(limit=limit, seconds=round(seconds[limit], 3), share=round(seconds[limit] / total, 4))
        for limit in order
    )


def _depths(watch: Running, elapsed: float) -> tuple[Depth, ...]:
    """How many were at something at once. The mean is the time they took together, spread over the run."""
    spent, span = watch.stages, elapsed or 1.0
    requests = (spent[Stage.ANSWER].seconds + spent[Stage.BODY].seconds) / span
    conversions = spent[Stage.CONVERSION].seconds / span
    return (
        Depth(of="requests", mean=round(requests, 2), greatest=watch.most_requests),
        Depth(of="conversions", mean=round(conversions, 2), greatest=watch.most[Stage.CONVERSION]),
        Depth(of="workers", mean=round(watch.mean_workers, 2), greatest=watch.most_workers),
    )


def _explain(shares: tuple[TimeShare, ...], watch: Running, settings: Settings) -> str:
    """Names the limit. That the machine was crowded says nothing about the site, so what comes next is named, too."""
    greatest, second, *_ = shares
    text = _sentence(greatest, watch, settings)
    return f"{text}; next, {_sentence(second, watch, settings)}" if greatest.limit is Limit.MACHINE else text


def _sentence(greatest: TimeShare, watch: Running, settings: Settings) -> str:
    """The limit, how much it was, and what bears on it."""
    part = f"{greatest.share:.0%}".replace("%", " %")
    match greatest.limit:
        case Limit.RATE_LIMIT:
            return f"the rate limit: {part} of the time was spent waiting for it; {_allowed(settings)}"
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


def _allowed(settings: Settings) -> str:
    """Which option allows how much."""
    rate = settings.content_rate
    if settings.content_rate_limit is not None:
        option = f"--content-rate-limit {settings.content_rate_limit:g}"
    elif settings.delay_seconds is not None:
        option = f"--delay-seconds {settings.delay_seconds:g}"
    else:
        option = f"--rate-limit {settings.rate_limit:g}"
        if settings.concurrency > 1:
            option += f" with --concurrency {settings.concurrency}"
    if not rate:  # for pages, so it was that for sitemaps
        return f"--rate-limit {settings.rate_limit:g} holds for robots.txt and sitemaps"
    return f"{option} allows {rate:.3g} {'request' if rate == 1 else 'requests'} a second"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
