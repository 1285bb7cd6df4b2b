"""Tell what changed in a mirror since a time, from its manifest alone.

The manifest has `changed_at` of each page and `since` of each that is gone. It does not say what a page said before,
nor when a URL became an alias or a page came back unchanged. Everything that asks for changes comes through here, so
a source that knows more can take this one's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from sitemirror.errors import UsageError
from sitemirror.publish.manifest import GoneRow, PageRow
from sitemirror.reading.mirrors import Mirror

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_STAMP: Final = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Removed:
    """A URL that is no page of the mirror any more."""

    url: str
    path: str | None
    """The file that it had, where that is known."""
    at: str
    """When it was missed, or when the page changed that it leads to now."""


def parse_since(text: str) -> str:
    """Return a date or a time as manifests write it: a day is its beginning in UTC. Raises `UsageError`."""
    try:
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC).strftime(_STAMP)
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a date", hint="give a day or a time, such as 2026-01-31 or 2026-01-31T08:00:00Z"
        ) from None
    return (at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)).strftime(_STAMP)


def changed_pages(mirror: Mirror, since: str) -> Iterator[PageRow]:
    """Yield the Markdown pages whose file came to say what it says at that time or later."""
    return (page for page in mirror.markdown_pages() if page.changed_at is None or page.changed_at >= since)


def removed_pages(mirror: Mirror, since: str) -> Iterator[Removed]:
    """Yield URLs that left the site since then, and aliases of pages that changed since then."""
    for row in mirror.rows():
        if isinstance(row, GoneRow):
            if row.since is None or row.since >= since:
                yield Removed(row.url, row.path, row.since or since)
        elif isinstance(row, PageRow) and (row.changed_at is None or row.changed_at >= since):
            yield from (Removed(url, None, row.changed_at or since) for url in row.aliases)
