"""Show the progress of a run on stderr: lines for logs and pipes, a live display on a terminal.

A listener must never delay or end the run: it writes little, and stops writing when nobody reads stderr any more.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from sitemirror.cli.streams import Tone, paint
from sitemirror.events import (
    DiscoveryFinished,
    Event,
    PageFailed,
    PageGone,
    PageRedirected,
    PageSaved,
    PageSkipped,
    PageStarted,
    Progress,
    RunFinished,
    RunStarted,
    SiteFinished,
    SitemapRead,
    Waiting,
    Warned,
)
from sitemirror.settings import Settings
from sitemirror.text import counted, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

LONG_WAIT: Final = 5.0
"""Shortest wait in seconds that gets a line: shorter ones are everyday politeness."""

FRAME: Final = 0.2
"""Seconds between two frames of the live display."""

LINES_PER_FRAME: Final = 50
"""A site that fails on every page must not turn the display into the bottleneck."""


class Level(IntEnum):
    """Amount of output on stderr."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


def level_of(settings: Settings) -> Level:
    if settings.quiet:
        return Level.QUIET
    return Level.VERBOSE if settings.verbose else Level.NORMAL


class Reporter(Protocol):
    """Listener of a run, closed when the run has ended."""

    level: Level

    def __call__(self, event: Event) -> None: ...

    def say(self, line: str) -> None:
        """Print a line that is not about an event, without control characters."""

    def close(self) -> None:
        """Restore the terminal."""

    def abandon(self) -> bytes:
        """Return the bytes that restore the terminal when the process ends at once."""


def reporter(stream: TextIO, level: Level) -> Reporter:
    """Return the live display for a terminal, lines for anything else."""
    if level is not Level.QUIET and is_terminal(stream):
        return LiveReporter(stream, level)
    return LineReporter(stream, level)


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    except ValueError:  # closed
        return False


def line_for(event: Event, level: Level) -> str:
    """Describe an event in a line without control characters; empty if it gets none."""
    match event:
        # The events of every page first: they are the most frequent.
        case PageStarted(url, number, total):
            return "" if level is Level.QUIET else f"[{number}/{total}] Processing: {printable(url)}"
        case PageSaved(url, _, _, changed, new):
            if level is not Level.VERBOSE or not changed:
                return ""
            return printable(f"{'new' if new else 'changed'}: {url}")
        case Progress() | RunFinished():
            return ""
        case PageFailed(url, reason, will_retry):
            if will_retry:
                return _from(Level.NORMAL, level, f"failed: {url} ({reason}); will be retried")
            return printable(f"failed: {url} ({reason})")
        case SiteFinished(error=error) if error:
            return _rarer(event, level)
        case _:
            return "" if level is Level.QUIET else _rarer(event, level)


def _rarer(event: Event, level: Level) -> str:
    match event:
        case PageSkipped(url, reason):
            return _from(Level.VERBOSE, level, f"skipped: {url} ({reason})")
        case PageRedirected(url, location):
            return _from(Level.VERBOSE, level, f"redirect: {url} -> {location}")
        case PageGone(url):
            return _from(Level.VERBOSE, level, f"gone: {url}")
        case Waiting(host, seconds, reason):
            least = Level.NORMAL if seconds >= LONG_WAIT else Level.VERBOSE
            return _from(least, level, f"waiting {span(seconds)} for {host}: {reason}")
        case Warned(message):
            return printable(f"warning: {message}")
        case SitemapRead(url, urls, error, sitemaps):
            listed = [counted(sitemaps, "sitemap")] if sitemaps else []
            listed += [counted(urls, "URL")] if urls or not sitemaps else []
            return printable(f"sitemap: {url}: {', '.join(listed)}" + (f"; {error}" if error else ""))
        case RunStarted(command, url, folder, resumed):
            verb = "resuming" if resumed else "starting"
            return printable(f"{verb}: {command} {url} -> {folder}")
        case SiteFinished(url, status, done, of, error):
            return printable(f"site {done:,} of {of:,}: {status}: {url}" + (f" ({error})" if error else ""))
        case DiscoveryFinished(total, done, repeats, outside):
            saved = f", {done:,} already saved" if done else ""
            less = [counted(repeats, "repeat")] if repeats else []
            less += [f"{outside:,} out of scope"] if outside else []
            return f"found: {counted(total, 'URL')}{saved}" + (f"; not counted: {', '.join(less)}" if less else "")
        case _:
            return ""


def _from(least: Level, level: Level, text: str) -> str:
    return printable(text) if level >= least else ""


def tone_of(event: Event) -> Tone:
    """Choose the colour of an event's line."""
    match event:
        case PageFailed(will_retry=False):
            return Tone.ERROR
        case SiteFinished(error=error) if error:
            return Tone.ERROR
        case Warned() | PageFailed():
            return Tone.WARNING
        case SitemapRead(error=error) if error:
            return Tone.WARNING
        case _:
            return Tone.PLAIN


