"""Visit one URL: request it, decide by the answer, and record the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sitemirror.events import PageFailed, PageRedirected, PageSaved, PageSkipped
from sitemirror.fetch.pace import Slot
from sitemirror.frontier.freshness import Copy, Freshness, judge, judge_age, parse_lastmod
from sitemirror.frontier.scope import Scope
from sitemirror.frontier.traps import ParamRules, strip_session_and_tracking
from sitemirror.model import Failed, NotModified, Redirect, Skipped, Validators
from sitemirror.reasons import REDIRECTED_OUT, Cause, Reason, format_reason
from sitemirror.run.decide import (
    Answer,
    Decision,
    FileAction,
    Holding,
    LinkAction,
    Observation,
    Policy,
    decide,
    holding,
)
from sitemirror.run.follow_links import LinkPolicy
from sitemirror.run.page_fetch import Outcome, PageFetcher
from sitemirror.run.page_writer import FetchedPage, PageWriter
from sitemirror.run.placeholders import Placeholders, failure_text
from sitemirror.run.plan import Plan
from sitemirror.run.robots import RobotsBook
from sitemirror.run.session import Session, unstamp
from sitemirror.run.start import MAX_HOPS
from sitemirror.stopwatch import Stage
from sitemirror.store.queue import RunRules, check_page, name_links_of, redirect_to
from sitemirror.store.tables import ASSET, PAGE, ChangeKind, Due, UrlState
from sitemirror.store.url_record import RowChange, UrlRecord, apply_change, fetch_whole, forget_files
from sitemirror.store.url_table import UrlTable
from sitemirror.text import counted

_TEMPORARY: Final = frozenset((302, 303, 307))
_SKIPS: Final = MappingProxyType(
    {
        Reason.ROBOTS: Answer.EXCLUDED,
        Reason.TOO_LARGE: Answer.TOO_LARGE,
        Reason.UNREADABLE: Answer.UNREADABLE,
        Reason.NO_CONTENT: Answer.EMPTY,
        Reason.EMPTY: Answer.EMPTY,
        **dict.fromkeys(REDIRECTED_OUT.values(), Answer.MOVED_OUT),
    }
)
"""Answers for the reasons of skips, apart from the wrong type."""


_LEAST_WORDS: Final = 20
"""Words of a copy that a page without text does not replace. An empty body replaces no copy that has one word."""


class UpdatePolicy:
    """Decides if a URL from an earlier run needs a request; counts dates that cannot be parsed."""

    def __init__(self, session: Session, plan: Plan, table: UrlTable, writer: PageWriter) -> None:
        self._session = session
        self._plan = plan
        self._table = table
        self._writer = writer
        self._unread_dates = 0
        self._unread_date: tuple[str, str] | None = None  # the first of them, with its URL

    def freshness(self, record: UrlRecord) -> Freshness:
        """Return the kind of request that a URL needs."""
        settings, is_page = self._session.settings, record.state is UrlState.PAGE
        if record.state in (UrlState.QUEUED, UrlState.FAILED) or not settings.update or settings.re_download_all:
            return Freshness.FETCH
        is_duplicate = record.state is UrlState.ALIAS and record.reason == Reason.DUPLICATE
        is_restored = self._plan.html and is_page and record.kind == PAGE and record.text_hash is None
        if is_restored or self.lacks_links(record) or (record.fetched_at is None and (is_page or is_duplicate)):
            return Freshness.FETCH  # The links of a restored page are unknown.
        dates = [record.lastmod] if record.lastmod else []
        if is_page:
            dates += self._table.lastmods_of_aliases(record.id)
        if self._plan.follows_links or (record.reason == Reason.MOVED_TEMPORARILY and not is_page):
            dates.clear()  # Of an earlier sitemap, since this run has read none, or of a page that was never saved.
        lastmods = [*map(parse_lastmod, dates)]
        if None in lastmods:
            self._unread_dates += 1
            self._unread_date = self._unread_date or (record.url, dates[lastmods.index(None)])
        mtime = self._writer.mtime(record) if is_page else unstamp(record.checked_at)
        fetched_at = unstamp(record.fetched_at or record.checked_at)
        copy = Copy(mtime=mtime, fetched_at=fetched_at, validators=record.validators)
        found = judge(copy, lastmods)
        if found is Freshness.FRESH and is_page and record.reason:
            return Freshness.ASK if record.validators else Freshness.FETCH  # It failed last time.
        # Where there are dates all the same, they are those of its aliases.
        is_undated = not lastmods or (record.named and not record.lastmod)
        if found is not Freshness.FRESH or not is_undated:
            return found
        if record.validators:
            return Freshness.ASK
        # Links and redirects carry no dates, so a URL without validators is fetched. There is also no copy of a URL
        # that redirected elsewhere or was no page: it may be one now.
        is_redirect = record.state is UrlState.ALIAS and not is_duplicate
        is_open = self._plan.follows_links or is_redirect or record.state is UrlState.SKIPPED or not record.named
        if is_open and not lastmods:
            return Freshness.FETCH
        return judge_age(copy, self._session.clock.now(), settings.max_age)

    def lacks_links(self, record: UrlRecord) -> bool:
        """True if this crawl has to read a page whose links were never read."""
        return self._plan.follows_links and record.state is UrlState.PAGE and not record.links_known

    def warn_of_dates(self) -> None:
        """Warn once per run that pages were requested because their dates cannot be parsed."""
        if self._unread_date is not None:
            url, date = self._unread_date
            pages = counted(self._unread_dates, "page")
            self._session.warn(f"{pages} asked for again: lastmod cannot be read, such as {date[:100]!r} of {url}")


class Result(NamedTuple):
    """The result of a visit."""

    new: bool = False  # a page that was not on disk before: it counts against --max-pages
    found: int = 0  # number of URLs that became due
    skipped: bool = False
    failure: Failed | None = None
    will_retry: bool = False


@dataclass(slots=True)
class Visitor:
    """Visits URLs for one run. Slots share it: the state changes only at an await."""

    session: Session
    plan: Plan
    scope: Scope
    table: UrlTable
    rules: RunRules
    robots: RobotsBook
    writer: PageWriter
    fetcher: PageFetcher
    follow: LinkPolicy
    placeholders: Placeholders
    has_gone: bool
    """False if nothing was gone when the run began, so nothing can come back."""

    async def visit(self, record: UrlRecord, freshness: Freshness, slot: Slot, *, retries: bool) -> Result:
        """Request a URL and record the result. With `retries`, a transient failure is retried later."""
        record = self._if_there(record)
        ask = freshness is Freshness.ASK and (record.has_file or holding(record) is Holding.DUPLICATE)
        answer = await self._request(record, record.validators if ask else Validators(), slot)
        with self.session.watch.working(Stage.STATE):
            return self._record(self._if_there(self.table.load(record.id)), answer, retries=retries)

    def _if_there(self, record: UrlRecord) -> UrlRecord:
        """Return the row of a URL, without its copy if the files were deleted."""
        if record.state is not UrlState.PAGE or not record.has_file:
            return record
        if any(path and self.writer.has(path) for path in (record.path, record.html_path)):
            return record
        self.writer.begin()
        forget_files(self.table.db, [record.id])
        return self.table.load(record.id)

    async def _request(self, record: UrlRecord, validators: Validators, slot: Slot) -> Outcome:
        await slot.acquire()
        if self.plan.respect_robots:
            refused = await self.robots.refusal(record.url, slot)
            if refused is not None:
                return refused
            await slot.acquire()
        elif self.session.settings.respect_robots is None:
            await self.robots.note(record.url, slot)
            await slot.acquire()
        return await self.fetcher.fetch(record, validators, slot)

    def _record(self, record: UrlRecord, answer: Outcome, *, retries: bool) -> Result:
        self.writer.begin()
        settings = self.session.settings
        policy = Policy(self.rules.run, self.session.now(), retries=retries, replaces_all=settings.re_download_all)
        match answer:
            case FetchedPage():
                return self._saved(record, answer, policy)
            case NotModified():
                return self._not_modified(record, answer, policy)
            case Redirect():
                return self._redirected(record, answer, policy)
            case Failed():
                return self._failed(record, answer, policy)
            case Skipped():
                return self._skipped(record, answer, policy)

    # --- answers -----------------------------------------------------------------------------------------------

    def _saved(self, record: UrlRecord, fetched: FetchedPage, policy: Policy) -> Result:
        if self._is_emptied(record, fetched):
            return self._skipped(record, Skipped(record.url, Reason.EMPTY, status=fetched.status), policy)
        compared = self.writer.compare(record, fetched)
        digest = fetched.reading.digest or None
        same = not compared.changed
        if holding(record) is Holding.DUPLICATE:
            same = digest is not None and digest == record.text_hash and record.target_id is not None
            same = same and self.table.load(record.target_id or 0).shares_text(digest)
        decision = decide(record, Observation(Answer.SAME_TEXT if same else Answer.NEW_TEXT), policy)
        if holding(record) is not Holding.NOTHING:
            self.writer.keep_replaced(record, policy.run, fetched, same=same)
        links, found = fetched.reading.links, 0
        if decision.links is LinkAction.REPLACE:
            if links is not None:  # Before the page counts as saved: later, its links would not be read.
                found = self.follow.links(record, links)
            elif record.state is UrlState.PAGE and (self.plan.follows_links or self.plan.html):
                self.follow.no_links(record.id)
        event = decision.event
        if event is ChangeKind.ADDED and record.state is UrlState.QUEUED and record.has_file:
            event = ChangeKind.CHANGED  # Its file was deleted: it was counted when it was first saved.
        change = self._change(record, decision, policy, kind=PAGE if digest else ASSET)._replace(
            event=event, lines=(record.url,)
        )
        if record.state is UrlState.ALIAS and record.target_id is not None:
            self._read_again(record.target_id)
        if decision.file is FileAction.LEAVE:
            page = {"fetched_at": fetched.fetched_at, "etag": fetched.etag, "last_modified": fetched.last_modified}
            apply_change(self.table.db, change._replace(page=page, lines=()))
            compared.discard()
            self._after(record, decision)
            return Result()
        is_its_file = record.path is not None and record.path == compared.path
        changed_at = record.changed_at if is_its_file and not compared.changed else None
        links_known = self.plan.follows_links or (same and bool(record.links_known))
        change = change._replace(page=self._page(fetched, changed_at, links_known=links_known))
        self.writer.save(record, change, compared, changed=event is not None or compared.changed)
        return Result(new=event is ChangeKind.ADDED and fetched.is_page, found=found)

    def _is_emptied(self, record: UrlRecord, fetched: FetchedPage) -> bool:
        """True if a copy with text would be replaced by a page without any."""
        if not fetched.reading.is_wordless or holding(record) is not Holding.COPY:
            return False
        least = 1 if fetched.is_empty else _LEAST_WORDS
        return not self.session.settings.accept_changes and self.writer.count_words(record, least) >= least

    def _read_again(self, id: int) -> None:
        """Queue a page whose text a lost state knew, to be fetched whole: its alias may be a duplicate."""
        target = self.table.load(id)
        if target.state is UrlState.PAGE and target.text_hash is None and target.kind != ASSET:
            fetch_whole(self.table.db, [id])

    def _page(self, fetched: FetchedPage, changed_at: str | None, *, links_known: bool) -> dict[str, Any]:
        reading = fetched.reading
        return {
            "fetched_at": fetched.fetched_at,
            "changed_at": changed_at or fetched.fetched_at,
            "http_status": fetched.status,
            "not_modified": 0,
            "headers": self.writer.dump_headers(fetched.headers),
            "etag": fetched.etag,
            "last_modified": fetched.last_modified,
            "content_type": fetched.content_type,
            "title": reading.title,
            "canonical": reading.canonical,
            "text_hash": reading.digest.hex() or None,
            "links_known": int(links_known),
            "meta": reading.meta,
            "anchors": reading.anchors,
            "hidden_texts": reading.hidden_texts,
        }

    def _not_modified(self, record: UrlRecord, answer: NotModified, policy: Policy) -> Result:
        seen = Observation(Answer.NOT_MODIFIED, Reason.HTTP_STATUS, "304")
        decision = decide(record, seen, policy)
        page = None
        if decision.file is FileAction.TOUCH:
            self.writer.touch(record)
            page = {
                "fetched_at": answer.fetched_at,
                "http_status": 304,
                "not_modified": 1,
                "etag": answer.headers.get("etag") or record.etag,
                "last_modified": answer.headers.get("last-modified") or record.last_modified,
            }
        self._apply(record, self._change(record, decision, policy)._replace(page=page), decision)
        if decision.state is UrlState.FAILED:
            return Result(failure=Failed(record.url, Reason.HTTP_STATUS, "304"))
        if decision.state is UrlState.PAGE:
            self.session.emit(PageSaved(record.url, record.path or "", 0, changed=False))
        return Result()

    def _redirected(self, record: UrlRecord, redirect: Redirect, policy: Policy) -> Result:
        params = ParamRules(self.session.settings.strip_params, self.session.settings.keep_params)
        location = (
            strip_session_and_tracking(redirect.location, params) if self.plan.follows_links else redirect.location
        )
        refused = self.scope.reason(location, is_needed=record.depth == 0)
        if refused:
            if refused is Reason.DOMAIN_LOCK:
                self.session.warn(f"security: domain lock violation: {record.url} redirects to {location}")
            skip = Skipped(record.url, REDIRECTED_OUT[refused], location, status=redirect.status)
            return self._skipped(record, skip, policy)
        if location == record.url:
            return self._failed(record, Failed(record.url, Reason.REDIRECT_LOOP, status=redirect.status), policy)
        if self.table.redirects_before(record, MAX_HOPS) >= MAX_HOPS:
            return self._failed(record, Failed(record.url, Reason.TOO_MANY_REDIRECTS, status=redirect.status), policy)
        target = redirect_to(self.table.db, self.rules, location, record.depth, record.id, record.chain)
        self.session.emit(PageRedirected(record.url, location))
        is_temporary = redirect.status in _TEMPORARY and not policy.replaces_all
        answer = Answer.MOVED_TEMPORARILY if is_temporary else Answer.MOVED
        reason = Reason.MOVED_TEMPORARILY if is_temporary else Reason.MOVED
        detail = location if holding(record) is Holding.COPY else None
        decision = decide(record, Observation(answer, reason, detail, target), policy)
        self._apply(record, self._change(record, decision, policy, status=redirect.status), decision)
        return Result()

    def _failed(self, record: UrlRecord, failure: Failed, policy: Policy) -> Result:
        if failure.transient:
            answer = Answer.UNAVAILABLE
        else:
            answer = {404: Answer.NOT_FOUND, 410: Answer.REMOVED}.get(failure.status or 0, Answer.DENIED)
        decision = decide(record, Observation(answer, failure.reason, failure.detail), policy)
        change = self._change(record, decision, policy, status=failure.status, tries=failure.tries)
        self._apply(record, change, decision)
        will_retry = decision.queue is Due.RETRY
        return Result(failure=failure, will_retry=will_retry)

    def _skipped(self, record: UrlRecord, skip: Skipped, policy: Policy) -> Result:
        answer = _SKIPS.get(skip.reason, Answer.WRONG_TYPE)
        decision = decide(record, Observation(answer, skip.reason, skip.detail), policy)
        change = self._change(record, decision, policy, status=skip.status)
        if decision.state is UrlState.SKIPPED:
            change = change._replace(url={**change.url, "content_type": skip.content_type, "size": skip.size_bytes})
        self._apply(record, change, decision)
        names = [record.url]
        if decision.state is not UrlState.PAGE:
            names = [each.url for each in self.table.leading_to(record.id) if each.named] or names
        for name in names:
            self.session.emit(PageSkipped(name, skip.text))
        return Result(skipped=True)

    # --- rows --------------------------------------------------------------------------------------------------

    def leave_out(self, record: UrlRecord, reason: Reason) -> None:
        """Record that the scope excludes a URL when its turn comes."""
        self.writer.begin()
        policy = Policy(self.rules.run, self.session.now())
        is_ours = record.start_id == self.rules.start or record.state is not UrlState.FAILED
        is_open = record.state is UrlState.ALIAS and not self.table.leads_to_page(record.id)
        if (record.state in (UrlState.QUEUED, UrlState.FAILED) or is_open) and is_ours:
            decision = decide(record, Observation(Answer.EXCLUDED, reason), policy)
            self._apply(record, self._change(record, decision, policy), decision)
        else:
            self.leave(record)

    def leave(self, record: UrlRecord, *, is_checked: bool = True) -> None:
        """Record that this run does not request a URL, and keep its links."""
        self.writer.begin()
        if is_checked:
            self.table.mark_checked(record.id)
        else:
            self.table.leave_unchecked(record.id)
        self._keep_links(record)
        self.writer.count()

    def _apply(self, record: UrlRecord, change: RowChange, decision: Decision) -> None:
        apply_change(self.table.db, change)
        self._after(record, decision)

    def _after(self, record: UrlRecord, decision: Decision) -> None:
        if decision.links is LinkAction.KEEP:
            self._keep_links(record)
        if decision.checks_page and decision.target_id is not None:
            check_page(self.table.db, self.rules, decision.target_id)
        self.writer.count()

    def _keep_links(self, record: UrlRecord) -> None:
        """Keep the links of a page that was not read again."""
        if self.has_gone:
            name_links_of(self.table.db, self.rules, record.id)
        self.follow.come_nearer(record)

    def _change(
        self,
        record: UrlRecord,
        decision: Decision,
        policy: Policy,
        *,
        status: int | None = None,
        tries: int = 0,
        kind: int | None = None,
    ) -> RowChange:
        columns: dict[str, Any] = {
            "state": int(decision.state),
            "queue": int(decision.queue),
            "reason": None if decision.reason is None else int(decision.reason),
            "detail": decision.detail,
            "transient": int(decision.transient) or None,
            "target_id": decision.target_id,
            "since": decision.since,
            "misses": decision.misses,
            "gone_since": decision.gone_since,
            "gone_cause": decision.gone_cause,
            "missing_path": self._missing_path(record, decision),
            "checked_run": policy.run,
            "checked_at": policy.now,
        }
        if tries and decision.state is not UrlState.PAGE:
            columns["attempts"] = (record.attempts or 0) + tries
        if kind is not None:
            columns |= {"kind": kind, "size": None}
        page = None
        if decision.state is UrlState.PAGE and decision.file is FileAction.LEAVE:
            page = {"not_modified": 0} | ({} if status is None else {"http_status": status})
        return RowChange(
            id=record.id,
            run=policy.run,
            url=columns,
            page=page,
            event=decision.event,
            frees_duplicates=decision.frees_duplicates,
            clears_links=decision.links is LinkAction.CLEAR,
        )

    def _missing_path(self, record: UrlRecord, decision: Decision) -> str | None:
        """Return the path of the missing one of a copy's two files."""
        if decision.state is not UrlState.PAGE or decision.reason is None:
            return None
        for path in (record.path, record.html_path):
            if path and not self.writer.has(path):
                cause = Cause(Reason(decision.reason), decision.detail, path)
                self.session.warn(f"{record.url}: {cause.text}")
                return path
        return None

    # --- failures ----------------------------------------------------------------------------------------------

    def report_failure(self, record: UrlRecord, failure: Failed) -> str:
        """Log a final failure under its reported names; return one of them."""
        reported: list[str] = []
        for name, text in self._names(record, failure):
            self.placeholders.log(name.id, name.url, text, self.session.now())
            self.session.emit(PageFailed(name.url, text))
            reported.append(name.url)
        return reported[0]

    def put_off(self, record: UrlRecord, failure: Failed) -> None:
        """Report a failure that will be retried."""
        for name, text in self._names(record, failure):
            self.session.emit(PageFailed(name.url, text, will_retry=True))

    def _names(self, record: UrlRecord, failure: Failed) -> Iterable[tuple[Any, str]]:
        """Return the failed names with their reasons: named URLs, and copies of pages that moved there."""
        leading = self.table.leading_to(record.id)
        own = [each for each in leading if each.id == record.id]
        if own[0].is_copy:
            return [(own[0], failure.text)]
        named = [each for each in leading if each.named and not each.is_copy]
        copies = [each for each in leading if each.is_copy]
        found = [(each, failure_text(failure.text, None if each.id == record.id else record.url)) for each in named]
        moved = [each for each in copies if each.reason == Reason.MOVED]
        found += [
            (each, format_reason(Reason.REDIRECT_TARGET_FAILED, f"{record.url}: {failure.text}")) for each in moved
        ]
        if not found:
            found = [(each, format_reason(Reason(each.reason or 0), each.detail)) for each in copies if each.reason]
        return found or [(own[0], failure.text)]
