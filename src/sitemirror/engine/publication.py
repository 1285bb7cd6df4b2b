"""Ends a run: settles which pages are one and which path each has, then writes manifest, contents and mirror index."""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from sitemirror import failpoint
from sitemirror.engine.absences import Absences
from sitemirror.engine.durability import force_to_disk, written
from sitemirror.engine.plan import Plan
from sitemirror.engine.session import Session, stamp
from sitemirror.engine.workspace import Workspace
from sitemirror.errors import OutputError
from sitemirror.publish.contents import write_contents
from sitemirror.publish.file_names import CONTENTS, MANIFEST
from sitemirror.publish.manifest import FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow, write_manifest
from sitemirror.publish.report import RunStatus
from sitemirror.settings import Links
from sitemirror.stopwatch import Stage
from sitemirror.store.files import Tree
from sitemirror.store.gone import forget_deleted
from sitemirror.store.ledger import Ledger
from sitemirror.store.listing import Listing
from sitemirror.store.localities import Localities, is_unfinished
from sitemirror.store.moves import MOVED, finish_moves, start_moves
from sitemirror.store.pages_by_url import PagesByUrl
from sitemirror.store.placement import Placement
from sitemirror.store.reach import drop_unreached
from sitemirror.store.replaced import UNSURE_SINCE
from sitemirror.store.schema import index_for_settling
from sitemirror.store.state import CUT_OFF, RunInfo, State
from sitemirror.store.survey import Counts, Survey
from sitemirror.store.twins import find_merges, merge_pages, strays
from sitemirror.text import counted

_NAMED_STRAYS: Final = 10
"""Some sites point every canonical at their home page; naming each page would drown all else."""

FOR_NOW_AT_MOST: Final = timedelta(days=7)
"""Until then somebody may yet mend it, and has to know; later it is how the site is, and no run is `partial` for it."""


@dataclass(frozen=True, slots=True)
class Published:
    """What was written, and what it says. A path is None where the disk did not take the file."""

    counts: Counts
    manifest: str | None
    index: str | None
    mirror_index: str | None
    incomplete: bool  # a sitemap or a page's links could not be read, or an old copy had to stay
    gone: int  # since this run


async def publish(
    session: Session,
    space: Workspace,
    plan: Plan,
    run: RunInfo,
    ledger: Ledger,
    listing: Listing,
    status: RunStatus,
) -> Published:
    """Ends a run: `status` is OK when everything in the queue was visited."""
    tree = space.reserve  # The manifest is written even when no page may be.
    survey = Survey(space.state)
    survey.fail_loops(session.now())
    unread = survey.unread() if plan.follows_links else 0
    complete = status is RunStatus.OK and not survey.counts().not_reached and not unread
    if plan.html and is_unfinished(space.state):
        await _localize(session, space.state, tree)
    if complete:  # Before that, a page yet to come could change the outcome.
        _let_go(session, space.state, plan, run, listing, survey)
        with session.watch.working(Stage.PUBLISHING):
            _settle(session, space.state, tree)
        failpoint.reached("settled")
    forget_deleted(space.state, tree)  # of what has been gone since this run
    survey = Survey(space.state)
    if plan.html and session.settings.post_process and status is RunStatus.OK:
        await _localize(session, space.state, tree)
    await (_link if complete else _lead_on)(session, space.state, tree, plan)
    failpoint.reached("linked")
    try:
        await force_to_disk(tree, ledger, session.watch)  # The manifest vouches for what is there.
    except OutputError as error:
        session.warn(f"the last pages may not survive a power cut: {error.advice}")
    counts = survey.counts()
    try:
        Absences(tree, space.home).settle(survey, counts, ledger)
    except OutputError as error:  # The manifest matters more, and the next run does the rest.
        session.warn(f"some placeholders could not be written: {error.advice}")
    old = _tell_old_copies(session, survey, counts.refresh_failed) if counts.refresh_failed else 0
    if complete:
        run = replace(run, finished=True)
        with space.state.transaction():
            Placement(space.state, tree).mark_published()
            space.state.save_run(run)
            if space.state.get(UNSURE_SINCE):
                space.state.put(UNSURE_SINCE, None)
        failpoint.reached("run-finished")
    whole = complete and not listing.failed_sitemaps
    writer = _Writer(session, space, tree, run, listing, survey, counts, whole)
    header = writer.header()
    manifest, contents = await asyncio.gather(writer.manifest(header), writer.index(header))  # One wait for the disk.
    return Published(
        counts,
        manifest,
        contents,
        writer.mirror_index() if plan.index else None,
        incomplete=bool(listing.failed_sitemaps or old or unread),
        gone=survey.gone_since(run.started_at) if counts.gone else 0,
    )


