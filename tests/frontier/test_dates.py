"""Dates in sitemaps and feeds mean one moment, whatever form they have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.frontier.freshness import parse_lastmod


def at(*numbers: int) -> datetime:
    """A moment in UTC."""
    year, month, day, hour, minute, second = numbers
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", at(2026, 1, 2, 3, 4, 5)),
        ("2026-01-02T03:04:05z", at(2026, 1, 2, 3, 4, 5)),
        ("2026-01-02T03:04Z", at(2026, 1, 2, 3, 4, 0)),
        ("2026-01-02T03:04:05.678901234+00:00", at(2026, 1, 2, 3, 4, 5).replace(microsecond=678_901)),
        ("2026-01-02T03:04:05,5", at(2026, 1, 2, 3, 4, 5).replace(microsecond=500_000)),
        ("2026-01-02T03:04:05+01:00", at(2026, 1, 2, 2, 4, 5)),
        ("2026-01-02T03:04:05-0130", at(2026, 1, 2, 4, 34, 5)),
        ("2026-01-02T03:04:05+02", at(2026, 1, 2, 1, 4, 5)),
        ("2026-01-02T03:04:05 +02:00", at(2026, 1, 2, 1, 4, 5)),
        (" 2026-01-02T03:04:05\n", at(2026, 1, 2, 3, 4, 5)),
        ("2026-01-02 10:00:00", at(2026, 1, 2, 10, 0, 0)),
        ("2026-01-02 10:00:00 UTC", at(2026, 1, 2, 10, 0, 0)),
        ("2026-01-02  9:05", at(2026, 1, 2, 9, 5, 0)),
        ("2026/01/02 10:00", at(2026, 1, 2, 10, 0, 0)),
        ("20260102T100000Z", at(2026, 1, 2, 10, 0, 0)),
        ("20260102100000", at(2026, 1, 2, 10, 0, 0)),
        ("2025-12-31T24:00:00Z", at(2026, 1, 1, 0, 0, 0)),
        ("2016-12-31T23:59:60Z", at(2017, 1, 1, 0, 0, 0)),
        ("Thu, 05 Jan 2017 13:34:51 +0100", at(2017, 1, 5, 12, 34, 51)),
        ("Thu, 05 Jan 17 13:34:52 GMT", at(2017, 1, 5, 13, 34, 52)),
        ("05 Jan 2017 13:34 EST", at(2017, 1, 5, 18, 34, 0)),
        ("5 January 1999 13:34:54 PDT", at(1999, 1, 5, 20, 34, 54)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", at(1994, 11, 6, 8, 49, 37)),
        ("Sun Nov  6 08:49:37 1994", at(1994, 11, 6, 8, 49, 37)),
        ("Sun Nov  6 08:49:37 UTC 1994", at(1994, 11, 6, 8, 49, 37)),
        ("Sept. 6, 1994 08:49", at(1994, 9, 6, 8, 49, 0)),
    ],
)
def test_dates_with_time(text: str, moment: datetime) -> None:
    """A date with a time is that moment; without a zone it is UTC."""
    parsed = parse_lastmod(text)
    assert parsed == moment
    assert parsed is not None
    assert parsed.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02", at(2026, 1, 2, 23, 59, 59)),
        ("2026/1/2", at(2026, 1, 2, 23, 59, 59)),
        ("2026.01.02", at(2026, 1, 2, 23, 59, 59)),
        ("20260102", at(2026, 1, 2, 23, 59, 59)),
        ("Thu, 05 Jan 2017", at(2017, 1, 5, 23, 59, 59)),
        ("January 5, 2017", at(2017, 1, 5, 23, 59, 59)),
        ("2024-02", at(2024, 2, 29, 23, 59, 59)),
        ("2023-02", at(2023, 2, 28, 23, 59, 59)),
        ("2026", at(2026, 12, 31, 23, 59, 59)),
    ],
)
def test_dates_without_time_mean_their_end(text: str, moment: datetime) -> None:
    """A day means its last second, a month its last day, a year December."""
    assert parse_lastmod(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "never",
        "0",
        "2026-13-01",
        "2026-02-30",
        "2026-01-02T25:00:00Z",
        "2026-01-02T24:00:01Z",
        "2026-01-02T03:60:00Z",
        "2026-01-02T03:04:05+99:00",
        "0000-01-01",
        "0001-01-01T00:00:00+10:00",
        "9999-12-31T23:59:59-10:00",
        "02/03/2026",
        "1767312000",
        "٢٠٢٦-٠١-٠٢",
        "5 Foo 2017",
        "2026-01-02T03:04:05Z and more",
        "9" * 100_000,
        "2026-01-02" + " " * 100_000 + "x",
    ],
)
def test_invalid_dates(text: str) -> None:
    """Everything else is not a date, ambiguous and impossible days included."""
    assert parse_lastmod(text) is None


@given(st.text() | st.text("0123456789-/:.TZ+ ,JanThuGMT\n"))
def test_any_text_does_not_raise(text: str) -> None:
    """No text raises an exception."""
    parsed = parse_lastmod(text)
    assert parsed is None or parsed.utcoffset() == timedelta(0)


@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_dates_round_trip(moment: datetime) -> None:
    """Dates formatted by Python are parsed to the same value."""
    assert parse_lastmod(moment.isoformat()) == moment
