"""Decides if a saved page must be requested again, by the sitemap's `lastmod` and its validators."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple

from sitemirror.model import Validators

_DAY: Final = 86_400  # seconds


class Freshness(Enum):
    """The request that a listed page needs."""

    FRESH = "fresh"  # nothing to ask
    ASK = "ask"  # ask, with our validators
    FETCH = "fetch"  # get it whole
    UNCHECKED = "unchecked"  # nothing to go by, and too young to be fetched


class Copy(NamedTuple):
    """The dates and validators of a saved page."""

    mtime: datetime | None  # None: the file is missing
    fetched_at: datetime | None
    validators: Validators

    @property
    def made_at(self) -> datetime | None:
        """The older of its mtime and the recorded fetch: a git checkout renews mtimes. None: the file is missing."""
        return self.mtime and min(self.mtime, self.fetched_at or self.mtime)


def judge(copy: Copy, lastmods: Iterable[datetime | None]) -> Freshness:
    """Compare a copy with the dates that sitemaps give for the page's URLs; None is an unreadable date."""
    made_at = copy.made_at
    if made_at is None:
        return Freshness.FETCH
    known = list(lastmods)
    if not known:  # Many sitemaps have no dates, and a 304 costs nothing.
        return Freshness.ASK if copy.validators else Freshness.FRESH
    if all(lastmod is not None and lastmod <= made_at for lastmod in known):
        return Freshness.FRESH
    return Freshness.ASK if copy.validators else Freshness.FETCH


def judge_age(copy: Copy, now: datetime, max_age: float) -> Freshness:
    """Compare the age of a copy without date and validator with `max_age`, in days; 0 is always reached."""
    is_old = copy.made_at is None or (now - copy.made_at).total_seconds() >= max_age * _DAY
    return Freshness.FETCH if is_old or not max_age else Freshness.UNCHECKED
