"""The one JSON object a command prints on stdout when it ends. Programs depend on it, so it is a model with a schema.

Its text is ASCII: whatever a site put into a URL or an error cannot reach the terminal as a control character, and no
console encoding can spoil it.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt

from sitemirror.text import printable

Shown = Annotated[str, AfterValidator(printable)]
"""Text that may come from the network: control and invisible characters are spelled out."""

OnlyIfGiven = Field(exclude_if=lambda value: value is None)
"""The key is left out of the JSON when there is nothing to say."""


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


class _Reported(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        # A key with a default is always printed, and the schema says so.
        json_schema_serialization_defaults_required=True,
    )

    def to_json(self) -> str:
        """What goes to stdout: one JSON object in ASCII, without the last newline."""
        return json.dumps(self.model_dump(mode="json"), indent=2)


class SitemapReport(_Reported):
    """One sitemap that was found."""

    url: Shown
    """Where it is."""

    urls: NonNegativeInt
    """URLs read from it, repeats included."""

    status: SitemapStatus
    """ok: read to its end; partial: a problem, and what could be read was kept; failed: nothing could be read;
    not_read: the run ended before it."""

    error: Annotated[Shown | None, OnlyIfGiven] = None
    """What was wrong with it. Left out when all was well."""


class ListReport(_Reported):
    """What `sitemirror list` prints."""

    status: RunStatus
    """ok; partial: a sitemap could not be read whole; interrupted: stopped by a signal; error: the run failed."""

    command: Literal["list"] = "list"
    """The command that ran."""

    url: Shown
    """The start URL."""

    sitemaps: tuple[SitemapReport, ...]
    """Every sitemap that was found, in the order it was found."""

    total_urls: NonNegativeInt
    """Distinct URLs in scope."""

    duplicates: NonNegativeInt
    """Listed URLs that repeat one already counted."""

    outline: str | None
    """Path of the outline that was written; null when none could be."""

    elapsed_sec: NonNegativeFloat
    """Seconds the run took."""

    warnings: tuple[Shown, ...] = ()
    """What a person should know that did not stop the run."""

    error: Annotated[Shown | None, OnlyIfGiven] = None
    """What ended the run, in one sentence. Only with status error."""

    hint: Annotated[Shown | None, OnlyIfGiven] = None
    """What to do about it. Only with status error."""


class MirrorReport(_Reported):
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

    total_pages: NonNegativeInt
    """Pages of the site in scope: successful + failed + skipped + not_reached."""

    successful: NonNegativeInt
    """Pages on disk, those of earlier runs included."""

    failed: NonNegativeInt
    """Pages that could not be had; the next run tries them again."""

    skipped: NonNegativeInt
    """URLs that are not wanted: another content type, too large, out of scope."""

    duplicates: NonNegativeInt
    """Listed URLs that lead to a page already counted: repeats and aliases."""

    not_reached: NonNegativeInt
    """Pages the run did not come to; the next run goes on with them."""

    elapsed_sec: NonNegativeFloat
    """Seconds the run took."""

    manifest: str | None
    """Path of _manifest.json; null when it could not be written."""

    index: str | None
    """Path of _index.md; null when it could not be written."""

    mirror_index: Annotated[str | None, OnlyIfGiven] = None
    """Path of mirror-index.json. Left out when none was asked for."""

    warnings: tuple[Shown, ...] = ()
    """What a person should know that did not stop the run."""

    error: Annotated[Shown | None, OnlyIfGiven] = None
    """What ended the run, in one sentence. Only with status error."""

    hint: Annotated[Shown | None, OnlyIfGiven] = None
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


class VerifyProblem(_Reported):
    """One thing that is wrong."""

    kind: ProblemKind
    """missing, changed, unreadable: a file; orphan: a file that no URL accounts for; link, anchor: a local link that
    leads nowhere; unaccounted, twice: a URL that is not in the manifest exactly once; count: a number in the manifest's
    header; path: a path that no mirror has; manifest, index: the file itself; unfinished: a run has not ended."""

    where: Shown
    """The file or the URL that is concerned."""

    message: Shown
    """What is wrong with it."""


class VerifiedCounts(_Reported):
    """How much was looked at."""

    mirrors: NonNegativeInt = 0
    """Mirrors in the folder."""

    urls: NonNegativeInt = 0
    """URLs in their manifests."""

    files: NonNegativeInt = 0
    """Files that were compared with what the manifest or the index says of them."""

    links: NonNegativeInt = 0
    """Local links, each once a file."""

    anchors: NonNegativeInt = 0
    """Places in pages that these links lead to."""


class VerifyReport(_Reported):
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

    problems_total: NonNegativeInt
    """How many problems there are."""

    problems: tuple[VerifyProblem, ...]
    """The first thousand of them."""

    elapsed_sec: NonNegativeFloat
    """Seconds it took."""

    warnings: tuple[Shown, ...] = ()
    """What a person should know that is not wrong."""

    error: Annotated[Shown | None, OnlyIfGiven] = None
    """What was found, in one sentence. Only with status error."""

    hint: Annotated[Shown | None, OnlyIfGiven] = None
    """What to do about it. Only with status error."""


class ErrorReport(_Reported):
    """What a command prints when it failed before there was anything to count."""

    status: Literal[RunStatus.ERROR] = RunStatus.ERROR
    """Always error."""

    command: str
    """The command that ran."""

    url: Shown
    """The start URL as it was given."""

    error: Shown
    """What happened, in one sentence."""

    hint: Shown
    """What to do about it; empty when there is nothing to advise."""

    elapsed_sec: NonNegativeFloat
    """Seconds the run took."""

    warnings: tuple[Shown, ...] = ()
    """What a person should know besides."""


Report = ListReport | MirrorReport | VerifyReport | ErrorReport
