"""robots.txt of every host a run meets, asked for once each."""

from __future__ import annotations

import asyncio
from typing import Final

from sitemirror import urls
from sitemirror.fetch.pace import BorrowedSlot, Slot
from sitemirror.fetch.response import Stream
from sitemirror.frontier.scope import Scope
from sitemirror.model import Failed, Lane, Redirect, Skipped
from sitemirror.reasons import Reason
from sitemirror.run.session import Session
from sitemirror.sitemaps.robots import MAX_RULES_BYTES, Robots, whole_lines

_HOPS: Final = 5


class RobotsBook:
    """What each host's robots.txt says to us."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope
        self._rules: dict[str, Robots] = {}
        self._refused: dict[str, str | None] = {}  # hosts that may not be connected to, with their addresses
        self._asking: dict[str, asyncio.Lock] = {}

    def within(self, scope: Scope) -> RobotsBook:
        """The same book for a run whose scope has become clear."""
        self._scope = scope
        return self

    async def refusal(self, url: str, slot: Slot) -> Skipped | Failed | None:
        """What robots.txt makes of this URL; None if it allows it. A Crawl-delay slows us from then on.
        Releases the slot if the host asks to wait.

        Rules that cannot be had forbid all for now, but nobody has said so: the next run asks again.
        """
        rules = await self.rules(url, slot)
        if (origin := urls.origin(url)) in self._refused:
            return Failed(url, Reason.ADDRESS_REFUSED, self._refused[origin])
        if rules.trouble:
            return Failed(url, Reason.ROBOTS_UNAVAILABLE, rules.trouble)
        if rules.crawl_delay:
            self._session.pace.set_crawl_delay(url, rules.crawl_delay)
        return None if rules.allowed(url) else Skipped(url, Reason.ROBOTS)

    async def rules(self, url: str, slot: Slot | None = None) -> Robots:
        """The rules of a URL's host."""
        origin = urls.origin(url)
        if origin not in self._rules:
            # Each host on its own: one that does not answer must not hold up the others.
            async with self._asking.setdefault(origin, asyncio.Lock()):
                if origin not in self._rules:
                    self._rules[origin] = await self._fetch(url, slot)
        return self._rules[origin]

    async def _fetch(self, url: str, slot: Slot | None) -> Robots:
        """4xx allows all; a server that cannot answer holds us off (RFC 9309)."""
        location = urls.normalize("/robots.txt", base=url)
        # All slots may be held by requests that wait for these rules, so fetching them must not wait for one.
        slot = slot and BorrowedSlot(slot)
        for _ in range(_HOPS):
            if self._scope.host_reason(location):
                break
            fetcher = self._session.fetcher
            async with fetcher.stream(location, lane=Lane.SITEMAP, limit=MAX_RULES_BYTES, slot=slot) as answer:
                match answer:
                    case Redirect(location=there):
                        location = there
                    case Stream():
                        body = b"".join([piece async for piece in answer.chunks()])
                        body = whole_lines(body) if answer.error else body
                        rules = Robots.parse(body, self._session.settings.user_agent)
                        if answer.error and answer.error.reason is not Reason.TOO_LARGE:
                            # What did not come may forbid anything.
                            rules.trouble = f"HTTP {answer.head.status}: {answer.error.text}"
                        return rules
                    case Failed(status=status) if status is None or status >= 500 or status == 429:
                        # Where only its robots.txt leads to such an address, the host itself may be asked.
                        is_own = urls.origin(location) == urls.origin(url)
                        if answer.reason is Reason.ADDRESS_REFUSED and is_own:
                            self._refused[urls.origin(url)] = answer.detail
                        return Robots.disallow_all(answer.text, answered=status is not None)
                    case _:
                        break
        return Robots.allow_all()
