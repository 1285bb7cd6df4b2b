"""Writes `mirror-index.json` from the state: what is on disk, where it came from, how it hangs together."""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

import orjson

from sitemirror import failpoint
from sitemirror.errors import OutputError
from sitemirror.publish.contents import write_contents
from sitemirror.publish.file_names import CONTENTS, LLMS_TEXT, MANIFEST, MIRROR_INDEX
from sitemirror.publish.llms_text import write_llms_text
from sitemirror.publish.manifest import FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow, write_manifest
from sitemirror.publish.mirror_index import (
    ErrorRow,
    FileRow,
    IndexArgs,
    IndexHeader,
    SkippedRow,
    UrlRow,
    directories,
    index_reason,
    load_page_meta,
    write_mirror_index,
)
from sitemirror.publish.report import RunStatus
from sitemirror.run.placeholders import Placeholders
from sitemirror.run.plan import Plan
from sitemirror.run.session import Session, stamp
from sitemirror.run.workspace import Workspace, force_to_disk, written
from sitemirror.settings import Links, Settings
from sitemirror.stopwatch import Stage
from sitemirror.store.database import CUT_OFF, RunInfo, State
from sitemirror.store.disappeared import UNSURE_SINCE, drop_unreached, forget_deleted, note_complete
from sitemirror.store.duplicates import find_merges, merge_pages, strays
from sitemirror.store.files import Tree
from sitemirror.store.link_targets import HtmlLinkTargets, MarkdownLinkTargets, is_unfinished
from sitemirror.store.placement import MOVED, Placement, finish_moves, start_moves
from sitemirror.store.reports import Counts, Graph, StateReport, fail_loops, resolve_aliases
from sitemirror.store.schema import ASSET, PAGE, index_for_settling
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.url_table import UrlTable
from sitemirror.text import counted


def write_index(session: Session, space: Workspace, tree: Tree, run: RunInfo) -> str:
    """The whole index; raises `OutputError` when the disk does not take it."""
    graph = Graph(space.state)
    rows = _Rows(session, space, tree, graph, run)
    folders = directories(rows.sizes())
    if rows.beside:
        session.warn(
            f"mirror-index.json tells of {space.folder} alone, not of the {counted(rows.beside, 'file')} of other "
            "hosts beside it: a mirror that has --index from the start keeps them in it"
        )
    header = IndexHeader(
        base_url=run.source_url,
        generated_at=_precise(session.clock.now()),
        target_root=space.folder,
        items_count=folders.items_count,
        run_id=run.uuid,
        args=_args(session.settings),
    )
    with tree.replace_with(space.file(MIRROR_INDEX)) as file:
        write_mirror_index(
            file,
            header,
            items=chain(folders, rows.files()),
            urls=rows.urls(),
            out_edges=graph.out_edges(),
            in_edges=graph.in_edges(),
            typed_out_edges=graph.typed_out_edges(),
            skipped=rows.skipped(),
            errors=rows.errors(),
        )
    return str(tree.root / space.file(MIRROR_INDEX))


def _args(settings: Settings) -> IndexArgs:
    rate = settings.content_rate
    return IndexArgs(
        link_depth=settings.link_depth,
        same_domain=settings.same_domain,
        delay_seconds=1 / rate if rate else 0.0,
        timeout=settings.timeout,
        user_agent=settings.user_agent,
        post_process=settings.post_process,
        re_download_all=settings.re_download_all,
        concurrency=settings.concurrency,
    )


class _Rows:
    """The state's rows as the index wants them. Paths are seen from the run's own folder, which holds all it tells of:
    what a mirror without an index put into the folders of other hosts is left out."""

    def __init__(self, session: Session, space: Workspace, tree: Tree, graph: Graph, run: RunInfo) -> None:
        self._session = session
        self._space = space
        self._tree = tree
        self._graph = graph
        self._run = run
        self._home = f"{space.home}/"
        self.beside = 0
        """Files in the folders of other hosts, when `sizes` has been read."""

    def _here(self, path: str) -> str:
        return path.removeprefix(self._home)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """(path, size) of the same files as `files` tells of."""
        for path, size in self._graph.sizes():
            if path.startswith(self._home):
                yield self._here(path), size
            else:
                self.beside += 1

    def files(self) -> Iterator[FileRow]:
        keep_hash = self._session.settings.hash
        for row in self._graph.files():
            url, path, size, digest, fetched_at, etag, last_modified, content_type, status, headers, meta, kind = row
            if not path.startswith(self._home):
                continue
            sent = orjson.loads(headers) if headers else {}
            yield FileRow(
                path=self._here(path),
                size=size,
                kind="asset" if kind == ASSET else "page",
                mtime=self._tree.mtime_seen(path) or 0.0,
                sha256=digest if keep_hash else None,
                source_url=url,
                final_url=url,
                http_status=status,
                downloaded_at=fetched_at,
                etag=etag,
                last_modified=last_modified,
                content_type=sent.get("content-type", content_type),
                content_length=sent.get("content-length"),
                page_meta=load_page_meta(meta) if meta else None,
            )

    def urls(self) -> Iterator[UrlRow]:
        for id, url, path, kind, status, headers, unchanged, fetched_at, depth, final_url in self._graph.urls():
            if not path.startswith(self._home):
                continue
            yield UrlRow(
                url=url,
                local_path=self._here(path),
                kind="page" if kind == PAGE else "asset" if kind == ASSET else "unknown",
                final_url=final_url,
                http_status=status,
                headers=orjson.loads(headers) if headers else None,
                downloaded_at=fetched_at,
                referers=self._graph.referers(id),
                depth=depth,
                redirect_chain=tuple(self._graph.hops(id)) if url != final_url else (),
                not_modified=bool(unchanged),
            )

    def skipped(self) -> Iterator[SkippedRow]:
        for at, url, cause, found_on, way in self._graph.skipped():
            known, detail = index_reason(cause)
            yield SkippedRow(
                ts=at or _precise(self._session.clock.now()),
                url=url,
                reason=known,
                found_on=found_on or self._run.source_url,
                detail=(cause.text if cause else "") + way if way else detail,
            )

    def errors(self) -> Iterator[ErrorRow]:
        for at, url, kind, reason in self._graph.errors():
            stage = "asset-download" if kind == ASSET else "fetch"
            yield ErrorRow(ts=at or _precise(self._session.clock.now()), url=url, stage=stage, error=reason)


