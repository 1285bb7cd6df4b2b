"""Define the JSON reports that commands print: `list`, `mirror`, `crawl`, `--sites`, `verify`, and errors.

The docstrings of classes and fields are the descriptions in the published schemas.
"""

import json
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, get_args, get_origin

from sitemirror.publish.marks import DOCUMENTED, LEFT_OUT_WHEN_EMPTY, NOT_NEGATIVE, Amount, Count
from sitemirror.stopwatch import Limit, Stage
from sitemirror.text import printable

if TYPE_CHECKING:
    from pydantic import ConfigDict


_SHOWN: Final = "text that may come from the network"

Shown = Annotated[str, _SHOWN]
"""Text whose control and invisible characters are escaped."""

ShownIfGiven = Annotated[str | None, _SHOWN, LEFT_OUT_WHEN_EMPTY]
ShownLines = Annotated[tuple[str, ...], _SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """Base of all reports and their parts: a dataclass that becomes a JSON object."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    def __post_init__(self) -> None:
        """Escape text for display. Raises `ValueError` for impossible values, which are bugs."""
        for field in fields(self):
            object.__setattr__(self, field.name, _checked(field.name, field.type, getattr(self, field.name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the JSON object."""
        found = {field.name: (field.type, getattr(self, field.name)) for field in fields(self)}
        return {
            name: _plain(value)
            for name, (kind, value) in found.items()
            if value is not None or LEFT_OUT_WHEN_EMPTY not in _marks(kind)
        }

    def to_json(self) -> str:
        """Return the text for stdout: one JSON object in ASCII, without the last newline."""
        return json.dumps(self.to_dict(), indent=2)


def _marks(kind: Any) -> tuple[Any, ...]:
    return getattr(kind, "__metadata__", ())


def _checked(name: str, kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if (get_origin(kind) is Literal and value not in get_args(kind)) or (NOT_NEGATIVE in _marks(kind) and value < 0):
        raise ValueError(f"{name} cannot be {value!r}")
    if _SHOWN in _marks(kind) and value is not None:
        return printable(value) if isinstance(value, str) else tuple(map(printable, value))
    return value


def _plain(value: Any) -> Any:
    match value:
        case Reported():
            return value.to_dict()
        case tuple():
            return [_plain(each) for each in value]
        case StrEnum():
            return value.value
    return value


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


class RunStatus(StrEnum):
    """How a run ended."""

    OK = "ok"
    PARTIAL = "partial"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class SitemapStatus(StrEnum):
    """How the reading of one sitemap ended."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_READ = "not_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapReport(Reported):
    """One sitemap that was found."""

    url: Shown
    """Where it is."""

    urls: Count
    """URLs read from it, repeats included."""

    status: SitemapStatus
    """ok: read to its end; partial: a problem, and what could be read was kept; failed: nothing could be read;
    not_read: the run ended before it."""

    error: ShownIfGiven = None
    """What was wrong with it. Left out when all was well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReport(Reported):
    """What `sitemirror list` prints."""

    status: RunStatus
    """ok; partial: a sitemap could not be read whole; interrupted: stopped by a signal; error: the run failed."""

    command: Literal["list"] = "list"
    """The command that ran."""

    url: Shown
    """The start URL."""

    sitemaps: tuple[SitemapReport, ...]
    """Every sitemap that was found, in the order it was found."""

    total_urls: Count
    """Distinct URLs in scope."""

    duplicates: Count
    """Listed URLs that repeat one already counted."""

    outline: str | None
    """Path of the outline that was written; null when none could be."""

    elapsed_sec: Amount
    """Seconds the run took."""

    warnings: ShownLines = ()
    """What a person should know that did not stop the run."""

    error: ShownIfGiven = None
    """What ended the run, in one sentence. Only with status error."""

    hint: ShownIfGiven = None
    """What to do about it. Only with status error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorReport(Reported):
    """What `sitemirror mirror` prints, also when it was interrupted or failed on the way."""

    status: RunStatus
    """ok; partial: some pages failed or were not reached; interrupted: stopped by a signal; error: the run failed, or
    not one page could be saved."""

    command: str = "mirror"
    """The command that ran."""

    url: Shown
    """The start URL."""

    output_dir: str
    """The folder that holds the mirror."""

    total_pages: Count
    """Pages of the site in scope: successful + failed + skipped + not_reached."""

    successful: Count
    """Pages and other files on disk, those of earlier runs included."""

    failed: Count
    """Pages that could not be had; the next run tries them again."""

    skipped: Count
    """URLs that are not wanted: another content type, too large, out of scope."""

    duplicates: Count
    """Listed URLs that lead to a page already counted under another listed one, and repeats in sitemaps."""

    not_reached: Count
    """Pages the run did not come to; the next run goes on with them."""

    new: Count = 0
    """Of those successful: added by this run."""

    changed: Count = 0
    """Of those successful: on disk before, and come with other content in this run."""

    gone: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """URLs that are no longer listed or linked since this run; their files stay. Left out when there are none."""

    assets: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: pictures, style sheets and other files that are no pages. Left out when there are none."""

    refresh_failed: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: copies that could not be brought up to date; the manifest says why in refresh_error. Left
    out when there are none."""

    failed_elsewhere: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those failed: found by a run for another start URL, and out of this one's scope, so that it did not try them.
    Left out when there are none."""

    disallowed: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """URLs that this run fetched although robots.txt disallows them: a sitemap lists them, or a listed page needs them.
    Left out when there are none."""

    disallowed_urls: Annotated[tuple[str, ...] | None, _SHOWN, LEFT_OUT_WHEN_EMPTY] = None
    """The first hundred of them."""

    elapsed_sec: Amount
    """Seconds the run took."""

    manifest: str | None
    """Path of _manifest.json; null when it could not be written."""

    index: str | None
    """Path of _index.md; null when it could not be written."""

    mirror_index: Annotated[str | None, LEFT_OUT_WHEN_EMPTY] = None
    """Path of mirror-index.json. Left out when none was asked for."""

    warnings: ShownLines = ()
    """What a person should know that did not stop the run."""

    error: ShownIfGiven = None
    """What ended the run, in one sentence. Only with status error."""

    hint: ShownIfGiven = None
    """What to do about it. Only with status error."""

    profile: Annotated[Profile | None, LEFT_OUT_WHEN_EMPTY] = None
    """Where the time went. Only with --profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport(Reported):
    """What a command prints when it failed before there was anything to count."""

    status: Literal[RunStatus.ERROR] = RunStatus.ERROR
    """Always error."""

    command: str
    """The command that ran."""

    url: Shown
    """The start URL as it was given, or the file named with --sites."""

    error: Shown
    """What happened, in one sentence."""

    hint: Shown
    """What to do about it; empty when there is nothing to advise."""

    elapsed_sec: Amount
    """Seconds the run took."""

    warnings: ShownLines = ()
    """What a person should know besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesReport(Reported):
    """What `sitemirror mirror --sites` and `crawl --sites` print, also when they were interrupted or sites failed."""

    status: RunStatus
    """ok; partial: some pages failed or were not reached; interrupted: stopped by a signal; error: a site failed."""

    command: str
    """The command that ran."""

    total_sites: Count
    """Sites in the list, each counted once: sites_ok + sites_partial + sites_interrupted + sites_failed."""

    sites_ok: Count
    """Sites of which everything was saved."""

    sites_partial: Count
    """Sites of which some pages failed or were not reached."""

    sites_interrupted: Count
    """Sites that were stopped, or not begun; the same command goes on with them."""

    sites_failed: Count
    """Sites that ended with an error."""

    total_pages: Count
    """Pages of all sites in scope: successful + failed + skipped + not_reached."""

    successful: Count
    """Pages and other files on disk, those of earlier runs included."""

    failed: Count
    """Pages that could not be had; the next run tries them again."""

    skipped: Count
    """URLs that are not wanted: another content type, too large, out of scope."""

    duplicates: Count
    """Listed URLs that lead to a page already counted under another listed one, and repeats in sitemaps."""

    not_reached: Count
    """Pages the run did not come to; the next run goes on with them."""

    new: Count = 0
    """Of those successful: added by this run."""

    changed: Count = 0
    """Of those successful: on disk before, and come with other content in this run."""

    gone: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """URLs that are no longer listed or linked since this run; their files stay. Left out when there are none."""

    assets: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: pictures, style sheets and other files that are no pages. Left out when there are none."""

    refresh_failed: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: copies that could not be brought up to date; the manifest says why in refresh_error. Left
    out when there are none."""

    elapsed_sec: Amount
    """Seconds the run took."""

    sites: tuple[MirrorReport | ErrorReport, ...]
    """How each site ended, in the order of the list."""

    warnings: ShownLines = ()
    """What a person should know that is not about one site."""

    error: ShownIfGiven = None
    """Which sites failed, in one sentence. Only with status error."""

    hint: ShownIfGiven = None
    """What to do about it. Only with status error."""


class ProblemKind(StrEnum):
    """What can be wrong with a mirror."""

    MISSING = "missing"
    CHANGED = "changed"
    UNREADABLE = "unreadable"
    ORPHAN = "orphan"
    LINK = "link"
    ANCHOR = "anchor"
    UNACCOUNTED = "unaccounted"
    TWICE = "twice"
    COUNT = "count"
    PATH = "path"
    MANIFEST = "manifest"
    INDEX = "index"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyProblem(Reported):
    """One thing that is wrong."""

    kind: ProblemKind
    """missing, changed, unreadable: a file; orphan: a file that no URL accounts for; link, anchor: a local link that
    leads nowhere; unaccounted, twice: a URL that is not in the manifest exactly once; count: a number in the manifest's
    header; path: a path that no mirror has; manifest, index: the file itself; unfinished: a run has not ended."""

    where: Shown
    """The file or the URL that is concerned."""

    message: Shown
    """What is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCounts(Reported):
    """How much was looked at."""

    mirrors: Count = 0
    """Mirrors in the folder."""

    urls: Count = 0
    """URLs in their manifests."""

    files: Count = 0
    """Files that were compared with what the manifest or the index says of them."""

    links: Count = 0
    """Local links, each once a file."""

    anchors: Count = 0
    """Places in pages that these links lead to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport(Reported):
    """What `sitemirror verify` prints."""

    status: Literal[RunStatus.OK, RunStatus.ERROR]
    """ok: nothing is wrong; error: something is."""

    command: Literal["verify"] = "verify"
    """The command that ran."""

    folder: Shown
    """The folder that was checked, as it was given."""

    complete: bool
    """False when a run ended before its work did; what there is can be right all the same."""

    checked: VerifiedCounts
    """What the check has covered."""

    problems_total: Count
    """How many problems there are."""

    problems: tuple[VerifyProblem, ...]
    """The first thousand of them."""

    elapsed_sec: Amount
    """Seconds it took."""

    warnings: ShownLines = ()
    """What a person should know that is not wrong."""

    error: ShownIfGiven = None
    """What was found, in one sentence. Only with status error."""

    hint: ShownIfGiven = None
    """What to do about it. Only with status error."""


Report = ListReport | MirrorReport | SitesReport | VerifyReport | ErrorReport
