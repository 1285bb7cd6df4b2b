"""Why a URL was not fetched, in the five words that the mirror index has for it."""

from __future__ import annotations

import re
from typing import Final, get_args

from sitemirror.publish.index_terms import Reason

_REASONS: Final[dict[str, Reason]] = {reason: reason for reason in get_args(Reason)} | {
    "domain lock": "out-of-domain",
    "disallowed by robots.txt": "robots-disallow",
}
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.\-]*): scheme", re.I)


def seed_reason(internal_reason: str) -> tuple[Reason, str | None]:
    """The index's reason for one of ours, and as a detail what that leaves unsaid.

    Every cut that the index has no word for (depth, trap, size, type, address) is `filter-exclude`.
    """
    if found := _REASONS.get(internal_reason):
        return found, None
    if scheme := _SCHEME.fullmatch(internal_reason):
        return ("file-scheme", None) if scheme[1].lower() == "file" else ("non-http(s) scheme", internal_reason)
    return "filter-exclude", internal_reason or None
