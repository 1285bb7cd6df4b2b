"""One URL from request to record: take, keep, follow. A page's failure ends here, as a value."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

from sitemirror import failpoint
from sitemirror.engine.absences import told
from sitemirror.engine.due import Due
from sitemirror.engine.follow import REDIRECTS_OUT, Follow
from sitemirror.engine.keeper import Keeper
from sitemirror.engine.plan import Plan
from sitemirror.engine.robots import RobotsBook
from sitemirror.engine.session import Session
from sitemirror.engine.taken import Taken
from sitemirror.engine.taker import Answer, Taker
from sitemirror.events import PageFailed, PageRedirected, PageSaved, PageSkipped
from sitemirror.fetch.turns import Turn
from sitemirror.frontier.freshness import Freshness
from sitemirror.frontier.scope import DOMAIN_LOCK, ROBOTS, Scope
from sitemirror.frontier.traps import without_session
from sitemirror.model import Failed, NotModified, Redirect, Skipped, Validators
from sitemirror.stopwatch import Stage
from sitemirror.store.known import Known
from sitemirror.store.ledger import Ledger
from sitemirror.store.schema import FOR_NOW, UNREAD, Row

MAX_REDIRECTS: Final = 10
LOOP: Final = "redirect loop"
REDIRECTS: Final = "redirects: "
_FOR_NOW: Final = frozenset((302, 303, 307))


class Result(NamedTuple):
    """How a visit ended. `new` counts against --max-pages; `failure` is the error policy's business."""

    new: bool = False
    added: bool = False  # whatever it is, it was not on disk before
    changed: bool = False  # it was, and said something else
    page: int = 0  # the id of what was added or changed
    found: int = 0  # URLs that wait for their turn since
    skipped: bool = False
    failure: Failed | None = None
    known: Known | None = None  # whose failure it is


