"""What is done about the links on a page: which are followed, how deep, and why others are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from sitemirror.engine.plan import Plan
from sitemirror.frontier.chains import TENTH, WHOLE, WINDOW, Way
from sitemirror.frontier.scope import Scope
from sitemirror.frontier.traps import Traps, without_session
from sitemirror.links.attributes import LinkKind
from sitemirror.links.found import FILE, INVALID, NOT_HTTP, Found, PageLinks
from sitemirror.model import TOO_LARGE
from sitemirror.settings import Settings
from sitemirror.store.known import Known
from sitemirror.store.ledger import Ledger
from sitemirror.store.linkbook import LinkBook, Linked, Undecided
from sitemirror.store.schema import ASSET, PAGE, UNREAD

TOO_DEEP: Final = "deeper than --link-depth"
NOFOLLOW_PAGE: Final = "nofollow: the page's robots meta"
NOFOLLOW_LINK: Final = "nofollow: the link"
NOT_FOLLOWED: Final = "link not followed"
REDIRECTS_OUT: Final = "redirects out of scope: "
NOT_A_LINK: Final = (NOT_HTTP, FILE, INVALID)

_LONG_CHAIN: Final = 50 * WHOLE
"""From here on it is worth finding out whether a chain's pages bear fruit. Nearly no page of a real site is so far."""


