"""The URLs still to visit, read from the state a few hundred at a time so that a million cost no memory."""

from __future__ import annotations

import asyncio
import sys
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
from sitemirror.reasons import Reason
from sitemirror.run.plan import Plan
from sitemirror.run.progress_files import Notes, Tally
from sitemirror.run.session import Session
from sitemirror.run.start import check_reachable
from sitemirror.run.visit import Result, Visitor
from sitemirror.run.workspace import Workspace, force_to_disk
from sitemirror.settings import OnError
from sitemirror.stopwatch import Stage
from sitemirror.store.database import RunInfo
from sitemirror.store.reports import Counts
from sitemirror.store.schema import Status
from sitemirror.store.url_table import Known, Selection, UrlLookup, UrlTable
from sitemirror.urls import authority

_AT_A_TIME: Final = 256

_LOOK_AHEAD: Final = 2048
"""URLs that may be set aside because their hosts have to wait: no more are looked at for one that can be asked."""


class Queue:
    """One pass over the URLs of a selection, in the order of discovery."""

    def __init__(self, ledger: UrlLookup, which: Selection, must_wait: Callable[[str], bool] = lambda _: False) -> None:
        """`must_wait` says of a URL that its host has asked for time: others go before it."""
        self._must_wait = must_wait
        self._ledger = ledger
        self._which = which
        self._waiting: deque[Known] = deque()
        self._last = 0
        self._is_read = False
        self._changes = -1  # of the state when it was read
        self._aside: dict[str, deque[Known]] = {}  # by host, so that a host's pause is asked about once, not per URL
        self._held_back = 0
        self._hosts: set[str] = set()

    def next(self) -> Known | None:
        """The first whose host can be asked. None if there is none, which may change while it `has_to_wait`.

        Where all are of one host there is nothing to choose: its URLs come in their order, paused or not.
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
        """Whether there are URLs whose hosts had to wait when it was asked for the next."""
        return bool(self._aside)

    def has_others(self, url: str) -> bool:
        """Whether there are, or were, URLs of other hosts than this one's, not too far off."""
        host = authority(url)
        while not (others := len(self._hosts) > (host in self._hosts)):
            if self._is_read or len(self._waiting) + self._held_back >= _LOOK_AHEAD:
                break
            self._read_on()
        return others

    def grew(self) -> None:
        """URLs were added since, which may be of the selection."""
        self._is_read = False

    def _take_back(self, aside: deque[Known]) -> Known:
        found = aside.popleft()
        self._held_back -= 1
        if not aside:
            del self._aside[authority(found.url)]
        return found

    def _read_on(self) -> bool:
        changes = self._ledger.changes
        if self._is_read and (self._aside or changes == self._changes):  # asked again and again
            return False
        self._changes = changes
        found = self._ledger.take(self._which, self._last, _AT_A_TIME)
        self._is_read = len(found) < _AT_A_TIME
        if found:
            self._waiting.extend(found)
            self._hosts.update(authority(known.url) for known in found)
            self._last = found[-1].id
        return bool(found)


BEYOND: Final = 16
"""Pages that may be on their way from the network to the disk beside those being fetched. What a kill can cost."""

GRACE: Final = 2.0
"""Seconds that requests in flight have to end by themselves after Ctrl+C."""

TICK: Final = 1.0
"""Seconds after which an unfinished batch is written down."""

NOTES: Final = 10.0
"""Seconds after which `_progress.json` is written even when fewer than 100 URLs were done."""

BARRIER: Final = 10.0
"""Seconds between two moments at which all pages so far are forced onto the disk itself."""