class Visitor:
    """Visits URLs for one run. Slots share it: between two awaits nothing else changes the ledger."""

    def __init__(
        self,
        session: Session,
        plan: Plan,
        scope: Scope,
        ledger: Ledger,
        robots: RobotsBook,
        keeper: Keeper,
        taker: Taker,
        follow: Follow,
    ) -> None:
        self._session = session
        self._plan = plan
        self._scope = scope
        self._robots = robots
        self._ledger = ledger
        self._keeper = keeper
        self._taker = taker
        self._follow = follow
        self.due = Due(session, plan, ledger, keeper)
        self._in_flight: set[int] = set()
        self._led_to: set[int] = set()
        self.to_compare = 0
        """Pages to be fetched whole: what was a name of theirs is a page, too, and nobody knows what they say."""
        self._followers: dict[int, list[Known]] = {}  # pages that redirect now, to what another slot is fetching
        self._let_down: dict[int, list[Known]] = {}  # those whose copies stay, as that failed: it may come yet
        self._awaiting: dict[int, list[str]] = {}  # names of a page that another slot, or nobody yet, is fetching

    def begin(self) -> None:
        """Takes up what earlier runs left, once it is known what is due."""
        for name, end in self._ledger.unsaved_names():
            self._awaiting.setdefault(end.id, []).append(name)

    def leave(self, known: Known) -> None:
        """A page that this run does not ask for stays, with what it links to."""
        self._ledger.checked(known.id)
        self._follow.unchanged(known)

    def begin_round(self) -> None:
        """What redirects led to in an earlier round may be visited again if it is due again."""
        self._led_to.clear()

    def handled(self, id: int) -> bool:
        """Whether a redirect has led to this URL in this round already."""
        return id in self._led_to

    # --- doing -------------------------------------------------------------------------------------------------

    async def visit(self, known: Known, freshness: Freshness, turn: Turn) -> Result:
        """Fetches a URL, and where it leads, until something is settled."""
        chain = [self._if_there(known)]
        ask = freshness is Freshness.ASK
        while True:
            current = chain[-1]
            self._in_flight.add(current.id)
            try:
                answer = await self._take(current, ask, turn)
                with self._session.watch.working(Stage.STATE):
                    following = self._settle(chain, answer)
                    self._lead_followers(current, following, answer)
            finally:
                self._in_flight.discard(current.id)
            if isinstance(following, Result):
                return following
            following = self._if_there(following)
            chain.append(following)
            # Somebody may have deleted it; and where the links are to be read, no 304 will do.
            ask = _has_copy(following) and following.seen != UNREAD and self._keeper.mtime(following) is not None

    def _if_there(self, known: Known) -> Known:
        """A page whose file somebody deleted is none: if it cannot be had again, there is no copy to be kept."""
        if not _has_copy(known) or any(path and self._keeper.has(path) for path in (known.path, known.html_path)):
            return known
        self._ledger.requeue(known.id)
        return known._replace(status=Row.QUEUED, path=None)

    async def _take(self, known: Known, ask: bool, turn: Turn) -> Answer:
        await turn.take()
        if self._plan.respect_robots:
            refused = await self._robots.refusal(known.url, turn)
            if refused is not None:
                return refused
            await turn.take()
        return await self._taker.take(known, known.validators if ask and known.path else Validators(), turn)

    def _settle(self, chain: list[Known], answer: Answer) -> Result | Known:
        """Records what was found out; gives the URL to go on with where a redirect leads to one."""
        known = chain[-1]
        match answer:
            case Taken():
                return self._saved(chain, answer)
            case NotModified(headers=headers, fetched_at=fetched_at):
                self._keeper.renew(known)
                validators = Validators(headers.get("etag"), headers.get("last-modified"))
                self._ledger.renewed(known.id, fetched_at=fetched_at, validators=validators)
                self._follow.unchanged(known)
                self._become_aliases(chain)
                self._session.emit(PageSaved(known.url, known.path or "", 0, changed=False))
                return Result()
            case Redirect():
                return self._redirected(chain, answer)
            case Failed():
                self._keep_copies(chain[:-1], answer.reason)
                self._let_down.setdefault(known.id, []).extend(filter(_has_copy, chain[:-1]))
                return self._failed(known, answer)
            case Skipped():
                self._keep_copies(chain[:-1], answer.reason)
                return self._skipped(known, answer)

    def _saved(self, chain: list[Known], taken: Taken) -> Result:
        known = chain[-1]
        links, found = taken.reading.links, 0
        if links is not None:  # Before the page counts as saved: from then on nobody would read its links.
            found = self._follow.links(known, links)
        elif _has_copy(known) and (self._plan.follows_links or self._plan.html):
            self._follow.no_links(known)
        if known.status is Row.REDIRECT:
            self.to_compare += self._ledger.read_again(known.id)
        is_added = self._is_new(known)
        names = [*(earlier.url for earlier in chain[:-1]), *self._awaiting.get(known.id, ())]
        kept = self._keeper.keep(known, taken, dict.fromkeys(names))
        self._awaiting.pop(known.id, None)
        self._become_aliases(chain)
        self._session.emit(PageSaved(known.url, kept.path, kept.size, kept.changed))
        changed = kept.changed and (_has_copy(known) or (not is_added and known.path is None))
        return Result(new=is_added and taken.is_page, added=is_added, changed=changed, page=known.id, found=found)

    def _is_new(self, known: Known) -> bool:
        """Whether nothing of it is on disk. What was another page's twin has a path, and no file there.

        What somebody deleted is not new: it was counted when it was saved first.
        """
        if known.path is None:
            return known.fetched_at is None
        return known.status is not Row.SAVED and not self._keeper.has(known.path)

    def _redirected(self, chain: list[Known], redirect: Redirect) -> Result | Known:
        known = chain[-1]
        if _has_copy(known):  # In case it stays: what it leads to may not be to be had.
            self._ledger.answered(known.id, redirect.status)
        location = without_session(redirect.location) if self._plan.follows_links else redirect.location
        refused = self._scope.reason(location)
        if refused:
            if refused == DOMAIN_LOCK:
                self._session.warn(f"security: domain lock violation: {known.url} redirects to {location}")
            skip = Skipped(known.url, f"{REDIRECTS_OUT}{location} ({refused})")
            self._keep_copies(chain[:-1], skip.reason)
            return self._skipped(known, skip)
        if earlier := [each for each in chain if each.url == location]:
            return self._loop(chain, earlier)
        if len(chain) > MAX_REDIRECTS:
            self._keep_copies(chain[:-1], "too many redirects")
            return self._failed(known, Failed(known.url, "too many redirects", transient=False))
        target = self._ledger.find_or_add(location, known)
        self._session.emit(PageRedirected(known.url, location))
        settings = self._session.settings
        stays = redirect.status in _FOR_NOW and _has_copy(known) and not settings.re_download_all
        if stays:
            # Under repair, or logged out: the page is where it was, says the server, and its copy is all we have.
            self._keep_copy(known, FOR_NOW + location, transient=False)
            chain.clear()
        waiting = {Row.QUEUED, Row.FAILED, Row.GONE, Row.OUTSIDE}  # the scope has just allowed it
        if not self._ledger.is_settled(target):
            if settings.update or settings.re_download_all:
                waiting |= {Row.SAVED, Row.REDIRECT}
            elif target.status is Row.REDIRECT and self._ledger.end_of(target).status is not Row.SAVED:
                waiting.add(Row.REDIRECT)  # Nobody lists it, so nobody has asked where it leads by now.
        names = self._awaiting.pop(known.id, [])
        if target.status in waiting and target.id not in self._in_flight and target.id not in self._led_to:
            if not _has_copy(known):  # A copy is kept until what replaces it is there.
                self._lead(known, target, redirect)
            self._name(target, names)
            self._led_to.add(target.id)
            return target
        if stays:
            return Result()
        way = self._way(target, chain)
        end = way[-1]
        if end in chain or (end.status is Row.REDIRECT and end.id not in self._in_flight):
            return self._loop(chain, way)
        self._name(end, [*(each.url for each in chain), *names])
        if not _has_copy(known):
            self._lead(known, target, redirect)
        if end.id in self._in_flight:
            self._followers.setdefault(end.id, []).extend(filter(_has_copy, chain))
        else:
            self._share_fate([*chain, target], end)
        return Result()

    def _way(self, target: Known, chain: list[Known]) -> list[Known]:
        """Where a URL leads, step by step, to what is on its way just now, or back into the chain that led to it."""
        way: list[Known] = []
        mine = {each.id: each for each in chain}
        for step in self._ledger.way_from(target):
            way.append(mine.get(step.id, step))
            if step.id in mine or step.id in self._in_flight:
                break
        return way

    def _loop(self, chain: list[Known], way: list[Known]) -> Result:
        """Leads back into the chain, or into a circle that is none of its own."""
        known = chain[-1]
        first = next((place for place, earlier in enumerate(chain) if earlier.id == way[-1].id), -1)
        self._keep_copies(chain[:-1], LOOP)
        self._go_round(each for each in (*chain[first:-1], *way) if each.id != known.id)
        return self._failed(known, Failed(known.url, LOOP, transient=False))

    def _go_round(self, members: Iterable[Known]) -> None:
        """Every URL of a circle is a failure, so that it does not matter where the next run begins to go round."""
        lost = {each.id: each for each in members if not _has_copy(each)}.values()
        failures = [(each, Failed(each.url, LOOP, transient=False)) for each in lost]
        for each, failure in failures:
            self._failed(each, failure)
        for each, failure in failures:  # when none of them leads to another any more
            self._keeper.failed(each, failure)

    def _lead(self, known: Known, target: Known, redirect: Redirect) -> None:
        """`known` is nothing but a name of `target`, if only for now."""
        self._ledger.redirected(known.id, target.id, self._session.now(), transient=redirect.status in _FOR_NOW)
        self._keeper.forget_placeholders(known)

    def _lead_followers(self, known: Known, following: Result | Known, answer: Answer) -> None:
        """What redirects to a URL whose fate is known now shares it."""
        if isinstance(answer, Failed):
            followers = self._followers.pop(known.id, [])
            self._let_down.setdefault(known.id, []).extend(followers)
        else:
            waited = self._let_down.pop(known.id, ())
            followers = [*self._followers.pop(known.id, ()), *filter(self._is_still_old, waited)]
        for follower in followers:
            way = [*self._ledger.way_from(known)]
            end = way[-1]
            if follower.id == known.id:  # It was asked for twice, and settled just now.
                continue
            if end.id in self._in_flight and end.id != known.id:
                self._followers.setdefault(end.id, []).append(follower)
            elif isinstance(following, Known):
                self._followers.setdefault(following.id, []).append(follower)
            elif end.id == follower.id:
                self._keep_copies([follower], LOOP)
                self._go_round(way)
            elif isinstance(answer, Taken | NotModified):
                self._become_alias(follower, known)
            else:
                self._share_fate([follower, known], end)

    def _is_still_old(self, known: Known) -> bool:
        """Whether nobody has settled meanwhile what redirected to something that could not be had."""
        return self._ledger.reason_of(known.id).startswith(REDIRECTS)

    def _share_fate(self, chain: list[Known], end: Known) -> None:
        """What led to `end`, whose turn has been: another name of it, or a copy that stays if it could not be had."""
        trouble = self._ledger.reason_of(end.id)
        if end.status is Row.SAVED and not trouble:
            self._become_aliases(chain)
        else:
            self._keep_copies(chain[:-1], trouble)

    def _become_aliases(self, chain: list[Known]) -> None:
        """What led to a page that is there now is a name of it."""
        for earlier, later in itertools.pairwise(chain):
            if _has_copy(earlier):
                self._become_alias(earlier, later)

    def _become_alias(self, known: Known, target: Known) -> None:
        """What was a page of its own is now another's name; its file would be found twice."""
        self._ledger.within_batch()
        if known.path is not None and known.path != target.path:
            self._keeper.begin_removal(known.path)
        self._follow.no_links(known)
        self._ledger.redirected(known.id, target.id, self._session.now())
        self._ledger.commit()
        failpoint.reached("alias-committed")
        self._keeper.finish_removal()

    def _name(self, page: Known, names: list[str]) -> None:
        """`names` lead to `page`: they are done when it is."""
        if page.status is Row.SAVED and page.id not in self._in_flight:
            for name in names:
                self._ledger.alias_done(name)
        elif names:
            self._awaiting.setdefault(page.id, []).extend(names)

    def _keep_copies(self, chain: list[Known], reason: str) -> None:
        """Pages that redirect now, to something that could not be had: their copies stay."""
        for known in filter(_has_copy, chain):
            self._keep_copy(known, REDIRECTS + reason, transient=False)

    def _keep_copy(self, known: Known, reason: str, *, transient: bool, status: int | None = None) -> None:
        """The copy stays as it is, and what it links to is still linked. Of two files one may be all there is of it."""
        if status is not None:
            self._ledger.answered(known.id, status)
        for path in dict.fromkeys((known.path, known.html_path)):
            if path and not self._keeper.has(path):
                reason += f"; {path} was deleted, and cannot be had"
                self._session.warn(f"{known.url}: {reason}")
        self._ledger.kept(known.id, reason, self._session.now(), transient=transient)
        self._follow.unchanged(known)

    def _failed(self, known: Known, failure: Failed) -> Result:
        if _has_copy(known):
            self._keep_copy(known, failure.reason, transient=failure.transient, status=failure.status)
        else:
            self._ledger.failed(known.id, failure, self._session.now())
        return Result(failure=failure, known=known)

    def _skipped(self, known: Known, skip: Skipped) -> Result:
        names = [known.url]
        if _has_copy(known):  # It was a page once: what was saved is all there is of it.
            self._keep_copy(known, skip.reason, transient=False, status=skip.status)
        elif skip.reason == ROBOTS:
            self._ledger.outside(known.id, skip.reason, self._session.now())
            names = [name for _, name in self._ledger.listed_names(known)]
        else:
            self._ledger.skipped(known.id, skip, self._session.now())
            names = self._keeper.skipped(known, skip)
        for name in names:
            self._session.emit(PageSkipped(name, skip.reason))
        return Result(skipped=True)

    def give_up(self, known: Known, failure: Failed) -> str:
        """The last word on a failure, for now: the next run tries again. Gives the name that it is told under."""
        names = self._keeper.failed(known, failure)
        for name in names:
            self._session.emit(PageFailed(name, told(failure.reason, known.url if name != known.url else None)))
        return names[0]

    def put_off(self, known: Known, failure: Failed) -> None:
        """Says of a failure that it is not the last word."""
        for _, name in self._ledger.listed_names(known):
            reason = told(failure.reason, known.url if name != known.url else None)
            self._session.emit(PageFailed(name, reason, will_retry=True))


def _has_copy(known: Known) -> bool:
    return known.path is not None and known.status is Row.SAVED
