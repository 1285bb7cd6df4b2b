"""What one answer makes of one URL: a table, and one function that reads it. Pure.

One invariant carries it: no answer takes a copy away. A copy ends when a complete run ends (`store/ending.py`), as an
alias or a duplicate of another page, or it is replaced by another readable text. Whatever depends on other URLs is left
to the end of the run, so the order of answers does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, auto
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from sitemirror.reasons import Reason
from sitemirror.store.tables import ChangeKind, Due, GoneCause, UrlState


class Answer(IntEnum):
    """What came of a request, or of a URL's turn in the queue."""

    NEW_TEXT = auto()  # 200 with another text than the last good answer
    SAME_TEXT = auto()  # 200 with the same; of a duplicate, if its page has it as well (`UrlRecord.shares_text`)
    NOT_MODIFIED = auto()  # 304
    MOVED = auto()  # 301, 308, meta refresh, to a URL in scope
    MOVED_TEMPORARILY = auto()  # 302, 303, 307, to a URL in scope
    MOVED_OUT = auto()  # a redirect out of scope
    NOT_FOUND = auto()  # 404
    REMOVED = auto()  # 410
    DENIED = auto()  # other 4xx, a refused address, a failed conversion: permanent
    UNAVAILABLE = auto()  # 429, 5xx, timeouts, a body cut short: transient
    WRONG_TYPE = auto()
    TOO_LARGE = auto()
    UNREADABLE = auto()  # bytes that are no text
    EMPTY = auto()  # 204, 205, or no words where the copy has some
    EXCLUDED = auto()  # not requested: scope, robots.txt or a trap, when its turn came


class Holding(IntEnum):
    """What is on disk for a URL."""

    NOTHING = auto()
    COPY = auto()  # a page with its file
    DUPLICATE = auto()  # the text, as another page's file


class FileAction(IntEnum):
    """What happens to the URL's file."""

    LEAVE = auto()
    WRITE = auto()
    TOUCH = auto()  # its text is current


class LinkAction(IntEnum):
    """What happens to the links that were read from the page."""

    KEEP = auto()
    REPLACE = auto()
    CLEAR = auto()


class Rule(NamedTuple):
    """One cell of the table."""

    state: UrlState
    file: FileAction = FileAction.LEAVE
    links: LinkAction = LinkAction.KEEP
    event: ChangeKind | None = None
    clears: bool = False  # reason, target, misses and `gone` end: the copy is what the site has
    explains: bool = False  # the answer's reason is recorded
    follows: bool = False  # the redirect's target is recorded, and queued
    keeps_target: bool = False  # an earlier redirect may hold again: its target is not gone meanwhile
    checks_page: bool = False  # the page that it duplicates is asked for, too: nobody else may name it
    frees_duplicates: bool = False  # duplicates of this page are fetched whole: its text may be theirs no longer


def _rules() -> Mapping[tuple[Answer, Holding], Rule]:
    page, alias, failed, skipped = UrlState.PAGE, UrlState.ALIAS, UrlState.FAILED, UrlState.SKIPPED
    write, touch, replace, clear = FileAction.WRITE, FileAction.TOUCH, LinkAction.REPLACE, LinkAction.CLEAR
    added, changed = ChangeKind.ADDED, ChangeKind.CHANGED
    nothing = {
        Answer.NEW_TEXT: Rule(page, write, replace, added, clears=True),
        Answer.SAME_TEXT: Rule(page, write, replace, clears=True),  # its file was deleted
        Answer.NOT_MODIFIED: Rule(failed, explains=True),  # nobody asked conditionally
        Answer.MOVED: Rule(alias, links=clear, explains=True, follows=True),
        Answer.MOVED_TEMPORARILY: Rule(alias, links=clear, explains=True, follows=True),
        Answer.MOVED_OUT: Rule(skipped, links=clear, explains=True),
        Answer.NOT_FOUND: Rule(failed, links=clear, explains=True),
        Answer.REMOVED: Rule(failed, links=clear, explains=True),
        Answer.DENIED: Rule(failed, links=clear, explains=True),
        Answer.UNAVAILABLE: Rule(failed, explains=True, keeps_target=True),
        Answer.WRONG_TYPE: Rule(skipped, links=clear, explains=True),
        Answer.TOO_LARGE: Rule(skipped, links=clear, explains=True),
        Answer.UNREADABLE: Rule(skipped, links=clear, explains=True),
        Answer.EMPTY: Rule(skipped, links=clear, explains=True),
        Answer.EXCLUDED: Rule(UrlState.EXCLUDED, links=clear, explains=True),
    }
    copy = {answer: Rule(page, explains=True) for answer in Answer} | {
        Answer.NEW_TEXT: Rule(page, write, replace, changed, clears=True, frees_duplicates=True),
        Answer.SAME_TEXT: Rule(page, touch, replace, clears=True),
        Answer.NOT_MODIFIED: Rule(page, touch, clears=True),
        Answer.MOVED: Rule(page, explains=True, follows=True, frees_duplicates=True),
        Answer.MOVED_TEMPORARILY: Rule(page, explains=True, follows=True),
        Answer.NOT_FOUND: Rule(page, explains=True, frees_duplicates=True),
        Answer.REMOVED: Rule(page, explains=True, frees_duplicates=True),
        Answer.UNAVAILABLE: Rule(page, explains=True, keeps_target=True),
        Answer.EXCLUDED: Rule(page, keeps_target=True),  # the run has no say in it
    }
    duplicate = nothing | {
        Answer.SAME_TEXT: Rule(alias, keeps_target=True, checks_page=True),
        Answer.NOT_MODIFIED: Rule(alias, keeps_target=True, checks_page=True),
    }
    tables = {Holding.NOTHING: nothing, Holding.COPY: copy, Holding.DUPLICATE: duplicate}
    return MappingProxyType(
        {(answer, holding): rule for holding, one in tables.items() for answer, rule in one.items()}
    )


