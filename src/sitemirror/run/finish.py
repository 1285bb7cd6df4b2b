"""The end of a run: final decisions, relinking, manifest, contents and mirror index."""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any, Final

import orjson

from sitemirror import failpoint
from sitemirror.errors import OutputError
from sitemirror.events import PageFailed, PageGone
from sitemirror.frontier.traps import ParamRules
from sitemirror.publish.contents import write_contents
from sitemirror.publish.file_names import CONTENTS, FAILED_LOG, LLMS_TEXT, MANIFEST, MIRROR_INDEX
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
from sitemirror.reasons import Reason, format_reason, text_of
from sitemirror.run.page_writer import PageWriter
from sitemirror.run.placeholders import Placeholders, failure_text
from sitemirror.run.plan import Plan
from sitemirror.run.session import Session, stamp
from sitemirror.run.workspace import Workspace, force_to_disk, written
from sitemirror.settings import Links, Settings
from sitemirror.stopwatch import Stage
from sitemirror.store.database import RunInfo, State
from sitemirror.store.duplicates import strays
from sitemirror.store.ending import RunEnd, decide_end, explain_copies, fail_loops, resolve_aliases
from sitemirror.store.files import Tree
from sitemirror.store.journal import execute
from sitemirror.store.link_targets import HtmlLinkTargets, MarkdownLinkTargets, is_unfinished
from sitemirror.store.path_allocation import collisions, mark_published
from sitemirror.store.queue import RunRules, drop_unreached
from sitemirror.store.replaced import purge, undo_collapse
from sitemirror.store.reports import Counts, LinkGraph, StateReport
from sitemirror.store.sitemap_table import SitemapTable
from sitemirror.store.tables import ASSET, PAGE, RunPhase
from sitemirror.store.url_table import UrlTable
from sitemirror.text import counted


def write_index(session: Session, space: Workspace, tree: Tree, run: RunInfo) -> str:
    """Write the whole index. Raises `OutputError` if the disk refuses it."""
    graph = LinkGraph(space.state)
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
    """The state's rows as the index needs them, with paths relative to the run's own folder.

    Files in the folders of other hosts are left out: a mirror without an index may have put them there.
    """

    def __init__(self, session: Session, space: Workspace, tree: Tree, graph: LinkGraph, run: RunInfo) -> None:
        self._session = session
        self._space = space
        self._tree = tree
        self._graph = graph
        self._run = run
        self._home = f"{space.home}/"
        self.beside = 0
        """Number of files in the folders of other hosts, once `sizes` was read."""

    def _here(self, path: str) -> str:
        return path.removeprefix(self._home)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Yield (path, size) of the files in `files`."""
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
            reason, detail = index_reason(cause)
            yield SkippedRow(
                ts=at or _precise(self._session.clock.now()),
                url=url,
                reason=reason,
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
"""Some sites point every canonical at their home page; naming each page would flood the log."""

KEPT_AT_MOST: Final = timedelta(days=7)
"""Age up to which an old copy makes a run `partial`. An older one is only a warning: the site stays that way."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published files and their content. A path is None if the disk refused the file."""

    counts: Counts
    manifest: str | None
    index: str | None
    mirror_index: str | None
    incomplete: bool  # a sitemap or a page's links could not be read, or an old copy was kept
    gone: int  # since this run
    new: int
    changed: int


@dataclass(frozen=True, slots=True)
class End:
    """All that ends a run: its folder, rows and open writers."""

    session: Session
    space: Workspace
    plan: Plan
    run: RunInfo
    table: UrlTable
    rules: RunRules
    listing: SitemapTable
    writer: PageWriter
    placeholders: Placeholders


