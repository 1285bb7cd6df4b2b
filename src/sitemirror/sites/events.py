"""Makes one voice of many: a listener hears of all sites as if they were one large one."""

from __future__ import annotations

from typing import Final

from sitemirror.events import DiscoveryFinished, Event, Listener, PageStarted, Progress, RunFinished, RunStarted, Warned

_NOTHING: Final = Progress(processed=0, total=0, saved=0, failed=0, skipped=0, rate=0.0, eta_sec=None)


class Voices:
    """Adds up what the sites say of themselves. Only differences are added: there may be hundreds of sites."""

    def __init__(self, tell: Listener, sites: int) -> None:
        self.tell = tell
        self.started = 0
        self.sum = _NOTHING
        self.before = 0  # pages that earlier runs had done
        self.unknown = sites
        """Sites of which nobody can say yet how large they are."""
        self.under_way: dict[Voice, float | None] = {}
        """Those whose size is known, with how long they think they still need."""
        self._eta: float | None = None
        self._told = 0

    def change(self, before: Progress, now: Progress) -> None:
        """What one site said before is replaced by what it says now."""
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
        """Where all of them stand. They go side by side, so the slowest says when all are done."""
        self._told += 1
        if self._told >= len(self.under_way):  # The more there are, the less one page changes.
            self._told = 0
            etas = [eta for eta in self.under_way.values() if eta is not None]
            nobody_knows = self.unknown or len(etas) < len(self.under_way)
            self._eta = None if nobody_knows else max(etas, default=None)
        return self.sum if self._eta is None else self.sum._replace(eta_sec=self._eta)


class Voice:
    """Listens to one site."""

    def __init__(self, voices: Voices, url: str) -> None:
        self._voices = voices
        self._url = url
        self._started = 0
        self._last = _NOTHING
        self._is_known = False
        self.folder = ""
        """What it writes to, by its own word: redirects may lead to another host's."""

    def __call__(self, event: Event) -> None:
        voices = self._voices
        match event:
            case PageStarted(url, number, _):
                self._start(number)
                voices.tell(PageStarted(url, voices.started, max(voices.sum.total, voices.started)))
            case Progress():
                self._change(event)
                voices.tell(voices.progress)
            case DiscoveryFinished(total, done):
                self._know()
                self._start(done)
                self._change(_NOTHING._replace(total=total, processed=done))
                voices.before += done
                voices.tell(DiscoveryFinished(voices.sum.total, voices.before))
            case Warned(message):
                voices.tell(Warned(f"{self._url}: {message}"))
            case RunStarted(folder=folder):
                self.folder = folder
                voices.tell(event)
            case RunFinished():
                pass  # Said once, of all of them.
            case _:
                voices.tell(event)

    def end(self) -> None:
        """The site says no more: it is neither fast nor slow."""
        self._know()
        self._change(self._last._replace(rate=0.0, eta_sec=None))
        self._voices.under_way.pop(self, None)

    def _start(self, number: int) -> None:
        if number > self._started:
            self._voices.started += number - self._started
            self._started = number

    def _change(self, now: Progress) -> None:
        self._voices.change(self._last, now)
        self._voices.under_way[self] = now.eta_sec
        self._last = now

    def _know(self) -> None:
        if not self._is_known:
            self._is_known = True
            self._voices.unknown -= 1
