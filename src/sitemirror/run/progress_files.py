"""Counters of a running run, and the files that publish them: checkpoint and progress."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from sitemirror.publish.file_names import CHECKPOINT, PROGRESS
from sitemirror.publish.progress import (
    COMPLETED_SHOWN,
    Checkpoint,
    Progress,
    SitemapProgress,
    SitemapState,
    SitemapType,
)
from sitemirror.run.session import Session
from sitemirror.run.workspace import Workspace
from sitemirror.store.database import RunInfo
from sitemirror.store.files import Tree
from sitemirror.store.reports import Counts
from sitemirror.store.sitemap_table import SitemapTable

_WINDOW: Final = 60.0  # seconds over which the rate is measured


@dataclass(slots=True)
class Counters:
    """Counts of one run. `processed` of `total` URLs are decided, earlier runs included."""

    total: int = 0
    processed: int = 0
    started: int = 0
    saved: int = 0
    failed: int = 0
    skipped: int = 0
    new: int = 0  # pages added by this run, for --max-pages
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=5000))

    def done(self, now: float) -> None:
        """Count one more decided URL."""
        self.processed += 1
        self.total = max(self.total, self.processed)
        self._times.append(now)

    def rate(self, now: float) -> float:
        """URLs per second over the last minute (or the last 5,000 URLs)."""
        while self._times and now - self._times[0] > _WINDOW:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(now - self._times[0], 1e-6)

    def left(self, rate: float) -> float | None:
        """Seconds until all URLs are processed at this rate; `None` if it is 0."""
        return (self.total - self.processed) / rate if rate else None


class ProgressFiles:
    """Writes checkpoint and progress of one run."""

    def __init__(
        self,
        session: Session,
        space: Workspace,
        run: RunInfo,
        listing: SitemapTable,
        counters: Counters,
        *,
        checkpoint_file: str = CHECKPOINT,
    ) -> None:
        self._session = session
        self._space = space
        self._run = run
        self._listing = listing
        self._counters = counters
        self._checkpoint_file = checkpoint_file

    def write(self) -> None:
        """Write both files."""
        self._write(self._space.tree)

    def write_last(self, counts: Counts) -> None:
        """Write both files with the manifest's counts when the run ends, also on a full disk."""
        self._counters.failed, self._counters.skipped = counts.failed, counts.skipped
        self._write(self._space.reserve)

    def checkpoint(self) -> None:
        """Write the checkpoint alone: there is no progress while sitemaps are read."""
        self._write_checkpoint(self._space.tree)

    def _write(self, tree: Tree) -> None:
        self._write_checkpoint(tree)
        counters = self._counters
        rate = counters.rate(self._session.clock.monotonic())
        eta = counters.left(rate)
        progress = Progress(
            processed=counters.processed,
            total=counters.total,
            elapsed_sec=round(self._session.elapsed, 3),
            eta_sec=None if eta is None else round(eta, 1),
            rate=round(rate, 3),
            failed=counters.failed,
            skipped=counters.skipped,
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
        discovered = self._counters.total > 0
        checkpoint = Checkpoint(
            started_at=self._run.started_at,
            source_url=self._run.source_url,
            sitemap_type=SitemapType.INDEX if begun.has_index else SitemapType.SINGLE,
            sitemaps=shown,
            sitemaps_completed_before=begun.earlier,
            total_processed=self._counters.processed if discovered else self._listing.listed,
            total_expected=self._counters.total if discovered else None,
        )
        tree.write(self._space.file(self._checkpoint_file), checkpoint.dump())
