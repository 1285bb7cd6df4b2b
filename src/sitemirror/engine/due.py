"""Decides whether a run has to ask for a URL that an earlier one settled; counts dates that cannot be read."""

from __future__ import annotations

from sitemirror.engine.keeper import Keeper
from sitemirror.engine.plan import Plan
from sitemirror.engine.session import Session, unstamp
from sitemirror.frontier.freshness import Copy, Freshness, judge
from sitemirror.sitemaps.dates import parse_lastmod
from sitemirror.store.known import Known
from sitemirror.store.ledger import Ledger
from sitemirror.store.schema import UNREAD, Row
from sitemirror.text import counted


class Due:
    """Judges URLs for one run."""

    def __init__(self, session: Session, plan: Plan, ledger: Ledger, keeper: Keeper) -> None:
        self._session = session
        self._plan = plan
        self._ledger = ledger
        self._keeper = keeper
        self._unread_dates = 0
        self._unread_date: tuple[str, str] | None = None  # the first of them, with its URL

    def freshness(self, known: Known) -> Freshness:
        """Whether `--update` has to ask for a URL that an earlier run settled."""
        if known.status in (Row.QUEUED, Row.FAILED) or known.seen == UNREAD or not self._session.settings.update:
            return Freshness.FETCH
        if self._session.settings.re_download_all:
            return Freshness.FETCH
        dates = [known.lastmod] if known.lastmod else []
        if known.status is Row.SAVED:
            dates += self._ledger.lastmods_of_aliases(known.id)
        if self._plan.follows_links or (known.status is Row.REDIRECT and known.transient):
            dates.clear()  # A sitemap's, of long ago: this run has read none. Or of a page that we never had.
        lastmods = [*map(parse_lastmod, dates)]
        if None in lastmods:
            self._unread_dates += 1
            self._unread_date = self._unread_date or (known.url, dates[lastmods.index(None)])
        mtime = self._keeper.mtime(known) if known.path and known.status is Row.SAVED else unstamp(known.at)
        fetched_at = unstamp(known.fetched_at or known.at)
        copy = Copy(mtime=mtime, fetched_at=fetched_at, validators=known.validators)
        found = judge(copy, lastmods)
        if found is Freshness.FRESH and known.status is Row.SAVED and self._ledger.cause_of(known.id):
            return Freshness.ASK if known.validators else Freshness.FETCH  # It could not be had last time.
        if found is Freshness.FRESH and known.run and not known.lastmod and known.validators:
            return Freshness.ASK  # The dates are those of its other names, and it is listed without one.
        # Links carry no dates: what cannot be asked about has to be fetched. Nor is there a copy to rely on of what led
        # elsewhere, or was no page: it may be one by now.
        is_open = self._plan.follows_links or known.status in (Row.REDIRECT, Row.SKIPPED)
        return Freshness.FETCH if found is Freshness.FRESH and is_open and not lastmods else found

    def tell_unread_dates(self) -> None:
        """Warns, once for the run, that pages were asked for because their dates cannot be read."""
        if self._unread_date is not None:
            url, date = self._unread_date
            pages = counted(self._unread_dates, "page")
            self._session.warn(f"{pages} asked for again: lastmod cannot be read, such as {date[:100]!r} of {url}")
