"""Cuts the endless parts of a site: calendars, session ids, ever-deeper paths, query permutations.

A trap cannot be told from a large site by looking at one page, only by how its URLs grow. So each way of growing
without end has a limit, generous for real sites, and each cut has a reason that is reported with its URL. The limits
bound how far each kind of trap reaches; `--max-pages` bounds them all together.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Final

from sitemirror.frontier.chains import WHOLE, Way
from sitemirror.frontier.queries import Queries
from sitemirror.reasons import Cause, Reason
from sitemirror.urls import InvalidUrl, normalize

_MAX_RUN: Final = 16  # segments; longer runs cannot repeat often in a path that `max_depth` lets through

# Names that nothing but a session has; and names that a conference's or a newspaper's pages have too, so that only a
# value as long and mixed as a session's counts: `?sid=12` is a story, `?sid=5e1f0a9b3c7d2e48` is a visit.
_NAMES: Final = r"phpsessid|jsessionid|asp\.net_sessionid|aspsessionid[a-z]*|cfid|cftoken|oscsid|xtcsid|zenid"
_SHARED_NAMES: Final = r"sid|sess|sessid|sess_id|session|sessionid|session_id|session-id"
_VISIT: Final = (
    r"(?:(?=[A-Za-z]*+[0-9])(?=[0-9]*+[A-Za-z])[A-Za-z0-9]{16,}+"
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
)
_PARAMETER: Final = rf"(?:amp;)?(?:(?:{_NAMES})(?:=.*)?|(?:{_SHARED_NAMES})={_VISIT}|s=[0-9a-f]{{32}})"
_IN_PATH: Final = (
    rf";(?:(?:{_NAMES})=[^;/]*|(?:{_SHARED_NAMES})={_VISIT}(?=[;/]|\Z))"
    r"|(?<=/)\((?:[A-Z]\([A-Za-z0-9_\-]+\))+\)(?:/|\Z)"  # ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/
)
_HINTS: Final = ("sess", "sid=", "s=", "cfid", "cftoken", "zenid", "/(")  # one of them is in every URL with a session


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a site may grow in each direction. 0 = no limit, everywhere."""

    max_url: int = 2_000
    """Characters in a URL. Addresses that pages append to on every click pass it; no browser bar or server log was
    made for more."""

    max_depth: int = 32
    """Segments in a path. The deepest real trees (API references, source browsers) stay under 20; relative links on
    an error page that answers 200 go down for ever."""

    max_repeats: int = 3
    """How often one segment, or one run of segments, may stand in a path. `/a/b/a/b/a/b/a/b/` is a relative link that
    leads to its own page. Segments of one or two characters, and numbers, may recur (`/1/12/1/7/1/3/1`), but
    not in unbroken runs."""

    max_combinations: int = 500
    """Queries of one path that bring no new value, only known ones together in a new way; or 20 for each value of the
    parameter that has most, if that is more. Filters, sortings and page sizes multiply: ten of them with two values
    each make 1,024 URLs of one list. A forum has a few such queries for each topic."""

    max_orders: int = 4
    """Orders in which the same parameters may come in queries of one path. Whoever puts a filter behind the others at
    every click makes 24 URLs of four."""

    max_queries: int = 100_000
    """Queries of one path. What has more is no archive but a counter, or a new token in every link."""

    max_chain: int = 200
    """Links in a row to URLs that differ from those before them only in numbers, ids or months, also where several such
    rows take turns. A calendar leads from month to month without end. From the fiftieth on, a link on a page that
    leads elsewhere too counts as a tenth: 1,500 pages of an archive, one behind the other, are allowed."""


DEFAULT_LIMITS: Final = Limits()
_PER_VALUE: Final = 20


