"""Whether a page on disk must be asked for again: the sitemap's `lastmod` against what we have."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from sitemirror.model import Validators


class Freshness(Enum):
    """What to do about a page that a sitemap lists and we may have."""

    FRESH = "fresh"  # nothing to ask
    ASK = "ask"  # ask, with our validators
    FETCH = "fetch"  # get it whole


class Copy(NamedTuple):
    """What we have of a page."""

    mtime: datetime | None  # None: the file is missing
    fetched_at: datetime | None
    validators: Validators


def judge(copy: Copy, lastmods: Iterable[datetime | None]) -> Freshness:
    """`lastmods` are the dates that sitemaps give for the page's names; None stands for one that cannot be read.

    A copy is as old as the older of its mtime and the recorded fetch: a git checkout renews mtimes.
    """
    if copy.mtime is None:
        return Freshness.FETCH
    known = list(lastmods)
    if not known:  # Many sitemaps have no dates, and a 304 costs nothing.
        return Freshness.ASK if copy.validators else Freshness.FRESH
    age = min(copy.mtime, copy.fetched_at) if copy.fetched_at else copy.mtime
    if all(lastmod is not None and lastmod <= age for lastmod in known):
        return Freshness.FRESH
    return Freshness.ASK if copy.validators else Freshness.FETCH
