"""The link policy of a run: which links are followed, and why others are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from sitemirror.frontier.scope import Scope
from sitemirror.frontier.traps import (
    FULL_STEP,
    REDUCED_STEP,
    TRAIL_LENGTH,
    ParamRules,
    Trail,
    Traps,
    strip_session_and_tracking,
)
from sitemirror.links.attributes import LinkKind
from sitemirror.links.found import Found, PageLinks
from sitemirror.reasons import Cause, Reason
from sitemirror.run.plan import Plan
from sitemirror.settings import Settings
from sitemirror.store.database import State
from sitemirror.store.link_table import JudgedLink, LinkTable, Undecided
from sitemirror.store.tables import ASSET, PAGE
from sitemirror.store.url_record import UrlRecord

_NO_LINK: Final = frozenset((Reason.NOT_HTTP, Reason.FILE_SCHEME, Reason.INVALID_LINK))

_LONG_CHAIN: Final = 50 * FULL_STEP
"""Chain length from which pages are searched for new links. Few pages of real sites get there."""


class LinkPolicy:
    """Judges links for one run and writes them to the state. `now` returns the time as text."""

    def __init__(
        self, settings: Settings, now: Callable[[], str], plan: Plan, scope: Scope, state: State, table: LinkTable
    ) -> None:
        self._settings = settings
        self._now = now
        self._plan = plan
        self._scope = scope
        self._state = state
        self._table = table
        self._params = ParamRules(settings.strip_params, settings.keep_params)
        self._traps = Traps()
        if plan.follows_links or plan.html:  # A Markdown mirror by sitemaps follows no links, and may have a million.
            for url in table.accepted_queries():
                self._traps.accept(url)

    def judge_again(self) -> None:
        """Judge again, by this run's settings, the links that earlier runs left out. Reads no page."""
        self._state.begin()
        if self._plan.follows_links:
            for waiting in self._table.undecided():
                cause = self._cause_now(waiting)
                if cause != waiting.cause or waiting.is_excluded is not bool(cause):
                    self._table.rejudge(waiting.id, cause)
        elif self._plan.html:
            for waiting in self._table.undecided():
                if waiting.is_excluded and self._is_needed(waiting):
                    self._table.rejudge(waiting.id, None)
        again = self._table.outgrown(self._settings.max_file_bytes)
        for id, url, location in self._table.redirected_out():
            if not self._scope.reason(url) and not self._scope.reason(location):
                again.append(id)
        self._table.queue_again(again)
        self._state.commit()

    def _is_needed(self, waiting: Undecided) -> bool:
        """True for a file that a page listed in a sitemap needs, and that this run may fetch."""
        if waiting.cause is not None and waiting.cause.reason in {*_NO_LINK, Reason.NOT_FOLLOWED}:
            return False
        may_be = waiting.kind == ASSET or not waiting.depth
        return may_be and not self._scope.reason(waiting.url, is_needed=not waiting.depth)

    def _cause_now(self, waiting: Undecided) -> Cause | None:
        reason = waiting.cause and waiting.cause.reason
        if reason in _NO_LINK:
            return waiting.cause
        if outside := self._scope.reason(waiting.url):
            return Cause(outside)
        # Before the depth, as when the page was read: this is the only record of its nofollow.
        if reason is Reason.NOFOLLOW_PAGE and self._plan.respect_robots:
            return waiting.cause
        if reason is Reason.NOFOLLOW_LINK and self._settings.honor_nofollow:
            return waiting.cause
        if -1 < self._settings.link_depth < waiting.depth:
            return Cause(Reason.TOO_DEEP)
        return self._trap(waiting.url, waiting.chain, waiting.kind) if waiting.is_excluded else None

    def links(self, record: UrlRecord, links: PageLinks) -> int:
        """Record the links of a page or style sheet; return the number of URLs that became due."""
        here, new = record.depth or 0, set[str]()
        linked = [
            JudgedLink(refused.text, 0, False, here + 1, 0, PAGE, Cause(refused.reason)) for refused in links.refused
        ]
        again: list[tuple[int, int, bool]] = []
        chain = self._chains(record, links)
        for found in links.found:
            if found.requisite and not self._plan.html:
                continue  # A Markdown mirror does not fetch assets.
            url = strip_session_and_tracking(found.url, self._params)
            attribute = 1 if found.attribute == "src" else 0
            depth = here if found.requisite else here + 1
            met = self._table.met(url)
            # Nothing about it can change. True for nearly all links of a site.
            if met is not None and met.depth <= depth and not (met.chain and chain(url) < met.chain):
                again.append((met.id, attribute, found.requisite))
                continue
            kind = ASSET if found.kind is LinkKind.ASSET else PAGE
            so_far = chain(url)
            outside = self._scope.reason(url, is_needed=found.requisite)
            reason = outside or self._not_followed(record, found, links.nofollow)
            cause = Cause(reason) if reason else None
            if not cause and self._table.is_new(url):
                cause = self._trap(url, so_far, kind)
                if not cause:
                    new.add(url)
            linked.append(
                JudgedLink(url, attribute, found.requisite, depth, so_far, kind, cause, is_final=bool(outside))
            )
        self._state.begin()
        self._table.replace(record.id, linked, again, self._now())
        return len(new)

    def _chains(self, record: UrlRecord, links: PageLinks) -> Callable[[str], int]:
        """Return a function that gives the chain length of a link. The trail is looked up once."""

        @cache
        def trail_and_step() -> tuple[Trail, int]:
            trail = Trail([record.url, *self._table.led_by(record.id, TRAIL_LENGTH - 1)])
            return trail, FULL_STEP if record.chain < _LONG_CHAIN else self._step(record, trail, links)

        def chain(url: str) -> int:
            trail, step = trail_and_step()
            return self._traps.chain_length(trail, record.chain, url, step=step)

        return chain

    def no_links(self, id: int) -> None:
        """Delete the links of a URL that was a page and is now a file without links."""
        self._table.replace(id, (), (), None)

    def come_nearer(self, record: UrlRecord) -> None:
        """Reduce the depth of a page's link targets with the page's own, if depth counts."""
        if self._settings.link_depth > -1 and record.depth is not None:
            self._table.come_nearer(record.id, record.depth, self._settings.link_depth)

    def _step(self, record: UrlRecord, trail: Trail, links: PageLinks) -> int:
        """Return the chain step of the links on this page."""
        here = (
            strip_session_and_tracking(found.url, self._params)
            for found in links.found
            if self._plan.html or not found.requisite
        )
        inside = (url for url in here if not self._scope.reason(url))
        before = self._table.links_before(record.id, TRAIL_LENGTH)
        return REDUCED_STEP if trail.shows_new_links(inside, before) else FULL_STEP

    def _not_followed(self, record: UrlRecord, found: Found, page_nofollow: bool) -> Reason | None:
        """Return the reason why a link within the site is not followed; None if it is."""
        if found.requisite:
            return None
        if not self._plan.follows_links:
            return Reason.NOT_FOLLOWED
        if page_nofollow and self._plan.respect_robots:
            return Reason.NOFOLLOW_PAGE
        if found.nofollow and self._settings.honor_nofollow:
            return Reason.NOFOLLOW_LINK
        return Reason.TOO_DEEP if -1 < self._settings.link_depth <= (record.depth or 0) else None

    def _trap(self, url: str, chain: int, kind: int) -> Cause | None:
        """Return the trap that excludes a new URL. Requisites may have any number of queries."""
        if kind == ASSET:
            return self._traps.reason(url.partition("?")[0], chain=chain)
        cause = self._traps.reason(url, chain=chain)
        if not cause:
            self._traps.accept(url)
        return cause
