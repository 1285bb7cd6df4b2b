"""Mirrors one site: arrive, discover, visit every URL, settle, publish. Holds the error policy."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sitemirror.engine.arrival import Arrival, arrive
from sitemirror.engine.discovery import Discovery
from sitemirror.engine.keeper import Keeper
from sitemirror.engine.notes import Notes
from sitemirror.engine.publication import publish
from sitemirror.engine.queue import Queue
from sitemirror.engine.robots import RobotsBook
from sitemirror.engine.session import Session, Stopped
from sitemirror.engine.tally import Tally
from sitemirror.engine.visit import Result, Visitor
from sitemirror.engine.workspace import STATE_FILE, Workspace, open_ledger, open_workspace
from sitemirror.errors import Aborted, OutputError, SitemirrorError
from sitemirror.events import DiscoveryFinished, PageFailed, PageStarted, Progress, RunFinished, RunStarted
from sitemirror.frontier.freshness import Freshness
from sitemirror.frontier.scope import Scope
from sitemirror.publish.report import MirrorReport, RunStatus
from sitemirror.settings import OnError
from sitemirror.store import paths
from sitemirror.store.ledger import Ledger
from sitemirror.store.listing import Listing
from sitemirror.store.state import RunInfo
from sitemirror.store.survey import Survey

GRACE: Final = 2.0
"""Seconds that requests in flight have to end by themselves after Ctrl+C."""

TICK: Final = 0.1
BARRIER: Final = 10.0
"""Seconds between two moments at which all pages so far are forced onto the disk itself."""


async def run_mirror(session: Session, start_url: str) -> MirrorReport:
    """The whole job. A run's failure is raised with the report of what was done attached."""
    try:
        arrival = await session.unless_stopped(arrive(session, start_url))
    except Stopped:
        return _stopped_before_it_began(session, start_url)
    with open_workspace(session, arrival.url, state_file=STATE_FILE, checkpoint_file="_checkpoint.json") as space:
        return await Mirror(session, space, arrival).run()


def _stopped_before_it_began(session: Session, start_url: str) -> MirrorReport:
    return MirrorReport(
        status=RunStatus.INTERRUPTED,
        url=start_url,
        output_dir=str(session.settings.output),
        total_pages=0,
        successful=0,
        failed=0,
        skipped=0,
        duplicates=0,
        not_reached=0,
        elapsed_sec=round(session.elapsed, 3),
        manifest=None,
        index=None,
        warnings=tuple(session.warnings),
    )


