"""Where a meta refresh leads, and when, by the algorithm of the HTML standard."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_BLANK: Final = r"[ \t\n\f\r]"
_REFRESH: Final = re.compile(
    rf"{_BLANK}*+(?P<seconds>[0-9]*+)[0-9.]*+(?<=[0-9.])(?>{_BLANK}*+[;,]|{_BLANK}){_BLANK}*+"
    rf"(?:url{_BLANK}*+={_BLANK}*+)?+"
    r"(?:(?P<quote>[\"'])(?P<quoted>(?:(?!(?P=quote)).)*+)|(?P<bare>[^\"'].*+))",
    re.IGNORECASE | re.DOTALL,
)


class Target(NamedTuple):
    """Where the URL stands in the value, the quote before it, if there is one, and the seconds that a reader has."""

    start: int
    end: int
    quote: str
    seconds: int


def target(content: str) -> Target | None:
    """The URL of a refresh. Without one the page reloads itself."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    # More digits than Python converts are as long as forever.
    seconds = int(found["seconds"][:9] or 0)
    return Target(*found.span("quoted" if found["quote"] else "bare"), found["quote"] or "", seconds)


def url(content: str) -> str | None:
    """The same as it is written."""
    found = target(content)
    return None if found is None else content[found.start : found.end]
