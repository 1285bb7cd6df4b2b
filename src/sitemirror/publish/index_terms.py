"""The mirror index's fixed words. Apart from its format, so that writing an index does not load what checks one."""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

SCHEMA_VERSION: Final = 1
TOOL: Final = "mirror-site"
TOOL_VERSION: Final = "1"

FileKind = Literal["page", "asset"]
UrlKind = Literal["page", "asset", "unknown"]
Reason = Literal["non-http(s) scheme", "file-scheme", "out-of-domain", "robots-disallow", "filter-exclude"]
"""Why a URL was not fetched."""

_REASONS: Final[dict[str, Reason]] = {reason: reason for reason in get_args(Reason)} | {
    "domain lock": "out-of-domain",
    "disallowed by robots.txt": "robots-disallow",
}
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.\-]*): scheme", re.I)


def index_reason(internal_reason: str) -> tuple[Reason, str | None]:
    """The index's reason for one of ours, and as a detail what that leaves unsaid.

    Every cut that the index has no word for (depth, trap, size, type, address) is `filter-exclude`.
    """
    if found := _REASONS.get(internal_reason):
        return found, None
    if scheme := _SCHEME.fullmatch(internal_reason):
        return ("file-scheme", None) if scheme[1].lower() == "file" else ("non-http(s) scheme", internal_reason)
    return "filter-exclude", internal_reason or None
