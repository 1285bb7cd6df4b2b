"""Writes `mirror-index.json` from the state: what is on disk, where it came from, how it hangs together."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice
from typing import BinaryIO, Final

import orjson

from sitemirror.engine.session import Session
from sitemirror.engine.workspace import INDEX_FILE, Workspace
from sitemirror.errors import OutputError
from sitemirror.publish.mirror_index import (
    ErrorRow,
    FileRow,
    IndexArgs,
    IndexHeader,
    SkippedRow,
    UrlRow,
    directories,
    index_head,
    index_rest,
    load_page_meta,
    seed_reason,
)
from sitemirror.settings import Settings
from sitemirror.stopwatch import Stage
from sitemirror.store.disk import refusals_of
from sitemirror.store.files import Tree
from sitemirror.store.graph import Graph
from sitemirror.store.state import RunInfo

_A_FEW: Final = 64  # pieces of the index that are made at one go: about a thousandth of a second
_BLOCK: Final = 256 * 1024


class Index:
    """The index of one run. What it says of files is written last; the rest may be prepared before."""

    def __init__(self, session: Session, space: Workspace, tree: Tree, run: RunInfo) -> None:
        self._session = session
        self._space = space
        self._tree = tree
        self._run = run
        self._aside: BinaryIO | None = None
        self._is_prepared = False

    async def prepare(self) -> None:
        """Writes everything but the files' section aside, a little at a time.

        For when paths are settled, and nothing changes any more but the bytes of files.
        """
        try:
            with refusals_of(self._tree.root):
                pieces = self._rest(Graph(self._space.state))
                self._aside = self._tree.scratch()
                while some := self._next(pieces):
                    self._aside.write(some)
                    await asyncio.sleep(0)
                self._aside.seek(0)
                self._is_prepared = True
        except (OutputError, sqlite3.Error):
            pass  # Then the disk does not take the index either. That will be told, after the manifest is there.

    def _next(self, pieces: Iterator[bytes]) -> bytes:
        with self._session.watch.working(Stage.PUBLISHING):
            return b"".join(islice(pieces, _A_FEW))

    def write(self) -> str:
        """The whole index; raises `OutputError` when the disk does not take it."""
        space, run, graph = self._space, self._run, Graph(self._space.state)
        rows = _Rows(self._session, space, self._tree, graph, run)
        folders = directories(rows.sizes())
        header = IndexHeader(
            base_url=run.source_url,
            generated_at=_precise(self._session.clock.now()),
            target_root=space.folder,
            items_count=folders.items_count,
            run_id=run.uuid,
            args=_args(self._session.settings),
        )
        with self._tree.replace_with(space.file(INDEX_FILE)) as file:
            for piece in index_head(header, chain(folders, rows.files())):
                file.write(piece)
            for piece in self._from_aside() if self._is_prepared else self._rest(graph):
                file.write(piece)
        return str(self._tree.root / space.file(INDEX_FILE))

    def _rest(self, graph: Graph) -> Iterator[bytes]:
        rows = _Rows(self._session, self._space, self._tree, graph, self._run)
        return index_rest(
            urls=rows.urls(),
            out_edges=graph.out_edges(),
            in_edges=graph.in_edges(),
            typed_out_edges=graph.typed_out_edges(),
            skipped=rows.skipped(),
            errors=rows.errors(),
        )

    def _from_aside(self) -> Iterator[bytes]:
        while self._aside is not None and (block := self._aside.read(_BLOCK)):
            yield block

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        if self._aside is not None:
            with suppress(OSError):  # A full disk may not even take what is about to be thrown away.
                self._aside.close()


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
    """The state's rows as the index wants them. Paths are seen from the run's own folder."""

    def __init__(self, session: Session, space: Workspace, tree: Tree, graph: Graph, run: RunInfo) -> None:
        self._session = session
        self._space = space
        self._tree = tree
        self._graph = graph
        self._run = run

    def _here(self, path: str) -> str:
        return path.removeprefix(f"{self._space.home}/")

    def sizes(self) -> Iterator[tuple[str, int]]:
        """(path, size) of the same files as `files` tells of."""
        for path, size in self._graph.sizes():
            yield self._here(path), size

    def files(self) -> Iterator[FileRow]:
        keep_hash = self._session.settings.hash
        for row in self._graph.files():
            url, path, size, digest, fetched_at, etag, last_modified, content_type, status, headers, meta, kind = row
            sent = orjson.loads(headers) if headers else {}
            yield FileRow(
                path=self._here(path),
                size=size,
                kind="asset" if kind == 2 else "page",
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
        referers = _Referers(self._graph.in_edges())
        for id, url, path, kind, status, headers, unchanged, fetched_at, depth, final_url in self._graph.urls():
            yield UrlRow(
                url=url,
                local_path=self._here(path),
                kind="page" if kind == 1 else "asset" if kind == 2 else "unknown",
                final_url=final_url,
                http_status=status,
                headers=orjson.loads(headers) if headers else None,
                downloaded_at=fetched_at,
                referers=referers.of(url),
                depth=depth,
                redirect_chain=tuple(self._graph.hops(id)) if url != final_url else (),
                not_modified=bool(unchanged),
            )

    def skipped(self) -> Iterator[SkippedRow]:
        for at, url, reason, found_on, way in self._graph.skipped():
            known, detail = seed_reason(reason)
            yield SkippedRow(
                ts=_long(at) or _precise(self._session.clock.now()),
                url=url,
                reason=known,
                found_on=found_on or self._run.source_url,
                detail=reason + way if way else detail,
            )

    def errors(self) -> Iterator[ErrorRow]:
        for at, url, kind, reason in self._graph.errors():
            stage = "asset-download" if kind == 2 else "fetch"
            yield ErrorRow(ts=_long(at) or _precise(self._session.clock.now()), url=url, stage=stage, error=reason)


class _Referers:
    """Who links to each URL, as long as URLs are asked for in their order: one query for all of them."""

    def __init__(self, edges: Iterator[tuple[str, str]]) -> None:
        """`edges` are pairs of target and source, sorted."""
        self._edges = edges
        self._next = next(edges, None)

    def of(self, url: str) -> list[str]:
        found: list[str] = []
        here = self._next
        while here is not None and here[0] <= url:
            if here[0] == url and (not found or found[-1] != here[1]):  # in two attributes, it may link twice
                found.append(here[1])
            here = next(self._edges, None)
        self._next = here
        return found


def _precise(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _long(stamp: str | None) -> str | None:
    """Our `…Z` as the index writes it: `…+00:00`."""
    return stamp.replace("Z", "+00:00") if stamp else None
