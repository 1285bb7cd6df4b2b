"""What a person sees while a run goes."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import pytest

from sitemirror.cli.progress import Level, LineReporter, LiveReporter, level_of, line_for, reporter, span
from sitemirror.events import (
    DiscoveryFinished,
    Event,
    PageFailed,
    PageRedirected,
    PageSaved,
    PageSkipped,
    PageStarted,
    Progress,
    RunFinished,
    RunStarted,
    SitemapRead,
    Waiting,
    Warned,
)
from sitemirror.settings import Settings

URL = "https://example.com/a"
EVIL = "https://example.com/\x1b[2J\x1b]0;owned\x07\x9b31m\r\n[bold]\u202etxt"
CONTROLS = {"\x1b", "\x07", "\x9b", "\r", "\u202e"}

EVERYTHING: list[Event] = [
    RunStarted("mirror", URL, "output/example.com", resumed=False),
    SitemapRead("https://example.com/sitemap.xml", 1234),
    SitemapRead("https://example.com/bad.xml", 2, "broken XML at line 3"),
    DiscoveryFinished(1236, 100),
    PageStarted(URL, 101, 1236),
    PageSaved(URL, "a/index.md", 100),
    PageFailed("https://example.com/b", "HTTP 404"),
    PageFailed("https://example.com/c", "HTTP 503", will_retry=True),
    PageSkipped("https://example.com/d.pdf", "content type application/pdf"),
    PageRedirected("https://example.com/e", URL),
    Waiting("example.com", 2.0, "429 Too Many Requests"),
    Waiting("example.com", 30.0, "429 Too Many Requests"),
    Warned("the sitemap names 3 URLs of other sites"),
    Progress(101, 1236, 100, 1, 0, 1.0, 1135.0),
    RunFinished("partial"),
]


def said(level: Level, events: list[Event] | None = None) -> list[str]:
    stream = io.StringIO()
    listener = LineReporter(stream, level)
    for event in events if events is not None else EVERYTHING:
        listener(event)
    listener.close()
    return stream.getvalue().splitlines()


def test_normal_level() -> None:
    """One line per page, failure, warning and long wait."""
    assert said(Level.NORMAL) == [
        "starting: mirror https://example.com/a -> output/example.com",
        "sitemap: https://example.com/sitemap.xml: 1,234 URLs",
        "sitemap: https://example.com/bad.xml: 2 URLs; broken XML at line 3",
        "found: 1,236 URLs, 100 already saved",
        "[101/1236] Processing: https://example.com/a",
        "failed: https://example.com/b (HTTP 404)",
        "failed: https://example.com/c (HTTP 503); will be retried",
        "waiting 30 s for example.com: 429 Too Many Requests",
        "warning: the sitemap names 3 URLs of other sites",
    ]


def test_verbose_level() -> None:
    """Adds skips, redirects and short waits."""
    extra = set(said(Level.VERBOSE)) - set(said(Level.NORMAL))
    assert extra == {
        "changed: https://example.com/a",
        "skipped: https://example.com/d.pdf (content type application/pdf)",
        "redirect: https://example.com/e -> https://example.com/a",
        "waiting 2.0 s for example.com: 429 Too Many Requests",
    }


def test_quiet_level() -> None:
    """Only errors are printed."""
    assert said(Level.QUIET) == ["failed: https://example.com/b (HTTP 404)"]


def test_resumed_run_is_announced() -> None:
    """The number of finished URLs is printed."""
    assert said(Level.NORMAL, [RunStarted("mirror", URL, "o", resumed=True)]) == [
        "resuming: mirror https://example.com/a -> o"
    ]


def test_levels_come_from_the_settings() -> None:
    """--quiet and --verbose choose the level."""
    assert level_of(Settings()) is Level.NORMAL
    assert level_of(Settings(quiet=True)) is Level.QUIET
    assert level_of(Settings(verbose=True)) is Level.VERBOSE


EVIL_EVENTS: list[Event] = [
    RunStarted("mirror", EVIL, EVIL, resumed=False),
    SitemapRead(EVIL, 1, EVIL),
    PageStarted(EVIL, 1, 2),
    PageFailed(EVIL, EVIL),
    PageFailed(EVIL, EVIL, will_retry=True),
    PageSkipped(EVIL, EVIL),
    PageRedirected(EVIL, EVIL),
    Waiting(EVIL, 60, EVIL),
    Warned(EVIL),
]


@pytest.mark.parametrize("event", EVIL_EVENTS, ids=lambda event: type(event).__name__)
def test_network_text_is_escaped(event: Event) -> None:
    """Escapes, line breaks and bidi controls are escaped, and one event is one line."""
    line = line_for(event, Level.VERBOSE)
    assert line
    assert not set(line) & CONTROLS
    assert "\n" not in line
    assert "[bold]" in line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (4.23, "4.2 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (3600, "1 h"),
    ],
)
def test_durations_are_rounded(seconds: float, words: str) -> None:
    """Only the largest units are shown."""
    assert span(seconds) == words


def test_closed_stream_is_no_error() -> None:
    """Events are accepted without an error."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", buffering=1, encoding="utf-8") as stream:  # noqa: PTH123
        listener = LineReporter(stream, Level.NORMAL)
        for event in EVERYTHING:
            listener(event)
        listener.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writing)