class CrawlLoop:
    """The main round over all that is due, then rounds for what is worth another try."""

    def __init__(
        self,
        session: Session,
        plan: Plan,
        scope: Scope,
        space: Workspace,
        run: RunInfo,
        ledger: UrlTable,
        visitor: Visitor,
        tally: Tally,
        notes: Notes,
    ) -> None:
        self._session = session
        self._settings = session.settings
        self._plan = plan
        self._scope = scope
        self._space = space
        self._run = run
        self._ledger = ledger
        self._visitor = visitor
        self._tally = tally
        self._notes = notes
        self._reserved = 0  # pages in flight that may each turn out to be new
        self._freed = asyncio.Event()
        self._visits = 0  # under way
        self._news = asyncio.Event()  # of those: one has found something, or none is left
        self._ended = False
        self._put_off: dict[int, tuple[Known, Failed]] = {}  # failures that are tried again after the main round

    def look_ahead(self, counts: Counts) -> None:
        """Sets what progress counts up to: all that was listed or linked. What is out of scope is not in it."""
        self._visitor.begin()
        due = Selection.perhaps_linked(self._run) if self._settings.renews and self._plan.follows_links else self._due()
        # What is to be compared is due already where everything is looked at.
        renews, to_compare = self._settings.renews, self._visitor.to_compare
        left = self._ledger.count(due.listed) if renews else self._ledger.count(due) + to_compare
        total = max(left, self._ledger.count(Selection.wanted()))
        self._tally.total, self._tally.processed, self._tally.started = total, total - left, total - left
        self._tally.saved, self._tally.skipped = counts.saved, counts.skipped - counts.outside

    def _counts(self, known: Known) -> bool:
        """Whether a URL has a number. Where all is looked at again, what only redirects lead to has none of its own."""
        return bool(known.run) or not self._settings.renews

    def _due(self) -> Selection:
        if self._settings.renews:
            return Selection.outdated(self._run)
        return Selection.unfinished(self._settings.max_file_bytes)

    async def run(self) -> None:
        """Everything that is due. Raises `Stopped`, or what ends the run."""
        clerk = asyncio.create_task(self._keep_books())
        try:
            if self._plan.follows_links:
                await self._levels(clerk)
            else:
                await self._round(self._due(), clerk, retries_left=self._retries)
                if self._settings.renews and self._plan.html:
                    await self._round(Selection.back(self._run), clerk, retries_left=self._retries)
                if self._visitor.to_compare:
                    await self._round(Selection.unread(), clerk, retries_left=self._retries)
            left = self._ledger.count(Selection.queued())
            while self._room() and left:
                await self._round(Selection.queued(), clerk, retries_left=self._retries)
                before, left = left, self._ledger.count(Selection.queued())
                if left >= before:  # nothing was settled, so nothing would be
                    break
            for tried in range(self._retries):
                first = Queue(self._ledger, Selection.to_retry(self._run)).next()
                if first is None:
                    break
                if tried:
                    wait = self._session.backoff.seconds(tried - 1)
                    self._session.pace.pause(first.url, wait, "retrying failed pages")
                await self._round(Selection.to_retry(self._run), clerk, retries_left=self._retries - tried - 1)
            if not self._ledger.count(Selection.queued()):
                self._tally.total = self._tally.processed  # Some were the ends of redirects, and never had a turn.
        finally:
            clerk.cancel()
            with suppress(asyncio.CancelledError):
                await clerk
            for known, failure in self._put_off.values():  # stopped before their turn came again
                self._visitor.give_up(known, failure)
            self._visitor.due.tell_unread_dates()
            self._ledger.commit()

    async def _levels(self, clerk: asyncio.Task[None]) -> None:
        """Breadth first: a depth is finished before the next begins, so a URL's depth is that of the shortest way."""
        await self._round(Selection.failed(self._settings.max_file_bytes), clerk, retries_left=self._retries)
        before = None
        while self._room():
            due = self._level(sys.maxsize)
            depth = self._ledger.least_depth(due)
            first = None if depth is None else Queue(self._ledger, self._level(depth)).next()
            if depth is None or first is None or first.id == before:  # the same again: nothing would ever settle it
                return
            before = first.id
            await self._round(self._level(depth), clerk, retries_left=self._retries)

    def _level(self, depth: int) -> Selection:
        if self._settings.renews:
            return Selection.old_level(depth, self._run)
        return Selection.level(depth)

    @property
    def _retries(self) -> int:
        return self._settings.max_retries if self._settings.on_error is OnError.RETRY else 0

    async def _round(self, due: Selection, clerk: asyncio.Task[None], *, retries_left: int) -> None:
        """Visits all of a selection once."""
        queue = Queue(self._ledger, due, self._session.pace.is_paused)
        self._visitor.begin_round()
        free = asyncio.Semaphore(self._settings.concurrency)
        slots = [
            asyncio.create_task(self._slot(queue, Slot(free, queue.has_others), will_retry=retries_left > 0))
            for _ in range(self._settings.concurrency + BEYOND)
        ]
        visits = asyncio.create_task(asyncio.wait(slots, return_when=asyncio.FIRST_EXCEPTION))
        stop = asyncio.create_task(self._session.stop.wait())
        try:
            await asyncio.wait([visits, stop, clerk], return_when=asyncio.FIRST_COMPLETED)
            if stop.done() and not visits.done() and not clerk.done():
                await asyncio.wait(slots, timeout=GRACE)
        finally:
            for task in (*slots, visits, stop):
                task.cancel()
            results = await asyncio.gather(*slots, visits, stop, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result
        if clerk.done():
            clerk.result()
        self._session.check_stop()

    async def _slot(self, queue: Queue, slot: Slot, *, will_retry: bool) -> None:
        try:
            while await self._admitted():
                try:
                    known = await self._next(queue, slot)
                    if self._ended or self._session.stop.is_set():
                        return
                    result = await self._under_way(known, queue, slot) if known else Result()
                finally:
                    self._reserved -= 1
                    self._freed.set()
                if known is None:
                    slot.release()
                    if not await self._more_may_come():
                        return
                elif self._judge(known, result, will_retry=will_retry):
                    self._count(known, result)
        except Exception:
            self._ended = True  # No other slot begins anything more.
            raise
        finally:
            slot.release()

    async def _under_way(self, known: Known, queue: Queue, slot: Slot) -> Result:
        """A visit. Slots that found nothing to do are told when there may be something, or will not be."""
        self._visits += 1
        try:
            result = await self._visit(known, slot)
            if result.found:
                queue.grew()
                self._news.set()
            return result
        finally:
            self._visits -= 1
            if not self._visits:
                self._news.set()

    async def _more_may_come(self) -> bool:
        """Waits for a visit that leads on to more, as a page to its pictures. False if none is under way."""
        if not self._visits:
            return False
        self._news.clear()
        await self._news.wait()
        return True

    async def _next(self, queue: Queue, slot: Slot) -> Known | None:
        """The next URL to visit, with an acquired slot. The slot is free while all hosts are paused."""
        while True:
            await slot.acquire()
            with self._session.watch.working(Stage.STATE):
                known = queue.next()
            if known is not None or not queue.has_to_wait:
                return known
            slot.release()
            await self._session.pace.first_pause_over()

    async def _visit(self, known: Known, slot: Slot) -> Result:
        if self._counts(known):
            self._tally.started = min(self._tally.started + 1, max(self._tally.total, 1))
        if self._visitor.handled(known.id):  # a redirect led to it before its turn came
            return Result()
        # It may have been listed by a command with another scope.
        if reason := self._scope.reason(known.url, is_needed=known.depth == 0):
            self._leave_out(known, reason)
            return Result()
        check_reachable(self._session)
        if (
            known.status is Status.DUPLICATE
        ):  # Its page may have changed since it was read: it is to be fetched whole then.
            known = self._ledger.find(known.url) or known
        freshness = self._visitor.due.freshness(known)
        if freshness is Freshness.FRESH:
            self._ledger.checked(known.id)
            await asyncio.sleep(0)  # a long row of fresh pages must not starve the others
            return Result()
        self._session.emit(PageStarted(known.url, self._tally.started, self._tally.total))
        result = await self._visitor.visit(known, freshness, slot)
        if result.failure is None:
            self._put_off.pop(known.id, None)
        return result

    def _leave_out(self, known: Known, reason: Reason) -> None:
        if known.status is Status.QUEUED or (known.status is Status.FAILED and self._ledger.is_ours(known)):
            self._ledger.outside(known.id, reason, self._session.now())
        else:
            self._visitor.leave(known)

    async def _admitted(self) -> bool:
        """Reserves room under --max-pages, waiting while pages in flight have it all; False when there is none."""
        while self._settings.max_pages and self._tally.new + self._reserved >= self._settings.max_pages:
            if not self._room():
                return False
            self._freed.clear()
            await self._freed.wait()
        if self._session.stop.is_set():
            return False
        self._reserved += 1
        return True

    def _room(self) -> bool:
        """Whether --max-pages allows another page."""
        return not self._settings.max_pages or self._tally.new < self._settings.max_pages

    def _judge(self, visited: Known, result: Result, *, will_retry: bool) -> bool:
        """The error policy. False when a failure is put off: its URL is not decided yet."""
        failure, known = result.failure, result.known
        if failure is None or known is None:
            return True
        if will_retry and failure.transient:
            self._put_off[known.id] = (known, failure)
            self._visitor.put_off(known, failure)
            return False
        self._put_off.pop(known.id, None)
        name = self._visitor.give_up(known, failure)
        if self._settings.on_error is OnError.ABORT:
            self._count(visited, result)  # The last notes are written by it, and the report knows of the failure.
            self._ledger.commit()
            raise Aborted(
                f"{name} failed: {failure.text}",
                hint="run the same command to go on, or use --on-error skip",
            )
        return True

    def _count(self, visited: Known, result: Result) -> None:
        tally, now = self._tally, self._session.clock.monotonic()
        tally.new += result.new
        tally.saved += result.new
        if result.added:
            tally.added.append(result.page)
        elif result.changed:
            tally.changed.append(result.page)
        tally.failed += result.failure is not None
        tally.skipped += result.skipped
        tally.total += result.found
        if self._counts(visited):
            tally.done(now)
        rate = tally.rate(now)
        self._session.emit(
            Progress(tally.processed, tally.total, tally.saved, tally.failed, tally.skipped, rate, tally.left(rate))
        )
        if tally.processed % 100 == 0 and tally.processed < tally.total:  # What the last one leaves, the end tells.
            self._notes.write()

    async def _keep_books(self) -> None:
        """Commits what the slots leave, writes progress, and forces pages onto the disk."""
        clock, watch = self._session.clock, self._session.watch
        noted = synced = clock.monotonic()
        return_large_blocks()
        while True:
            await asyncio.sleep(TICK)
            watch.look_at(len(self._session.pool.pids))
            with watch.working(Stage.STATE):
                self._ledger.commit()
            now = clock.monotonic()
            if now - noted >= NOTES:
                noted = now
                self._notes.write()
            if now - synced >= BARRIER:
                synced = now
                await force_to_disk(self._space.tree, self._ledger, watch)
                await self._session.pool.give_back()
