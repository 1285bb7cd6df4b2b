"""Reads `srcset` by the algorithm of the HTML standard, since commas and blanks are allowed inside its URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CANDIDATE: Final = re.compile(
    r"[ \t\n\f\r,]*+"
    r"(?P<url>[^ \t\n\f\r]++)"
    # A URL that ends with a comma has no descriptors; otherwise they run to a comma outside parentheses.
    r"(?:(?<=,)|(?P<descriptors>(?:[^,(]|\([^)]*+\)?+)*+))"
)
_DESCRIPTOR: Final = re.compile(r"(?:[^ \t\n\f\r(]|\([^)]*+\)?+)++")
_WHOLE: Final = re.compile(r"0*+[1-9][0-9]*+")
_DENSITY: Final = re.compile(r"-0*+(?:\.0++)?+|(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")


def candidates(srcset: str) -> Iterator[str]:
    """The URLs that a browser may choose from, as they are written."""
    position = 0
    # Matched from where the last one ended, never searched for: a million commas must not be tried from each of them.
    while (match := _CANDIDATE.match(srcset, position)) is not None:
        position = match.end()
        url = match["url"].rstrip(",")
        if url and _is_valid(match["descriptors"] or ""):
            yield url


def _is_valid(descriptors: str) -> bool:
    """Whether a browser would take the candidate: at most one density, or a width with at most one height."""
    seen: set[str] = set()
    for descriptor in _DESCRIPTOR.findall(descriptors):
        value, unit = descriptor[:-1], descriptor[-1]
        number = _DENSITY if unit == "x" else _WHOLE
        if unit not in "wxh" or unit in seen or number.fullmatch(value) is None:
            return False
        seen.add(unit)
    return seen in (set(), {"w"}, {"x"}, {"w", "h"})
