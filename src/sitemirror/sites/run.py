"""Run many sites at once: as many as fit, never two on one host or folder, with one report of all."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations
from pathlib import Path
from typing import Final

from sitemirror import urls
from sitemirror.api import Parts, Run, SiteRun
from sitemirror.errors import FolderLocked, SitemirrorError, describe_unexpected
from sitemirror.events import Listener, RunFinished, SiteFinished, Warned
from sitemirror.fetch.addresses import SharedResolver
from sitemirror.fetch.identity import Trust
from sitemirror.fetch.pace import LastRequests, SystemClock
from sitemirror.frontier.scope import registrable_domain
from sitemirror.publish.report import ErrorReport, MirrorReport, RunStatus, SitesReport
from sitemirror.settings import COMMAND_LINE_ONLY, Settings
from sitemirror.sites.capacity import Capacity, open_files
from sitemirror.sites.events import CombinedEvents, SiteEvents
from sitemirror.store.paths import host_folder
from sitemirror.workers.pool import Pool

COMMON: Final = COMMAND_LINE_ONLY | {"workers", "max_connections"}
"""Settings for all sites together."""

TRIES: Final = 3
"""Attempts for a site whose folder another one was writing to."""

APART: Final = 0.005
"""Seconds between the starts of two sites: a hundred in step would need the processor at the same moments."""

NAMED: Final = 5
"""Failed sites that are named in one sentence."""

SiteReport = MirrorReport | ErrorReport


@dataclass(frozen=True, slots=True)
class Site:
    """A site and its settings."""

    url: str
    settings: Settings
    command: str = ""
    """mirror or crawl, if it is not that of the run."""


@dataclass(eq=False)
class _Visit:
    """A site and its progress in the run."""

    site: Site
    events: SiteEvents
    tries: int = 0
    after: set[_Visit] = field(default_factory=set)
    """Sites that have to end first."""
    report: SiteReport | None = None
    redirected_to: Path | None = None
    """Folder of its redirects, if another site was using it."""

    @property
    def homes(self) -> set[Path]:
        """Its folders: that of its URL, and that of its redirects."""
        named = Path(self.events.folder).absolute() if self.events.folder else None
        return {home for home in (self._home, named, self.redirected_to) if home is not None}

    @cached_property
    def _home(self) -> Path:
        return self.site.settings.output.absolute() / host_folder(self.site.url)

    @cached_property
    def host(self) -> str:
        """Host of its requests. Two sites on one host would exceed the rate of either."""
        return urls.parts(self.site.url).authority

    @cached_property
    def domain(self) -> str:
        """Registrable domain, common to sites that list each other's pages."""
        return registrable_domain(urls.parts(self.site.url).host)


