"""Decides if a saved page must be requested again, by the sitemap's `lastmod` and its validators."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from sitemirror.model import Validators


class Freshness(Enum):
    """The request that a listed page needs."""

    FRESH = "fresh"  # nothing to ask
    ASK = "ask"  # ask, with our validators
    FETCH = "fetch"  # get it whole


class Copy(NamedTuple):
    """The dates and validators of a saved page."""

    mtime: datetime | None  # None: the file is missing
    fetched_at: datetime | None
    validators: Validators


def judge(copy: Copy, lastmods: Iterable[datetime | None]) -> Freshness:
    """Compare a copy with the dates that sitemaps give for the page's URLs; None is an unreadable date.

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
