"""Which URLs a pass over the state visits: what is unfinished, what is outdated, what a retry may still save."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitemirror.reasons import Reason
from sitemirror.store.schema import ASSET, UNREAD, Row
from sitemirror.store.state import RunInfo

_SETTLED: Final = f"{Row.SAVED}, {Row.REDIRECT}, {Row.TWIN}, {Row.SKIPPED}"
_MAY_FIT_NOW: Final = f"(url.status = {Row.SKIPPED} AND url.size <= ? AND url.reason = {Reason.TOO_LARGE})"
_UNREAD: Final = f"url.status = {Row.SAVED} AND url.seen = {UNREAD}"
_LEADS_HERE: Final = "SELECT 1 FROM url AS name WHERE name.leads_to = url.id"


class Selection(NamedTuple):
    """Which URLs a pass visits."""

    condition: str
    values: tuple[object, ...] = ()

    @classmethod
    def unfinished(cls, max_bytes: int) -> Selection:
        """What is queued or failed, and what was too large under a smaller limit."""
        return cls(f"url.status IN ({Row.QUEUED}, {Row.FAILED}) OR {_MAY_FIT_NOW}", (max_bytes,))

    @classmethod
    def wanted(cls) -> Selection:
        """All that was listed or linked and is in scope, done or not."""
        return cls(f"url.run != 0 AND url.status NOT IN ({Row.OUTSIDE}, {Row.GONE})")

    @property
    def listed(self) -> Selection:
        """The same without what only redirects led to."""
        return Selection(f"({self.condition}) AND url.run != 0", self.values)

    @classmethod
    def queued(cls) -> Selection:
        """What a pass put back into the queue behind itself."""
        return cls(f"url.status = {Row.QUEUED}")

    @classmethod
    def unread(cls) -> Selection:
        """Pages whose copies do not tell what has to be known of them."""
        return cls(_UNREAD)

    @classmethod
    def failed(cls, max_bytes: int) -> Selection:
        """What could not be had so far, and what was too large under a smaller limit."""
        return cls(f"url.status = {Row.FAILED} OR {_MAY_FIT_NOW}", (max_bytes,))

    @classmethod
    def level(cls, depth: int) -> Selection:
        """What is still to be fetched at one depth of links."""
        return cls(f"(url.status = {Row.QUEUED} OR {_UNREAD}) AND url.depth <= ?", (depth,))

    @classmethod
    def old_level(cls, depth: int, run: RunInfo) -> Selection:
        """What this run has found linked and not looked at, or what such links lead to, at one depth of links."""
        led_to = f"url.run = 0 AND EXISTS ({_LEADS_HERE} AND name.run = ?)"
        return cls(
            f"url.depth <= ? AND url.seen < ? AND (url.status = {Row.QUEUED}"
            f" OR (url.status IN ({_SETTLED}) AND (url.run = ? OR {led_to})))",
            (depth, run.number, run.number, run.number),
        )

    @classmethod
    def outdated(cls, run: RunInfo) -> Selection:
        """Everything that this run has not looked at, to be brought up to date. What was listed once, and is only
        another name of a page by now, nobody asks for."""
        led_to = f"url.status NOT IN ({Row.REDIRECT}, {Row.TWIN}) OR EXISTS ({_LEADS_HERE})"
        return cls(
            f"url.status IN ({Row.QUEUED}, {Row.FAILED})"
            f" OR (url.seen < ? AND url.status IN ({_SETTLED}) AND (url.run = ? OR (url.run = 0 AND ({led_to}))))",
            (run.number, run.number),
        )

    @classmethod
    def back(cls, run: RunInfo) -> Selection:
        """Files that were gone, and that a page needs again which this run read when their turn had passed."""
        return cls(
            f"url.status = {Row.SAVED} AND url.kind = {ASSET} AND url.run = ? AND url.seen < ?",
            (run.number, run.number),
        )

    @classmethod
    def perhaps_linked(cls, run: RunInfo) -> Selection:
        """Everything that this run has not looked at, and will if it is still linked: `outdated` for a crawl's start,
        when nobody knows yet what is."""
        return cls(
            f"url.status IN ({Row.QUEUED}, {Row.FAILED}) OR (url.seen < ? AND url.status IN ({_SETTLED}))",
            (run.number,),
        )

    @classmethod
    def to_retry(cls, run: RunInfo) -> Selection:
        """This run's transient failures."""
        failed = f"{Row.FAILED}, {Row.SAVED}"  # a saved page that could not be refreshed counts as well
        return cls(f"url.status IN ({failed}) AND url.transient = 1 AND url.seen = ?", (run.number,))
