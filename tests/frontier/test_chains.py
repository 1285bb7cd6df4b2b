"""Which URLs are of one shape, and which links a row of like pages is judged by."""

from __future__ import annotations

import pytest

from sitemirror.frontier.traps import Trail, shape

SITE = "https://example.com"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/cal/2031/05", "/cal/2032/12"),
        ("/p?page=9", "/p?page=10"),
        ("/page-9.html", "/page-10.html"),
        ("/o/5e1f0a9b3c7d", "/o/a9b3c7d25e1f"),
        ("/o/12345678", "/o/a9b3c7d25e1f"),
        ("/o/550e8400-e29b-41d4-a716-446655440000", "/o/f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ("/t/Zm9vYmFyMTIzYmF6cXV4NDU2", "/t/cXV4NDU2YmF6Zm9vYmFyMTIz"),
        ("/cal/may-2031", "/cal/September-2032"),
    ],
)
def test_urls_of_one_shape(one: str, other: str) -> None:
    """Numbers, ids and months are what a trap counts with."""
    assert shape(SITE + one) == shape(SITE + other)
    assert Trail([SITE, SITE + one]).continues_with(SITE + other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/sql-select.html", "/sql-insert.html"),
        ("/cal/2031/05", "/cal/2031/05/01"),
        ("/cal/2031", "/cal/today"),
        ("/p?page=1", "/p?size=1"),
        ("/facade", "/decade"),
        ("/accessed", "/defaced1"),
        ("/maybe", "/marching"),
    ],
)
def test_urls_of_different_shape(one: str, other: str) -> None:
    """Words are not ids, even when they are spelled with hex digits."""
    assert not Trail([SITE + one]).continues_with(SITE + other)


def test_every_host_of_a_wildcard_domain_is_one_shape() -> None:
    """A trap that counts in the host name is a chain too."""
    assert shape("https://a1b2c3d4e5.example.com/x") == shape("https://77aa88bb99.example.com/x")


@pytest.mark.parametrize("month", ["january", "Feb", "march", "apr", "MAY", "jun", "july", "aug", "sept", "oct", "dec"])
def test_named_months_are_one_shape(month: str) -> None:
    """`/cal/2031/may` and `/cal/2032/june` are of one shape, in any spelling."""
    assert shape(f"{SITE}/cal/2031/{month}/") == shape(f"{SITE}/cal/2032/5/") == f"{SITE}/cal/0/0/"


BEFORE = ["/cal/2031/04", "/cal/2031/04/17", "/menu", "/print?of=/cal/2031/04", "/item/1"]


@pytest.mark.parametrize(
    ("new", "bears"),
    [
        ("/menu", False),  # linked before
        ("/cal/2031/06", False),  # the way itself
        ("/cal/2031/05/17", False),  # a date
        ("/print?of=/cal/2031/05", False),  # the page's own numbers
        ("/item/2", True),
        ("/item/2?seen=2031", True),  # a year alone makes no date of another number
        ("/festival", True),
        ("/2031/05/festival", True),
        ("/cal/2031/05/17/1234", True),
    ],
)
def test_what_a_page_bears(new: str, bears: bool) -> None:
    """A page of a calendar shows something if a link on it is not of the way, not known, no date and not itself."""
    way = Trail([f"{SITE}/cal/2031/05", f"{SITE}/cal/2031/04"])
    before = [SITE + path for path in BEFORE]
    assert way.shows_new_links([SITE + "/menu", SITE + new], before) is bears
    assert not way.shows_new_links([], before)


def test_dates_in_one_number_are_dates() -> None:
    """`20310517` is a day, `12345678` is not."""
    way = Trail([f"{SITE}/cal?on=20310516", f"{SITE}/cal?on=20310515"])
    assert not way.shows_new_links([f"{SITE}/day?on=20310516"], [f"{SITE}/day?on=20310515"])
    assert way.shows_new_links([f"{SITE}/day?on=12345678"], [f"{SITE}/day?on=12345677"])


def test_the_host_counts_for_nothing() -> None:
    """An address and a port are numbers too, but no page's own."""
    way = Trail(["http://127.0.0.1:2031/list/2", "http://127.0.0.1:2031/list/1"])
    assert way.shows_new_links(["http://127.0.0.1:2031/item/127"], ["http://127.0.0.1:2031/item/1"])