@pytest.mark.slow
def test_lines_are_cheap(tmp_path: Path) -> None:
    """The events of ten thousand pages take less than five seconds of CPU time; a tenth of that is normal."""
    with (tmp_path / "log").open("w", encoding="utf-8", buffering=1) as stream:
        listener = LineReporter(stream, Level.NORMAL)
        began = time.process_time()
        for number in range(10_000):
            listener(PageStarted(f"https://example.com/docs/{number}", number, 10_000))
            listener(PageSaved(URL, "a/index.md", 1))
            listener(Progress(number, 10_000, number, 0, 0, 2000.0, 1.0))
        assert time.process_time() - began < 5
    assert (tmp_path / "log").read_text(encoding="utf-8").count("Processing") == 10_000


# --- on a terminal

pty = pytest.importorskip("pty", reason="no pseudo-terminals here") if sys.platform != "win32" else None
terminal = pytest.mark.skipif(pty is None, reason="no pseudo-terminals here")


class Screen:
    """A pseudo-terminal; `text` is all that was sent to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setenv("LINES", "30")
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        assert pty is not None
        self._master, slave = pty.openpty()
        self.stream = os.fdopen(slave, "w", encoding="utf-8")
        self.text = ""

    def read_until(self, wanted: str, seconds: float = 5.0) -> str:
        import select

        end = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{wanted!r} never came: {self.text!r}"
            self.text += os.read(self._master, 65536).decode("utf-8", "replace")
        return self.text

    def close(self) -> None:
        self.stream.close()
        os.close(self._master)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(monkeypatch)


@terminal
def test_live_display_shows_rate_eta_and_failures(screen: Screen) -> None:
    """On a terminal a frame has the page's line, rate, remaining time and failures."""
    talk = reporter(screen.stream, Level.NORMAL)
    assert isinstance(talk, LiveReporter)
    talk(SitemapRead("https://example.com/sitemap.xml", 1236))
    screen.read_until("Reading sitemaps: 1 read, 1,236 URLs")
    for event in EVERYTHING[3:]:
        talk(event)
    screen.read_until("[101/1236] Processing: https://example.com/a")
    shown = screen.read_until("1 failed")
    talk.close()
    talk.say("all done")
    screen.read_until("all done")
    screen.close()
    assert "8 % · 1.0/s · ETA 18 min 55 s · 1 failed · waiting" in shown
    assert "failed: https://example.com/b (HTTP 404)" in shown
    assert "skipped: " not in shown


@terminal
def test_live_display_mentions_sitemaps_only_if_read(screen: Screen) -> None:
    """A crawl, which reads none, does not mention them."""
    talk = reporter(screen.stream, Level.NORMAL)
    screen.read_until("Contacting the site")
    talk(PageStarted(URL, 1, 2))
    shown = screen.read_until("Processing")
    talk.close()
    screen.close()
    assert "sitemap" not in shown


@terminal
def test_live_display_restores_the_cursor(screen: Screen) -> None:
    """Whatever happened, the terminal is left as before."""
    talk = reporter(screen.stream, Level.NORMAL)
    talk(PageStarted(URL, 1, 2))
    screen.read_until("Processing")
    talk.close()
    talk.close()
    screen.read_until("\x1b[?25h")
    screen.close()
    assert b"\x1b[?25h" in talk.abandon()


@terminal
def test_markup_and_escapes_in_a_url_are_shown_as_text(screen: Screen) -> None:
    """A URL cannot colour the display, clear the screen or set the title."""
    talk = reporter(screen.stream, Level.VERBOSE)
    for event in EVIL_EVENTS:
        talk(event)
    talk(PageStarted("https://example.com/[red]x[/red]:smile:\x1b[2J", 1, 2))
    screen.read_until("https://example.com/[red]x[/red]:smile:\\x1b[2J")
    talk.close()
    screen.close()
    assert "\x1b[2J" not in screen.text
    assert "\x1b]0" not in screen.text
    assert not set(screen.text) & {"\x07", "\x9b", "\u202e"}


@terminal
def test_no_color_is_respected(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The display still moves but sends no colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    talk = reporter(screen.stream, Level.NORMAL)
    talk(PageStarted(URL, 1, 2))
    talk(Progress(1, 2, 1, 0, 0, 1.0, 1.0))
    screen.read_until("ETA")
    talk.close()
    screen.close()
    assert "\x1b[3" not in screen.text
    assert "\x1b[9" not in screen.text


@terminal
def test_no_live_display_on_dumb_terminals(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with TERM=dumb nor with --quiet."""
    assert isinstance(reporter(screen.stream, Level.QUIET), LineReporter)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(reporter(screen.stream, Level.NORMAL), LineReporter)
    screen.close()


@pytest.mark.slow
@terminal
def test_live_display_is_cheap(screen: Screen) -> None:
    """Many failures are sampled and counted."""
    talk = reporter(screen.stream, Level.NORMAL)
    began = time.thread_time()
    for number in range(10_000):
        talk(PageStarted(f"https://example.com/docs/{number}", number, 10_000))
        talk(PageFailed(URL, "HTTP 500"))
        talk(Progress(number, 10_000, 0, number, 0, 2000.0, 1.0))
    assert time.thread_time() - began < 0.5
    screen.read_until("more lines")
    screen.read_until("Processing: https://example.com/docs/9999")
    talk.close()
    screen.close()
