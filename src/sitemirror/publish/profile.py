"""Where a run's time went, as its report tells it with `--profile`."""

from dataclasses import dataclass
from typing import Literal

from sitemirror.publish.marks import Amount, Count
from sitemirror.publish.reported import Reported, Shown
from sitemirror.stopwatch import Limit, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeShare(Reported):
    """How much of the time one thing held the run up."""

    limit: Limit
    """rate_limit: our own limit; asked_to_wait: 429, Retry-After or Crawl-delay; site: no answer yet; network: the
    rest of an answer; converter: pages being converted; disk: waiting for writes; sitemirror: the main process was
    busy; machine: it was ready but got no processor (told by Linux only); other: none of them."""

    seconds: Amount
    """Seconds on the clock. All shares together are the whole run."""

    share: Amount
    """The same as a part of 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimes(Reported):
    """How long one stage took. Stages of different pages overlap, so the sums may exceed the run's time."""

    stage: Stage
    """Waits: rate_limit, asked_to_wait, answer (request until head), body, conversion (until a page's turn came and it
    was converted), links (the same for rewriting links), flush (pages onto the disk itself, beside all else). Work:
    converting (without the wait), saving, state (the queue, links found, records), publishing."""

    seconds: Amount
    """All together."""

    count: Count
    """How many times."""

    mean_sec: Amount
    """Seconds for one."""

    greatest_sec: Amount
    """Seconds of the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth(Reported):
    """How many there were at once."""

    of: Literal["requests", "conversions", "workers"]
    """requests: under way; conversions: pages being converted or waiting for it; workers: processes that are up."""

    mean: Amount
    """On average over the run."""

    greatest: Count
    """At most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTimes(Reported):
    """Seconds of what a run does one after the other."""

    start_up: Amount
    """Until the run's folder is open."""

    discovery: Amount
    """Reading sitemaps."""

    pages: Amount
    """Visiting every URL that is due."""

    publishing: Amount
    """Settling names, rewriting links, writing manifest and contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Reported):
    """Where the time of a run went."""

    limit: Limit
    """What held the run up the most: the greatest share."""

    explanation: Shown
    """The same as a sentence, with what bears on it."""

    elapsed_sec: Amount
    """Seconds that were measured."""

    shares: tuple[TimeShare, ...]
    """The run's time by what held it up, greatest first."""

    phases: PhaseTimes
    """The run's time by what was done one after the other."""

    stages: tuple[StageTimes, ...]
    """The stages that came up."""

    depths: tuple[Depth, ...]
    """What was under way at once."""

    cpu_sec: Amount
    """Processor seconds of the main process since it began."""

    workers_cpu_sec: float | None
    """Processor seconds of the workers that are up; null where the system does not say."""

    peak_memory_mb: float | None
    """Greatest memory of the main process in MB; null where the system does not say."""

    workers_peak_memory_mb: float | None
    """The same for the workers, added up."""
