"""Reads `srcset` by the algorithm of the HTML standard, since commas and blanks are allowed inside its URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LAZY_SOURCES: Final = ("data-src", "data-lazy-src", "data-original")
"""Where pages keep a picture's URL that a script puts in its place when a reader comes near."""

LAZY_SRCSETS: Final = ("data-srcset", "data-lazy-srcset")
"""The same for a `srcset`."""

_CANDIDATE: Final = re.compile(
    r"[ \t\n\f\r,]*+"
    r"(?P<url>[^ \t\n\f\r]++)"
    # A URL that ends with a comma has no descriptors; otherwise they run to a comma outside parentheses.
    r"(?:(?<=,)|(?P<descriptors>(?:[^,(]|\([^)]*+\)?+)*+))"
)
_DESCRIPTOR: Final = re.compile(r"(?:[^ \t\n\f\r(]|\([^)]*+\)?+)++")
_WHOLE: Final = re.compile(r"0*+[1-9][0-9]*+")
_DENSITY: Final = re.compile(r"-(?:0++(?:\.0++)?+|\.0++)|(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")
_UNSAID: Final = {"x": "1"}


class Candidate(NamedTuple):
    """A picture that a browser may choose: where its URL stands, and how large it is among the others."""

    start: int
    end: int
    size: float


def candidates(srcset: str) -> Iterator[Candidate]:
    """All that a browser may choose from; what it would not take is passed over."""
    position = 0
    # Matched from where the last one ended, never searched for: a million commas must not be tried from each of them.
    while (match := _CANDIDATE.match(srcset, position)) is not None:
        position = match.end()
        start, end = match.start("url"), match.start("url") + len(match["url"].rstrip(","))
        size = _size(match["descriptors"] or "")
        if start < end and size is not None:
            yield Candidate(start, end, size)


def urls(srcset: str) -> Iterator[str]:
    """The URLs that a browser may choose from, as they are written."""
    return (srcset[start:end] for start, end, _ in candidates(srcset))


def _size(descriptors: str) -> float | None:
    """A density, or a width with at most one height. None if it is anything else."""
    values: dict[str, str] = {}
    for descriptor in _DESCRIPTOR.findall(descriptors):
        value, unit = descriptor[:-1], descriptor[-1]
        number = _DENSITY if unit == "x" else _WHOLE
        if unit not in "wxh" or unit in values or number.fullmatch(value) is None:
            return None
        values[unit] = value
    values = values or _UNSAID
    if "x" in values:
        return float(values["x"]) if len(values) == 1 else None
    return float(values["w"]) if "w" in values else None
