"""Decides whether a run has to ask for a URL that an earlier one settled; counts dates that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from sitemirror import failpoint
from sitemirror.events import PageFailed, PageRedirected, PageSaved, PageSkipped
from sitemirror.fetch.pace import Slot
from sitemirror.frontier.freshness import Copy, Freshness, judge
from sitemirror.frontier.scope import Scope
from sitemirror.frontier.traps import ParamRules, without_session
from sitemirror.model import Failed, NotModified, Redirect, Skipped, Validators
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason
from sitemirror.run.follow_links import LinkPolicy
from sitemirror.run.page_fetch import Answer, PageFetcher
from sitemirror.run.page_writer import FetchedPage, PageWriter
from sitemirror.run.placeholders import told
from sitemirror.run.plan import Plan
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session, unstamp
from sitemirror.run.start import MAX_HOPS
from sitemirror.sitemaps.dates import parse_lastmod
from sitemirror.stopwatch import Stage
from sitemirror.store.schema import UNREAD, Status
from sitemirror.store.url_table import Known, UrlTable
from sitemirror.text import counted


class UpdatePolicy:
    """Judges URLs for one run."""

    def __init__(self, session: Session, plan: Plan, ledger: UrlTable, keeper: PageWriter) -> None:
        self._session = session
        self._plan = plan
        self._ledger = ledger
        self._keeper = keeper
        self._unread_dates = 0
        self._unread_date: tuple[str, str] | None = None  # the first of them, with its URL

    def freshness(self, known: Known) -> Freshness:
        """Whether `--update` has to ask for a URL that an earlier run settled."""
        if known.status in (Status.QUEUED, Status.FAILED) or known.seen == UNREAD or not self._session.settings.update:
            return Freshness.FETCH
        if self._session.settings.re_download_all:
            return Freshness.FETCH
        dates = [known.lastmod] if known.lastmod else []
        if known.status is Status.SAVED:
            dates += self._ledger.lastmods_of_aliases(known.id)
        if self._plan.follows_links or (known.status is Status.REDIRECT and known.transient):
            dates.clear()  # A sitemap's, of long ago: this run has read none. Or of a page that we never had.
        lastmods = [*map(parse_lastmod, dates)]
        if None in lastmods:
            self._unread_dates += 1
            self._unread_date = self._unread_date or (known.url, dates[lastmods.index(None)])
        mtime = self._keeper.mtime(known) if known.path and known.status is Status.SAVED else unstamp(known.at)
        fetched_at = unstamp(known.fetched_at or known.at)
        copy = Copy(mtime=mtime, fetched_at=fetched_at, validators=known.validators)
        found = judge(copy, lastmods)
        if found is Freshness.FRESH and known.status is Status.SAVED and self._ledger.cause_of(known.id):
            return Freshness.ASK if known.validators else Freshness.FETCH  # It could not be had last time.
        if found is Freshness.FRESH and known.run and not known.lastmod and known.validators:
            return Freshness.ASK  # The dates are those of its other names, and it is listed without one.
        # Links carry no dates: what cannot be asked about has to be fetched. Nor is there a copy to rely on of what led
        # elsewhere, or was no page: it may be one by now.
        is_open = self._plan.follows_links or known.status in (Status.REDIRECT, Status.SKIPPED)
        return Freshness.FETCH if found is Freshness.FRESH and is_open and not lastmods else found

    def tell_unread_dates(self) -> None:
        """Warns, once for the run, that pages were asked for because their dates cannot be read."""
        if self._unread_date is not None:
            url, date = self._unread_date
            pages = counted(self._unread_dates, "page")
            self._session.warn(f"{pages} asked for again: lastmod cannot be read, such as {date[:100]!r} of {url}")


_TEMPORARY: Final = frozenset((302, 303, 307))


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
        ledger: UrlTable,
        robots: RobotsBook,
        keeper: PageWriter,
        taker: PageFetcher,
        follow: LinkPolicy,
    ) -> None:
        self._session = session
        self._plan = plan
        self._scope = scope
        self._robots = robots
        self._ledger = ledger
        self._keeper = keeper
        self._taker = taker
        self._follow = follow
        self.due = UpdatePolicy(session, plan, ledger, keeper)
        self._in_flight: set[int] = set()
        self._led_to: set[int] = set()
        self.to_compare = 0
        """Pages to be fetched whole: what was a name of theirs is a page, too, and nobody knows what they say; or one
        of their two files was deleted."""
        self.not_new: set[int] = set()
        """Pages that are fetched because their files were deleted."""
        self._leads: dict[int, int] = {}  # where pages lead that redirect now, and are copies until that is there
        self._followers: dict[int, list[Known]] = {}  # those that lead, over whatever steps, to what is being fetched
        self._let_down: dict[int, list[Known]] = {}  # those whose copies stay, as that failed: it may come yet
        self._asked_for: dict[int, Known] = {}  # whose page redirects there for now: its copy stays
        self._awaiting: dict[int, list[str]] = {}  # names of a page that another slot, or nobody yet, is fetching

    def begin(self) -> None:
        """Takes up what earlier runs left, once it is known what is due."""
        for name, end in self._ledger.unsaved_names():
            self._awaiting.setdefault(end.id, []).append(name)

    def leave(self, known: Known) -> None:
        """Keeps a page that this run does not ask for, with what it links to."""
        self._ledger.checked(known.id)
        self._follow.unchanged(known)

    def begin_round(self) -> None:
        """What redirects led to in an earlier round may be visited again if it is due again."""
        self._led_to.clear()

    def handled(self, id: int) -> bool:
        """Whether a redirect has led to this URL in this round already."""
        return id in self._led_to

    # --- doing -------------------------------------------------------------------------------------------------

    async def visit(self, known: Known, freshness: Freshness, slot: Slot) -> Result:
        """Fetches a URL, and where it leads, until something is settled."""
        chain = [self._if_there(known)]
        ask = freshness is Freshness.ASK
        while True:
            current = chain[-1]
            self._in_flight.add(current.id)
            self._leads.pop(current.id, None)
            try:
                answer = await self._take(current, ask, slot)
                with self._session.watch.working(Stage.STATE):
                    self._wait_for(current, filter(self._is_still_old, self._let_down.pop(current.id, ())))
                    following = self._settle(chain, answer)
                    followers = self._followers.pop(current.id, [])  # if they do not wait for something else now
                    self._share_fate(followers, current, is_there=isinstance(answer, FetchedPage | NotModified))
            finally:
                self._in_flight.discard(current.id)
            if isinstance(following, Result):
                return following
            following = self._if_there(following)
            chain.append(following)
            # Somebody may have deleted it; and where the links are to be read, no 304 will do.
            ask = _has_copy(following) and following.seen != UNREAD and self._keeper.mtime(following) is not None

    def _if_there(self, known: Known) -> Known:
        """What is known of a URL, without its page if somebody deleted the file: then there is no copy to be kept."""
        if known.path is None and known.id in self.not_new:
            return self._ledger.with_lost_hashes(known)
        if known.path is None:
            self._keeper.clear_place(known)
        if not _has_copy(known) or any(path and self._keeper.has(path) for path in (known.path, known.html_path)):
            return known
        self._ledger.requeue(known.id)
        return known._replace(status=Status.QUEUED, path=None)

    async def _take(self, known: Known, ask: bool, slot: Slot) -> Answer:
        await slot.acquire()
        if self._plan.respect_robots:
            refused = await self._robots.refusal(known.url, slot)
            if refused is not None:
                return refused
            await slot.acquire()
        elif self._session.settings.respect_robots is None:
            await self._robots.note(known.url, slot)
            await slot.acquire()
        return await self._taker.take(known, known.validators if ask and known.path else Validators(), slot)

    def _settle(self, chain: list[Known], answer: Answer) -> Result | Known:
        """Records what was found out; gives the URL to go on with where a redirect leads to one."""
        known = chain[-1]
        match answer:
            case FetchedPage():
                return self._saved(chain, answer)
            case NotModified(headers=headers, fetched_at=fetched_at):
                self._keeper.renew(known)
                validators = Validators(headers.get("etag"), headers.get("last-modified"))
                self._ledger.renewed(known.id, fetched_at=fetched_at, validators=validators)
                self._follow.unchanged(known)
                self._session.emit(PageSaved(known.url, known.path or "", 0, changed=False))
                return Result()
            case Redirect():
                return self._redirected(chain, answer)
            case Failed():
                return self._failed(known, answer)
            case Skipped():
                return self._skipped(known, answer)

    def _saved(self, chain: list[Known], taken: FetchedPage) -> Result:
        known = chain[-1]
        links, found = taken.reading.links, 0
        if links is not None:  # Before the page counts as saved: from then on nobody would read its links.
            found = self._follow.links(known, links)
        elif _has_copy(known) and (self._plan.follows_links or self._plan.html):
            self._follow.no_links(known)
        if known.status is Status.REDIRECT:
            self.to_compare += self._ledger.read_again(known.id)
        is_added = self._is_new(known)
        waiting = (name for name in self._awaiting.get(known.id, ()) if self._still_leads(name, known))
        names = [*(earlier.url for earlier in chain[:-1]), *waiting]
        kept = self._keeper.keep(known, taken, dict.fromkeys(names))
        self._awaiting.pop(known.id, None)
        self._session.emit(PageSaved(known.url, kept.path, kept.size, kept.changed, is_added))
        changed = kept.changed and (_has_copy(known) or (not is_added and known.path is None))
        return Result(new=is_added and taken.is_page, added=is_added, changed=changed, page=known.id, found=found)

    def _still_leads(self, name: str, known: Known) -> bool:
        """Whether a name of an earlier run is one yet: it may have become something else in this one."""
        found = self._ledger.find(name)
        return found is not None and any(step.id == known.id for step in self._ledger.way_from(found, self._leads))

    def _is_new(self, known: Known) -> bool:
        """Whether nothing of it is on disk. What was another page's twin has a path, and no file there.

        What somebody deleted is not new: it was counted when it was saved first.
        """
        if known.path is None:
            return known.fetched_at is None and known.id not in self.not_new
        return known.status is not Status.SAVED and not self._keeper.has(known.path)

    def _redirected(self, chain: list[Known], redirect: Redirect) -> Result | Known:
        known = chain[-1]
        if _has_copy(known):  # In case it stays: what it leads to may not be to be had.
            self._ledger.answered(known.id, redirect.status)
        params = ParamRules(self._session.settings.strip_params, self._session.settings.keep_params)
        location = without_session(redirect.location, params) if self._plan.follows_links else redirect.location
        refused = self._scope.reason(location, is_needed=known.depth == 0)
        if refused:
            if refused is Reason.DOMAIN_LOCK:
                self._session.warn(f"security: domain lock violation: {known.url} redirects to {location}")
            return self._skipped(known, Skipped(known.url, REDIRECTED_OUT[refused], location))
        if earlier := [each for each in chain if each.url == location]:
            return self._loop(known, self._way(earlier[0]))
        if len(chain) > MAX_HOPS:
            return self._failed(known, Failed(known.url, Reason.TOO_MANY_REDIRECTS))
        target = self._ledger.find_or_add(location, known)
        self._session.emit(PageRedirected(known.url, location))
        settings = self._session.settings
        stays = redirect.status in _TEMPORARY and _has_copy(known) and not settings.re_download_all
        if stays:
            # Under repair, or logged out: the page is where it was, says the server, and its copy is all we have.
            self._keep_copy(known, Cause(Reason.MOVED_TEMPORARILY, location), transient=False)
            chain.clear()
        waiting = {Status.QUEUED, Status.GONE, Status.OUT_OF_SCOPE}  # the scope has just allowed it
        if not self._ledger.is_settled(target):
            waiting |= (
                {Status.FAILED, Status.SAVED, Status.REDIRECT, Status.DUPLICATE} if settings.renews else {Status.FAILED}
            )
            if target.status is Status.REDIRECT and self._ledger.end_of(target).status is not Status.SAVED:
                waiting.add(Status.REDIRECT)  # Nobody lists it, so nobody has asked where it leads by now.
        names = self._awaiting.pop(known.id, [])
        asked = self._in_flight, self._led_to, self._leads
        if target.status in waiting and not any(target.id in some for some in asked):
            if asked_for := known if stays else self._asked_for.pop(known.id, None):
                self._asked_for[target.id] = asked_for
            if not stays:
                self._lead(known, target, redirect)
                self._wait_for(target, self._led_by(known))
            self._name(target, names)
            self._led_to.add(target.id)
            return target
        if stays:
            return Result()
        way = self._way(target)
        end = way[-1]
        if end.id == known.id or (end.status is Status.REDIRECT and end.id not in self._in_flight):
            return self._loop(known, way)
        self._name(end, [*(each.url for each in chain), *names])
        self._lead(known, target, redirect)
        if end.id in self._in_flight:
            self._wait_for(end, self._led_by(known))
        else:
            is_there = end.status is Status.SAVED and not self._ledger.cause_of(end.id)
            self._share_fate(self._led_by(known), end, is_there=is_there)
        return Result()

    def _way(self, target: Known) -> list[Known]:
        """Where a URL leads, step by step, to the end or to what is on its way just now."""
        way: list[Known] = []
        for step in self._ledger.way_from(target, self._leads):
            way.append(step)
            if step.id in self._in_flight:
                break
        return way

    def _loop(self, known: Known, way: list[Known]) -> Result:
        """Settles a redirect that leads back to itself, or into a circle.

        Every URL of a circle that was listed is a failure, and where none was, the first: so it does not matter where
        the next run begins to go round. The others are steps on the way there, which nobody has asked for.
        """
        members = {each.id: each for each in (*way, known)}.values()
        lost = [each for each in members if not _has_copy(each)]
        told = [each for each in lost if each.run] or lost[:1]
        if len(lost) < len(members):  # A copy stays, and what it leads to says why.
            told = [known, *(each for each in lost if each.id != known.id)]
        failures = [(each, Failed(each.url, Reason.REDIRECT_LOOP)) for each in told]
        for each, failure in failures:
            self._failed(each, failure)
        for each in lost:
            if each not in told:
                self._ledger.redirected(each.id, told[0].id, self._session.now())
        for each, failure in failures[1:]:  # when none of them leads to another any more
            self.give_up(each, failure)
        return Result(failure=failures[0][1], known=told[0])

    def _lead(self, known: Known, target: Known, redirect: Redirect) -> None:
        """Makes `known` another name of `target`. A copy stays until what replaces it is there."""
        if _has_copy(known):
            self._leads[known.id] = target.id
            return
        self._ledger.redirected(known.id, target.id, self._session.now(), transient=redirect.status in _TEMPORARY)
        self._keeper.forget_placeholder(known)

    def _led_by(self, known: Known) -> list[Known]:
        """The copies whose fate is no longer that of `known`, which leads elsewhere; its own is one of them."""
        return [*self._followers.pop(known.id, ()), *filter(_has_copy, (known,))]

    def _wait_for(self, end: Known, followers: Iterable[Known]) -> None:
        if some := [*followers]:
            self._followers.setdefault(end.id, []).extend(some)

    def _is_still_old(self, known: Known) -> bool:
        """Whether nobody has settled meanwhile what redirected to something that could not be had."""
        cause = self._ledger.cause_of(known.id)
        return cause is not None and cause.reason is Reason.REDIRECT_TARGET_FAILED

    def _share_fate(self, followers: list[Known], end: Known, *, is_there: bool) -> None:
        """Settles what led to `end`, which was visited: names of it now, or copies that stay if it is not there."""
        if is_there:
            for follower in followers:
                self._leads.pop(follower.id, None)
                self._become_alias(follower, end)
        elif followers:
            nothing = self._ledger.end_of(end)  # It may be a step of a circle.
            cause = self._ledger.cause_of(nothing.id)
            if cause is None or cause.reason is not Reason.MOVED_TEMPORARILY:
                text = f"{nothing.url}: {cause.text if cause else ''}"
                cause = Cause(Reason.REDIRECT_TARGET_FAILED, text)
            for follower in followers:
                self._keep_copy(follower, cause, transient=False)
            self._let_down.setdefault(end.id, []).extend(followers)

    def _become_alias(self, known: Known, target: Known) -> None:
        """Makes what was a page of its own another's name, and removes its file, which would be found twice."""
        self._ledger.within_batch()
        if known.path is not None and known.path != target.path:
            self._keeper.begin_removal(known.path)
        self._follow.no_links(known)
        self._ledger.redirected(known.id, target.id, self._session.now())
        self._ledger.commit()
        failpoint.reached("alias-committed")
        self._keeper.finish_removal()

    def _name(self, page: Known, names: list[str]) -> None:
        """Notes that `names` lead to `page`: they are done when it is."""
        if page.status is Status.SAVED and page.id not in self._in_flight:
            for name in names:
                self._ledger.alias_done(name)
        elif names:
            self._awaiting.setdefault(page.id, []).extend(names)

    def _keep_copy(self, known: Known, cause: Cause, *, transient: bool, status: int | None = None) -> None:
        """Keeps a copy as it is, with what it links to. Of two files one may be all there is of it."""
        if status is not None:
            self._ledger.answered(known.id, status)
        for path in dict.fromkeys((known.path, known.html_path)):
            if path and not self._keeper.has(path):
                cause = cause._replace(missing_path=path)
                self._session.warn(f"{known.url}: {cause.text}")
        self._ledger.kept(known.id, cause, self._session.now(), transient=transient)
        self._follow.unchanged(known)

    def _failed(self, known: Known, failure: Failed) -> Result:
        if _has_copy(known):
            cause = Cause(failure.reason, failure.detail)
            self._keep_copy(known, cause, transient=failure.transient, status=failure.status)
        else:
            self._ledger.failed(known.id, failure, self._session.now())
            if failure.transient:  # Somebody may have deleted its copy: what it linked to is still linked.
                self._follow.unchanged(known)
        return Result(failure=failure, known=known)

    def _skipped(self, known: Known, skip: Skipped) -> Result:
        names = [known.url]
        if _has_copy(known):  # It was a page once: what was saved is all there is of it.
            self._keep_copy(known, Cause(skip.reason, skip.detail), transient=False, status=skip.status)
        elif skip.reason is Reason.ROBOTS:
            self._ledger.outside(known.id, skip.reason, self._session.now())
            names = [name for _, name in self._ledger.listed_names(known)]
        else:
            self._ledger.skipped(known.id, skip, self._session.now())
            names = self._keeper.skipped(known, skip)
        for name in names:
            self._session.emit(PageSkipped(name, skip.text))
        return Result(skipped=True)

    def give_up(self, known: Known, failure: Failed) -> str:
        """Records a failure that this run does not try again. Gives the name that it is told under.

        Copies whose pages have moved there are told of as well, and alone where nobody has asked for anything else.
        """
        copies = [each for each in self._let_down.get(known.id, ()) if self._is_still_old(each)]
        if not copies and known.id in self._asked_for:
            copies = [self._asked_for[known.id]]
        told_by: list[str] = []
        if not copies or known.run or self._ledger.listed_names(known) != [(known.id, known.url)]:
            told_by = self._keeper.failed(known, failure)
        for name in told_by:
            self._session.emit(PageFailed(name, told(failure.text, known.url if name != known.url else None)))
        for copy in copies:
            cause = self._ledger.cause_of(copy.id)
            text = cause.text if cause else ""
            self._keeper.log_failure(copy, text)
            told_by.append(copy.url)
            self._session.emit(PageFailed(copy.url, text))
        return told_by[0]

    def put_off(self, known: Known, failure: Failed) -> None:
        """Tells of a failure that will be tried again."""
        for _, name in self._ledger.listed_names(known):
            reason = told(failure.text, known.url if name != known.url else None)
            self._session.emit(PageFailed(name, reason, will_retry=True))


def _has_copy(known: Known) -> bool:
    return known.path is not None and known.status is Status.SAVED
