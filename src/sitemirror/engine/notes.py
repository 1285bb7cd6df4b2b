"""Keeps `_progress.json` and the checkpoint current while a run goes, for people and for the next run."""

from __future__ import annotations

from sitemirror.engine.session import Session
from sitemirror.engine.tally import Tally
from sitemirror.engine.workspace import Workspace
from sitemirror.publish.file_names import CHECKPOINT, PROGRESS
from sitemirror.publish.progress import (
    COMPLETED_SHOWN,
    Checkpoint,
    Progress,
    SitemapProgress,
    SitemapState,
    SitemapType,
)
from sitemirror.store.files import Tree
from sitemirror.store.listing import Listing
from sitemirror.store.state import RunInfo
from sitemirror.store.survey import Counts


class Notes:
    """Writes both files of one run. Each write is whole or not at all."""

    def __init__(
        self,
        session: Session,
        space: Workspace,
        run: RunInfo,
        listing: Listing,
        tally: Tally,
        *,
        checkpoint_file: str = CHECKPOINT,
    ) -> None:
        self._session = session
        self._space = space
        self._run = run
        self._listing = listing
        self._tally = tally
        self._checkpoint_file = checkpoint_file

    def write(self) -> None:
        """Both files, from the counts as they are now."""
        self._write(self._space.tree)

    def write_last(self, counts: Counts) -> None:
        """Both files when the run ends, also because the disk guard ended it. They say what the manifest says."""
        self._tally.failed, self._tally.skipped = counts.failed, counts.skipped
        self._write(self._space.reserve)

    def checkpoint(self) -> None:
        """The checkpoint alone: while sitemaps are read there is no progress to tell yet."""
        self._write_checkpoint(self._space.tree)

    def _write(self, tree: Tree) -> None:
        self._write_checkpoint(tree)
        tally, rate = self._tally, self._tally.rate(self._session.clock.monotonic())
        eta = tally.left(rate)
        progress = Progress(
            processed=tally.processed,
            total=tally.total,
            elapsed_sec=round(self._session.elapsed, 3),
            eta_sec=None if eta is None else round(eta, 1),
            rate=round(rate, 3),
            failed=tally.failed,
            skipped=tally.skipped,
        )
        tree.write(self._space.file(PROGRESS), progress.dump())

    def _write_checkpoint(self, tree: Tree) -> None:
        begun = self._listing.begun(done=COMPLETED_SHOWN)
        shown = tuple(
            SitemapProgress(
                url=row.url,
                status=SitemapState.IN_PROGRESS if row.status == "in_progress" else SitemapState.COMPLETED,
                urls_processed=row.urls,
            )
            for row in begun.rows
        )
        discovered = self._tally.total > 0
        checkpoint = Checkpoint(
            started_at=self._run.started_at,
            source_url=self._run.source_url,
            sitemap_type=SitemapType.INDEX if begun.has_index else SitemapType.SINGLE,
            sitemaps=shown,
            sitemaps_completed_before=begun.earlier,
            total_processed=self._tally.processed if discovered else self._listing.listed,
            total_expected=self._tally.total if discovered else None,
        )
        tree.write(self._space.file(self._checkpoint_file), checkpoint.dump())
