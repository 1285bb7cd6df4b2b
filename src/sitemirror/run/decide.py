"""The transition table of a URL: its row and one answer give its new row. Pure.

Invariant: no answer removes a copy. A copy ends only when a complete run ends (`store/ending.py`), as an alias or a
duplicate of another page, or when other readable text replaces it. Whatever depends on other URLs is left to the end
of the run, so the order of answers does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, auto
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from sitemirror.reasons import Reason
from sitemirror.store.tables import ChangeKind, Due, GoneCause, UrlState


class Answer(IntEnum):
    """Kind of an answer, or of a URL's turn in the queue without a request."""

    NEW_TEXT = auto()  # 200 with another text than the last good answer
    SAME_TEXT = auto()  # 200 with the same text; for a duplicate, if its page has it as well (`UrlRecord.shares_text`)
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
    UNREADABLE = auto()  # binary data sent as a page
    EMPTY = auto()  # 204, 205, or no words where the copy has some
    EXCLUDED = auto()  # not requested: scope, robots.txt or a trap


class Holding(IntEnum):
    """The part of a URL that the mirror holds."""

    NOTHING = auto()
    COPY = auto()  # a page with its file
    DUPLICATE = auto()  # the same text as another page's file


class FileAction(IntEnum):
    """An action on the URL's file."""

    LEAVE = auto()
    WRITE = auto()
    TOUCH = auto()  # its text is current


class LinkAction(IntEnum):
    """An action on the links that were read from the page."""

    KEEP = auto()
    REPLACE = auto()
    CLEAR = auto()


class Rule(NamedTuple):
    """One cell of the table."""

    state: UrlState
    file: FileAction = FileAction.LEAVE
    links: LinkAction = LinkAction.KEEP
    event: ChangeKind | None = None
    clears: bool = False  # clear reason, target, misses and `gone`: the copy is current
    explains: bool = False  # record the answer's reason
    follows: bool = False  # record the redirect's target, and queue it
    keeps_target: bool = False  # an earlier redirect may hold again, so its target does not become gone
    checks_page: bool = False  # queue the page that it duplicates, too: nothing else may name it
    frees_duplicates: bool = False  # fetch duplicates of this page whole: their text may have changed with it


def _rules() -> Mapping[tuple[Answer, Holding], Rule]:
    page, alias, failed, skipped = UrlState.PAGE, UrlState.ALIAS, UrlState.FAILED, UrlState.SKIPPED
    write, touch, replace, clear = FileAction.WRITE, FileAction.TOUCH, LinkAction.REPLACE, LinkAction.CLEAR
    added, changed = ChangeKind.ADDED, ChangeKind.CHANGED
    nothing = {
        Answer.NEW_TEXT: Rule(page, write, replace, added, clears=True),
        Answer.SAME_TEXT: Rule(page, write, replace, clears=True),  # its file was deleted
        Answer.NOT_MODIFIED: Rule(failed, explains=True),  # the request was not conditional
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
        Answer.EXCLUDED: Rule(page, keeps_target=True),  # this run does not decide about it
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
    """The fields of a URL's row that `decide` reads, when the answer arrives and not when it is requested."""

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
    """The settings of a run that affect decisions."""

    run: int
    now: str
    retries: bool = False  # retry transient failures after the main pass
    replaces_all: bool = False  # --re-download-all: a temporary redirect counts as a permanent one


class Decision(NamedTuple):
    """The row after the answer, and the actions that follow from it."""

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
    """Classify a URL by its copy. A deleted file is no copy."""
    if record.state == UrlState.PAGE and record.has_file:
        return Holding.COPY
    if record.state == UrlState.ALIAS and record.reason == Reason.DUPLICATE:
        return Holding.DUPLICATE
    return Holding.NOTHING


def decide(record: Record, seen: Observation, policy: Policy) -> Decision:
    """Decide the effect of one answer on one URL."""
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
    """True for a page, even if its file was deleted: other URLs may be duplicates of it."""
    return record.state in (UrlState.PAGE, UrlState.QUEUED) and record.text_hash is not None


_REDIRECTS: Final = frozenset(
    (Reason.MOVED, Reason.MOVED_TEMPORARILY, Reason.REDIRECT_LOOP, Reason.REDIRECT_TARGET_FAILED)
)
"""Reasons that only the end of the chain distinguishes, when the run ends."""


def _since(record: Record, reason: int | None, policy: Policy) -> str | None:
    """Return when the reason began."""
    if reason is None:
        return None
    is_same = reason == record.reason or (reason in _REDIRECTS and record.reason in _REDIRECTS)
    return record.since if is_same else policy.now


def _ends_text(rule: Rule) -> bool:
    """True for a page whose file was deleted, and that is no page any more or has another text."""
    return rule.state is not UrlState.PAGE or rule.event is not None


def _queue(record: Record, answer: Answer, has: Holding, policy: Policy) -> Due:
    if answer is Answer.UNAVAILABLE and policy.retries:
        return Due.RETRY
    if answer is Answer.NOT_MODIFIED and has is Holding.DUPLICATE and not record.has_validators:
        return Due.NOW  # its page changed during the request
    return Due.NO


def _misses(record: Record, answer: Answer, has: Holding, policy: Policy) -> int | None:
    """Count consecutive runs with a 404: a second request in one run is no second miss."""
    if answer is not Answer.NOT_FOUND or has is not Holding.COPY:
        return record.misses if answer in (Answer.UNAVAILABLE, Answer.EXCLUDED) else None
    before = record.misses or 0
    return max(before, 1) if record.checked_run == policy.run else before + 1
