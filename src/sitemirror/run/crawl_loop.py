"""The loop over the queue, which is read a few hundred URLs at a time: memory use stays flat."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sitemirror.errors import Aborted
from sitemirror.events import PageStarted, Progress
from sitemirror.fetch.pace import Slot
from sitemirror.frontier.freshness import Freshness
from sitemirror.frontier.scope import Scope
from sitemirror.memory import return_large_blocks
from sitemirror.model import Failed
from sitemirror.run.plan import Plan
from sitemirror.run.progress_files import Counters, ProgressFiles
from sitemirror.run.session import Session
from sitemirror.run.start import check_reachable
from sitemirror.run.visit import Result, UpdatePolicy, Visitor
from sitemirror.run.workspace import Workspace, force_to_disk
from sitemirror.settings import OnError
from sitemirror.stopwatch import Stage
from sitemirror.store.queue import Part, due_again, next_part
from sitemirror.store.reports import Counts
from sitemirror.store.url_record import UrlRecord
from sitemirror.store.url_table import UrlTable
from sitemirror.urls import authority

_AT_A_TIME: Final = 256

_LOOK_AHEAD: Final = 2048
"""Maximum number of URLs set aside because their hosts are paused, while looking for one that is not."""


class Queue:
    """One pass over a part of the queue, in the order of discovery."""

    def __init__(self, table: UrlTable, part: Part, must_wait: Callable[[str], bool] = lambda _: False) -> None:
        """`must_wait` says if the host of a URL is paused: URLs of other hosts precede it."""
        self._must_wait = must_wait
        self._table = table
        self._part = part
        self._waiting: deque[UrlRecord] = deque()
        self._last = 0
        self._is_read = False
        self._changes = -1  # of the state when it was read
        self._aside: dict[str, deque[UrlRecord]] = {}  # by host, so that its pause is checked once
        self._held_back = 0
        self._hosts: set[str] = set()

    def next(self) -> UrlRecord | None:
        """Return the first URL whose host is not paused; None if there is none, or none yet (`has_to_wait`).

        If all are of one host, its URLs come in their order, paused or not.
        """
        for aside in self._aside.values():
            if not self._must_wait(aside[0].url):
                return self._take_back(aside)
        while self._held_back < _LOOK_AHEAD and (self._waiting or self._read_on()):
            found = self._waiting.popleft()
            if not self._must_wait(found.url):
                return found
            self._aside.setdefault(authority(found.url), deque()).append(found)
            self._held_back += 1
        if len(self._hosts) == 1 and self._aside:
            return self._take_back(*self._aside.values())
        return None

    @property
    def has_to_wait(self) -> bool:
        """True if URLs were set aside because their hosts are paused."""
        return bool(self._aside)

    def has_others(self, url: str) -> bool:
        """True if there are, or were, URLs of other hosts than this one's within the look-ahead."""
        host = authority(url)
        while not (others := len(self._hosts) > (host in self._hosts)):
            if self._is_read or len(self._waiting) + self._held_back >= _LOOK_AHEAD:
                break
            self._read_on()
        return others

    def grew(self) -> None:
        """Read on: URLs were added that may belong to this part."""
        self._is_read = False

    def _take_back(self, aside: deque[UrlRecord]) -> UrlRecord:
        found = aside.popleft()
        self._held_back -= 1
        if not aside:
            del self._aside[authority(found.url)]
        return found

    def _read_on(self) -> bool:
        changes = self._table.changes
        if self._is_read and (self._aside or changes == self._changes):  # asked again and again
            return False
        self._changes = changes
        found = self._table.due(self._part, self._last, _AT_A_TIME)
        self._is_read = len(found) < _AT_A_TIME
        if found:
            self._waiting.extend(found)
            self._hosts.update(authority(record.url) for record in found)
            self._last = found[-1].id
        return bool(found)


BEYOND: Final = 16
"""Maximum number of pages between network and disk, besides those being fetched: the cost of a kill."""

GRACE: Final = 2.0
"""Seconds that requests in flight have to end by themselves after Ctrl+C."""

FLUSH: Final = 0.05
"""Seconds after which a batch is written that is not full."""

TICK: Final = 1.0
"""Seconds between two checks for other work."""

PROGRESS_INTERVAL: Final = 10.0
"""Seconds after which `_progress.json` is written even if fewer than 100 URLs were done."""

BARRIER: Final = 10.0
"""Seconds between two barriers, at which all pages so far are forced to disk."""


