"""Define the JSON reports of `list`, `mirror`, `crawl`, `--sites` and `verify`, and of errors.

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
    """Share of the time that one cause limited the run."""

    limit: Limit
    """rate_limit: our own limit; asked_to_wait: 429, Retry-After or Crawl-delay; site: no answer yet; network: the
    rest of an answer; converter: pages being converted; disk: waiting for writes; sitemirror: the main process was
    busy; machine: it was ready but got no processor (known on Linux only); other: none of them."""

    seconds: Amount
    """Seconds on the clock. All shares together are the whole run."""

    share: Amount
    """The same as a part of 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimes(Reported):
    """Time of one stage. Stages of different pages overlap, so their sum may exceed the run's time."""

    stage: Stage
    """Waits: rate_limit, asked_to_wait, answer (request until head), body, conversion (until a page's turn came and it
    was converted), links (the same for rewriting links), flush (pages onto the disk itself, beside all else). Work:
    converting (without the wait), saving, state (the queue, links found, records), publishing."""

    seconds: Amount
    """In total."""

    count: Count
    """Number of times."""

    mean_sec: Amount
    """Average seconds."""

    greatest_sec: Amount
    """Longest seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth(Reported):
    """Number in parallel."""

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
    """Result of --profile."""

    limit: Limit
    """The cause with the largest share."""

    explanation: Shown
    """The same as a sentence, with the option that helps."""

    elapsed_sec: Amount
    """Seconds that were measured."""

    shares: tuple[TimeShare, ...]
    """The run's time by cause, largest share first."""

    phases: PhaseTimes
    """The run's time by phase."""

    stages: tuple[StageTimes, ...]
    """The stages that occurred."""

    depths: tuple[Depth, ...]
    """Operations in parallel."""

    cpu_sec: Amount
    """Processor seconds of the main process since it began."""

    workers_cpu_sec: float | None
    """Processor seconds of running workers; null if unknown."""

    peak_memory_mb: float | None
    """Peak memory of the main process in MB; null if unknown."""

    workers_peak_memory_mb: float | None
    """The same for all workers together."""