class Follow:
    """Judges links for one run and writes them to the state. `now` tells the time as the state has it."""

    def __init__(
        self, settings: Settings, now: Callable[[], str], plan: Plan, scope: Scope, ledger: Ledger, book: LinkBook
    ) -> None:
        self._settings = settings
        self._now = now
        self._plan = plan
        self._scope = scope
        self._ledger = ledger
        self._book = book
        self._traps = Traps()
        if plan.follows_links or plan.html:  # A Markdown mirror by sitemaps follows nothing, and may have a million.
            for url in book.accepted_queries():
                self._traps.accept(url)

    def judge_again(self) -> None:
        """Judges anew, by this run's settings, what earlier runs left or cut. No page is read for it."""
        self._ledger.within_batch()
        if self._plan.follows_links:
            for waiting in self._book.undecided():
                reason = self._reason_now(waiting)
                if reason != waiting.reason or waiting.is_out is not bool(reason):
                    self._book.rejudge(waiting.id, reason)
        elif self._plan.html:
            for waiting in self._book.undecided():
                if waiting.is_out and self._is_needed(waiting):
                    self._book.rejudge(waiting.id, "")
        again = self._book.outgrown(TOO_LARGE, self._settings.max_file_bytes)
        again += [id for id, url, reason in self._book.skipped(REDIRECTS_OUT) if not self._still_out(url, reason)]
        for id in again:
            self._book.rejudge(id, "")
        self._ledger.commit()

    def _is_needed(self, waiting: Undecided) -> bool:
        """Whether it is a file that a page by sitemaps needs, and may be fetched now: other links are a step away."""
        if waiting.reason.startswith((*NOT_A_LINK, NOT_FOLLOWED)):
            return False
        may_be = waiting.kind == ASSET or not waiting.depth
        return may_be and not self._scope.reason(waiting.url, is_needed=not waiting.depth)

    def _still_out(self, url: str, reason: str) -> str:
        """Why a URL that redirected out of scope is still none of ours; empty if that has changed."""
        location = reason.removeprefix(REDIRECTS_OUT).rpartition(" (")[0]
        return self._scope.reason(url) or self._scope.reason(location)

    def _reason_now(self, waiting: Undecided) -> str:
        reason = waiting.reason
        if reason.startswith(NOT_A_LINK):
            return reason
        if outside := self._scope.reason(waiting.url):
            return outside
        # Before the depth, as when the page was read: what stands here is all that is known of its nofollow.
        if reason == NOFOLLOW_PAGE and self._plan.respect_robots:
            return reason
        if reason == NOFOLLOW_LINK and self._settings.honor_nofollow:
            return reason
        if -1 < self._settings.link_depth < waiting.depth:
            return TOO_DEEP
        return self._trap(waiting.url, waiting.chain, waiting.kind) if waiting.is_out else ""

    def links(self, known: Known, links: PageLinks) -> int:
        """Takes in what a page, or a stylesheet, links to; gives the number of URLs that are due since then."""
        here, new = known.depth or 0, set[str]()
        linked = [Linked(refused.text, 0, here + 1, 0, PAGE, refused.reason) for refused in links.refused]
        again: list[tuple[int, int]] = []
        chain = self._chains(known, links)
        for found in links.found:
            if found.requisite and not self._plan.html:
                continue  # A Markdown mirror leaves assets where they are.
            url = without_session(found.url)
            attribute = 1 if found.attribute == "src" else 0
            depth = here if found.requisite else here + 1
            met = self._book.met(url)
            if met is not None and met.depth <= depth and not (met.chain and chain(url) < met.chain):
                again.append((met.id, attribute))  # Nothing about it can change. So are nearly all links of a site.
                continue
            kind = ASSET if found.kind is LinkKind.ASSET else PAGE
            so_far = chain(url)
            outside = self._scope.reason(url, is_needed=found.requisite)
            reason = outside or self._not_followed(known, found, links.nofollow)
            if not reason and self._book.is_new(url):
                reason = self._trap(url, so_far, kind)
                if not reason:
                    new.add(url)
            linked.append(Linked(url, attribute, depth, so_far, kind, reason, is_final=bool(outside)))
        self._ledger.within_batch()
        self._book.replace(known.id, linked, again, self._now())
        return len(new)

    def _chains(self, known: Known, links: PageLinks) -> Callable[[str], int]:
        """Gives a function that says how long a row of like URLs a link makes. The way here is looked up once."""

        @cache
        def way_and_step() -> tuple[Way, int]:
            way = Way([known.url, *self._book.led_by(known.id, WINDOW - 1)])
            return way, WHOLE if known.chain < _LONG_CHAIN else self._step(known, way, links)

        def chain(url: str) -> int:
            way, step = way_and_step()
            return self._traps.chain(way, known.chain, url, step=step)

        return chain

    def no_links(self, known: Known) -> None:
        """Deletes the links of what was a page, and is a file without links now or only another name."""
        self._ledger.within_batch()
        self._book.replace(known.id, (), (), "")

    def unchanged(self, known: Known) -> None:
        """Keeps the links of a page that is as it was."""
        self._ledger.within_batch()
        self._book.still_linked(known.id)
        if self._settings.link_depth > -1 and known.depth is not None:
            self._book.come_nearer(known.id, known.depth, TOO_DEEP, self._settings.link_depth)
        if known.seen == UNREAD:  # Its links are not known, and could not be read now.
            self._book.read_later(known.id)

    def _step(self, known: Known, way: Way, links: PageLinks) -> int:
        """What a link on this page counts in a chain."""
        here = (without_session(found.url) for found in links.found if self._plan.html or not found.requisite)
        inside = (url for url in here if not self._scope.reason(url))
        return TENTH if way.bears_fruit(inside, self._book.links_before(known.id, WINDOW)) else WHOLE

    def _not_followed(self, known: Known, found: Found, page_nofollow: bool) -> str:
        """Why a link into the site is not followed; empty if it is."""
        if found.requisite:
            return ""
        if not self._plan.follows_links:
            return NOT_FOLLOWED
        if page_nofollow and self._plan.respect_robots:
            return NOFOLLOW_PAGE
        if found.nofollow and self._settings.honor_nofollow:
            return NOFOLLOW_LINK
        return TOO_DEEP if -1 < self._settings.link_depth <= (known.depth or 0) else ""

    def _trap(self, url: str, chain: int, kind: int) -> str:
        """Why a new URL is cut. Files that pages need may have any number of queries: nothing grows out of them."""
        if kind == ASSET:
            return self._traps.reason(url.partition("?")[0], chain=chain)
        reason = self._traps.reason(url, chain=chain)
        if not reason:
            self._traps.accept(url)
        return reason