class CrawlLoop:
    """Visits all URLs that are due, then retries transient failures."""

    def __init__(
        self,
        session: Session,
        plan: Plan,
        scope: Scope,
        space: Workspace,
        table: UrlTable,
        visitor: Visitor,
        counters: Counters,
        files: ProgressFiles,
    ) -> None:
        self._session = session
        self._settings = session.settings
        self._plan = plan
        self._scope = scope
        self._space = space
        self._table = table
        self._visitor = visitor
        self._writer = visitor.writer
        self._counters = counters
        self._files = files
        self._policy = UpdatePolicy(session, plan, table, visitor.writer)
        self._reserved = 0  # pages in flight that may turn out to be new
        self._freed = asyncio.Event()
        self._visits = 0  # in flight
        self._news = asyncio.Event()  # set when a visit queued URLs, or when none is in flight
        self._ended = False
        self._put_off: dict[int, tuple[UrlRecord, Failed]] = {}  # failures to retry after the main pass

    def look_ahead(self, counts: Counts) -> None:
        """Set the total of the progress: all named URLs in scope."""
        total, left = self._table.count_total(by_links=self._plan.follows_links)
        counters = self._counters
        counters.total, counters.processed, counters.started = total, total - left, total - left
        counters.saved, counters.skipped = counts.saved, counts.skipped - counts.outside

    async def run(self) -> None:
        """Visit everything that is due. Raises `Stopped`, or the error that ends the run."""
        flusher = asyncio.create_task(self._flush_periodically())
        retries = self._settings.max_retries if self._settings.on_error is OnError.RETRY else 0
        db = self._table.db
        try:
            for tried in range(retries + 1):
                await self._visit_all(flusher, will_retry=tried < retries)
                if not self._room() or not due_again(db):
                    break
                if tried and (first := Queue(self._table, Part()).next()) is not None:
                    wait = self._session.backoff.seconds(tried - 1)
                    self._session.pace.pause(first.url, wait, "retrying failed pages")
        finally:
            flusher.cancel()
            with suppress(asyncio.CancelledError):
                await flusher
            self._writer.flush()
            for record, failure in self._put_off.values():  # stopped before their retry
                self._visitor.report_failure(record, failure)
            self._policy.warn_of_dates()

    async def _visit_all(self, flusher: asyncio.Task[None], *, will_retry: bool) -> None:
        """Visit until nothing is due. An answer may queue URLs that the pass has already gone by."""
        while self._room() and (part := next_part(self._table.db, self._visitor.rules)) is not None:
            await self._pass(part, flusher, will_retry=will_retry)

    async def _pass(self, part: Part, flusher: asyncio.Task[None], *, will_retry: bool) -> None:
        queue = Queue(self._table, part, self._session.pace.is_paused)
        free = asyncio.Semaphore(self._settings.concurrency)
        slots = [
            asyncio.create_task(self._slot(queue, Slot(free, queue.has_others), will_retry=will_retry))
            for _ in range(self._settings.concurrency + BEYOND)
        ]
        visits = asyncio.create_task(asyncio.wait(slots, return_when=asyncio.FIRST_EXCEPTION))
        stop = asyncio.create_task(self._session.stop.wait())
        try:
            await asyncio.wait([visits, stop, flusher], return_when=asyncio.FIRST_COMPLETED)
            if stop.done() and not visits.done() and not flusher.done():
                await asyncio.wait(slots, timeout=GRACE)
        finally:
            for task in (*slots, visits, stop):
                task.cancel()
            results = await asyncio.gather(*slots, visits, stop, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result
        if flusher.done():
            flusher.result()
        self._writer.flush()
        self._session.check_stop()

    async def _slot(self, queue: Queue, slot: Slot, *, will_retry: bool) -> None:
        try:
            while await self._admitted():
                try:
                    record = await self._next(queue, slot)
                    if self._ended or self._session.stop.is_set():
                        return
                    result = await self._under_way(record, queue, slot, will_retry=will_retry) if record else Result()
                finally:
                    self._reserved -= 1
                    self._freed.set()
                if record is None:
                    slot.release()
                    if not await self._more_may_come():
                        return
                elif self._judge(record, result):
                    self._count(record, result)
        except Exception:
            self._ended = True  # No other slot starts another visit.
            raise
        finally:
            slot.release()

    async def _under_way(self, record: UrlRecord, queue: Queue, slot: Slot, *, will_retry: bool) -> Result:
        """Visit a URL. Wakes idle slots when URLs were queued or the last visit ended."""
        self._visits += 1
        try:
            result = await self._visit(record, slot, will_retry=will_retry)
            if result.found:
                queue.grew()
                self._news.set()
            return result
        finally:
            self._visits -= 1
            if not self._visits:
                self._news.set()

    async def _more_may_come(self) -> bool:
        """Wait for a visit that may queue URLs, as a page does its images. False if none is in flight."""
        if not self._visits:
            return False
        self._news.clear()
        await self._news.wait()
        return True

    async def _next(self, queue: Queue, slot: Slot) -> UrlRecord | None:
        """Return the next URL to visit, with the slot acquired. Releases it while all hosts are paused."""
        while True:
            await slot.acquire()
            with self._session.watch.working(Stage.STATE):
                record = queue.next()
            if record is not None or not queue.has_to_wait:
                return record
            slot.release()
            await self._session.pace.first_pause_over()

    async def _visit(self, record: UrlRecord, slot: Slot, *, will_retry: bool) -> Result:
        if record.named:
            counters = self._counters
            counters.started = min(counters.started + 1, max(counters.total, 1))
        # A command with another scope may have listed it.
        if reason := self._scope.reason(record.url, is_needed=record.depth == 0):
            self._visitor.leave_out(record, reason)
            return Result()
        check_reachable(self._session)
        freshness = self._policy.freshness(record)
        if freshness in (Freshness.FRESH, Freshness.UNCHECKED):
            self._visitor.leave(record, is_checked=freshness is Freshness.FRESH)
            await asyncio.sleep(0)  # a long row of fresh pages must not starve the others
            return Result()
        if record.named:  # URLs that only redirects lead to are not counted.
            self._session.emit(PageStarted(record.url, self._counters.started, self._counters.total))
        result = await self._visitor.visit(record, freshness, slot, retries=will_retry)
        if result.failure is None:
            self._put_off.pop(record.id, None)
        return result

    async def _admitted(self) -> bool:
        """Reserve room under --max-pages, waiting for pages in flight. False if there is none."""
        while self._settings.max_pages and self._counters.new + self._reserved >= self._settings.max_pages:
            if not self._room():
                return False
            self._freed.clear()
            await self._freed.wait()
        if self._session.stop.is_set():
            return False
        self._reserved += 1
        return True

    def _room(self) -> bool:
        """True if --max-pages allows another page."""
        return not self._settings.max_pages or self._counters.new < self._settings.max_pages

    def _judge(self, record: UrlRecord, result: Result) -> bool:
        """Apply the error policy. False if the failure will be retried: its URL is not decided yet."""
        failure = result.failure
        if failure is None:
            return True
        if result.will_retry:
            self._put_off[record.id] = (record, failure)
            self._visitor.put_off(record, failure)
            return False
        self._put_off.pop(record.id, None)
        name = self._visitor.report_failure(record, failure)
        if self._settings.on_error is OnError.ABORT:
            self._count(record, result)  # This writes the last progress, and the report has the failure.
            self._writer.flush()
            raise Aborted(
                f"{name} failed: {failure.text}",
                hint="run the same command to go on, or use --on-error skip",
            )
        return True

    def _count(self, record: UrlRecord, result: Result) -> None:
        counters, now = self._counters, self._session.clock.monotonic()
        counters.new += result.new
        counters.saved += result.new
        counters.failed += result.failure is not None
        counters.skipped += result.skipped
        counters.total += result.found
        if record.named:
            counters.done(now)
        rate = counters.rate(now)
        self._session.emit(
            Progress(
                counters.processed,
                counters.total,
                counters.saved,
                counters.failed,
                counters.skipped,
                rate,
                counters.left(rate),
            )
        )
        if counters.processed % 100 == 0 and counters.processed < counters.total:
            self._files.write()

    async def _flush_periodically(self) -> None:
        """Write partial batches and progress, and force pages to disk, periodically."""
        clock, watch = self._session.clock, self._session.watch
        ticked = written = synced = clock.monotonic()
        return_large_blocks()
        while True:
            await asyncio.sleep(FLUSH)
            with watch.working(Stage.STATE):
                self._writer.flush()
            now = clock.monotonic()
            if now - ticked < TICK:
                continue
            ticked = now
            watch.look_at(len(self._session.pool.pids))
            if now - written >= PROGRESS_INTERVAL:
                written = now
                self._files.write()
            if now - synced >= BARRIER:
                synced = now
                await force_to_disk(self._space.tree, self._table, watch)
                await self._session.pool.give_back()
