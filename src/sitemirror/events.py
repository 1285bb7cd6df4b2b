"""Events of a run, for progress displays, logs and users of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class RunStarted(NamedTuple):
    """The output folder is known and locked."""

    command: str
    url: str
    folder: str
    resumed: bool


class SitemapRead(NamedTuple):
    """A sitemap was read, as far as possible. `error` is empty if it was read completely.

    `urls` is the number of pages that it lists, `sitemaps` that of an index's sitemaps.
    """

    url: str
    urls: int
    error: str = ""
    sitemaps: int = 0


class DiscoveryFinished(NamedTuple):
    """All sitemaps are read. `done` of the `total` URLs are already saved by earlier runs.

    Sitemaps may list more than `total`: `repeats` of a URL, and URLs `outside` the scope.
    """

    total: int
    done: int
    repeats: int = 0
    outside: int = 0


class PageStarted(NamedTuple):
    """A URL is being processed; `number` counts up to `total`, earlier runs included."""

    url: str
    number: int
    total: int


class PageSaved(NamedTuple):
    """A page is on disk. `path` is relative to the output folder.

    `changed` is False if the page is the same as before, `new` is True if there was no copy of it.
    """

    url: str
    path: str
    size_bytes: int
    changed: bool = True
    new: bool = False


class PageGone(NamedTuple):
    """A page that the site neither lists nor links any more, since this run. Its file at `path` stays.

    `path` is relative to the output folder; empty if the URL never had a file.
    """

    url: str
    path: str


class PageFailed(NamedTuple):
    """A page could not be fetched or saved. `will_retry` if it is tried again later in the run."""

    url: str
    reason: str
    will_retry: bool = False


class PageSkipped(NamedTuple):
    """A URL is not saved: another type, too large, out of scope."""

    url: str
    reason: str


class PageRedirected(NamedTuple):
    """A URL redirects to `location`."""

    url: str
    location: str


class Waiting(NamedTuple):
    """Nothing is sent to a host for `seconds`: it asked for a pause, or keeps failing."""

    host: str
    seconds: float
    reason: str


class Warned(NamedTuple):
    """A problem that does not stop the run."""

    message: str


class Progress(NamedTuple):
    """Counts of the run, sent with every finished URL."""

    processed: int
    total: int
    saved: int
    failed: int
    skipped: int
    rate: float  # pages a second over the last minute
    eta_sec: float | None


class RunFinished(NamedTuple):
    """The manifest and the index are written."""

    status: str


class SiteFinished(NamedTuple):
    """One of several sites has ended, the `done`th of `of`. `error` is the reason if it failed."""

    url: str
    status: str
    done: int
    of: int
    error: str = ""


Event = (
    RunStarted
    | SitemapRead
    | DiscoveryFinished
    | PageStarted
    | PageSaved
    | PageGone
    | PageFailed
    | PageSkipped
    | PageRedirected
    | Waiting
    | Warned
    | Progress
    | RunFinished
    | SiteFinished
)

Listener = Callable[[Event], None]


def nobody(event: Event) -> None:
    """Ignore an event."""
