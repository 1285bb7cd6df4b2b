"""The one JSON object a command prints on stdout when it ends. Programs depend on it, so it is a model with a schema.

Its text is ASCII: whatever a site put into a URL or an error cannot reach the terminal as a control character, and no
console encoding can spoil it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from sitemirror.publish.marks import LEFT_OUT_WHEN_EMPTY, Amount, Count
from sitemirror.publish.profile import Profile
from sitemirror.publish.reported import Reported, Shown, ShownIfGiven, ShownLines


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
