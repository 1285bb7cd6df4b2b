"""Decides if a saved page must be requested again, by the sitemap's `lastmod` and its validators."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
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
        """The older of mtime and recorded fetch, as git renews mtimes. None if the file is missing."""
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


# --- dates -----------------------------------------------------------------------------------------------------------

_MAX_DATE_LENGTH: Final = 100
_CLOCK: Final = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,12}))?)?"
_ZONE: Final = r"(?P<zone>[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,5})?"
_MONTH: Final = r"(?P<name>[A-Za-z]{3})[a-z]{0,6}\.?"
_FORMS: Final = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?P<year>\d{{4}})(?:[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}})(?:(?:[Tt]|\s+){_CLOCK}\s*{_ZONE})?)?)?",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
        rf"(?:[Tt]?(?P<hour>\d{{2}})(?P<minute>\d{{2}})(?P<second>\d{{2}})?\s*{_ZONE})?",
        # RFC 2822 and the older forms of HTTP dates
        rf"(?:[A-Za-z]{{3,9}},?\s+)?(?P<day>\d{{1,2}})[\s-]+{_MONTH}[\s-]+(?P<year>\d{{4}}|\d{{2}})(?:,?\s+{_CLOCK}\s*{_ZONE})?",
        # asctime
        rf"[A-Za-z]{{3,9}}\s+{_MONTH}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s+(?:(?P<zone>[A-Z]{{2,5}})\s+)?(?P<year>\d{{4}})",
        rf"{_MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})(?:,?\s+{_CLOCK}\s*{_ZONE})?",
    )
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# The zones RFC 2822 names; every other name is read as UTC.
_HOURS_OF_ZONE: Final = {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}


def parse_lastmod(text: str) -> datetime | None:
    """Parse a date of a sitemap or feed as a time in UTC; None if it is none. Never raises.

    Dates without a time zone are UTC. A date without a time is the last second of its day, month or year: a page may
    have changed until then, and fetching once too often is better than missing a change.
    """
    text = text.strip()
    if not 4 <= len(text) <= _MAX_DATE_LENGTH:
        return None
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            try:
                return _moment(found.groupdict())
            except (ValueError, OverflowError):
                return None
    return None


def _moment(fields: dict[str, str | None]) -> datetime:
    year = _year(fields["year"] or "")
    month = _month(fields)
    day = fields.get("day")
    hour = fields.get("hour")
    if hour is None:
        last_month = month or 12
        last_day = int(day) if day else monthrange(year, last_month)[1]
        return datetime(year, last_month, last_day, 23, 59, 59, tzinfo=UTC)
    start = datetime(year, month or 1, int(day or 1), tzinfo=UTC)
    clock = timedelta(hours=int(hour), minutes=int(fields.get("minute") or 0), seconds=int(fields.get("second") or 0))
    # 24:00 is the end of a day, and a leap second runs into the next minute.
    if clock > timedelta(days=1) or int(fields.get("minute") or 0) > 59 or int(fields.get("second") or 0) > 60:
        raise ValueError("no such time of day")
    # A copy's own date is that of the second it was made in, and a change may come later in the same second.
    fraction = timedelta(microseconds=int((fields.get("fraction") or "")[:6].ljust(6, "0")))
    return start + clock + fraction - _offset(fields.get("zone") or "")


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (1900 if year >= 69 else 2000)


def _month(fields: dict[str, str | None]) -> int | None:
    if name := fields.get("name"):
        return _MONTHS.index(name.lower()) + 1
    month = fields.get("month")
    return int(month) if month else None


def _offset(zone: str) -> timedelta:
    if zone[:1] not in ("+", "-"):
        return timedelta(hours=_HOURS_OF_ZONE.get(zone.upper(), 0))
    digits = zone[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 24 or minutes > 59:
        raise ValueError("no such time zone")
    size = timedelta(hours=hours, minutes=minutes)
    return -size if zone[0] == "-" else size