class Traps:
    """Judges URLs one by one, and remembers only what was counted of the queries that were accepted.

    The order of arrival does not matter, and nothing is stored: a resumed run feeds what was accepted to it again.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._queries = Queries()

    def reason(self, url: str, *, chain: int) -> Cause | None:
        """Why this URL is cut; None if it is not. Ask once for each new URL, before `accept`.

        `url` is normalised and without session id; `chain` is what `chain()` gave.
        """
        limits = self._limits
        if 0 < limits.max_url < len(url):
            return Cause(Reason.TRAP_LONG_URL, str(limits.max_url))
        if 0 < limits.max_chain * WHOLE < chain:
            return Cause(Reason.TRAP_CHAIN, str(limits.max_chain))
        path, mark, query = url.partition("?")
        segments = path.split("/")[3:]
        if segments and not segments[-1]:
            segments.pop()  # A folder's last slash opens no further level.
        if 0 < limits.max_depth < len(segments):
            return Cause(Reason.TRAP_DEPTH, str(limits.max_depth))
        if 0 < limits.max_repeats < len(segments) and _repeats(segments, limits.max_repeats):
            return Cause(Reason.TRAP_REPEATS, str(limits.max_repeats))
        return self._too_many(path, query) if mark else None

    def _too_many(self, path: str, query: str) -> Cause | None:
        limits, found = self._limits, self._queries.look(path, query)
        if 0 < limits.max_queries <= found.queries:
            return Cause(Reason.TRAP_QUERIES, str(limits.max_queries))
        if 0 < limits.max_orders < found.orders:
            return Cause(Reason.TRAP_ORDERS, str(limits.max_orders))
        most = max(limits.max_combinations, _PER_VALUE * found.richest)
        if limits.max_combinations and found.is_combination and found.combinations >= most:
            return Cause(Reason.TRAP_COMBINATIONS)
        return None

    def accept(self, url: str) -> None:
        """Counts a URL that will be fetched. Once for each, in any order."""
        path, mark, query = url.partition("?")
        if mark:
            self._queries.add(path, query)

    def chain(self, way: Way, chain: int, url: str, *, step: int = WHOLE) -> int:
        """How long a row of like URLs is, the link from the end of `way`, whose own number is `chain`, to `url` last.

        Not in links, but in what they count: `step`.
        """
        return chain + step if way.leads_on_to(url) else 0


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compiled for the first URL that looks like one with a session: most sites have none."""
    return re.compile(_PARAMETER, re.IGNORECASE | re.DOTALL), re.compile(_IN_PATH, re.IGNORECASE)


def without_session(url: str) -> str:
    """A normalised URL without the session id it carries in query or path, still normalised.

    A site that sees no cookie puts the visit into every link, a new one each time: without end the same pages under new
    names. The crawler follows, saves and names this URL instead.
    """
    if "?" not in url and ";" not in url and "/(" not in url:
        return url  # Nearly every link of every page, and a page's are looked at twice.
    lower = url.lower()
    if not any(hint in lower for hint in _HINTS):
        return url
    head, mark, query = url.partition("?")
    start = head.find("/", 8)
    origin, path = (head, "") if start < 0 else (head[:start], head[start:])
    parameter, in_path = _patterns()
    bare_path = in_path.sub("", path)
    kept = [part for part in query.split("&") if parameter.fullmatch(part) is None]
    if bare_path == path and len(kept) == query.count("&") + 1:
        return url
    bare = origin + bare_path + ("?" + "&".join(kept) if mark and kept else "")
    try:
        # What is left can be a dot segment: `/..;jsessionid=1/`. Taking that out can bring forth another one.
        again = normalize(bare)
    except InvalidUrl:
        return url
    return again if again == url else without_session(again)


def _repeats(segments: list[str], limit: int) -> bool:
    often = [segment for segment, count in Counter(segments).items() if count > limit]
    if not often:
        return False
    if any(len(segment) > 2 and not segment.isdigit() for segment in often):
        return True
    # Short names recur in trees that are sharded by digits or letters; only an unbroken run of them is a trap.
    for length in range(1, min(len(segments) // (limit + 1), _MAX_RUN) + 1):
        same = 0
        for here, there in zip(segments, segments[length:], strict=False):
            same = same + 1 if here == there else 0
            if same >= length * limit:
                return True
    return False