async def publish(end: End, status: RunStatus) -> Published:
    """End a run: `status` is OK if everything in the queue was visited."""
    session, space, plan, run = end.session, end.space, end.plan, end.run
    state, tree = space.state, space.reserve  # The manifest is written even when no page may be.
    end.writer.flush()
    restored, is_undone = 0, True
    try:
        restored = restore_collapsed(session, space)
    except OutputError as error:  # The next run does it before anything else.
        is_undone = False
        session.warn(f"some copies could not be restored: {error.advice}")
    report = StateReport(state)
    unread = report.unread() if plan.follows_links else 0
    with state.transaction() as db:
        resolve_aliases(db)
    if plan.html and is_unfinished(state):  # before any path changes
        await _relink_html(session, state, tree)
    complete = status is RunStatus.OK and is_undone and not report.counts().not_reached and not unread
    with session.watch.working(Stage.PUBLISHING):
        _decide(end, tree, complete=complete)
    report = StateReport(state)
    if plan.html and session.settings.post_process and (complete or status is RunStatus.OK):
        await _relink_html(session, state, tree)
    if complete:
        await _relink_markdown(session, state, tree, plan)
    failpoint.reached("linked")
    _log_failures(end)
    try:
        await force_to_disk(tree, end.table, session.watch)  # The manifest claims that they exist.
    except OutputError as error:
        session.warn(f"the last pages may not survive a power cut: {error.advice}")
    counts = report.counts()
    try:
        end.placeholders.update(report, counts, run.number)
    except OutputError as error:  # The manifest matters more; the next run resumes this.
        session.warn(f"some placeholders could not be written: {error.advice}")
    old = _warn_of_old_copies(session, report, counts.refresh_failed, restored) if counts.refresh_failed else 0
    if complete:
        with state.transaction() as db:
            purge(db)
            mark_published(db)
            run = state.set_phase(run, RunPhase.FINISHED, session.now())
        failpoint.reached("run-finished")
    whole = complete and not end.listing.failed_sitemaps
    writer = _Writer(session, space, tree, run, end.listing, report, counts, whole)
    header = replace(writer.header(), command=plan.command, options=session.settings.to_remember())
    for url, path, since in report.gone() if counts.gone else ():
        if since is not None and since >= run.started_at:
            session.emit(PageGone(url, path or ""))
    manifest, contents = await asyncio.gather(writer.manifest(header), writer.contents(header))  # One sync for all.
    changes = report.changes(run.number)
    return Published(
        counts,
        manifest,
        contents,
        writer.mirror_index() if plan.index else None,
        incomplete=bool(end.listing.failed_sitemaps or old or unread or not is_undone),
        gone=report.gone_since(run.started_at) if counts.gone else 0,
        new=changes.new,
        changed=changes.changed,
    )


def _decide(end: End, tree: Tree, *, complete: bool) -> None:
    """Decide everything that depends on more than one URL, and move files accordingly."""
    session, state, run, plan = end.session, end.space.state, end.run, end.plan
    root = end.table.find(run.source_url) if plan.follows_links else None
    run_end = RunEnd(
        run=run.number,
        start=run.source,
        by_links=plan.follows_links,
        root=root and root.id,
        follows_requisites=plan.html and not plan.follows_links,
        reads_all=plan.follows_links or not end.listing.unsound_sitemaps,
        finds_gone=end.rules.renews or not plan.follows_links,
        now=session.now(),
    )
    with state.transaction() as db:
        if complete:
            if plan.follows_links:
                drop_unreached(db, end.rules)
            decide_end(db, run_end, tree.is_folder)
        else:  # While something is queued, one more answer could change the rest.
            fail_loops(db, run_end)
            explain_copies(db)
    failpoint.reached("decided")
    if complete:
        execute(state.db, end.space.journal_tree)
        failpoint.reached("settled")
        for url, path in collisions(state.db):
            session.warn(f"path collision: {url} is saved as {path}, as another URL has the path it maps to")
        _warn_of_strays(session, state)
        names = end.table.aliases_of_pages()
        while some := [*islice(names, _LINES)]:
            end.writer.add_lines(some)


_LINES: Final = 1_000  # of `_processed.txt` per write


def _log_failures(end: End) -> None:
    """Log failures that were found only when the aliases were resolved."""
    session, log = end.session, end.placeholders.log
    found = [
        (id, url, failure_text(text_of(reason, detail) or "", final_url))
        for id, url, final_url, reason, detail in end.table.unlogged_failures()
    ]
    found += [
        (id, url, format_reason(Reason.REDIRECT_TARGET_FAILED, detail)) for id, url, detail in end.table.moved_copies()
    ]
    for id, url, text in found:
        try:
            if log(id, url, text, session.now()):
                session.emit(PageFailed(url, text))
        except OutputError as error:
            session.warn(f"{FAILED_LOG} could not be written: {error.advice}")
            return


