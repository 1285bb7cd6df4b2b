"""Run one command over one site, phase by phase: start, open, discover, visit, settle, publish."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sitemirror.errors import OutputError, SitemirrorError
from sitemirror.events import DiscoveryFinished, RunFinished, RunStarted
from sitemirror.frontier.scope import CrawlScope, Scope
from sitemirror.publish.file_names import CHECKPOINT, CONTENTS, FAILED_LOG, MANIFEST, MIRROR_INDEX, STATE
from sitemirror.publish.report import MirrorReport, RunStatus
from sitemirror.run.crawl_loop import TICK, CrawlLoop
from sitemirror.run.follow_links import LinkPolicy
from sitemirror.run.page_fetch import PageFetcher
from sitemirror.run.page_writer import PageWriter
from sitemirror.run.plan import Plan, plan_for
from sitemirror.run.profile import profile
from sitemirror.run.progress_files import Counters, ProgressFiles
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session, Stopped, unstamp
from sitemirror.run.start import ResolvedStart, check_reachable, check_robots, check_site, check_start, resolve_start
from sitemirror.run.visit import Visitor
from sitemirror.run.workspace import Workspace, in_thread, open_ledger, open_workspace
from sitemirror.settings import Links
from sitemirror.stopwatch import Phase
from sitemirror.store.database import FORMAT, RunInfo, peek
from sitemirror.store.disappeared import UNSURE_SINCE, deleted, forget_deleted, replaced
from sitemirror.store.link_table import LinkTable
from sitemirror.store.link_targets import MarkdownLinkTargets, is_unfinished
from sitemirror.store.paths import host_folder
from sitemirror.store.reports import NOTHING, StateReport, resolve_aliases
from sitemirror.store.restore import TO_RECALL
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.url_table import UrlTable, reopen_names
from sitemirror.text import counted

if TYPE_CHECKING:
    from sitemirror.publish.manifest import ManifestHeader
    from sitemirror.run.finish import Published


def stopped_before_it_began(session: Session, start_url: str, plan: Plan) -> MirrorReport:
    """Report the mirror as its last manifest describes it: the run ended before the site answered."""
    folder = session.settings.output / host_folder(start_url)
    manifest = folder / MANIFEST
    header = _header(manifest)

    def count(name: str) -> int:
        return max(0, getattr(header, name)) if header else 0  # The file may be anybody's.

    return MirrorReport(
        status=RunStatus.INTERRUPTED,
        command=plan.command,
        url=start_url,
        output_dir=str(folder),
        total_pages=count("total_pages"),
        successful=count("successful"),
        failed=count("failed"),
        skipped=count("skipped"),
        duplicates=count("duplicates"),
        not_reached=count("not_reached_count"),
        elapsed_sec=round(session.elapsed, 3),
        manifest=str(manifest) if header else None,
        index=_if_there(folder / CONTENTS),
        mirror_index=_if_there(folder / MIRROR_INDEX) if plan.index else None,
        warnings=tuple(session.warnings),
        profile=profile(session),
    )


def _header(manifest: Path) -> ManifestHeader | None:
    """Read the manifest's header without its lists."""
    from sitemirror.publish.manifest import ManifestHeader, ManifestUnreadable, read_manifest

    try:
        first = None if manifest.is_symlink() else next(read_manifest(manifest), None)
    except (OSError, ManifestUnreadable):
        return None
    return first if isinstance(first, ManifestHeader) else None


def _if_there(path: Path) -> str | None:
    return str(path) if path.is_file() else None


async def run_copy(session: Session, start_url: str, *, command: str) -> MirrorReport:
    """The whole job. A run's failure is raised with the report of what was done attached.

    A `mirror` goes by sitemaps to Markdown, a `crawl` by links to HTML, unless the settings say otherwise.
    """
    plan = plan_for(command, session.settings)
    robots = RobotsBook(session, CrawlScope(session.settings, start_url=start_url))
    obeys = plan.follows_links and plan.respect_robots
    # Before anything is asked: the host may have wished to be left alone for a while, just before the last run ended.
    session.pace.restore(peek(session.settings.output / host_folder(start_url) / STATE, "pace"))
    try:
        if obeys:
            await session.unless_stopped(check_robots(robots, start_url))

        async def gate(location: str) -> None:
            check_site(start_url, location, session.settings)
            if obeys:
                robots.within(CrawlScope(session.settings, start_url=location, asked=start_url))
                await check_robots(robots, location)

        arrival = await session.unless_stopped(resolve_start(session, start_url, gate if plan.follows_links else None))
        if plan.follows_links:
            check_start(arrival, session.settings, plan.command)
    except Stopped:
        # Hardly ever needed.

        return stopped_before_it_began(session, start_url, plan)
    with open_workspace(session, arrival.url, state_file=STATE, checkpoint_file=CHECKPOINT) as space:
        report = await Mirror(session, space, arrival, plan, robots).run()
        await space.leave()
        return report


