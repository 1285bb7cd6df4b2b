"""The pool of workers: they parse pages once parsing takes a share of this process's time.

A run that mostly waits for its server never pays for processes, and a small one is over before they would have
started. The pool bounds nothing: callers wait for their answers, so there are never more jobs than callers.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Final, TypeVar

import orjson

from sitemirror import urls
from sitemirror.errors import OutputError
from sitemirror.memory import give_back
from sitemirror.stopwatch import IDLE, Stage, Stopwatch
from sitemirror.workers.jobs import (
    ConvertOptions,
    JobFailed,
    Message,
    PageSource,
    ParsedPage,
    Received,
    Rewritten,
    answer_job,
    decode_page,
    encode_parse_job,
    encode_rewrite_job,
    localize,
    raise_failure,
)
from sitemirror.workers.worker import Worker, WorkerJob

_SITES: Final = 10_000  # number of sites that are remembered


class JobQueue:
    """Jobs waiting for a worker: by site with the fewest bytes served, then first in, first out.

    So one site's large pages do not hold up the small ones of others.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, deque[WorkerJob]] = {}
        self._had: dict[str, int] = {}
        self._now = 0  # bytes of the site served last: a site that was idle saves up no credit

    def __bool__(self) -> bool:
        return bool(self._jobs)  # called for every page; the length would be counted

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def __iter__(self) -> Iterator[WorkerJob]:
        for jobs in self._jobs.values():
            yield from jobs

    def add(self, job: WorkerJob) -> None:
        self._of(job).append(job)

    def put_back(self, jobs: Iterable[WorkerJob]) -> None:
        """Return jobs of a failed worker to the front of their sites' queues."""
        for job in reversed(list(jobs)):
            self._of(job).appendleft(job)

    def _of(self, job: WorkerJob) -> deque[WorkerJob]:
        jobs = self._jobs.get(job.site)
        if jobs is None:
            if len(self._had) > _SITES:
                self._had = {site: had for site, had in self._had.items() if site in self._jobs}
            jobs = self._jobs[job.site] = deque()
            self._had[job.site] = max(self._had.get(job.site, 0), self._now)
        return jobs

    def next(self) -> WorkerJob:
        """Remove and return the next job. The queue must not be empty."""
        site = min(self._jobs, key=self._had.__getitem__)
        jobs = self._jobs[site]
        job = jobs.popleft()
        if not jobs:
            del self._jobs[site]
        self._now = self._had[site]
        self._had[site] += job.size
        return job

    def clear(self) -> None:
        self._jobs.clear()


LOOK_EVERY: Final = 24
"""Jobs after which this process checks if it should start workers."""

TOO_BUSY: Final = 0.15
"""Share of the time spent on jobs that calls for workers."""

MOST: Final = 8
"""Maximum number of workers by default: one process that fetches and writes cannot supply more."""

MANY: Final = 500
"""Number of pages for which all workers start at once, if only the server limits the rate."""

READING: Final = 0.002
"""Estimated seconds to parse a page, before any was parsed."""

CROWDED: Final = 16
"""Jobs in a row that found every worker with two jobs, or a large one, after which another worker starts."""

LARGE: Final = 128 * 1024
"""Bytes from which a page is parsed in a worker, even if this process is idle: hostile markup can take quadratic time
or too much memory, and a worker can be killed.
"""

LONGEST: Final = 60.0
"""Seconds that a job may take in a worker, which is then replaced."""

TRIES: Final = 2
"""Workers that may die of one page. The first may have died for another reason."""

STARTS: Final = 3
"""Consecutive workers that may end before they are ready. Then no more are started."""

_TICK: Final = 1.0
_GIVING_BACK: Final = 10.0  # seconds between two releases of memory
_STANDSTILL: Final = 10.0  # seconds between two ticks that show that the whole process stood still, workers included
_GRACE: Final = 2.0
# A worker has a lower priority than its parent, before it takes half a second to load: many sites begin meanwhile, and
# the time of a late request is lost for good.
_BOOT: Final = """
import contextlib, os, sys
with contextlib.suppress(AttributeError, OSError):  # Windows has no such call, and a sandbox may forbid it.
    os.nice(5)
_, loads, *sys.path = sys.argv
__import__(loads)
from sitemirror.workers.process import run_jobs
run_jobs()
"""
_CONVERSION: Final = "sitemirror.convert.page"
_REWRITING: Final = "sitemirror.links.rewrite_html"


T = TypeVar("T")