class SitesRun(Run[SitesReport]):
    """A run over many sites. `await run` gives one report of all; events are those of one large site."""

    def __init__(
        self,
        command: str,
        job: Callable[..., Awaitable[MirrorReport]],
        sites: list[Site],
        settings: Settings,
        listener: Listener | None,
        parts: Parts,
    ) -> None:
        super().__init__(listener)
        self._command = command
        self._job = job
        self._settings = settings
        self._clock = parts.clock or SystemClock()
        self._resolver = parts.resolver
        self._room = asyncio.Semaphore(settings.max_connections)
        self._asked = LastRequests()
        self._capacity = Capacity(settings.max_connections, open_files())
        self._combined = CombinedEvents(self._emit, len(sites))
        self._visits = [_Visit(site, SiteEvents(self._combined, site.url)) for site in sites]
        self._entangled: set[str] = set()  # domains whose sites share folders: one at a time
        self._waiting = list(self._visits)
        self._going: dict[asyncio.Task[SiteReport | None], _Visit] = {}
        self._runs: set[SiteRun[MirrorReport]] = set()
        self._trusted: dict[Path | None, Trust] = {}
        self._warnings: list[str] = []
        self._counted: dict[str, list[MirrorReport]] = {}  # by folder: parts of a host share one
        self._done = 0

    def stop(self) -> None:
        """End all sites soon, and start no other."""
        super().stop()
        for run in self._runs:
            run.stop()

    async def _work(self) -> SitesReport:
        started = self._clock.monotonic()
        pool = Pool(workers=self._settings.workers, warn=self._warn)
        # Sites of one host run one after the other.
        rates = {visit.host: visit.site.settings.content_rate for visit in self._visits}
        pool.expect_rate(sum(rates.values()))
        lent = None if self._resolver is None else SharedResolver(self._resolver)
        try:
            while self._begin(pool, lent):
                ended, _ = await asyncio.wait(self._going, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    self._end(self._going.pop(task), task.result())
        finally:
            for task in self._going:
                task.cancel()
            await asyncio.gather(*self._going, return_exceptions=True)
            await pool.close()
            if self._resolver is not None:
                await self._resolver.close()
        report = self._report(self._clock.monotonic() - started)
        self._emit(RunFinished(report.status))
        return report

    # --- one site ----------------------------------------------------------------------------------------------

    def _begin(self, pool: Pool, resolver: SharedResolver | None) -> bool:
        """Start every site that fits. False if none is running."""
        if not self._stop.is_set():
            going = set(self._going.values())
            in_use = {place for visit in going for place in self._places(visit)}
            waiting, self._waiting = self._waiting, []
            begun = 0
            for visit in waiting:
                apart = not in_use.isdisjoint(self._places(visit)) or not going.isdisjoint(visit.after)
                if apart or not self._capacity.acquire(visit.site.settings.concurrency):
                    self._waiting.append(visit)
                    continue
                going.add(visit)
                in_use.update(self._places(visit))
                visit.tries += 1
                self._going[asyncio.create_task(self._mirror(visit, begun * APART, pool, resolver))] = visit
                begun += 1
        return bool(self._going)

    def _places(self, visit: _Visit) -> tuple[object, ...]:
        """The resources that no two running sites may share."""
        return *visit.homes, visit.host, *([("domain", visit.domain)] if visit.domain in self._entangled else [])

    async def _mirror(
        self, visit: _Visit, wait: float, pool: Pool, resolver: SharedResolver | None
    ) -> SiteReport | None:
        """Run one site. None if another run holds its folder. A failure never affects other sites."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), wait)
        if self._stop.is_set():
            return None
        site, begun = visit.site, self._clock.monotonic()
        run = None
        try:
            trust = self._trust(site.settings.ca_file)
            parts = Parts(self._clock, resolver, pool=pool, room=self._room, asked=self._asked, trust=trust)
            job = partial(self._job, command=site.command or self._command)
            run = SiteRun(job, site.url, site.settings, visit.events, parts)
            self._runs.add(run)
            return await run
        except SitemirrorError as error:
            if isinstance(error, FolderLocked) and error.pid == os.getpid() and self._postpone(visit, error.folder):
                return None
            if isinstance(error.report, MirrorReport):
                return error.report
            message, hint = error.message, error.hint
        except Exception as error:
            message = describe_unexpected(error)
            hint = "this is a bug in sitemirror; mirror this site alone with --verbose for the traceback"
        finally:
            if run is not None:
                self._runs.discard(run)
        elapsed = round(self._clock.monotonic() - begun, 3)
        return ErrorReport(command=self._command, url=site.url, error=message, hint=hint, elapsed_sec=elapsed)

    def _trust(self, ca_file: Path | None) -> Trust:
        """Return the certificates to trust, read once for all sites with the same file."""
        if ca_file not in self._trusted:
            self._trusted[ca_file] = Trust(ca_file)
        return self._trusted[ca_file]

    def _postpone(self, visit: _Visit, folder: Path) -> bool:
        """Postpone a site until those have ended that may hold its folders. False if it has no tries left."""
        others = {other for other in self._going.values() if other is not visit}
        folder = folder.absolute()
        is_home = (
            not visit.events.folder or folder in visit.homes
        )  # Else it has its folder, and lists pages of another site.
        if is_home and any(folder in other.homes for other in others):
            visit.redirected_to = folder  # These two never run at once any more; it waits for no other site.
            return visit.tries < TRIES
        visit.after = {other for other in others if other.domain == visit.domain} or others
        self._entangled.add(visit.domain)
        return visit.tries < TRIES  # The other site may have ended since.

    def _end(self, visit: _Visit, report: SiteReport | None) -> None:
        self._capacity.release(visit.site.settings.concurrency)
        if report is None:
            self._waiting.append(visit)
            return
        visit.report = report
        if isinstance(report, MirrorReport):
            self._counted.setdefault(report.output_dir, []).append(report)
        visit.events.end()
        self._done += 1
        self._emit(SiteFinished(visit.site.url, report.status, self._done, len(self._visits), report.error or ""))

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._emit(Warned(message))

    # --- the end -----------------------------------------------------------------------------------------------

    def _report(self, elapsed: float) -> SitesReport:
        reports = [visit.report or self._not_begun(visit) for visit in self._visits]
        ended = {status: sum(report.status is status for report in reports) for status in RunStatus}
        parted = not any(visit.site.settings.whole_site for visit in self._visits)
        pages = [_of_folder(parts) if parted else parts[-1] for parts in self._counted.values()]
        worst = (RunStatus.INTERRUPTED, RunStatus.ERROR, RunStatus.PARTIAL)
        status = next((status for status in worst if ended[status]), RunStatus.OK)
        failed = [report.url for report in reports if report.status is RunStatus.ERROR]
        is_error = status is RunStatus.ERROR
        return SitesReport(
            status=status,
            command=self._command,
            total_sites=len(reports),
            sites_ok=ended[RunStatus.OK],
            sites_partial=ended[RunStatus.PARTIAL],
            sites_interrupted=ended[RunStatus.INTERRUPTED],
            sites_failed=ended[RunStatus.ERROR],
            total_pages=sum(report.total_pages for report in pages),
            successful=sum(report.successful for report in pages),
            failed=sum(report.failed for report in pages),
            skipped=sum(report.skipped for report in pages),
            duplicates=sum(report.duplicates for report in pages),
            not_reached=sum(report.not_reached for report in pages),
            new=sum(report.new for report in reports if isinstance(report, MirrorReport)),  # of each run by itself
            changed=sum(report.changed for report in reports if isinstance(report, MirrorReport)),
            unchecked=sum(report.unchecked or 0 for report in reports if isinstance(report, MirrorReport)) or None,
            gone=sum(report.gone or 0 for report in reports if isinstance(report, MirrorReport)) or None,
            assets=sum(report.assets or 0 for report in pages) or None,
            refresh_failed=sum(report.refresh_failed or 0 for report in pages) or None,
            out_of_scope=sum(report.out_of_scope or 0 for report in pages) or None,
            failed_permanently=sum(report.failed_permanently or 0 for report in pages) or None,
            elapsed_sec=round(elapsed, 3),
            sites=tuple(reports),
            warnings=tuple(self._warnings),
            error=_sentence(failed, len(reports)) if is_error else None,
            hint="see `sites` in the report; run the same command to retry them" if is_error else None,
        )

    def _not_begun(self, visit: _Visit) -> MirrorReport:
        return MirrorReport(
            status=RunStatus.INTERRUPTED,
            command=self._command,
            url=visit.site.url,
            output_dir=str(visit.site.settings.output / host_folder(visit.site.url)),
            total_pages=0,
            successful=0,
            failed=0,
            skipped=0,
            duplicates=0,
            not_reached=0,
            elapsed_sec=0.0,
            manifest=None,
            index=None,
        )


def _of_folder(parts: list[MirrorReport]) -> MirrorReport:
    """One report of a folder, from those of its parts in the order of their ends.

    The last one has all counts, but counts pages that an earlier part did not reach as out of its own scope.
    """
    *earlier, last = parts
    folders = [part.url.rpartition("/")[0] + "/" for part in parts]
    apart = not any(one.startswith(other) for one, other in permutations(folders, 2))
    if not apart or last.status not in (RunStatus.OK, RunStatus.PARTIAL):
        return last
    not_reached = sum(part.not_reached for part in earlier)
    return replace(
        last,
        not_reached=last.not_reached + not_reached,
        skipped=max(0, last.skipped - not_reached),
        out_of_scope=max(0, (last.out_of_scope or 0) - not_reached) or None,
    )


def _sentence(failed: list[str], sites: int) -> str:
    more = f" and {len(failed) - NAMED:,} more" if len(failed) > NAMED else ""
    return f"{len(failed):,} of {sites:,} sites failed: {', '.join(failed[:NAMED])}{more}"
