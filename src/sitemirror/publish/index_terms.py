"""The mirror index's fixed words. Apart from its format, so that writing an index does not load what checks one."""

from __future__ import annotations

from typing import Final, Literal

from sitemirror.reasons import Cause
from sitemirror.reasons import Reason as Cut

SCHEMA_VERSION: Final = 1
TOOL: Final = "mirror-site"
TOOL_VERSION: Final = "1"

FileKind = Literal["page", "asset"]
UrlKind = Literal["page", "asset", "unknown"]
Reason = Literal["non-http(s) scheme", "file-scheme", "out-of-domain", "robots-disallow", "filter-exclude"]
"""Why a URL was not fetched."""

_REASONS: Final[dict[Cut, Reason]] = {
    Cut.NOT_HTTP: "non-http(s) scheme",
    Cut.FILE_SCHEME: "file-scheme",
    Cut.DOMAIN_LOCK: "out-of-domain",
    Cut.ROBOTS: "robots-disallow",
}


def index_reason(cause: Cause | None) -> tuple[Reason, str | None]:
    """The index's reason for one of ours, and as a detail what that leaves unsaid.

    Every cut that the index has no word for (depth, trap, size, type, address) is `filter-exclude`.
    """
    if cause is None:
        return "filter-exclude", None
    if found := _REASONS.get(cause.reason):
        return found, None
    if cause.reason is Cut.OTHER_SCHEME:
        return ("file-scheme", None) if cause.detail == "file" else ("non-http(s) scheme", cause.text)
    return "filter-exclude", cause.text or None
