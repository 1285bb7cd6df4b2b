"""Run one command over one site, phase by phase: start, open, discover, visit, decide, publish."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemirror.errors import BadStart, EmptySitemap, NoSitemap, OutputError, SitemirrorError, UnreadableSitemap
from sitemirror.events import DiscoveryFinished, RunFinished, RunStarted
from sitemirror.frontier.scope import CrawlScope, Scope
from sitemirror.model import Outcome
from sitemirror.publish.file_names import CHECKPOINT, CONTENTS, FAILED_LOG, MANIFEST, MIRROR_INDEX, STATE
from sitemirror.publish.report import MirrorReport, RunStatus
from sitemirror.run.crawl_loop import TICK, CrawlLoop
from sitemirror.run.follow_links import LinkPolicy
from sitemirror.run.page_fetch import PageFetcher
from sitemirror.run.page_writer import PageWriter
from sitemirror.run.placeholders import Placeholders
from sitemirror.run.plan import Plan, plan_for
from sitemirror.run.profile import profile
from sitemirror.run.progress_files import Counters, ProgressFiles
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session, Stopped
from sitemirror.run.start import (
    ResolvedStart,
    check_reachable,
    check_robots,
    check_site,
    check_start,
    resolve_start,
    start_with_links,
)
from sitemirror.run.visit import Visitor
from sitemirror.run.workspace import Workspace, in_thread, open_table, open_workspace
from sitemirror.settings import SHAPING, UrlSource, setting_types
from sitemirror.stopwatch import Phase
from sitemirror.store.database import RunInfo, host_pauses, peek, source_before
from sitemirror.store.ending import resolve_aliases
from sitemirror.store.link_table import LinkTable
from sitemirror.store.paths import host_folder
from sitemirror.store.queue import RunRules, drop_unlisted, fill_queue, resume_queue
from sitemirror.store.replaced import accept
from sitemirror.store.reports import NOTHING, StateReport
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.tables import RunPhase
from sitemirror.store.url_record import fetch_whole, forget_files
from sitemirror.store.url_table import forget_gone_files, gone_files, live_files
from sitemirror.text import counted

if TYPE_CHECKING:
    from sitemirror.publish.manifest import ManifestHeader
    from sitemirror.run.finish import Published


def stopped_before_it_began(session: Session, start_url: str, plan: Plan) -> MirrorReport:
    """Report the mirror as its last manifest describes it, for a run that ended before the site answered."""
    folder = session.settings.output / host_folder(start_url)
    manifest = folder / MANIFEST
    header = _header(manifest)

    def count(name: str) -> int:
        return max(0, getattr(header, name)) if header else 0  # The file may have any content.

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


def _pauses(stored: str | None) -> dict[str, Any]:
    """Return the pauses that hosts asked for, as an earlier run stored them."""
    found = json.loads(stored) if stored else {}
    return found if isinstance(found, dict) else {}


def _spelt(name: str, value: object) -> str:
    """Spells a setting as an option."""
    option = name.replace("_", "-")
    return f"--{option} {value}" if not isinstance(value, bool) else f"--{option}" if value else f"--no-{option}"


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
    """Run the whole command. A failure is raised with the report attached.

    A `mirror` goes by sitemaps, or by links if there are none, to Markdown, a `crawl` by links to HTML, unless the
    settings say otherwise.
    """
    settings = session.settings
    robots = RobotsBook(session, CrawlScope(settings, start_url=start_url))
    # Before any request: a host may have asked for a pause just before the last run ended.
    session.pace.restore(_pauses(peek(_state_of(session, start_url), host_pauses)))
    plan = plan_for(command, settings, _source_before(session, start_url, start_url))
    try:
        arrival = await _arrive(session, start_url, plan, robots)
        if plan.may_follow_links and host_folder(arrival.url) != host_folder(start_url):
            plan = plan_for(command, settings, _source_before(session, start_url, arrival.url))
            arrival = await _arrive(session, start_url, plan, robots) if plan.follows_links else arrival
    except Stopped:
        return stopped_before_it_began(session, start_url, plan)
    with open_workspace(session, arrival.url, state_file=STATE, checkpoint_file=CHECKPOINT) as space:
        try:
            report = await SiteRun(session, space, arrival, plan, robots).run()
        except LinksInstead as found:
            session.warn("no sitemap found, so links are followed; --discover sitemap prevents it")
            plan = plan_for(command, settings, UrlSource.LINKS)
            report = await SiteRun(session, space, found.start, plan, robots).run(is_second=True)
        await space.leave()
        return report


def _state_of(session: Session, url: str) -> Path:
    return session.settings.output / host_folder(url) / STATE


def _source_before(session: Session, start_url: str, url: str) -> UrlSource | None:
    """Source of URLs of the last run from the start URL, in the mirror of another URL's host."""
    found = peek(_state_of(session, url), partial(source_before, start_url=start_url))
    return None if found is None else UrlSource(found)


