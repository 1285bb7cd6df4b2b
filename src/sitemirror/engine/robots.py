"""robots.txt of every host a run meets, asked for once each and only when it is to be obeyed."""

from __future__ import annotations

import asyncio

from sitemirror import urls
from sitemirror.discover.robots import Robots
from sitemirror.engine.discovery import fetch_robots
from sitemirror.engine.session import Session
from sitemirror.frontier.scope import ROBOTS, Scope


class RobotsBook:
    """What each host's robots.txt says to us."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope
        self._rules: dict[str, Robots] = {}
        self._asking = asyncio.Lock()

    async def reason(self, url: str) -> str:
        """Why robots.txt forbids this URL; empty if it does not. A Crawl-delay slows us from then on."""
        origin = urls.origin(url)
        if origin not in self._rules:
            async with self._asking:
                if origin not in self._rules:
                    rules = await fetch_robots(self._session, self._scope, url)
                    if rules.crawl_delay:
                        self._session.pace.set_crawl_delay(url, rules.crawl_delay)
                    self._rules[origin] = rules
        return "" if self._rules[origin].allowed(url) else ROBOTS