class Pool:
    """Parses pages for one run, or for several at once. `close` ends its workers."""

    def __init__(self, *, workers: int = 0, warn: Callable[[str], None]) -> None:
        """`workers` = 0 starts as many as are useful, when they are."""
        self._asked_for = workers
        self.count = workers or suitable_workers()  # maximum
        self._warn = warn
        self._workers: list[Worker] = []
        self._waiting = JobQueue()
        self._starting: set[asyncio.Task[None]] = set()
        self._alone = False  # no worker could be started
        self._careful = False
        self._awaited = False  # workers are starting, and there is enough work for them
        self._closed = False
        self._loads = _CONVERSION  # by a worker before it is ready, so that no page waits for it
        self._jobs = 0
        self._crowded = 0
        self._false_starts = 0
        self._busy = 0.0
        self._since = time.perf_counter()
        self._ticking: asyncio.TimerHandle | None = None
        self._ticked = 0.0
        self._given_back = time.monotonic()

    # --- asking ------------------------------------------------------------------------------------------------

    async def read(self, kind: str, source: PageSource, options: ConvertOptions, watch: Stopwatch = IDLE) -> ParsedPage:
        """Parse a page. Raises `JobFailed`."""
        self._loads = _CONVERSION if options.markdown else _REWRITING
        if self._here(len(source.body)):
            import_module(self._loads)  # before the clock runs: this is not work that a worker would save
            from sitemirror.workers.readers import READERS

            return self._try(lambda: READERS[kind](source, options), watch)
        return decode_page(await self._ask(encode_parse_job(kind, source, options), source.url, watch))

    async def localize(self, files: Sequence[Received], watch: Stopwatch = IDLE) -> list[Rewritten]:
        """Make links of files local; return sizes and hashes. Raises `JobFailed` or `OutputError`."""
        if self._here(0):  # Files on disk were already parsed once within the limits.
            return self._try(lambda: localize(files), watch)
        answer, _ = await self._ask(encode_rewrite_job(files), files[0].url, watch)
        return [(size, digest) for size, digest in orjson.loads(answer)]

    def be_careful(self) -> None:
        """Parse every page in a worker from now on: the last run may have died of one."""
        self._careful = True

    def expect(self, pages: int) -> None:
        """Start workers for that many pages, which come as fast as the server sends them."""
        if pages >= MANY:
            self._start_before(self.count)

    def expect_some(self, options: ConvertOptions) -> None:
        """Start one worker: pages come as fast as the server sends them, in unknown number."""
        self._loads = _CONVERSION if options.markdown else _REWRITING
        self._start_before(1)

    def expect_rate(self, pages: float) -> None:
        """Start workers if that many pages per second need them, for an unknown time."""
        if pages * READING > TOO_BUSY:
            self._start_before(self.count)

    def _start_before(self, number: int) -> None:
        """Start workers up to that number before there are jobs."""
        missing = min(number, self.count) - max(len(self._workers), len(self._starting))
        if missing > 0 and not (self._alone or self._asked_for):
            self._awaited = True
            self._start(missing)

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the workers that are ready."""
        return [worker.pid for worker in self._workers if worker.is_up]

    @property
    def width(self) -> int:
        """Return the useful number of concurrent jobs."""
        return 1 if self._alone or not self.count else 2 * self.count + 2

    def _here(self, size: int) -> bool:
        """Decide if a job of so many bytes is run in this process."""
        if self._alone:
            return True
        is_risky = self._careful or size >= LARGE
        needs_workers = self._asked_for or is_risky or (self.count and self._is_too_busy())
        if needs_workers and not self._workers and not self._starting:
            self._start(self._asked_for or 1)
        # Waiting for the first workers is cheaper than loading the parsers here, too, for a few pages.
        if is_risky or (self._awaited and (self._workers or self._starting)):
            return False
        if not self.count:
            return True
        for worker in self._workers:
            if worker.is_up:
                return False
        return not self._waiting

    def _is_too_busy(self) -> bool:
        self._jobs += 1
        if self._jobs % LOOK_EVERY:
            return False
        now = time.perf_counter()
        share = self._busy / max(now - self._since, 1e-6)
        self._busy, self._since = 0.0, now
        return share > TOO_BUSY

    def _try(self, job: Callable[[], T], watch: Stopwatch) -> T:
        begun = time.perf_counter()
        try:
            with watch.working(Stage.CONVERTING):
                return job()
        except OutputError:
            raise
        except Exception as error:
            raise JobFailed(f"{type(error).__name__}: {error}") from error
        finally:
            self._busy += time.perf_counter() - begun

    async def _ask(self, message: Message, url: str, watch: Stopwatch) -> Message:
        job = WorkerJob(message, asyncio.get_running_loop().create_future(), watch, urls.authority(url))
        self._look_around()
        self._waiting.add(job)
        self._feed()
        answer = await job.result
        if isinstance(answer, str):
            raise JobFailed(answer)
        raise_failure(answer)
        return answer

    def _look_around(self) -> None:
        """Start another worker if all have been busy for a while."""
        up = 0
        for worker in self._workers:
            if worker.is_up:
                up += 1
                if len(worker.jobs) < 2 and worker.has_room:
                    self._crowded = 0
                    return
        self._crowded = self._crowded + 1 if up else 0
        if self._crowded >= CROWDED and up == len(self._workers) < self.count and not self._starting:
            self._crowded = 0
            self._start(1)

    def _feed(self) -> None:
        """Give waiting jobs to the workers with the fewest bytes, as far as they have room."""
        while self._waiting:
            least = None
            for worker in self._workers:
                if worker.has_room and (least is None or worker.load < least.load):
                    least = worker
            if least is None:
                return
            least.do(self._waiting.next())

    # --- workers -----------------------------------------------------------------------------------------------

    def _start(self, number: int) -> None:
        for _ in range(number):
            task = asyncio.create_task(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)
        if self._ticking is None:
            self._tick()

    async def _start_one(self) -> None:
        worker = Worker(self)
        self._workers.append(worker)
        command = (sys.executable, "-S", "-c", _BOOT, self._loads, *sys.path)
        quiet = asyncio.subprocess.DEVNULL
        try:
            await asyncio.get_running_loop().subprocess_exec(lambda: worker, *command, stderr=quiet)
        except (OSError, NotImplementedError, ValueError, TypeError) as error:  # Python cannot be started
            self._workers.remove(worker)
            self._not_started(str(error) or type(error).__name__)

    def up(self) -> None:
        """Register a worker that is ready. Called by the worker."""
        self._false_starts = 0
        self._feed()

    def answered(self) -> None:
        """Give more jobs to a worker. Called by the worker when it has room."""
        self._feed()

    def lost(self, worker: Worker) -> None:
        """Replace a worker that has ended. Its jobs are retried, except one that killed workers repeatedly."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        jobs = worker.jobs
        if self._closed:
            for job in jobs:
                job.result.cancel()
            return
        if not worker.is_up:
            self._awaited = False
            self._false_starts += 1
            if self._false_starts < STARTS:
                self._start(1)
            else:
                self._not_started("a worker could not be started")
            return
        if jobs:
            first = jobs[0]
            first.deaths += 1
            if worker.timed_out or first.deaths >= TRIES:
                jobs.popleft()
                first.answer(f"took longer than {LONGEST:.0f} s" if worker.timed_out else "the worker died of it")
        self._start(1)
        self._waiting.put_back(jobs)
        self._feed()

    def _not_started(self, reason: str) -> None:
        """Go on with fewer workers, or without: slower, but it works."""
        self.count = len(self._workers)
        if self.count:
            return
        if self._asked_for and not self._alone:
            self._warn(f"no workers: {reason}; pages are converted in the main process")
        self._alone = True
        for job in self._waiting:
            job.answer("the worker died of it" if job.deaths else answer_job(job.message))
        self._waiting.clear()

    async def give_back(self) -> None:
        """Return memory of parsed pages to the system, periodically: sites share the pool's memory."""
        now = time.monotonic()
        if now - self._given_back >= _GIVING_BACK:
            self._given_back = now
            await asyncio.to_thread(give_back)

    def _tick(self) -> None:
        """Replace workers that hang, unless the whole run stood still, as on Ctrl+Z."""
        before, self._ticked = self._ticked, time.monotonic()
        stood_still = before and self._ticked - before > _STANDSTILL
        for worker in list(self._workers):
            if stood_still:
                worker.restart_deadline()
            worker.check(LONGEST)
        self._ticking = asyncio.get_running_loop().call_later(_TICK, self._tick)

    async def close(self) -> None:
        """End all workers. Unfinished jobs are abandoned."""
        self._closed = True
        if self._ticking is not None:
            self._ticking.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        workers = list(self._workers)
        for worker in workers:
            if worker.is_up and not worker.jobs:
                worker.end()
            else:
                worker.kill()
        await _all_ended(workers)
        for worker in workers:
            worker.kill()
        await _all_ended(workers)
        for job in self._waiting:
            job.result.cancel()


async def _all_ended(workers: list[Worker]) -> None:
    if waiting := [worker.ended for worker in workers if not worker.ended.done()]:
        await asyncio.wait(waiting, timeout=_GRACE)


def suitable_workers() -> int:
    """Number of useful workers: none on one core, two on two, since fetching leaves room on both."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    return 0 if cores == 1 else min(max(cores - 1, 2), MOST)