class Mirror:
    """One run over one site."""

    def __init__(
        self, session: Session, space: Workspace, arrival: ResolvedStart, plan: Plan, robots: RobotsBook
    ) -> None:
        self._session = session
        self._settings = session.settings
        self._space = space
        self._arrival = arrival
        if space.tree.exists(space.file(MIRROR_INDEX)):
            # Whether or not this command asks for it: an index that nobody keeps tells of files that are not there.
            plan = replace(plan, index=True)
        self._plan = plan
        if plan.command == "crawl":
            self._scope: Scope = CrawlScope(
                self._settings, start_url=arrival.url, asked=arrival.asked, folder=arrival.folder
            )
        else:
            self._scope = Scope(self._settings, start_url=arrival.url, folder=arrival.folder)
        self._note_kill()
        self._run, self._resumed = self._begin()
        self._warned = set[int]()  # sitemaps that this command has warned about
        if space.stayed_up:
            session.pool.be_careful()
        self._listing = SitemapTable(space.state, self._run)
        self._ledger: UrlTable = open_ledger(session, space, self._run)
        if self._resumed:
            self._ledger.look_again()
        self._is_first = space.state.empty  # so that nothing of an earlier run has to be looked at again
        self._tally = Counters()
        self._notes = ProgressFiles(session, space, self._run, self._listing, self._tally)
        self._book = LinkTable(space.state, self._run)
        keeper = self._keeper = PageWriter(session, space, self._ledger, plan)
        taker = PageFetcher(session, plan, keeper)
        taker.first = arrival.page
        taker.start = arrival.url if plan.follows_links else ""
        self._follow = LinkPolicy(self._settings, session.now, plan, self._scope, self._ledger, self._book)
        self._robots = robots.within(self._scope)
        visitor = Visitor(session, plan, self._scope, self._ledger, self._robots, keeper, taker, self._follow)
        self._visitor = visitor
        self._rounds = CrawlLoop(
            session, plan, self._scope, space, self._run, self._ledger, visitor, self._tally, self._notes
        )

    def _begin(self) -> tuple[RunInfo, bool]:
        """Goes on with an unfinished run that was asked for the same, or begins a new one."""
        state, mode = self._space.state, self._plan.mode
        self._check_format()
        renews = self._settings.renews
        if renews:
            mode += ":all" if self._settings.re_download_all else ":update"
        last = state.last_run()
        wanted = (self._arrival.asked, mode, self._scope.fingerprint())
        unfinished = last is not None and not last.finished and not self._space.fresh_start
        if last is not None and unfinished and (last.source_url, last.mode, last.scope) == wanted:
            # What is to be brought up to date may have grown since the run was interrupted, perhaps long ago.
            return replace(last, discovered=last.discovered and not renews), True
        source_url, mode, scope = wanted
        started_at = self._session.now()
        return state.begin_run(source_url=source_url, mode=mode, scope=scope, started_at=started_at), False

    def _note_kill(self) -> None:
        """Notes since when files may be others than rows say, until a run comes to its end that has looked at them."""
        state = self._space.state
        last = state.last_run()
        if self._space.broke_off and last is not None and not last.finished and not state.get(UNSURE_SINCE):
            state.put(UNSURE_SINCE, [last.number, last.started_at])

    def _check_format(self) -> None:
        """Refuses a folder with a mirror in another format: what that saved would be neither used nor accounted for."""
        state, format = self._space.state, self._plan.format
        before = state.get(FORMAT)
        if before is None:
            state.put(FORMAT, format)
        elif before != format:
            raise OutputError(
                f"{self._space.folder} holds a mirror in another format ({before}, not {format})",
                hint=f"choose another --output, or --format {before}",
            )

    async def run(self) -> MirrorReport:
        """Runs to the end, whatever the end is, and publishes what there is then."""
        session = self._session
        session.emit(RunStarted(self._plan.command, self._arrival.asked, str(self._space.folder), self._resumed))
        if self._scope.folder != "/":
            session.warn(f"only URLs under {self._scope.folder} are taken; --whole-site takes all")
        session.pace.restore(self._space.state.get("pace", {}))
        status, trouble = RunStatus.OK, None
        try:
            await self._work()
        except Stopped:
            status = RunStatus.INTERRUPTED
        except SitemirrorError as error:
            status, trouble = RunStatus.ERROR, error
        report = await self._finish(status, trouble)
        if trouble is not None:
            trouble.report = report
            raise trouble
        session.emit(RunFinished(report.status))
        return report

    async def _work(self) -> None:
        """Finds and visits all there is, and remembers who asks us to wait. If the state refuses either, both end."""
        tasks = [asyncio.create_task(self._find_and_visit()), asyncio.create_task(self._remember_pace())]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _find_and_visit(self) -> None:
        self._session.watch.begin(Phase.DISCOVERY)
        await self._session.unless_stopped(self._discover())
        self._session.watch.begin(Phase.PAGES)
        await self._rounds.run()

    async def _remember_pace(self) -> None:
        """Writes down who asked us to wait, as soon as somebody does: a kill must not make us forget it."""
        pace, state, kept = self._session.pace, self._space.state, self._session.pace.snapshot()
        while True:
            await asyncio.sleep(TICK)
            now = pace.snapshot()
            if now != kept:
                kept = now
                state.put("pace", now)
                if not self._run.discovered:
                    self._listing.save()  # The books are not kept yet.

    # --- discovery ---------------------------------------------------------------------------------------------

    async def _discover(self) -> None:
        """Lists all that is to be visited. Done before the first page is fetched, so that the total is known."""
        if self._settings.links is Links.LOCAL and self._space.state.get(TO_RECALL):
            from sitemirror.run.relink_markdown import recall_links

            pages = MarkdownLinkTargets(self._space.state)
            await recall_links(self._space.tree, pages, self._session.pool, self._session.watch)
        if not self._is_first:
            forget_deleted(self._space.state, self._space.tree)  # of which links may have to be recalled
        if not self._run.discovered:
            if self._plan.follows_links:
                self._book.start(self._arrival.asked)
            else:
                await self._read_sitemaps()
            self._run = replace(self._run, discovered=True)
            self._space.state.save_run(self._run)
        if self._resumed:
            self._warn_again()
        self._follow.judge_again()
        if not self._is_first:
            self._fetch_replaced()
            if self._resumed or not self._settings.renews:  # which look at every file themselves, but at none twice
                self._fetch_deleted()
            reopen_names(self._space.state, self._run)
        resolve_aliases(self._space.state)
        self._rounds.look_ahead(NOTHING if self._is_first else StateReport(self._space.state).counts())
        if not self._settings.content_rate:
            due, most = self._tally.total - self._tally.processed, self._settings.max_pages
            self._session.pool.expect(min(due, most) if most else due)
        self._notes.write()  # Until now, `_progress.json` told of the run before.
        repeats, outside = (0, 0) if self._plan.follows_links else (self._listing.repeats, self._listing.outside)
        self._session.emit(DiscoveryFinished(self._tally.total, self._tally.processed, repeats, outside))

    def _fetch_replaced(self) -> None:
        """Has pages fetched again whose files a run had replaced when it was killed.

        If links were being made local, all pages had been written down, and what the links were is known as well.
        """
        run, started_at = self._space.state.get(UNSURE_SINCE) or (0, None)
        began = unstamp(started_at)
        if began is None or is_unfinished(self._space.state):
            return
        others = replaced(self._space.state, self._space.tree, run, began.timestamp())
        for id in others:
            self._ledger.fetch_whole(id)
        self._ledger.commit()
        self._visitor.to_compare += len(others)

    def _fetch_deleted(self) -> None:
        """Queues saved pages whose files were deleted: no page counts that is not there."""
        lost, halves = deleted(self._space.state, self._space.tree)
        for id in lost:
            self._ledger.requeue(id)
        for id in halves:  # What is left of them stays if they cannot be had.
            self._ledger.fetch_whole(id)
        self._ledger.commit()
        self._visitor.not_new.update(lost)
        self._visitor.to_compare += len(halves)
        if files := len(lost) + len(halves):
            self._session.warn(f"{counted(files, 'file')} deleted or emptied since the last run; fetched again")

    def _warn_again(self) -> None:
        """Repeats the warnings about sitemaps that were read before an interruption: they still hold."""
        for row in self._listing.sitemaps():
            if row.error and row.id not in self._warned:
                self._session.warn(f"sitemap {row.url}: {row.error}")

    async def _read_sitemaps(self) -> None:
        from sitemirror.run.discovery import Discovery  # Following links does without its parsers.

        self._listing.reopen()
        checkpoint = self._notes.checkpoint
        discovery = Discovery(self._session, self._listing, self._scope, self._robots, checkpoint)
        await discovery.run(self._arrival)
        self._warned = discovery.warned
        check_reachable(self._session)
        if self._is_first:
            return
        self._listing.revive()
        if self._plan.html:
            self._listing.keep_linked()
        if not self._listing.unsound_sitemaps:  # What a sitemap lists that was not read whole is not gone.
            self._listing.mark_gone(self._session.now())

    # --- the end -----------------------------------------------------------------------------------------------

    async def _finish(self, status: RunStatus, trouble: SitemirrorError | None) -> MirrorReport:
        """Publishes what there is. Also after an interruption, and as far as a full disk lets us."""
        from sitemirror.run.finish import publish  # Not before there is something to publish.

        self._session.watch.begin(Phase.PUBLISHING)
        self._ledger.commit()
        self._keeper.tell_blanks()
        self._robots.warn()
        if status is RunStatus.OK:
            self._warn_of_idle_globs()
        self._space.state.put("pace", self._session.pace.snapshot())
        outcome = await publish(self._session, self._space, self._plan, self._run, self._ledger, self._listing, status)
        try:
            await in_thread(partial(self._notes.write_last, outcome.counts))
        except OutputError as refusal:  # The disk is really full; the state knows all the same.
            self._session.warn(f"the checkpoint could not be written: {refusal.advice}")
        counts = outcome.counts
        elsewhere = self._failed_elsewhere() if counts.failed else 0
        unseen = self._tally.total - self._tally.processed - counts.not_reached
        if unseen > 0 and status is not RunStatus.OK and self._settings.renews:
            self._session.warn(f"{counted(unseen, 'page')} not looked at yet: the same command goes on with them")
        if status is RunStatus.OK:
            status, trouble = self._verdict(outcome)
        return MirrorReport(
            status=status,
            command=self._plan.command,
            url=self._arrival.asked,
            output_dir=str(self._space.folder),
            total_pages=counts.total,
            successful=counts.saved,
            failed=counts.failed,
            skipped=counts.skipped,
            duplicates=self._listing.repeats + counts.aliases_listed,
            not_reached=counts.not_reached,
            new=self._ledger.saved_among(self._tally.added),
            changed=self._ledger.saved_among(self._tally.changed),
            gone=outcome.gone or None,
            assets=counts.assets or None,
            refresh_failed=counts.refresh_failed or None,
            out_of_scope=counts.outside or None,
            failed_permanently=StateReport(self._space.state).failed_permanently() or None,
            failed_elsewhere=elsewhere or None,
            disallowed=self._robots.disallowed or None,
            disallowed_urls=tuple(self._robots.disallowed_urls) or None,
            elapsed_sec=round(self._session.elapsed, 3),
            manifest=outcome.manifest,
            index=outcome.index,
            mirror_index=outcome.mirror_index,
            warnings=tuple(self._session.warnings),
            error=trouble.message if trouble else None,
            hint=trouble.hint if trouble else None,
            profile=profile(self._session),
        )

    def _warn_of_idle_globs(self) -> None:
        """Warn about globs that matched no URL, if this run has judged all of them."""
        judges_all = self._is_first or self._settings.renews or not self._plan.follows_links
        for option in self._scope.unmatched_globs() if judges_all and not self._resumed else ():
            hint = "; it is for the path alone: --include and --exclude match whole URLs" if "-path" in option else ""
            self._session.warn(f"{option} matched no URL{hint}")

    def _verdict(self, outcome: Published) -> tuple[RunStatus, SitemirrorError | None]:
        """What a run has come to that came to its end: it may have failed all the same."""
        counts = outcome.counts
        if outcome.manifest is None:
            hint = "see the warnings; then run the same command: nothing is fetched twice"
            return RunStatus.ERROR, SitemirrorError("the manifest could not be written", hint=hint)
        if not counts.saved:
            first, *others = StateReport(self._space.state).reasons() or [""]
            why = f": {first}{' and other reasons' if others else ''}" if first else ""
            reasons = self._space.folder / (FAILED_LOG if counts.failed else MANIFEST)
            message = f"not one page could be saved{why}"
            return RunStatus.ERROR, SitemirrorError(message, hint=f"see {reasons} for the reasons")
        is_partial = counts.failed or counts.not_reached or outcome.incomplete
        return RunStatus.PARTIAL if is_partial else RunStatus.OK, None

    def _failed_elsewhere(self) -> int:
        """Failures out of scope that were found from another start URL: this run leaves them, and says so."""
        survey, refused = StateReport(self._space.state), self._scope.reason
        sources = survey.failed_for_others(self._run.source)
        failed = sum(bool(refused(url, is_needed=depth == 0)) for url, *_, depth in survey.failures()) if sources else 0
        if failed:
            starts = " or ".join(self._space.state.get("sources")[source - 1] for source in sources)
            self._session.warn(f"{counted(failed, 'failed page')} out of scope and not tried; a run for {starts} does")
        return failed
