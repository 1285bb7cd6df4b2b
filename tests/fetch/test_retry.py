"""How long to wait before another try, and whether one makes sense."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.fetch.pace import Backoff, asks_to_wait, is_transient, parse_retry_after
from tests.fetch.clocks import EPOCH


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("4.0", 4),
        ("1.5", 1.5),
        ("2, 4", 4),
        ("30,5", 30),
        ("Sat, 03 Jan 2026 20:02:00 GMT", 120),
        ("Saturday, 03-Jan-26 20:00:10 GMT", 10),  # the obsolete form of RFC 850
        ("Sat Jan  3 20:00:10 2026", 10),  # C's asctime
        ("Sat, 03 Jan 2026 20:00:30 -0000", 30),
        ("Sat, 03 Jan 2026 20:00:00 GMT", 0),
    ],
)
def test_both_forms_of_retry_after(header: str, seconds: float) -> None:
    """Seconds, also with fractions and repeated, and the three date formats of HTTP."""
    assert parse_retry_after(header, EPOCH) == seconds


@pytest.mark.parametrize("header", ["86400", "9" * 5000, "1" + "0" * 20 + ".5, 3", "Sun, 03 Jan 2027 20:00:00 GMT"])
def test_retry_after_is_capped_at_an_hour(header: str) -> None:
    """Longer values wait an hour."""
    assert parse_retry_after(header, EPOCH) == 3600


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "-5",
        "soon",
        "1e3",
        ".",
        "2, soon",
        "2;4",
        "٣",
        "5 minutes",
        "Sat, 03 Jan 2026 19:59:59 GMT",
        "Sat, 99 Jan 2026",
        "\0",
    ],
)
def test_invalid_retry_after_is_ignored(header: str | None) -> None:
    """Negative, past and unreadable values leave the wait to the backoff."""
    assert parse_retry_after(header, EPOCH) is None


@given(st.text())
def test_any_retry_after_is_parsed(header: str) -> None:
    """The result is nothing or between 0 and an hour."""
    found = parse_retry_after(header, EPOCH)
    assert found is None or 0 <= found <= 3600


def test_backoff_doubles_with_jitter_up_to_a_minute() -> None:
    """1, 2, 4 … seconds plus up to one, at most sixty."""
    backoff = Backoff(chance=random.Random(7))
    waits = [backoff.seconds(tries) for tries in range(101)]
    for tries, wait in enumerate(waits):
        assert min(2**tries, 60) <= wait <= min(2**tries + 1, 60)
    assert waits[-1] == 60
    assert any(wait != int(wait) for wait in waits)


def test_jitter_is_random_unless_seeded() -> None:
    """Two runs do not retry at the same moment."""
    assert Backoff().seconds(0) != Backoff().seconds(0)
    assert Backoff(chance=random.Random(1)).seconds(3) == Backoff(chance=random.Random(1)).seconds(3)


def test_transient_statuses() -> None:
    """Overload and outages are transient; refusals and absence are not."""
    assert all(is_transient(status) for status in (408, 425, 429, 500, 502, 503, 504, 522))
    assert not any(is_transient(status) for status in (400, 401, 403, 404, 410, 418, 451, 501, 505, 999))


def test_statuses_that_ask_to_wait() -> None:
    """429 always, 503 only with Retry-After."""
    assert asks_to_wait(429, None)
    assert asks_to_wait(503, "5")
    assert asks_to_wait(503, "rubbish")
    assert not asks_to_wait(503, None)
    assert not asks_to_wait(500, "5")
