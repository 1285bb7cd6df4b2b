"""Counts a run while it goes: how far, how fast, how much longer."""

from __future__ import annotations

from array import array
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
from sitemirror.store.sitemap_table import Listing

_WINDOW: Final = 60.0


@dataclass(slots=True)
class Tally:
    """`processed` of `total` URLs are decided, earlier runs included."""

    total: int = 0
    processed: int = 0
    started: int = 0
    saved: int = 0
    failed: int = 0
    skipped: int = 0
    new: int = 0  # pages that this run added, for --max-pages
    added: array[int] = field(default_factory=lambda: array("q"))  # ids of those and of other files
    changed: array[int] = field(default_factory=lambda: array("q"))
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=5000))

    def done(self, now: float) -> None:
        """One more URL is decided."""
        self.processed += 1
        self.total = max(self.total, self.processed)
        self._times.append(now)

    def rate(self, now: float) -> float:
        """URLs a second over the last minute (or the last 5,000 URLs)."""
        while self._times and now - self._times[0] > _WINDOW:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(now - self._times[0], 1e-6)

    def left(self, rate: float) -> float | None:
        """Seconds until all is processed at so many a second; None while nobody can tell."""
        return (self.total - self.processed) / rate if rate else None


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