def _let_go(session: Session, state: State, plan: Plan, run: RunInfo, listing: Listing, survey: Survey) -> None:
    """Marks as gone what is named no more, where all that names anything has been read."""
    renews = session.settings.renews
    if plan.follows_links:
        if not renews or survey.has_unknown_links():
            return
        drop_unreached(state, run)
    elif listing.unsound_sitemaps:
        return
    elif renews and plan.html:
        listing.drop_unlinked()
    listing.mark_gone(session.now())


async def _localize(session: Session, state: State, tree: Tree) -> None:
    from sitemirror.engine.localization import localize

    await localize(tree, Localities(state), session.pool, session.watch)


async def _link(session: Session, state: State, tree: Tree, plan: Plan) -> None:
    """Leads the links of Markdown where --links says: back to the site, too, if an earlier run made them local.

    When a run is complete: before that, paths may move yet.
    """
    pages = PagesByUrl(state)
    if plan.markdown and session.settings.links is Links.LOCAL:
        from sitemirror.engine.local_links import link_locally

        await link_locally(tree, pages, session.watch)
    elif plan.markdown and pages.has_local_links():
        from sitemirror.engine.local_links import link_to_the_site

        await link_to_the_site(tree, pages, session.watch)
    for note in (MOVED, CUT_OFF):
        if state.get(note):
            state.put(note, False)


async def _lead_on(session: Session, state: State, tree: Tree, plan: Plan) -> None:
    """A run that ends early has changed what it came to: no link may lead to a file that it has moved."""
    try:
        if plan.html and session.settings.post_process:
            from sitemirror.engine import localization

            localization.lead_on(tree, Localities(state), session.watch)
        if plan.markdown and state.get(MOVED) and (pages := PagesByUrl(state)).has_local_links():
            from sitemirror.engine import local_links

            await local_links.lead_on(tree, pages, session.settings.links, session.watch)
            state.put(MOVED, False)
    except OutputError as error:  # The disk may be why the run ended.
        session.warn(f"some links may lead to files that are gone: {error.message}; the same command leads them on")


def _tell_old_copies(session: Session, survey: Survey, copies: int) -> int:
    """Warns of copies that had to stay, so many; gives the number of those that somebody may yet mend."""
    long_since = survey.redirected_since(stamp(session.clock.now() - FOR_NOW_AT_MOST))
    if long_since:
        session.warn(
            f"{counted(long_since, 'page')} kept as saved, though redirected elsewhere for over a week; "
            "--re-download-all takes where they lead"
        )
    if old := copies - long_since:
        session.warn(
            f"{counted(old, 'page')} could not be brought up to date; old copies are kept: "
            "refresh_error in the manifest has the reason for each, and the next --update asks again"
        )
    return old


def _settle(session: Session, state: State, tree: Tree) -> None:
    """Merges twins, then moves pages to their paths: who owns a path depends on who is a page. Survives any kill."""
    index_for_settling(state.db)
    with state.transaction():
        start_moves(state, [move for merge in list(find_merges(state)) for move in merge_pages(state, merge)])
    finish_moves(state, tree)
    placement = Placement(state, tree)
    with state.transaction():
        moves = placement.moves()
        start_moves(state, moves)
    finish_moves(state, tree)
    for path in placement.orphans() if moves else ():
        tree.remove(path)
    for url, path in placement.collisions():
        session.warn(f"path collision: {url} is saved as {path}, as another URL has the path it maps to")
    _tell_strays(session, state)


def _tell_strays(session: Session, state: State) -> None:
    count = 0
    for url, canonical in strays(state):
        count += 1
        if count <= _NAMED_STRAYS:
            session.warn(f"{url} calls {canonical} its canonical URL, but that is a different page: both are kept")
    if count > _NAMED_STRAYS:
        session.warn(f"{count - _NAMED_STRAYS:,} more pages call a different page their canonical URL; all are kept")