RULES: Final = _rules()


class Record(Protocol):
    """What `decide` reads of a URL's row. It is read when the answer is there, not when the request is sent."""

    @property
    def state(self) -> int: ...
    @property
    def checked_run(self) -> int | None: ...
    @property
    def reason(self) -> int | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def transient(self) -> int | None: ...
    @property
    def target_id(self) -> int | None: ...
    @property
    def since(self) -> str | None: ...
    @property
    def misses(self) -> int | None: ...
    @property
    def gone_since(self) -> str | None: ...
    @property
    def gone_cause(self) -> int | None: ...
    @property
    def text_hash(self) -> bytes | None: ...
    @property
    def has_file(self) -> bool: ...
    @property
    def has_validators(self) -> bool: ...


class Observation(NamedTuple):
    """One answer. `target_id` is the row of a redirect's location."""

    answer: Answer
    reason: int | None = None
    detail: str | None = None
    target_id: int | None = None


class Policy(NamedTuple):
    """What a run's settings say about answers."""

    run: int
    now: str
    retries: bool = False  # transient failures are tried again after the main pass
    replaces_all: bool = False  # --re-download-all: a temporary redirect counts as a permanent one


class Decision(NamedTuple):
    """The row after the answer, and what else has to be done."""

    state: UrlState
    queue: Due
    reason: int | None
    detail: str | None
    transient: bool
    target_id: int | None
    since: str | None
    misses: int | None
    gone_since: str | None
    gone_cause: int | None
    file: FileAction
    links: LinkAction
    event: ChangeKind | None
    follows: bool
    checks_page: bool
    frees_duplicates: bool


def holding(record: Record) -> Holding:
    """What is on disk for a URL. A deleted file is no copy."""
    if record.state == UrlState.PAGE and record.has_file:
        return Holding.COPY
    if record.state == UrlState.ALIAS and record.reason == Reason.DUPLICATE:
        return Holding.DUPLICATE
    return Holding.NOTHING


def decide(record: Record, seen: Observation, policy: Policy) -> Decision:
    """What becomes of a URL by one answer."""
    has = holding(record)
    answer = seen.answer
    if answer is Answer.MOVED_TEMPORARILY and policy.replaces_all:
        answer = Answer.MOVED
    rule = RULES[answer, has]
    reason, detail, transient = record.reason, record.detail, bool(record.transient)
    if rule.clears:
        reason, detail, transient = None, None, False
    elif rule.explains:
        reason, detail, transient = seen.reason, seen.detail, answer is Answer.UNAVAILABLE
    target = seen.target_id if rule.follows else record.target_id if rule.keeps_target else None
    gone_since, gone_cause = record.gone_since, record.gone_cause
    if rule.clears:
        gone_since = gone_cause = None
    elif has is Holding.COPY and answer is Answer.REMOVED and gone_cause != GoneCause.NOT_FOUND:
        gone_since, gone_cause = record.gone_since or policy.now, GoneCause.REMOVED
    return Decision(
        state=rule.state,
        queue=_queue(record, answer, has, policy),
        reason=reason,
        detail=detail,
        transient=transient,
        target_id=target,
        since=_since(record, reason, policy),
        misses=_misses(record, answer, has, policy),
        gone_since=gone_since,
        gone_cause=gone_cause,
        file=rule.file,
        links=rule.links,
        event=ChangeKind.BACK if rule.clears and record.gone_since and has is Holding.COPY else rule.event,
        follows=rule.follows,
        checks_page=rule.checks_page,
        frees_duplicates=rule.frees_duplicates or (_has_text(record) and _ends_text(rule)),
    )


def _has_text(record: Record) -> bool:
    """True for a page, also if its file was deleted: other URLs may be duplicates of it."""
    return record.state in (UrlState.PAGE, UrlState.QUEUED) and record.text_hash is not None


_REDIRECTS: Final = frozenset(
    (Reason.MOVED, Reason.MOVED_TEMPORARILY, Reason.REDIRECT_LOOP, Reason.REDIRECT_TARGET_FAILED)
)
"""Reasons of one kind: which of them it is, the end of the chain decides when the run ends."""


def _since(record: Record, reason: int | None, policy: Policy) -> str | None:
    """When the reason began."""
    if reason is None:
        return None
    is_same = reason == record.reason or (reason in _REDIRECTS and record.reason in _REDIRECTS)
    return record.since if is_same else policy.now


def _ends_text(rule: Rule) -> bool:
    """True if a page whose file was deleted is no page any more, or has another text."""
    return rule.state is not UrlState.PAGE or rule.event is not None


def _queue(record: Record, answer: Answer, has: Holding, policy: Policy) -> Due:
    if answer is Answer.UNAVAILABLE and policy.retries:
        return Due.RETRY
    if answer is Answer.NOT_MODIFIED and has is Holding.DUPLICATE and not record.has_validators:
        return Due.NOW  # its page has changed while the request was under way
    return Due.NO


def _misses(record: Record, answer: Answer, has: Holding, policy: Policy) -> int | None:
    """404s in a row, by runs: a second request in one run is no second miss."""
    if answer is not Answer.NOT_FOUND or has is not Holding.COPY:
        return record.misses if answer in (Answer.UNAVAILABLE, Answer.EXCLUDED) else None
    before = record.misses or 0
    return max(before, 1) if record.checked_run == policy.run else before + 1