def _precise(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


_NAMED_STRAYS: Final = 10
"""Some sites point every canonical at their home page; naming each page would drown all else."""

KEPT_AT_MOST: Final = timedelta(days=7)
"""Until then an old copy makes a run `partial`: it may be repaired. Later it is how the site is, and only a warning."""


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
    ledger: UrlTable,
    listing: SitemapTable,
    status: RunStatus,
) -> Published:
    """Ends a run: `status` is OK when everything in the queue was visited."""
    tree = space.reserve  # The manifest is written even when no page may be.
    resolve_aliases(space.state)
    fail_loops(space.state, session.now())
    survey = StateReport(space.state)
    unread = survey.unread() if plan.follows_links else 0
    complete = status is RunStatus.OK and not survey.counts().not_reached and not unread
    if plan.html and is_unfinished(space.state):
        await _localize(session, space.state, tree)
    if complete:  # Before that, a page yet to come could change the outcome.
        _mark_gone(session, space.state, plan, run, listing, survey)
        with session.watch.working(Stage.PUBLISHING):
            _settle(session, space.state, tree)
        failpoint.reached("settled")
    forget_deleted(space.state, tree)  # of what has been gone since this run
    resolve_aliases(space.state)
    survey = StateReport(space.state)
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
        Placeholders(tree, space.home).settle(survey, counts, ledger)
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


def _mark_gone(
    session: Session, state: State, plan: Plan, run: RunInfo, listing: SitemapTable, survey: StateReport
) -> None:
    """Marks as gone what is named no more, where all that names anything has been read."""
    renews = session.settings.renews
    if survey.has_unknown_links() if plan.follows_links else listing.unsound_sitemaps:
        return
    if plan.follows_links and renews:
        drop_unreached(state, run)
    elif renews and plan.html:
        listing.drop_unlinked()
    if renews or not plan.follows_links:
        listing.mark_gone(session.now())
    note_complete(state, run, renews=renews)


async def _localize(session: Session, state: State, tree: Tree) -> None:
    from sitemirror.run.relink_html import localize

    await localize(tree, HtmlLinkTargets(state), session.pool, session.watch)


async def _link(session: Session, state: State, tree: Tree, plan: Plan) -> None:
    """Leads the links of Markdown where --links says: back to the site, too, if an earlier run made them local.

    When a run is complete: before that, paths may move yet.
    """
    pages = MarkdownLinkTargets(state)
    if plan.markdown and session.settings.links is Links.LOCAL:
        from sitemirror.run.relink_markdown import link_locally

        await link_locally(tree, pages, session.watch)
    elif plan.markdown and pages.has_local_links():
        from sitemirror.run.relink_markdown import link_to_the_site

        await link_to_the_site(tree, pages, session.watch)
    for note in (MOVED, CUT_OFF):
        if state.get(note):
            state.put(note, False)


async def _lead_on(session: Session, state: State, tree: Tree, plan: Plan) -> None:
    """A run that ends early has changed what it came to: no link may lead to a file that it has moved."""
    try:
        if plan.html and session.settings.post_process:
            from sitemirror.run import relink_html

            relink_html.lead_on(tree, HtmlLinkTargets(state), session.watch)
        if plan.markdown and state.get(MOVED) and (pages := MarkdownLinkTargets(state)).has_local_links():
            from sitemirror.run import relink_markdown

            await relink_markdown.lead_on(tree, pages, session.settings.links, session.watch)
            state.put(MOVED, False)
    except OutputError as error:  # The disk may be why the run ended.
        session.warn(f"some links may lead to files that are gone: {error.message}; the same command leads them on")


def _tell_old_copies(session: Session, survey: StateReport, copies: int) -> int:
    """Warns of so many copies that had to stay; gives the number of those that make the run `partial`."""
    redirected, others = survey.kept_since(stamp(session.clock.now() - KEPT_AT_MOST))
    if redirected:
        session.warn(
            f"{counted(redirected, 'page')} kept as saved, though redirected elsewhere for over a week; "
            "--re-download-all takes where they lead"
        )
    if others:
        session.warn(
            f"{counted(others, 'page')} kept as saved, though not brought up to date for over a week: "
            "refresh_error in the manifest has the reason for each"
        )
    if old := copies - redirected - others:
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
    listing: SitemapTable
    survey: StateReport
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
            if self.run.mode.split(":")[1] != "html":
                await self._llms_text(header)
        except OutputError as error:
            self.session.warn(f"the contents could not be written: {error.advice}")
            return None
        return str(self.tree.root / name)

    async def _llms_text(self, header: ManifestHeader) -> None:
        rows, read = self.survey.contents(), self.tree.read
        async with written(self.tree.replace_with(self.space.file(LLMS_TEXT)), self.session.watch) as file:
            write_llms_text(file, header, host=self.space.authority, rows=rows, here=self._here, read=read)

    def mirror_index(self) -> str | None:

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
