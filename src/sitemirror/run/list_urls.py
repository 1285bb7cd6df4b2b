"""The `list` command: a site's sitemaps as an outline for people and counts for programs."""

from __future__ import annotations

from dataclasses import replace

from sitemirror.errors import SitemirrorError
from sitemirror.events import RunFinished, RunStarted
from sitemirror.frontier.scope import Scope
from sitemirror.publish.contents import OutlineHeader, OutlineSitemap, write_outline
from sitemirror.publish.report import ListReport, RunStatus, SitemapReport, SitemapStatus
from sitemirror.run.discovery import Discovery
from sitemirror.run.progress_files import Counters, ProgressFiles
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session, Stopped
from sitemirror.run.start import ResolvedStart, resolve_start
from sitemirror.run.workspace import Workspace, open_workspace
from sitemirror.store.database import RunInfo
from sitemirror.store.queue import RunRules
from sitemirror.store.reports import StateReport
from sitemirror.store.sitemap_table import SitemapRow, SitemapTable
from sitemirror.store.tables import RunPhase

_STATE_FILE = "_state-list.sqlite3"
_CHECKPOINT_FILE = "_checkpoint-list.json"


async def run_list(session: Session, start_url: str) -> ListReport:
    """Run the whole command. A failure is raised with the report attached."""
    try:
        arrival = await session.unless_stopped(resolve_start(session, start_url))
    except Stopped:
        return ListReport(
            status=RunStatus.INTERRUPTED,
            url=start_url,
            sitemaps=(),
            total_urls=0,
            duplicates=0,
            outline=None,
            elapsed_sec=round(session.elapsed, 3),
            warnings=tuple(session.warnings),
        )
    with open_workspace(session, arrival.url, state_file=_STATE_FILE, checkpoint_file=_CHECKPOINT_FILE) as space:
        report = await _Outline(session, space, arrival).run()
    if report.status in (RunStatus.OK, RunStatus.PARTIAL):  # The outline is the result, not the state.
        for suffix in ("", "-wal", "-shm"):
            space.tree.remove(space.file(_STATE_FILE + suffix))
    return report


class _Outline:
    def __init__(self, session: Session, space: Workspace, arrival: ResolvedStart) -> None:
        self._session = session
        self._space = space
        self._arrival = arrival
        self._scope = Scope(session.settings, start_url=arrival.url, folder=arrival.folder)
        self._run, self._resumed = self._begin()
        rules = RunRules(run=self._run.number, start=self._run.source, by_links=False, renews=False)
        space.enter(self._run)
        self._listing = SitemapTable(space.state, self._run, rules)
        self._notes = ProgressFiles(
            session, space, self._run, self._listing, Counters(), checkpoint_file=_CHECKPOINT_FILE
        )

    def _begin(self) -> tuple[RunInfo, bool]:
        state, scope = self._space.state, self._scope.fingerprint()
        last = state.last_run()
        asked = (self._arrival.asked, scope)
        if last is not None and not self._space.fresh_start and (last.source_url, last.scope) == asked:
            return last, True
        run = state.begin_run(source_url=self._arrival.asked, mode="list", scope=scope, started_at=self._session.now())
        return run, False

    async def run(self) -> ListReport:
        session = self._session
        session.emit(RunStarted("list", self._arrival.asked, str(self._space.folder), self._resumed))
        if self._scope.folder != "/":
            session.warn(f"only URLs under {self._scope.folder} are listed; --whole-site lists all")
        try:
            self._listing.reopen()
            discovery = Discovery(
                session, self._listing, self._scope, RobotsBook(session, self._scope), self._notes.checkpoint
            )
            await session.unless_stopped(discovery.run(self._arrival))
        except Stopped:
            self._notes.checkpoint()
            return self._report(RunStatus.INTERRUPTED, None)
        except SitemirrorError as error:
            error.report = replace(self._report(RunStatus.ERROR, None), error=error.message, hint=error.hint)
            raise
        status = RunStatus.PARTIAL if self._listing.failed_sitemaps else RunStatus.OK
        report = self._report(status, self._write())
        self._run = self._space.state.set_phase(self._run, RunPhase.FINISHED, session.now())
        session.emit(RunFinished(report.status))
        return report

    def _write(self) -> str:
        stamp = self._session.clock.now().strftime("%Y%m%d-%H%M%S")
        name = self._space.file(f"sitemap-{stamp}.md")
        rows = StateReport(self._space.state).outline(self._run.number)
        header = OutlineHeader(
            host=self._space.authority,
            source_url=self._run.source_url,
            made_at=self._session.now(),
            total_urls=self._listing.in_scope,
            duplicates=self._listing.repeats,
            complete=not self._listing.failed_sitemaps,
        )
        with self._space.tree.add(name) as file:
            write_outline(
                file,
                header,
                sitemaps=(OutlineSitemap(row.url, row.urls, row.error or "") for row in self._listing.sitemaps()),
                rows=rows,
            )
        return str(self._space.tree.root / file.rel)

    def _report(self, status: RunStatus, outline: str | None) -> ListReport:
        return ListReport(
            status=status,
            url=self._arrival.asked,
            sitemaps=tuple(map(_sitemap_report, self._listing.sitemaps())),
            total_urls=self._listing.in_scope,
            duplicates=self._listing.repeats,
            outline=outline,
            elapsed_sec=round(self._session.elapsed, 3),
            warnings=tuple(self._session.warnings),
        )


def _sitemap_report(row: SitemapRow) -> SitemapReport:
    match row.status:
        case "completed" | "cut":
            status = SitemapStatus.PARTIAL if row.error else SitemapStatus.OK
        case "failed":
            status = SitemapStatus.FAILED
        case _:
            status = SitemapStatus.NOT_READ
    return SitemapReport(url=row.url, urls=row.urls, status=status, error=row.error)
