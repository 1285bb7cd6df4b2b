"""The placeholder that a manifest promises for a URL without a page."""

from __future__ import annotations

from sitemirror.publish.manifest import Element, FailureRow, SkipRow
from sitemirror.publish.placeholders import placeholder_name


def placeholder_of(row: Element) -> str | None:
    """The placeholder of a URL that was asked for and gave no page, in the mirror's folder; `None` for other rows."""
    match row:
        case FailureRow():
            return f"_failed/{placeholder_name(row.url)}"
        case SkipRow() if row.content_type is not None or row.size_bytes is not None:
            return f"_skipped/{placeholder_name(row.url)}"
        case _:
            return None