class Mirror:
    """One run over one site."""

    def __init__(self, session: Session, space: Workspace, arrival: Arrival) -> None:
        self._session = session
        self._settings = session.settings
        self._space = space
        self._arrival = arrival
        self._scope = Scope(self._settings, start_url=arrival.url, folder=arrival.folder)
        self._run, self._resumed = self._begin()
        self._listing = Listing(space.state, self._run)
        self._ledger: Ledger = open_ledger(session, space, self._run)
        self._tally = Tally()
        self._notes = Notes(session, space, self._run, self._listing, self._tally)
        self._keeper = Keeper(session, space, self._ledger)
        robots = RobotsBook(session, self._scope)
        self._visitor = Visitor(session, self._scope, robots, self._ledger, self._keeper, run=self._run.number)
        self._visitor.first = arrival.page
        self._reserved = 0  # pages in flight that may each turn out to be new
        self._freed = asyncio.Event()

    def _begin(self) -> tuple[RunInfo, bool]:
        """Goes on with an unfinished run that was asked for the same, or begins a new one."""
        state, mode = self._space.state, "update" if self._settings.update else "mirror"
        last = state.last_run()
        wanted = (self._arrival.asked, mode, self._scope.fingerprint())
        unfinished = last is not None and not last.finished and not self._space.fresh_start
        if last is not None and unfinished and (last.source_url, last.mode, last.scope) == wanted:
            return last, True
        source_url, mode, scope = wanted
        started_at = self._session.now()
        return state.begin_run(source_url=source_url, mode=mode, scope=scope, started_at=started_at), False

    async def run(self) -> MirrorReport:
        """Runs to the end, whatever the end is, and publishes what there is then."""
        session = self._session
        session.emit(RunStarted("mirror", self._arrival.asked, str(self._space.folder), self._resumed))
        if self._scope.folder != "/":
            session.warn(f"only URLs under {self._scope.folder} are taken; --whole-site takes all")
        session.pace.restore(self._space.state.get("pace", {}))
        status, trouble = RunStatus.OK, None
        try:
            await self._session.unless_stopped(self._discover())
            await self._crawl()
        except Stopped:
            status = RunStatus.INTERRUPTED
        except SitemirrorError as error:
            status, trouble = RunStatus.ERROR, error
        report = self._finish(status, trouble)
        if trouble is not None:
            trouble.report = report
            raise trouble
        session.emit(RunFinished(report.status))
        return report

    # --- discovery ---------------------------------------------------------------------------------------------

    async def _discover(self) -> None:
        """Finishes before the first page is fetched, so that the total is known."""
        if not self._run.discovered:
            self._listing.reopen()
            await Discovery(self._session, self._listing, self._scope, self._notes.checkpoint).run(self._arrival)
            with self._space.state.transaction():
                if not self._listing.failed_sitemaps:  # What an unread sitemap lists is not gone.
                    self._listing.mark_gone(self._session.now())
                self._run = replace(self._run, discovered=True)
                self._space.state.save_run(self._run)
        counts = Survey(self._space.state).counts()
        self._tally.total = counts.total
        self._tally.processed = counts.saved + counts.skipped if not self._settings.update else counts.skipped
        self._tally.started = self._tally.processed
        self._tally.saved, self._tally.skipped = counts.saved, counts.skipped
        self._notes.checkpoint()
        self._session.emit(DiscoveryFinished(self._tally.total, self._tally.processed))

    # --- the loop ----------------------------------------------------------------------------------------------

    async def _crawl(self) -> None:
        clerk = asyncio.create_task(self._keep_books())
        try:
            await self._pass(self._queue())
            while self._room() and (again := Queue(lambda after: self._ledger.take_queued(after, limit=256))).peek():
                await self._pass(again)  # twins that have parted, met after their turn
            if self._settings.on_error is OnError.RETRY:
                await self._retry()
        finally:
            clerk.cancel()
            with suppress(asyncio.CancelledError):
                await clerk
            self._ledger.commit()

    def _queue(self) -> Queue:
        if self._settings.update:
            return Queue(lambda after: self._ledger.take_for_update(after, limit=256))
        limit = self._settings.max_file_bytes
        return Queue(lambda after: self._ledger.take(after, limit=256, max_bytes=limit))

    async def _retry(self) -> None:
        """Transient failures once more, up to --max-retries times, each round later than the one before."""
        for round in range(self._settings.max_retries):
            queue = Queue(lambda after: self._ledger.take_for_retry(after, limit=256))
            first = queue.peek()
            if first is None:
                return
            if round:
                self._session.pace.pause(first.url, self._session.backoff.seconds(round - 1), "retrying failed pages")
            await self._pass(queue, final=round + 1 == self._settings.max_retries)

    async def _pass(self, queue: Queue, *, final: bool = False) -> None:
        """Visits all that `queue` gives, with --concurrency slots."""
        retrying = self._settings.on_error is OnError.RETRY and self._settings.max_retries > 0 and not final
        slots = [asyncio.create_task(self._slot(queue, retrying=retrying)) for _ in range(self._settings.concurrency)]
        stop = asyncio.create_task(self._session.stop.wait())
        try:
            while pending := [slot for slot in slots if not slot.done()]:
                await asyncio.wait([*pending, stop], return_when=asyncio.FIRST_COMPLETED)
                if any(slot.done() and slot.exception() for slot in slots):
                    break
                if stop.done():
                    await asyncio.wait(pending, timeout=GRACE)
                    break
        finally:
            for task in (*slots, stop):
                task.cancel()
            results = await asyncio.gather(*slots, stop, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, Stopped):
                raise result
        self._session.check_stop()

    async def _slot(self, queue: Queue, *, retrying: bool) -> None:
        while await self._admitted():
            known = queue.next()
            if known is None:
                return
            if self._visitor.handled(known.id):  # a redirect led to it before its turn came
                self._count(Result())
                continue
            freshness = self._visitor.freshness(known)
            if freshness is Freshness.FRESH:
                self._ledger.checked(known.id)
                self._count(Result())
                await asyncio.sleep(0)  # a long row of fresh pages must not starve the others
                continue
            self._space.lock(paths.host_folder(known.url))
            self._tally.started += 1
            self._session.emit(PageStarted(known.url, self._tally.started, max(self._tally.total, self._tally.started)))
            self._reserved += 1
            try:
                result = await self._visitor.visit(known, freshness)
            finally:
                self._reserved -= 1
                self._freed.set()
            self._judge(result, retrying=retrying)
            self._count(result)

    async def _admitted(self) -> bool:
        """Waits while --max-pages has room only for the pages in flight; False when no more are wanted."""
        limit = self._settings.max_pages
        while limit and self._tally.new + self._reserved >= limit:
            if not self._room():
                return False
            self._freed.clear()
            await self._freed.wait()
        return not self._session.stop.is_set()

    def _room(self) -> bool:
        """Whether --max-pages allows another page."""
        return not self._settings.max_pages or self._tally.new < self._settings.max_pages

    def _judge(self, result: Result, *, retrying: bool) -> None:
        """The error policy."""
        failure, known = result.failure, result.known
        if failure is None or known is None:
            return
        if retrying and failure.transient:
            self._session.emit(PageFailed(known.url, failure.reason, will_retry=True))
            return
        self._visitor.give_up(known, failure)
        if self._settings.on_error is OnError.ABORT:
            self._ledger.commit()
            raise Aborted(
                f"{known.url} failed: {failure.reason}",
                hint="run the same command to go on, or use --on-error skip",
            )

    def _count(self, result: Result) -> None:
        tally, now = self._tally, self._session.clock.monotonic()
        tally.new += result.new
        tally.saved += result.new
        tally.failed += result.failure is not None
        tally.skipped += result.skipped
        tally.done(now)
        self._session.emit(
            Progress(
                tally.processed, tally.total, tally.saved, tally.failed, tally.skipped, tally.rate(now), tally.eta(now)
            )
        )
        if tally.processed % 100 == 0:
            self._notes.write()

    async def _keep_books(self) -> None:
        """Commits what the slots leave, writes progress at least every 10 s, and forces pages onto the disk."""
        clock = self._session.clock
        noted = synced = clock.monotonic()
        while True:
            await asyncio.sleep(TICK)
            self._ledger.commit()
            now = clock.monotonic()
            if now - noted >= 10:
                noted = now
                self._notes.write()
            if now - synced >= BARRIER:
                synced = now
                await self._sync()

    async def _sync(self) -> None:
        fresh = list(self._ledger.not_yet_durable())
        await asyncio.to_thread(self._space.tree.sync, [path for _, path, _ in fresh])
        self._ledger.durable([id for id, _, _ in fresh])

    # --- the end -----------------------------------------------------------------------------------------------

    def _finish(self, status: RunStatus, trouble: SitemirrorError | None) -> MirrorReport:
        """Publishes what there is. Also after an interruption, and as far as a full disk lets us."""
        self._ledger.commit()
        self._space.state.put("pace", self._session.pace.snapshot())
        outcome = publish(self._session, self._space, self._run, self._listing, status)
        try:
            self._notes.write_last()
        except OutputError as refusal:  # The disk is really full; the state knows all the same.
            self._session.warn(f"the checkpoint could not be written: {refusal.message}")
        counts = outcome.counts
        if status is RunStatus.OK and (counts.failed or counts.not_reached or outcome.incomplete):
            status = RunStatus.PARTIAL
        error, hint = (trouble.message, trouble.hint) if trouble else (None, None)
        if status is RunStatus.PARTIAL and not counts.saved:
            status, error = RunStatus.ERROR, "not one page could be saved"
            hint = f"see {self._space.folder / '_failed.log'} for the reasons"
        return MirrorReport(
            status=status,
            url=self._arrival.asked,
            output_dir=str(self._space.folder),
            total_pages=counts.total,
            successful=counts.saved,
            failed=counts.failed,
            skipped=counts.skipped,
            duplicates=self._listing.repeats + counts.aliases_listed,
            not_reached=counts.not_reached,
            elapsed_sec=round(self._session.elapsed, 3),
            manifest=outcome.manifest,
            index=outcome.index,
            warnings=tuple(self._session.warnings),
            error=error,
            hint=hint,
        )
