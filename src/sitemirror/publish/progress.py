"""`_progress.json` and `_checkpoint.json`: where a run stands, for whoever looks at the folder while it runs.

Both are rewritten every hundred URLs, so neither may grow with the site. A checkpoint names the sitemaps being read and
the newest `COMPLETED_SHOWN` that are done; the ones before those are a number. (What a resumed run goes by is the
state; the checkpoint says the same to people and to tools that know the older format.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeVar

import orjson

from sitemirror.publish.marks import Amount, Count

if TYPE_CHECKING:
    from pydantic import ConfigDict

COMPLETED_SHOWN: Final = 1_000

_CHECKED: Final[ConfigDict] = {"extra": "ignore", "use_attribute_docstrings": True, "strict": True}


class CorruptFile(ValueError):
    """The file's content is not what we write. The message says what is wrong with it."""


class SitemapState(StrEnum):
    """How far the reading of a sitemap has come."""

    COMPLETED = "completed"
    IN_PROGRESS = "in_progress"


class SitemapType(StrEnum):
    """Whether the site has one sitemap or an index of many."""

    SINGLE = "single"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The content of `_progress.json`."""

    __pydantic_config__: ClassVar[ConfigDict] = _CHECKED

    processed: Count
    """URLs done, whatever became of them."""

    total: Count
    """URLs there are."""

    elapsed_sec: Amount
    """Seconds since this run began."""

    eta_sec: Amount | None
    """Seconds it will take yet; null while nobody can tell."""

    rate: Amount
    """URLs a second over the last minute."""

    failed: Count
    """Of those processed: could not be had."""

    skipped: Count
    """Of those processed: not wanted."""

    def dump(self) -> bytes:
        """The file's bytes."""
        return orjson.dumps(self, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapProgress:
    """One sitemap in a checkpoint."""

    __pydantic_config__: ClassVar[ConfigDict] = _CHECKED

    url: str
    """Where it is."""

    status: SitemapState
    """completed or in_progress."""

    urls_processed: Count
    """URLs taken in from it so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The content of `_checkpoint.json` and `_checkpoint-list.json`."""

    __pydantic_config__: ClassVar[ConfigDict] = _CHECKED

    version: Literal[1] = 1
    """Version of this format."""

    started_at: str
    """When the crawl began: ISO 8601, UTC."""

    source_url: str
    """The start URL."""

    sitemap_type: SitemapType
    """single or index."""

    sitemaps: tuple[SitemapProgress, ...]
    """The newest completed sitemaps, then those being read."""

    sitemaps_completed_before: Count = 0
    """Completed sitemaps that are not named above, because there are too many."""

    total_processed: Count
    """URLs processed."""

    total_expected: Count | None = None
    """URLs there are; null while sitemaps are still being read."""

    def dump(self) -> bytes:
        """The file's bytes."""
        return orjson.dumps(self, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def parse_checkpoint(data: bytes) -> Checkpoint:
    """Reads a checkpoint. Raises `CorruptFile`."""
    try:
        found = _as_written(orjson.loads(data))
    except orjson.JSONDecodeError:
        found = None
    return found or _parse(Checkpoint, data)


def _as_written(document: object) -> Checkpoint | None:
    """A checkpoint as we write it, which nearly all are. It is taken at sight; the others are for pydantic to judge."""
    match document:
        case {
            "version": 1,
            "started_at": str(started_at),
            "source_url": str(source_url),
            "sitemap_type": "single" | "index" as kind,
            "sitemaps": list(rows),
            "sitemaps_completed_before": before,
            "total_processed": processed,
            "total_expected": expected,
        } if _are_counts(before, processed) and (expected is None or _are_counts(expected)):
            sitemaps = tuple(map(_sitemap_as_written, rows))
        case _:
            return None
    known = tuple(sitemap for sitemap in sitemaps if sitemap is not None)
    if len(known) < len(sitemaps):
        return None
    return Checkpoint(
        started_at=started_at,
        source_url=source_url,
        sitemap_type=SitemapType(kind),
        sitemaps=known,
        sitemaps_completed_before=before,
        total_processed=processed,
        total_expected=expected,
    )


def _sitemap_as_written(row: object) -> SitemapProgress | None:
    match row:
        case {"url": str(url), "status": "completed" | "in_progress" as status, "urls_processed": processed} if (
            _are_counts(processed)
        ):
            return SitemapProgress(url=url, status=SitemapState(status), urls_processed=processed)
    return None


def _are_counts(*values: object) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


T = TypeVar("T")


def _parse(kind: type[T], data: bytes) -> T:
    # Loaded for files that are not as we write them: a run does without.
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise CorruptFile(f"{place}: {first['msg']}" if place else first["msg"]) from None