async def _arrive(session: Session, start_url: str, plan: Plan, robots: RobotsBook) -> ResolvedStart:
    """Resolve the start URL. A crawl asks robots.txt first, and begins at a page."""
    obeys = plan.follows_links and plan.respect_robots
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
    return arrival


class LinksInstead(Exception):
    """The site has no sitemap, so its links are to be followed, from `start` on."""

    def __init__(self, start: ResolvedStart) -> None:
        super().__init__()
        self.start = start


class SiteRun:
    """One run over one site."""

    def __init__(
        self, session: Session, space: Workspace, arrival: ResolvedStart, plan: Plan, robots: RobotsBook
    ) -> None:
        self._session = session
        self._settings = session.settings
        self._space = space
        self._arrival = arrival
        if space.tree.exists(space.file(MIRROR_INDEX)):
            # Also without --mirror-index: an outdated index would list missing files.
            plan = replace(plan, index=True)
        self._plan = plan
        if plan.own_host_only:
            self._scope: Scope = CrawlScope(
                self._settings, start_url=arrival.url, asked=arrival.asked, folder=arrival.folder
            )
        else:
            self._scope = Scope(self._settings, start_url=arrival.url, folder=arrival.folder)
        self._run, self._resumed = self._begin()
        space.enter(self._run)
        self._rules = RunRules(
            run=self._run.number,
            start=self._run.source,
            by_links=plan.follows_links,
            renews=self._settings.renews,
        )
        self._warned = set[int]()  # sitemaps that this command has warned about
        if space.was_killed or space.lost_power:
            session.pool.be_careful()
        self._listing = SitemapTable(space.state, self._run, self._rules)
        self._table, log = open_table(session, space, self._run)
        self._restore_replaced()
        self._is_first = space.state.empty  # so that no row of an earlier run has to be read again
        self._counters = Counters()
        self._files = ProgressFiles(session, space, self._run, self._listing, self._counters)
        self._links = LinkTable(space.state, self._rules)
        writer = self._writer = PageWriter(session, space, plan, log)
        fetcher = PageFetcher(session, plan, writer)
        fetcher.first = arrival.page
        fetcher.start = arrival.url if plan.follows_links else ""
        self._follow = LinkPolicy(self._settings, session.now, plan, self._scope, space.state, self._links)
        self._robots = robots.within(self._scope)
        self._placeholders = Placeholders(space.tree, space.home)
        visitor = Visitor(
            session=session,
            plan=plan,
            scope=self._scope,
            table=self._table,
            rules=self._rules,
            robots=self._robots,
            writer=writer,
            fetcher=fetcher,
            follow=self._follow,
            placeholders=self._placeholders,
            has_gone=bool(space.state.number("SELECT EXISTS (SELECT 1 FROM url WHERE gone_since IS NOT NULL)")),
        )
        self._loop = CrawlLoop(session, plan, self._scope, space, self._table, visitor, self._counters, self._files)

    def _begin(self) -> tuple[RunInfo, bool]:
        """Resume an unfinished run of the same command, or begin a new one."""
        state, mode = self._space.state, self._plan.mode
        self._check_format()
        if self._plan.markdown and not self._settings.re_download_all:
            self._check_conversion()
        renews = self._settings.renews
        if renews:
            mode += ":all" if self._settings.re_download_all else ":update"
        last = state.last_run()
        asked = (self._arrival.asked, mode, self._scope.fingerprint())
        unfinished = last is not None and not last.finished and not self._space.fresh_start
        if last is not None and unfinished and (last.source_url, last.mode, last.scope) == asked:
            return last, True
        source_url, mode, scope = asked
        started_at = self._session.now()
        return state.begin_run(source_url=source_url, mode=mode, scope=scope, started_at=started_at), False

    def _restore_replaced(self) -> None:
        """Restore copies that a killed run did not get to. Its other changes are judged when this run ends."""
        state = self._space.state
        if self._settings.accept_changes:
            with state.transaction() as db:
                accept(db)
        if state.number("SELECT EXISTS (SELECT 1 FROM replaced)"):
            from sitemirror.run.finish import restore_collapsed  # Rarely needed.

            restore_collapsed(self._session, self._space)

    def _check_format(self) -> None:
        """Refuse a folder with a mirror in another format: its files would be neither used nor accounted for.

        A run that saved nothing has noted no format.
        """
        format, before = self._plan.format, self._space.state.fact("format")
        if before not in (None, format):
            raise OutputError(
                f"{self._space.folder} holds a mirror in another format ({before}, not {format})",
                hint=f"choose another --output, or --format {before}",
            )

    def _check_conversion(self) -> None:
        """Refuses options that would make new pages look different from those that are there.

        The manifest says how those were made. One without a record of it, or without a page, allows anything.
        """
        header = _header(self._space.folder / MANIFEST)
        if header is None or header.options is None or not header.successful:
            return
        kinds = setting_types()
        before, now = list[str](), list[str]()
        for name in SHAPING:
            try:
                made_with = kinds[name].validate(header.options.get(name, kinds[name].default))
            except ValueError:  # The file may be anybody's.
                continue
            if made_with != getattr(self._settings, name):
                before.append(_spelt(name, made_with))
                now.append(_spelt(name, getattr(self._settings, name)))
        if before:
            raise OutputError(
                f"{self._space.folder} was made with {' '.join(before)}, not {' '.join(now)}",
                hint="give the same options as before, or --re-download-all to apply these to all pages, "
                "or choose another --output",
            )

    async def run(self, *, is_second: bool = False) -> MirrorReport:
        """Run to the end, however it comes, and publish the result.

        Raises `LinksInstead` if links are to be followed by a second attempt.
        """
        session = self._session
        if not is_second:
            session.emit(RunStarted(self._plan.command, self._arrival.asked, str(self._space.folder), self._resumed))
            if self._scope.folder != "/":
                session.warn(f"only URLs under {self._scope.folder} are taken; --whole-site takes all")
        session.pace.restore(_pauses(self._space.state.fact("host_pauses")))
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
        """Discover and visit, and store the pauses that hosts ask for. If the state fails, both end."""
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
        await self._loop.run()

    async def _remember_pace(self) -> None:
        """Store the pauses that hosts ask for at once: a kill must not lose them."""
        pace, state, stored = self._session.pace, self._space.state, self._session.pace.snapshot()
        while True:
            await asyncio.sleep(TICK)
            now = pace.snapshot()
            if now != stored:
                stored = now
                state.set_facts(host_pauses=json.dumps(now))
                if not self._run.discovered:
                    self._listing.save()  # Nothing else commits before the first page.

    # --- discovery ---------------------------------------------------------------------------------------------

    async def _discover(self) -> None:
        """List all URLs before the first page is fetched, so that the total is known."""
        state = self._space.state
        if not self._is_first:
            forget_gone_files(state.db, [(id, path) for id, path, _ in gone_files(state.db) if not self._has(path)])
        with state.transaction() as db:
            if self._resumed:
                resume_queue(db, self._rules)
            elif not self._is_first:
                resolve_aliases(db)
                fill_queue(db, self._rules)
        # The sitemaps may have grown since the run was interrupted, perhaps long ago.
        if not self._run.discovered or self._settings.renews:
            if self._plan.follows_links:
                self._links.start(self._arrival.asked)
            else:
                await self._read_sitemaps()
            self._run = state.set_phase(self._run, RunPhase.VISITING)
        if self._resumed:
            self._warn_again()
        self._follow.judge_again()
        # Updates check every file themselves, but none twice.
        if not self._is_first and (self._resumed or not self._settings.renews):
            self._fetch_deleted()
        self._loop.look_ahead(NOTHING if self._is_first else StateReport(state).counts())
        if not self._settings.content_rate:
            due, most = self._counters.total - self._counters.processed, self._settings.max_pages
            self._session.pool.expect(min(due, most) if most else due)
        self._files.write()  # Until here, `_progress.json` describes the previous run.
        repeats, outside = (0, 0) if self._plan.follows_links else (self._listing.repeats, self._listing.outside)
        self._session.emit(DiscoveryFinished(self._counters.total, self._counters.processed, repeats, outside))

    def _has(self, path: str) -> bool:
        return self._space.tree.exists(path)

    def _fetch_deleted(self) -> None:
        """Queue saved pages whose files were deleted: a page without a file does not count."""
        state, there, missing = self._space.state, set[int](), set[int]()
        for id, path, size in live_files(state.db):
            found = self._space.tree.file_size(path)
            if found is not None and found < min(size or 0, 1):
                self._space.tree.remove(path)  # Remnants must not stay if the page cannot be fetched.
                found = None
            (missing if found is None else there).add(id)
        if missing:
            with state.transaction() as db:
                forget_files(db, sorted(missing - there))
                fetch_whole(db, sorted(missing & there))  # Their remnants stay if they cannot be fetched.
            count = counted(len(missing), "file")
            self._session.warn(f"{count} deleted or emptied since the last run; fetched again")

    def _warn_again(self) -> None:
        """Repeat the warnings about sitemaps that were read before an interruption: they are still valid."""
        for row in self._listing.sitemaps():
            if row.error and row.id not in self._warned:
                self._session.warn(f"sitemap {row.url}: {row.error}")

    async def _read_sitemaps(self) -> None:
        from sitemirror.run.discovery import Discovery  # A crawl needs no sitemap parsers.

        self._listing.reopen()
        checkpoint = self._files.checkpoint
        discovery = Discovery(self._session, self._listing, self._scope, self._robots, checkpoint)
        try:
            await discovery.run(self._arrival)
        except (EmptySitemap, UnreadableSitemap):
            raise
        except NoSitemap as error:
            if not self._plan.may_follow_links or source_before(self._space.state.db, self._arrival.asked):
                raise
            raise LinksInstead(await self._start_with_links(error, discovery.start_page)) from None
        self._warned = discovery.warned
        check_reachable(self._session)
        if not self._is_first and not self._listing.unsound_sitemaps:
            with self._space.state.transaction() as db:
                drop_unlisted(db, self._rules)

    async def _start_with_links(self, error: NoSitemap, page: Outcome | None) -> ResolvedStart:
        """The start of a crawl in place of a run by sitemaps. Raises `NoSitemap` if that may not begin there."""
        arrival, settings = start_with_links(self._arrival, page), self._settings
        robots = self._robots.within(CrawlScope(settings, start_url=arrival.url, asked=arrival.asked))
        try:
            if plan_for(self._plan.command, settings, UrlSource.LINKS).respect_robots:
                for url in dict.fromkeys((arrival.asked, arrival.url)):
                    await check_robots(robots, url)
            check_start(arrival, settings, self._plan.command)
        except BadStart as refusal:
            message = f"{error.message}, and links cannot be followed: {refusal.message}"
            raise NoSitemap(message, hint=refusal.hint) from None
        return arrival

    # --- the end -----------------------------------------------------------------------------------------------

    async def _finish(self, status: RunStatus, trouble: SitemirrorError | None) -> MirrorReport:
        """Publish the result, also after an interruption, and as far as a full disk allows."""
        from sitemirror.run.finish import End, publish  # Loaded when there is something to publish.

        self._session.watch.begin(Phase.PUBLISHING)
        self._writer.warn_of_blanks()
        self._robots.warn()
        if status is RunStatus.OK:
            self._warn_of_idle_globs()
        self._space.state.set_facts(host_pauses=json.dumps(self._session.pace.snapshot()))
        end = End(
            session=self._session,
            space=self._space,
            plan=self._plan,
            run=self._run,
            table=self._table,
            rules=self._rules,
            listing=self._listing,
            writer=self._writer,
            placeholders=self._placeholders,
        )
        outcome = await publish(end, status)
        try:
            await in_thread(partial(self._files.write_last, outcome.counts))
        except OutputError as refusal:  # The disk is really full; the state has it all the same.
            self._session.warn(f"the checkpoint could not be written: {refusal.advice}")
        counts = outcome.counts
        elsewhere = self._failed_elsewhere() if counts.failed else 0
        unseen = self._counters.total - self._counters.processed - counts.not_reached
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
            new=outcome.new,
            changed=outcome.changed,
            unchecked=self._unchecked() or None,
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
        """Return the status of a run that reached its end: it may have failed all the same."""
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

    def _unchecked(self) -> int:
        """Number of saved pages that this run has not compared with the site."""
        settings = self._settings
        if settings.re_download_all or (settings.update and self._plan.follows_links):
            return 0
        report = StateReport(self._space.state)
        return report.unchecked(self._run.number, self._run.source, only_undated=settings.update)

    def _failed_elsewhere(self) -> int:
        """Warn about failures out of scope, found from another start URL: this run does not retry them."""
        report, refused = StateReport(self._space.state), self._scope.reason
        sources = report.failed_for_others(self._run.source)
        failed = sum(bool(refused(url, is_needed=depth == 0)) for url, *_, depth in report.failures()) if sources else 0
        if failed:
            names = dict(self._space.state.db.execute("SELECT id, url FROM start"))
            starts = " or ".join(names[source] for source in sources)
            self._session.warn(f"{counted(failed, 'failed page')} out of scope and not tried; a run for {starts} does")
        return failed
