"""Combine the events of many sites into those of one large site."""

from __future__ import annotations

from typing import Final

from sitemirror.events import DiscoveryFinished, Event, Listener, PageStarted, Progress, RunFinished, RunStarted, Warned

_NOTHING: Final = Progress(processed=0, total=0, saved=0, failed=0, skipped=0, rate=0.0, eta_sec=None)


class CombinedEvents:
    """The sums over all sites. Only differences are added: there may be hundreds of sites."""

    def __init__(self, emit: Listener, sites: int) -> None:
        self.emit = emit
        self.started = 0
        self.sum = _NOTHING
        self.before = 0  # pages that earlier runs had done
        self.unknown = sites
        """Sites whose size is not known yet."""
        self.under_way: dict[SiteEvents, float | None] = {}
        """Sites whose size is known, with their estimates of the time left."""
        self._eta: float | None = None
        self._since_eta = 0

    def change(self, before: Progress, now: Progress) -> None:
        """Replace the last progress of a site by a new one."""
        all_ = self.sum
        self.sum = Progress(
            processed=all_.processed + now.processed - before.processed,
            total=all_.total + now.total - before.total,
            saved=all_.saved + now.saved - before.saved,
            failed=all_.failed + now.failed - before.failed,
            skipped=all_.skipped + now.skipped - before.skipped,
            rate=max(all_.rate + now.rate - before.rate, 0.0),
            eta_sec=None,
        )

    @property
    def progress(self) -> Progress:
        """The progress of all sites. They run at once, so the slowest decides when all are done."""
        self._since_eta += 1
        if self._since_eta >= len(self.under_way):  # The more there are, the less one page changes.
            self._since_eta = 0
            etas = [eta for eta in self.under_way.values() if eta is not None]
            is_unknown = self.unknown or len(etas) < len(self.under_way)
            self._eta = None if is_unknown else max(etas, default=None)
        return self.sum if self._eta is None else self.sum._replace(eta_sec=self._eta)


class SiteEvents:
    """The listener of one site."""

    def __init__(self, combined: CombinedEvents, url: str) -> None:
        self._combined = combined
        self._url = url
        self._started = 0
        self._last = _NOTHING
        self._is_known = False
        self.folder = ""
        """Folder of its run: redirects may lead to that of another host."""

    def __call__(self, event: Event) -> None:
        combined = self._combined
        match event:
            case PageStarted(url, number, _):
                self._start(number)
                combined.emit(PageStarted(url, combined.started, max(combined.sum.total, combined.started)))
            case Progress():
                self._change(event)
                combined.emit(combined.progress)
            case DiscoveryFinished(total, done):
                self._know()
                self._start(done)
                self._change(_NOTHING._replace(total=total, processed=done))
                combined.before += done
                combined.emit(DiscoveryFinished(combined.sum.total, combined.before))
            case Warned(message):
                combined.emit(Warned(f"{self._url}: {message}"))
            case RunStarted(folder=folder):
                self.folder = folder
                combined.emit(event)
            case RunFinished():
                pass  # Emitted once, for all of them.
            case _:
                combined.emit(event)

    def end(self) -> None:
        """End a site: it adds to no rate and no ETA any more."""
        self._know()
        self._change(self._last._replace(rate=0.0, eta_sec=None))
        self._combined.under_way.pop(self, None)

    def _start(self, number: int) -> None:
        if number > self._started:
            self._combined.started += number - self._started
            self._started = number

    def _change(self, now: Progress) -> None:
        self._combined.change(self._last, now)
        self._combined.under_way[self] = now.eta_sec
        self._last = now

    def _know(self) -> None:
        if not self._is_known:
            self._is_known = True
            self._combined.unknown -= 1
