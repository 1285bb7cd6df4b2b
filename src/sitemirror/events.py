"""What a run tells its listeners while it goes. Progress displays, logs and library users all hang on these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The output folder is known and locked."""

    command: str
    url: str
    folder: str
    resumed: bool


@dataclass(frozen=True, slots=True)
class SitemapRead:
    """One sitemap was read to its end, or as far as it could be. `error` is empty when all was well."""

    url: str
    urls: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class DiscoveryFinished:
    """All sitemaps are read. `done` of the `total` URLs are already saved by earlier runs."""

    total: int
    done: int


@dataclass(frozen=True, slots=True)
class PageStarted:
    """A URL is being processed; `number` counts up to `total`, earlier runs included."""

    url: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class PageSaved:
    """A page is safely on disk. `changed` is false when the server or the content said nothing is new."""

    url: str
    path: str
    size_bytes: int
    changed: bool = True


@dataclass(frozen=True, slots=True)
class PageFailed:
    """A page could not be had. `will_retry` when it has been put back for later."""

    url: str
    reason: str
    will_retry: bool = False


@dataclass(frozen=True, slots=True)
class PageSkipped:
    """A URL was not wanted."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class PageRedirected:
    """A URL turned out to be another name of `location`."""

    url: str
    location: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A host asked for time. Nothing is sent to it for `seconds`."""

    host: str
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know that does not stop the run."""

    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the run stands, sent with every finished URL."""

    processed: int
    total: int
    saved: int
    failed: int
    skipped: int
    rate: float  # pages a second over the last minute
    eta_sec: float | None


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The manifest and the index are written."""

    status: str


@dataclass(frozen=True, slots=True)
class SiteFinished:
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
