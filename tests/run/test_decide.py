"""The table of what one answer makes of one URL: total, and no answer takes a copy away."""

from __future__ import annotations

from itertools import product

import pytest

from sitemirror.reasons import Reason
from sitemirror.run.decide import (
    RULES,
    Answer,
    FileAction,
    Holding,
    LinkAction,
    Observation,
    Policy,
    Rule,
    decide,
    holding,
)
from sitemirror.store.tables import ChangeKind, Due, GoneCause, UrlState
from sitemirror.store.url_record import UrlRecord

CELLS = sorted(RULES)
NOW, BEFORE = "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"
POLICY = Policy(run=7, now=NOW)


def record(has: Holding = Holding.NOTHING, **columns: object) -> UrlRecord:
    """A URL as some run left it."""
    nothing = dict.fromkeys(UrlRecord._fields)
    state = {Holding.COPY: UrlState.PAGE, Holding.DUPLICATE: UrlState.ALIAS, Holding.NOTHING: UrlState.QUEUED}[has]
    more = {"id": 1, "url": "https://x.org/", "state": state, "has_file": has is Holding.COPY, "checked_run": 6}
    if has is Holding.DUPLICATE:
        more |= {"reason": Reason.DUPLICATE, "target_id": 2, "etag": "e"}
    return UrlRecord(**nothing | more | columns)  # type: ignore[arg-type]


def seen(answer: Answer) -> Observation:
    """An answer with all that it could bring."""
    return Observation(answer, reason=int(answer) + 200, detail="detail", target_id=9)


def test_table_is_total() -> None:
    """Every answer has a rule for whatever is on disk."""
    assert set(RULES) == set(product(Answer, Holding))


@pytest.mark.parametrize("answer", Answer)
def test_no_answer_takes_a_copy_away(answer: Answer) -> None:
    """A page with a file stays a page, and its file goes only where another readable text takes its place."""
    rule = RULES[answer, Holding.COPY]
    assert rule.state is UrlState.PAGE
    assert rule.links is not LinkAction.CLEAR
    assert (rule.file is FileAction.WRITE) == (answer is Answer.NEW_TEXT)


@pytest.mark.parametrize("cell", CELLS)
def test_each_rule_is_sound(cell: tuple[Answer, Holding]) -> None:
    """A rule records a reason or clears it, writes only readable texts, and follows only redirects."""
    answer, has = cell
    rule: Rule = RULES[cell]
    is_text = answer in (Answer.NEW_TEXT, Answer.SAME_TEXT)
    assert not (rule.clears and rule.explains)
    assert rule.follows == (answer in (Answer.MOVED, Answer.MOVED_TEMPORARILY))
    assert rule.file is not FileAction.WRITE or (is_text and rule.links is LinkAction.REPLACE)
    assert rule.state is not UrlState.PAGE or has is Holding.COPY or rule.file is FileAction.WRITE
    assert rule.clears == (rule.file is not FileAction.LEAVE)


@pytest.mark.parametrize("cell", CELLS)
def test_decision_follows_its_rule(cell: tuple[Answer, Holding]) -> None:
    """The decision has the rule's state, and the answer's reason or none."""
    answer, has = cell
    rule, before = RULES[cell], record(has)
    decision = decide(before, seen(answer), POLICY)
    assert holding(before) is has
    assert (decision.state, decision.file, decision.links) == (rule.state, rule.file, rule.links)
    assert decision.reason == (seen(answer).reason if rule.explains else None if rule.clears else before.reason)
    assert decision.target_id == (9 if rule.follows else before.target_id if rule.keeps_target else None)
    assert decision.queue is Due.NO


def test_deleted_file_is_no_copy() -> None:
    """A page whose file was deleted can fail, and its duplicates are fetched then."""
    decision = decide(record(Holding.COPY, has_file=False, text_hash=b"text"), seen(Answer.NOT_FOUND), POLICY)
    assert (decision.state, decision.frees_duplicates) == (UrlState.FAILED, True)


def test_deleted_file_that_comes_back_is_no_news() -> None:
    """The same text again is written, and is no change."""
    decision = decide(record(Holding.COPY, has_file=False), seen(Answer.SAME_TEXT), POLICY)
    assert (decision.file, decision.event, decision.frees_duplicates) == (FileAction.WRITE, None, False)


def test_since_is_kept_while_the_reason_is_the_same() -> None:
    """Another detail, such as a session in a location, is no other reason."""
    before = record(Holding.COPY, reason=seen(Answer.DENIED).reason, detail="other", since=BEFORE)
    assert decide(before, seen(Answer.DENIED), POLICY).since == BEFORE
    assert decide(before, seen(Answer.UNAVAILABLE), POLICY).since == NOW


def test_second_404_in_one_run_is_no_second_miss() -> None:
    """Misses count runs, not requests."""
    first = decide(record(Holding.COPY), seen(Answer.NOT_FOUND), POLICY)
    again = decide(record(Holding.COPY, misses=first.misses, checked_run=7), seen(Answer.NOT_FOUND), POLICY)
    later = decide(record(Holding.COPY, misses=first.misses, checked_run=7), seen(Answer.NOT_FOUND), Policy(8, NOW))
    assert (first.misses, again.misses, later.misses) == (1, 1, 2)


def test_410_makes_a_copy_gone_at_once() -> None:
    """The page stays on disk, and is gone since the first such answer."""
    decision = decide(record(Holding.COPY), seen(Answer.REMOVED), POLICY)
    again = record(Holding.COPY, gone_since=decision.gone_since, gone_cause=decision.gone_cause)
    assert (decision.state, decision.gone_since, decision.gone_cause) == (UrlState.PAGE, NOW, GoneCause.REMOVED)
    assert decide(again, seen(Answer.REMOVED), Policy(8, "2026-03-01T00:00:00Z")).gone_since == NOW


def test_gone_page_that_answers_is_back() -> None:
    """Whatever made it gone, a text brings it back."""
    before = record(Holding.COPY, gone_since=BEFORE, gone_cause=GoneCause.NOT_FOUND)
    decision = decide(before, seen(Answer.NOT_MODIFIED), POLICY)
    assert (decision.gone_since, decision.gone_cause, decision.event) == (None, None, ChangeKind.BACK)


def test_duplicate_whose_page_changed_meanwhile_is_fetched_again() -> None:
    """A 304 to a request that was sent before says nothing."""
    assert decide(record(Holding.DUPLICATE, etag=None), seen(Answer.NOT_MODIFIED), POLICY).queue is Due.NOW


def test_transient_failure_is_retried_if_the_run_retries() -> None:
    """--on-error retry."""
    assert decide(record(), seen(Answer.UNAVAILABLE), POLICY._replace(retries=True)).queue is Due.RETRY
    assert decide(record(), seen(Answer.DENIED), POLICY._replace(retries=True)).queue is Due.NO


def test_re_download_all_takes_temporary_redirects_for_permanent() -> None:
    """The copy's text may move to where the redirect leads."""
    redirect = Observation(Answer.MOVED_TEMPORARILY, Reason.MOVED, None, 9)
    decision = decide(record(Holding.COPY), redirect, POLICY)
    replaced = decide(record(Holding.COPY), redirect, POLICY._replace(replaces_all=True))
    assert (decision.frees_duplicates, replaced.frees_duplicates) == (False, True)
