"""A meta refresh is read as the HTML standard says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemirror.links.values import parse_refresh, refresh_url

BLANK = " \t\n\f\r"


def by_the_standard(content: str) -> tuple[int, str] | None:
    """The standard's own steps, one character after the other. None also where the page reloads itself."""
    rest = content.lstrip(BLANK)
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    rest = rest[len(digits) :]
    if not digits and not rest.startswith("."):
        return None
    rest = rest.lstrip("0123456789.")
    if not rest or rest[0] not in f";,{BLANK}":
        return None
    rest = rest.lstrip(BLANK)
    if rest[:1] and rest[0] in ";,":
        rest = rest[1:].lstrip(BLANK)
    if not rest:
        return None
    if rest[:3].lower() == "url" and rest[3:].lstrip(BLANK).startswith("="):
        rest = rest[3:].lstrip(BLANK)[1:].lstrip(BLANK)
        if not rest:
            return None
    if rest[0] in "\"'":
        rest = rest[1:].partition(rest[0])[0]
    return int(digits or 0), rest


@given(st.lists(st.sampled_from([*"0159.;, =\n'\"x/", "url", "URL", " ; ", "url="]), max_size=9).map("".join))
def test_values_are_parsed_by_the_standard(content: str) -> None:
    """The seconds, the URL and its position."""
    expected = by_the_standard(content)
    found = parse_refresh(content)
    assert (found and (found.seconds, content[found.start : found.end])) == expected
    assert refresh_url(content) == (expected and expected[1])


@pytest.mark.parametrize("unit", ["9", "5 ", "5;url ", "5;", ".", "url="])
def test_long_values_are_parsed(unit: str) -> None:
    """Half a megabyte is parsed at once; any number of digits is valid."""
    content = unit * (500_000 // len(unit))
    for value in (content, f"{content};x", f"5{content}"):
        parse_refresh(value)