@dataclass(frozen=True, slots=True)
class _Writer:
    session: Session
    space: Workspace
    tree: Tree
    run: RunInfo
    listing: Listing
    survey: Survey
    counts: Counts
    complete: bool

    def header(self) -> ManifestHeader:
        """What stands above both, so that they agree."""
        sitemaps = tuple(row.url for row in self.listing.sitemaps())
        return ManifestHeader(
            source_url=self.run.source_url,
            sitemap_url=sitemaps[0] if sitemaps else None,
            sitemaps=sitemaps,
            crawl_started=self.run.started_at,
            crawl_completed=self.session.now() if self.complete else None,
            complete=self.complete,
            total_pages=self.counts.total,
            successful=self.counts.saved,
            failed=self.counts.failed,
            skipped=self.counts.skipped,
            duplicates=self.listing.repeats + self.counts.aliases_listed,
            not_reached_count=self.counts.not_reached,
        )

    async def manifest(self, header: ManifestHeader) -> str | None:
        name, survey, counts = self.space.file(MANIFEST), self.survey, self.counts
        skips = survey.skips() if counts.skipped else ()
        gone = survey.gone() if counts.gone else ()
        try:
            async with written(self.tree.replace_with(name), self.session.watch) as file:
                write_manifest(
                    file,
                    header,
                    pages=map(self._page, survey.pages()),
                    failures=self._failures(),
                    skips=(
                        SkipRow(
                            url=url,
                            reason=reason,
                            content_type=content_type,
                            size_bytes=size,
                            depth=self._depth(depth),
                        )
                        for url, reason, _, _, content_type, size, _, _, depth in skips
                    ),
                    gone=(
                        GoneRow(url=url, path=self._here(path) if path else None, since=since)
                        for url, path, since in gone
                    ),
                    not_reached=survey.not_reached() if counts.not_reached else (),
                )
        except OutputError as error:
            self.session.warn(f"the manifest could not be written: {error.advice}")
            return None
        return str(self.tree.root / name)

    async def index(self, header: ManifestHeader) -> str | None:
        name = self.space.file(CONTENTS)
        try:
            async with written(self.tree.replace_with(name), self.session.watch) as file:
                write_contents(
                    file,
                    header,
                    host=self.space.authority,
                    rows=self.survey.contents(),
                    here=self._here,
                    failures=self._failures(),
                    assets=self.counts.assets,
                )
        except OutputError as error:
            self.session.warn(f"the contents could not be written: {error.advice}")
            return None
        return str(self.tree.root / name)

    def mirror_index(self) -> str | None:
        from sitemirror.engine.index import write_index

        try:
            with self.session.watch.working(Stage.PUBLISHING):
                return write_index(self.session, self.space, self.tree, self.run)
        except OutputError as error:
            self.session.warn(f"the mirror index could not be written: {error.advice}")
            return None

    def _failures(self) -> Iterator[FailureRow]:
        failures = self.survey.failures() if self.counts.failed else ()
        for url, reason, attempts, at, _, _, final_url, redirects, depth in failures:
            yield FailureRow(
                url=url,
                error=reason,
                attempts=attempts,
                at=at,
                final_url=final_url,
                redirects=redirects,
                depth=self._depth(depth),
            )

    def _page(self, row: dict[str, Any]) -> PageRow:
        alternates = json.loads(row["alternates"]) if row["alternates"] else ()
        return PageRow(
            url=row["url"],
            path=self._here(row["path"]),
            size_bytes=row["size"] if row["sha256"] else None,
            fetched_at=row["fetched_at"] or None,
            changed_at=row["changed_at"] or None,
            title=row["title"],
            sha256=row["sha256"],
            lastmod=row["lastmod"],
            etag=row["etag"],
            last_modified=row["last_modified"],
            content_type=row["content_type"],
            final_url=row["url"],
            canonical_url=row["canonical"],
            aliases=tuple(json.loads(row["aliases"])) if row["aliases"] != "[]" else (),
            alternates=tuple((entry["lang"], entry["href"]) for entry in alternates),
            refresh_error=row["error"],
            depth=self._depth(row["depth"]),
            html_path=self._here(row["html_path"]) if row["html_path"] and row["html_path"] != row["path"] else None,
            preferred_path=self._here(row["wanted"]) if row["wanted"] != row["path"] else None,
            hidden_texts=row["hidden_texts"] or None,
        )

    def _depth(self, depth: int | None) -> int | None:
        """How deep a URL is, where links are what counts: what a sitemap lists is at no depth."""
        return depth if self.run.mode.startswith("links") else None

    def _here(self, path: str) -> str:
        """A path as seen from the run's own folder."""
        home = self.space.home + "/"
        return path[len(home) :] if path.startswith(home) else posixpath.join("..", path)
