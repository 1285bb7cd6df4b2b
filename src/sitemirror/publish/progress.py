"""Define `_progress.json` and `_checkpoint.json`, which show the progress of a run.

Both are rewritten every hundred URLs and every ten seconds, so neither may grow with the site. A checkpoint names the
sitemaps being read and the newest `COMPLETED_SHOWN` that are done; earlier ones are counted. A resumed run uses the
state; the checkpoint is for people and for tools that know the older format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import orjson

from sitemirror.publish.marks import Amount, Count

if TYPE_CHECKING:
    from pydantic import ConfigDict

COMPLETED_SHOWN: Final = 1_000

_CHECKED: Final[ConfigDict] = {"extra": "ignore", "use_attribute_docstrings": True, "strict": True}


class CorruptFile(ValueError):
    """The file is not a valid checkpoint. The message has the reason."""


class SitemapState(StrEnum):
    """Progress of reading a sitemap."""

    COMPLETED = "completed"
    IN_PROGRESS = "in_progress"


class SitemapType(StrEnum):
    """One sitemap, or an index of many."""

    SINGLE = "single"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The content of `_progress.json`."""

    __pydantic_config__: ClassVar[ConfigDict] = _CHECKED

    processed: Count
    """URLs done, with any result."""

    total: Count
    """Number of URLs."""

    elapsed_sec: Amount
    """Seconds since this run began."""

    eta_sec: Amount | None
    """Estimated seconds left; null if unknown."""

    rate: Amount
    """URLs a second over the last minute."""

    failed: Count
    """Of those processed: failed."""

    skipped: Count
    """Of those processed: skipped."""

    def dump(self) -> bytes:
        """The file's bytes."""
        return orjson.dumps(self, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapProgress:
    """One sitemap in a checkpoint."""

    __pydantic_config__: ClassVar[ConfigDict] = _CHECKED

    url: str
    """Its URL."""

    status: SitemapState
    """completed or in_progress."""

    urls_processed: Count
    """URLs read from it so far."""


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
    """Completed sitemaps that are not listed above, because there are too many."""

    total_processed: Count
    """URLs processed."""

    total_expected: Count | None = None
    """Number of URLs; null while sitemaps are being read."""

    def dump(self) -> bytes:
        """The file's bytes."""
        return orjson.dumps(self, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def check_checkpoint(data: bytes) -> None:
    """Raise `CorruptFile` if this is not a checkpoint. Its content is not used: the state has it, too."""
    try:
        if _is_as_written(orjson.loads(data)):
            return
    except orjson.JSONDecodeError:
        pass
    # Not as we write them, which nearly all are: for pydantic to judge, which a run does without otherwise.
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(Checkpoint).validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise CorruptFile(f"{place}: {first['msg']}" if place else first["msg"]) from None


def _is_as_written(document: object) -> bool:
    match document:
        case {
            "version": 1,
            "started_at": str(),
            "source_url": str(),
            "sitemap_type": "single" | "index",
            "sitemaps": list(rows),
            "sitemaps_completed_before": before,
            "total_processed": processed,
            "total_expected": expected,
        }:
            counts = (before, processed, 0 if expected is None else expected)
            return all(map(_is_count, counts)) and all(map(_is_sitemap, rows))
    return False


def _is_sitemap(row: object) -> bool:
    match row:
        case {"url": str(), "status": "completed" | "in_progress", "urls_processed": processed}:
            return _is_count(processed)
    return False


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
