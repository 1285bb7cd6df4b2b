"""What is done about the links on a page: which are followed, how deep, and why others are not."""

from __future__ import annotations

from typing import Final

from sitemirror.discover.found import Found, LinkKind, PageLinks
from sitemirror.engine.plan import Plan
from sitemirror.engine.session import Session
from sitemirror.frontier.scope import Scope
from sitemirror.frontier.traps import Traps, without_session
from sitemirror.store.ledger import Known, Ledger
from sitemirror.store.linkbook import LinkBook, Linked

TOO_DEEP: Final = "deeper than --link-depth"
NOFOLLOW: Final = "nofollow"
NOT_FOLLOWED: Final = "link not followed"


class Follow:
    """Judges links for one run and writes them to the state."""

    def __init__(self, session: Session, plan: Plan, scope: Scope, ledger: Ledger, book: LinkBook) -> None:
        self._session = session
        self._settings = session.settings
        self._plan = plan
        self._scope = scope
        self._ledger = ledger
        self._book = book
        self._traps = Traps()

    def links(self, known: Known, links: PageLinks) -> None:
        """Takes in what a page, or a stylesheet, links to."""
        linked = [one for found in links.found if (one := self._judge(known, found, links.nofollow)) is not None]
        linked += [Linked(refused.text, 0, (known.depth or 0) + 1, 0, 1, refused.reason) for refused in links.refused]
        self._ledger.within_batch()
        self._book.replace(known.id, linked, self._session.now())

    def unchanged(self, known: Known) -> None:
        """The page is as it was, and so are its links."""
        self._ledger.within_batch()
        self._book.still_linked(known.id)

    def _judge(self, known: Known, found: Found, page_nofollow: bool) -> Linked | None:
        depth = known.depth or 0
        attribute = 1 if found.attribute == "src" else 0
        kind = 2 if found.kind is LinkKind.ASSET else 1
        url = without_session(found.url)
        if found.requisite:
            if not self._plan.html:
                return None  # A Markdown mirror leaves assets where they are.
            return Linked(url, attribute, depth, 0, kind, self._scope.reason(url))
        if not self._plan.follows_links:
            return Linked(url, attribute, depth + 1, 0, kind, self._scope.reason(url) or NOT_FOLLOWED)
        chain = self._traps.chain(known.url, known.chain, url)
        reason = self._scope.reason(url)
        if not reason and page_nofollow and self._plan.respect_robots:
            reason = f"{NOFOLLOW}: the page's robots meta"
        if not reason and found.nofollow and self._settings.honor_nofollow:
            reason = f"{NOFOLLOW}: the link"
        if not reason and -1 < self._settings.link_depth <= depth:
            reason = TOO_DEEP
        if not reason and not self._ledger.find(url):
            reason = self._traps.reason(url, chain=chain)
            if not reason:
                self._traps.accept(url)
        return Linked(url, attribute, depth + 1, chain, kind, reason)
