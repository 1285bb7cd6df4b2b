"""What a run tells its listeners while it goes. Progress displays, logs and library users all hang on these."""

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
    """One sitemap was read to its end, or as far as it could be. `error` is empty when all was well.

    `urls` are the pages it lists, `sitemaps` those that an index does.
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
    """A page is safely on disk. `changed` is false when the server or the content said nothing is new."""

    url: str
    path: str
    size_bytes: int
    changed: bool = True


class PageFailed(NamedTuple):
    """A page could not be had. `will_retry` when it has been put back for later."""

    url: str
    reason: str
    will_retry: bool = False


class PageSkipped(NamedTuple):
    """A URL was not wanted."""

    url: str
    reason: str


class PageRedirected(NamedTuple):
    """A URL turned out to be another name of `location`."""

    url: str
    location: str


class Waiting(NamedTuple):
    """A host asked for time. Nothing is sent to it for `seconds`."""

    host: str
    seconds: float
    reason: str


class Warned(NamedTuple):
    """Something a person should know that does not stop the run."""

    message: str


class Progress(NamedTuple):
    """Where the run stands, sent with every finished URL."""

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
    """One of several sites has ended, as `done` of them have by now. `error` says why it failed."""

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
    """A listener that does not care."""
