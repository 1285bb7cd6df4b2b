"""Writes `mirror-index.json` from the state: what is on disk, where it came from, how it hangs together."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain

import orjson

from sitemirror.engine.session import Session
from sitemirror.engine.workspace import Workspace
from sitemirror.publish.file_names import MIRROR_INDEX
from sitemirror.publish.index_rows import (
    ErrorRow,
    FileRow,
    IndexArgs,
    IndexHeader,
    SkippedRow,
    UrlRow,
    load_page_meta,
)
from sitemirror.publish.index_terms import index_reason
from sitemirror.publish.index_tree import directories
from sitemirror.publish.mirror_index import write_mirror_index
from sitemirror.settings import Settings
from sitemirror.store.files import Tree
from sitemirror.store.graph import Graph
from sitemirror.store.schema import ASSET, PAGE
from sitemirror.store.state import RunInfo
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