async def _relink_html(session: Session, state: State, tree: Tree) -> None:
    from sitemirror.run.relink_html import relink_saved_html

    await relink_saved_html(tree, HtmlLinkTargets(state), session.pool, session.watch, _params(session))


def _params(session: Session) -> ParamRules:
    return ParamRules(session.settings.strip_params, session.settings.keep_params)


async def _relink_markdown(session: Session, state: State, tree: Tree, plan: Plan) -> None:
    """Relink Markdown as --links says: to files, or back to the site if earlier links were local."""
    pages = MarkdownLinkTargets(state)
    if plan.markdown and session.settings.links is Links.LOCAL:
        from sitemirror.run.relink_markdown import link_locally

        await link_locally(tree, pages, session.watch, _params(session))
    elif plan.markdown and pages.has_local_links():
        from sitemirror.run.relink_markdown import link_to_the_site

        await link_to_the_site(tree, pages, session.watch)


def restore_collapsed(session: Session, space: Workspace) -> int:
    """Restore the copies of pages that became one text, warn once for each text, and return their number."""
    state = space.state
    state.commit()
    collapses = undo_collapse(state.db, space.reserve, space.lock, session.now())
    execute(state.db, space.journal_tree)
    for pages, text, example in collapses:
        session.warn(
            f"{counted(pages, 'page')} came back with one text ({text!r}), such as {example}: the copies are kept; "
            "--accept-changes takes the new text"
        )
    return sum(each.pages for each in collapses)


def _warn_of_old_copies(session: Session, report: StateReport, copies: int, restored: int) -> int:
    """Warn of old copies that were kept; return the number of those that make the run `partial`.

    The copies that this run `restored` have a warning of their own.
    """
    redirected, others = report.kept_since(stamp(session.clock.now() - KEPT_AT_MOST))
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
    old = copies - redirected - others
    if old > restored:
        session.warn(
            f"{counted(old - restored, 'page')} could not be brought up to date; old copies are kept: "
            "refresh_error in the manifest has the reason for each, and the next --update asks again"
        )
    return old


def _warn_of_strays(session: Session, state: State) -> None:
    count = 0
    for url, canonical in strays(state.db):
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
    report: StateReport
    counts: Counts
    complete: bool

    def header(self) -> ManifestHeader:
        """The header of both manifest and contents."""
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
        name, report, counts = self.space.file(MANIFEST), self.report, self.counts
        skips = report.skips() if counts.skipped else ()
        gone = report.gone() if counts.gone else ()
        try:
            async with written(self.tree.replace_with(name), self.session.watch) as file:
                write_manifest(
                    file,
                    header,
                    pages=map(self._page, report.pages()),
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
                    not_reached=report.not_reached() if counts.not_reached else (),
                )
        except OutputError as error:
            self.session.warn(f"the manifest could not be written: {error.advice}")
            return None
        return str(self.tree.root / name)

    async def contents(self, header: ManifestHeader) -> str | None:
        name = self.space.file(CONTENTS)
        try:
            async with written(self.tree.replace_with(name), self.session.watch) as file:
                write_contents(
                    file,
                    header,
                    host=self.space.authority,
                    rows=self.report.contents(),
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
        rows, read = self.report.contents(), self.tree.read
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
        failures = self.report.failures() if self.counts.failed else ()
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
            html_path=self._here(row["html_path"]) if row["html_path"] else None,
            preferred_path=self._here(row["preferred_path"]) if row["preferred_path"] != row["path"] else None,
            hidden_texts=row["hidden_texts"] or None,
        )

    def _depth(self, depth: int | None) -> int | None:
        """Return the depth of a URL. Depth counts links, so URLs from sitemaps have none."""
        return depth if self.run.mode.startswith("links") else None

    def _here(self, path: str) -> str:
        """Return a path relative to the run's own folder."""
        home = self.space.home + "/"
        return path[len(home) :] if path.startswith(home) else posixpath.join("..", path)