class RunStatus(StrEnum):
    """Status of a run."""

    OK = "ok"
    PARTIAL = "partial"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class SitemapStatus(StrEnum):
    """Status of a sitemap."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_READ = "not_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapReport(Reported):
    """One sitemap that was found."""

    url: Shown
    """Its URL."""

    urls: Count
    """URLs read from it, repeats included."""

    status: SitemapStatus
    """ok: read to its end; partial: a problem, and what could be read was kept; failed: nothing could be read;
    not_read: the run ended before it."""

    error: ShownIfGiven = None
    """The problem. Left out if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReport(Reported):
    """Report of `sitemirror list`."""

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
    """Problems that did not stop the run."""

    error: ShownIfGiven = None
    """The error that ended the run. Only with status error."""

    hint: ShownIfGiven = None
    """A solution. Only with status error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorReport(Reported):
    """Report of `sitemirror mirror`, also if it was interrupted or failed."""

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
    """Failed pages; the next run tries them again."""

    skipped: Count
    """Skipped URLs: another content type, too large, out of scope."""

    duplicates: Count
    """Listed URLs without a page of their own: they repeat another URL or resolve to the same page."""

    not_reached: Count
    """Pages that were not fetched; the same command resumes with them."""

    new: Count = 0
    """Of those successful: added by this run."""

    changed: Count = 0
    """Of those successful: saved before and changed in this run."""

    unchecked: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: saved by an earlier run and not compared with the site by this one. Without --update these
    are all of them; with it, pages younger than --max-age that have neither lastmod nor ETag nor Last-Modified. Left
    out when there are none."""

    gone: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """URLs that are no longer listed or linked since this run; their files stay. Left out when there are none."""

    assets: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: pictures, style sheets and other files that are no pages. Left out when there are none."""

    refresh_failed: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: old copies that could not be updated; refresh_error in the manifest has the reason. Left
    out when there are none."""

    out_of_scope: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those skipped: never requested, because scope, robots.txt or a trap limit excluded them. Left out when there
    are none."""

    failed_permanently: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those failed: with a reason that a retry does not change, such as HTTP 404. Left out when there are none."""

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
    """Problems that did not stop the run."""

    error: ShownIfGiven = None
    """The error that ended the run. Only with status error."""

    hint: ShownIfGiven = None
    """A solution. Only with status error."""

    profile: Annotated[Profile | None, LEFT_OUT_WHEN_EMPTY] = None
    """What limited the speed. Only with --profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport(Reported):
    """Report of a command that failed before there was anything to count."""

    status: Literal[RunStatus.ERROR] = RunStatus.ERROR
    """Always error."""

    command: str
    """The command that ran."""

    url: Shown
    """The start URL as it was given, or the file named with --sites."""

    error: Shown
    """The error, in one sentence."""

    hint: Shown
    """A solution; empty if there is none."""

    elapsed_sec: Amount
    """Seconds the run took."""

    warnings: ShownLines = ()
    """Further problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesReport(Reported):
    """Report of `mirror --sites` and `crawl --sites`, also if it was interrupted or sites failed."""

    status: RunStatus
    """ok; partial: some pages failed or were not reached; interrupted: stopped by a signal; error: a site failed."""

    command: str
    """The command that ran."""

    total_sites: Count
    """Sites in the list, each counted once: sites_ok + sites_partial + sites_interrupted + sites_failed."""

    sites_ok: Count
    """Sites with status ok."""

    sites_partial: Count
    """Sites with status partial."""

    sites_interrupted: Count
    """Sites that were stopped or not started; the same command resumes them."""

    sites_failed: Count
    """Sites that ended with an error."""

    total_pages: Count
    """Pages of all sites in scope: successful + failed + skipped + not_reached."""

    successful: Count
    """Pages and other files on disk, those of earlier runs included."""

    failed: Count
    """Failed pages; the next run tries them again."""

    skipped: Count
    """Skipped URLs: another content type, too large, out of scope."""

    duplicates: Count
    """Listed URLs without a page of their own: they repeat another URL or resolve to the same page."""

    not_reached: Count
    """Pages that were not fetched; the same command resumes with them."""

    new: Count = 0
    """Of those successful: added by this run."""

    changed: Count = 0
    """Of those successful: saved before and changed in this run."""

    unchecked: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: saved by an earlier run and not compared with the site by this one. Without --update these
    are all of them; with it, pages younger than --max-age that have neither lastmod nor ETag nor Last-Modified. Left
    out when there are none."""

    gone: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """URLs that are no longer listed or linked since this run; their files stay. Left out when there are none."""

    assets: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: pictures, style sheets and other files that are no pages. Left out when there are none."""

    refresh_failed: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those successful: old copies that could not be updated; refresh_error in the manifest has the reason. Left
    out when there are none."""

    out_of_scope: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those skipped: never requested, because scope, robots.txt or a trap limit excluded them. Left out when there
    are none."""

    failed_permanently: Annotated[Count | None, LEFT_OUT_WHEN_EMPTY] = None
    """Of those failed: with a reason that a retry does not change, such as HTTP 404. Left out when there are none."""

    elapsed_sec: Amount
    """Seconds the run took."""

    sites: tuple[MirrorReport | ErrorReport, ...]
    """Report of each site, in the order of the list."""

    warnings: ShownLines = ()
    """Problems that are not about a single site."""

    error: ShownIfGiven = None
    """Which sites failed, in one sentence. Only with status error."""

    hint: ShownIfGiven = None
    """A solution. Only with status error."""


class ProblemKind(StrEnum):
    """Kinds of problems of a mirror."""

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
    """One problem."""

    kind: ProblemKind
    """missing, changed, unreadable: a file; orphan: a file that no URL accounts for; link, anchor: a local link that
    leads nowhere; unaccounted, twice: a URL that is not in the manifest exactly once; count: a number in the manifest's
    header; path: a path that no mirror has; manifest, index: the file itself; unfinished: a run has not ended."""

    where: Shown
    """The file or URL."""

    message: Shown
    """The problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCounts(Reported):
    """Number of checked items."""

    mirrors: Count = 0
    """Mirrors in the folder."""

    urls: Count = 0
    """URLs in their manifests."""

    files: Count = 0
    """Files that were compared with what the manifest or the index says of them."""

    links: Count = 0
    """Local links, each once a file."""

    anchors: Count = 0
    """Anchors that these links lead to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport(Reported):
    """Report of `sitemirror verify`."""

    status: Literal[RunStatus.OK, RunStatus.ERROR]
    """ok: no problem; error: at least one problem."""

    command: Literal["verify"] = "verify"
    """The command that ran."""

    folder: Shown
    """The folder that was checked, as it was given."""

    complete: bool
    """False if a run was interrupted; its files can be intact all the same."""

    checked: VerifiedCounts
    """Counts of checked files, links and anchors."""

    problems_total: Count
    """Number of problems."""

    problems: tuple[VerifyProblem, ...]
    """The first thousand of them."""

    elapsed_sec: Amount
    """Duration in seconds."""

    warnings: ShownLines = ()
    """Notes that are not problems."""

    error: ShownIfGiven = None
    """Summary of the problems. Only with status error."""

    hint: ShownIfGiven = None
    """A solution. Only with status error."""


Report = ListReport | MirrorReport | SitesReport | VerifyReport | ErrorReport