def span(seconds: float) -> str:
    """Format a duration: `4.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


class LineReporter:
    """One line for each event: for pipes, files and quiet runs."""

    def __init__(self, stream: TextIO, level: Level) -> None:
        self.level = level
        self._stream = stream
        self._heard = True

    def __call__(self, event: Event) -> None:
        if line := line_for(event, self.level):
            self._write(paint(line, tone_of(event), self._stream))

    def say(self, line: str) -> None:
        self._write(printable(line))

    def close(self) -> None:
        if self._heard:
            try:
                self._stream.flush()
            except (OSError, ValueError):
                self._heard = False

    def abandon(self) -> bytes:
        return b""

    def _write(self, line: str) -> None:
        if self._heard:
            try:
                self._stream.write(line + "\n")
            except (OSError, ValueError):  # The reader has gone or the stream is closed: go on without it.
                self._heard = False


class LiveReporter:
    """A display that a thread redraws a few times a second; the run only leaves events for it."""

    def __init__(self, stream: TextIO, level: Level) -> None:
        from rich.console import Console
        from rich.live import Live as Display

        self.level = level
        self._console: Console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._lines: deque[tuple[str, Tone]] = deque()
        self._dropped = 0
        self._page: PageStarted | None = None
        self._progress: Progress | None = None
        self._sitemaps = 0
        self._urls = 0
        self._waiting: tuple[float, Waiting] | None = None
        self._heard = True
        self._done = threading.Event()
        self._display = Display(
            console=self._console,
            get_renderable=self._frame,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
        )
        self._display.start()
        self._painter = threading.Thread(target=self._paint_until_done, name="progress", daemon=True)
        self._painter.start()

    def __call__(self, event: Event) -> None:
        match event:
            case PageStarted():
                self._page = event
                return
            case Progress():
                self._progress = event
                return
            case PageSaved() if self.level is not Level.VERBOSE:
                return
            case SitemapRead(_, urls):
                self._sitemaps += 1
                self._urls += urls
            case Waiting(_, seconds, _):
                self._waiting = (time.monotonic() + seconds, event)
            case _:
                pass
        if line := line_for(event, self.level):
            self._note(line, tone_of(event))

    def say(self, line: str) -> None:
        self._note(printable(line))
        if self._done.is_set():
            self._guarded(self._flush)

    def close(self) -> None:
        if self._done.is_set():
            return
        self._done.set()
        self._painter.join()
        self._guarded(self._flush)
        self._guarded(self._display.stop)

    def abandon(self) -> bytes:
        return b"\r\x1b[?25h\n"  # The display hides the cursor.

    def _note(self, line: str, tone: Tone = Tone.PLAIN) -> None:
        if len(self._lines) < LINES_PER_FRAME:
            self._lines.append((line, tone))
        else:
            self._dropped += 1

    def _paint_until_done(self) -> None:
        while not self._done.wait(FRAME):
            self._guarded(self._flush)
            self._guarded(self._display.refresh)

    def _guarded(self, action: Callable[[], None]) -> None:
        if self._heard:
            try:
                action()
            except (OSError, ValueError):  # The terminal has gone: go on without it.
                self._heard = False

    def _flush(self) -> None:
        from rich.text import Text

        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        dropped, self._dropped = self._dropped, 0
        if dropped:
            lines.append((f"… and {dropped:,} more lines", Tone.PLAIN))
        if lines:
            styled = (Text(line, style=tone.value) for line, tone in lines)
            self._console.print(Text("\n").join(styled), soft_wrap=True)

    def _frame(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        page, progress = self._page, self._progress
        if page is None and not self._sitemaps:  # which a crawl never reads
            return _one_line("Contacting the site")
        if page is None:
            return _one_line(f"Reading sitemaps: {self._sitemaps:,} read, {counted(self._urls, 'URL')}")
        total = progress.total if progress else page.total
        processed = progress.processed if progress else 0
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(total=max(total, 1), completed=processed, width=24), Text(self._figures(progress)))
        return Group(_one_line(line_for(page, Level.NORMAL)), bar)

    def _figures(self, progress: Progress | None) -> str:
        if progress is None:
            return "starting"
        share = 100 * progress.processed / progress.total if progress.total else 0.0
        figures = [f"{share:.0f} %", f"{progress.rate:.1f}/s"]
        if progress.eta_sec is not None:
            figures.append(f"ETA {span(progress.eta_sec)}")
        figures.append(f"{progress.failed:,} failed")
        if progress.skipped:
            figures.append(f"{progress.skipped:,} skipped")
        if self._waiting is not None:
            until, waiting = self._waiting
            left = until - time.monotonic()
            if left > 0:
                figures.append(printable(f"waiting {span(left)} for {waiting.host}"))
        return " · ".join(figures)


def _one_line(text: str) -> RenderableType:
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")
