"""Cuts the endless parts of a site: calendars, session ids, ever-deeper paths, query permutations.

One page does not tell a trap from a large site; only the way its URLs grow does. So each way of growing without end has
a limit, generous for real sites, and each cut has a reason that is reported with its URL. The limits bound how far each
kind of trap reaches; `--max-pages` bounds them all together.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from sitemirror.reasons import Cause, Reason
from sitemirror.urls import InvalidUrl, normalize

_MAX_RUN: Final = 16  # segments; longer runs cannot repeat often in a path that `max_depth` lets through

TRAIL_LENGTH: Final = 16
"""Pages of a trail: so many shapes can take turns and are still recognised. A calendar with names of months has 12."""

FULL_STEP: Final = 10
"""The weight of a link that continues a chain."""

REDUCED_STEP: Final = 1
"""Its weight on a page that also shows new links."""


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
    """How often one segment, or one run of segments, may occur in a path. `/a/b/a/b/a/b/a/b/` is a relative link that
    leads to its own page. Segments of one or two characters, and numbers, may recur (`/1/12/1/7/1/3/1`), but
    not in unbroken runs."""

    max_combinations: int = 500
    """Queries of one path that bring no new value, only a new combination of known ones; or 20 for each value of the
    parameter that has most, if that is more. Filters, sortings and page sizes multiply: ten of them with two values
    each make 1,024 URLs of one list. A forum has a few such queries for each topic."""

    max_orders: int = 4
    """Orders in which the same parameters may come in queries of one path. A site that appends a filter at
    every click makes 24 URLs of four."""

    max_queries: int = 100_000
    """Queries of one path. What has more is no archive but a counter, or a new token in every link."""

    max_chain: int = 200
    """Links in a row to URLs that differ from those before them only in numbers, ids or months, also where several such
    rows alternate. A calendar links from month to month without end. From the fiftieth on, a link on a page that
    shows new links counts as a tenth: 1,500 pages of an archive in a row are allowed."""


DEFAULT_LIMITS: Final = Limits()
_PER_VALUE: Final = 20


class Traps:
    """The trap detector of one run. It remembers nothing but counts of accepted queries.

    The order of arrival does not matter, and nothing is stored: a resumed run feeds what was accepted to it again.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._queries = QueryCounter()

    def reason(self, url: str, *, chain: int) -> Cause | None:
        """Return why this URL is cut, or None. Ask once for each new URL, before `accept`.

        `url` is normalised and without session id; `chain` is what `chain_length()` gave.
        """
        limits = self._limits
        if 0 < limits.max_url < len(url):
            return Cause(Reason.TRAP_LONG_URL, str(limits.max_url))
        if 0 < limits.max_chain * FULL_STEP < chain:
            return Cause(Reason.TRAP_CHAIN, str(limits.max_chain))
        path, mark, query = url.partition("?")
        segments = path.split("/")[3:]
        if segments and not segments[-1]:
            segments.pop()  # A folder's last slash opens no further level.
        if 0 < limits.max_depth < len(segments):
            return Cause(Reason.TRAP_DEPTH, str(limits.max_depth))
        if 0 < limits.max_repeats < len(segments) and _repeats(segments, limits.max_repeats):
            return Cause(Reason.TRAP_REPEATS, str(limits.max_repeats))
        return self._query_reason(path, query) if mark else None

    def _query_reason(self, path: str, query: str) -> Cause | None:
        limits, found = self._limits, self._queries.counts(path, query)
        if 0 < limits.max_queries <= found.queries:
            return Cause(Reason.TRAP_QUERIES, str(limits.max_queries))
        if 0 < limits.max_orders < found.orders:
            return Cause(Reason.TRAP_ORDERS, str(limits.max_orders))
        most = max(limits.max_combinations, _PER_VALUE * found.most_values)
        if limits.max_combinations and found.is_combination and found.combinations >= most:
            return Cause(Reason.TRAP_COMBINATIONS)
        return None

    def accept(self, url: str) -> None:
        """Count a URL that will be fetched: once for each, in any order."""
        path, mark, query = url.partition("?")
        if mark:
            self._queries.add(path, query)

    def chain_length(self, trail: Trail, chain: int, url: str, *, step: int = FULL_STEP) -> int:
        """Return the length of the chain that a link to `url` makes, in steps; 0 if it continues none.

        `trail` ends at the page with the link, and `chain` is that page's own length.
        """
        return chain + step if trail.continues_with(url) else 0


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


# Session ids and tracking parameters

# Names that nothing but a session has; and names that a conference's or a newspaper's pages have too, so that only a
# value as long and mixed as a session's counts: `?sid=12` is a story, `?sid=5e1f0a9b3c7d2e48` is a visit.
_NAMES: Final = r"phpsessid|jsessionid|asp\.net_sessionid|aspsessionid[a-z]*|cfid|cftoken|oscsid|xtcsid|zenid"
_SHARED_NAMES: Final = r"sid|sess|sessid|sess_id|session|sessionid|session_id|session-id"
_VISIT: Final = (
    r"(?:(?=[A-Za-z]*+[0-9])(?=[0-9]*+[A-Za-z])[A-Za-z0-9]{16,}+"
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
)
# Where a visitor came from, for the site's statistics. The page is the same without them.
_TRACKING: Final = (
    r"utm_[a-z_]+|gclid|gclsrc|dclid|gbraid|wbraid|srsltid|_ga|_gl|fbclid|msclkid|yclid|ysclid|twclid|ttclid|igshid|igsh"
    r"|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|hsctatracking|vero_id|oly_enc_id|oly_anon_id|_openstat|s_kwcid|ef_id"
)
_PARAMETER: Final = rf"(?:amp;)?(?:(?:{_NAMES}|{_TRACKING})(?:=.*)?|(?:{_SHARED_NAMES})={_VISIT}|s=[0-9a-f]{{32}})"
_IN_PATH: Final = (
    rf";(?:(?:{_NAMES})=[^;/]*|(?:{_SHARED_NAMES})={_VISIT}(?=[;/]|\Z))"
    r"|(?<=/)\((?:[A-Z]\([A-Za-z0-9_\-]+\))+\)(?:/|\Z)"  # ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/
)
# One of them is in every URL with such a part.
_HINTS: Final = [
    "sess",
    "sid=",
    "s=",
    "cfid",
    "cftoken",
    "zenid",
    "/(",
    "utm_",
    "clid",
    "gclsrc",
    "braid",
    "srsltid",
    "_ga",
    "_gl",
    "igsh",
    "mc_",
    "mkt_tok",
    "_hs",
    "hscta",
    "vero_id",
    "oly_",
    "_openstat",
    "s_kwcid",
    "ef_id",
]


class ParamRules(NamedTuple):
    """Globs for the names of parameters that found links lose besides the known ones, and that they keep."""

    strip: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


NO_RULES: Final = ParamRules()


@lru_cache(maxsize=256)
def _is_stripped(name: str, rules: ParamRules) -> bool | None:
    """True or False if the rules say so; None leaves it to the known names."""
    if any(fnmatchcase(name, glob) for glob in rules.keep):
        return False
    return True if any(fnmatchcase(name, glob) for glob in rules.strip) else None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the patterns for the first URL that may carry a session id: most sites have none."""
    return re.compile(_PARAMETER, re.IGNORECASE | re.DOTALL), re.compile(_IN_PATH, re.IGNORECASE)


def strip_session_and_tracking(url: str, rules: ParamRules = NO_RULES) -> str:
    """Remove session ids and tracking parameters from a link, as a normalised URL; `rules` change which.

    A site that sees no cookie puts a new session id into every link: the same pages under new URLs without end. The
    crawler uses this URL instead. URLs that a sitemap lists or the user gives stay as they are.
    """
    if "?" not in url and ";" not in url and "/(" not in url:
        return url  # Nearly every link of every page, and a page's are looked at twice.
    lower = url.lower()
    if not rules.strip and not any(hint in lower for hint in _HINTS):
        return url
    head, mark, query = url.partition("?")
    start = head.find("/", 8)
    origin, path = (head, "") if start < 0 else (head[:start], head[start:])
    parameter, in_path = _patterns()
    bare_path = in_path.sub("", path)
    kept = []
    for part in query.split("&"):
        stripped = _is_stripped(unquote_plus(part.partition("=")[0]), rules) if any(rules) else None
        if not stripped and (stripped is False or parameter.fullmatch(part) is None):
            kept.append(part)
    if bare_path == path and len(kept) == query.count("&") + 1:
        return url
    bare = origin + bare_path + ("?" + "&".join(kept) if mark and kept else "")
    try:
        # What is left can be a dot segment: `/..;jsessionid=1/`. Taking that out can bring forth another one.
        again = normalize(bare)
    except InvalidUrl:
        return url
    return again if again == url else strip_session_and_tracking(again, rules)


# Chains: months of a calendar go on without end, and so do two lists that link to each other. The pages of a blog's
# archive form a chain as well, but each of them links to posts. So a page is judged by the pages that led to it: does
# its URL have the shape of theirs, and does it link to anything that they did not?

_UUID: Final = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_MONTHS: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
# Only what is blurred is matched: most words of most URLs are passed over without a call.
_BLURRED: Final = re.compile(rf"(?<![0-9A-Za-z])(?:{_UUID}|[A-Za-z]*+[0-9][0-9A-Za-z]*+|(?i:{_MONTHS})(?![0-9A-Za-z]))")
_DIGITS: Final = re.compile(r"[0-9]+")
_HEX: Final = re.compile(r"[0-9A-Fa-f]{8,}")
_LONG_ID: Final = 20  # letters and digits mixed: no name is that long
_YEAR: Final = re.compile(r"(?:19|2[0-9])[0-9]{2}")
_DATE: Final = re.compile(rf"{_YEAR.pattern}(?:0[1-9]|1[0-2])(?:[0-3][0-9])?")


@lru_cache(maxsize=1024)  # a page's links and those of the pages around it; URLs can be long
def shape(url: str) -> str:
    """Make numbers, ids and months of a URL equal: `/cal/2031/05` and `/cal/2031/06` are one shape."""
    return _BLURRED.sub(_blur, url)


def _blur(match: re.Match[str]) -> str:
    text = match[0]
    if _HEX.fullmatch(text) is not None or len(text) >= _LONG_ID or text.isalpha():
        return "0"
    return _DIGITS.sub("0", text)


class Trail:
    """The URL of a page and of the pages that led to it, nearest first."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._urls = list(urls)
        self._slashes = frozenset(url.count("/") for url in self._urls)
        self._shapes = frozenset(map(shape, self._urls))

    def continues_with(self, url: str) -> bool:
        """Tell if `url` has the shape of a URL of the trail."""
        # The number of slashes rules out nearly all that do not.
        return url.count("/") in self._slashes and shape(url) in self._shapes

    def shows_new_links(self, links: Iterable[str], before: Iterable[str]) -> bool:
        """Tell if the page links to something off its trail that the pages before did not link to.

        A date alone does not count, as days hang on months without end. Nor does a URL that only repeats the page's own
        numbers, such as that of its printed form.
        """
        shown = frozenset(before)
        shapes = frozenset(map(shape, shown))
        own = frozenset(_numbers(self._urls[0]))
        for url in links:
            if url in shown or self.continues_with(url):
                continue
            numbers = _numbers(url)
            if shape(url) not in shapes or not (own.issuperset(numbers) or _is_date(numbers)):
                return True
        return False


def _numbers(url: str) -> list[str]:
    start = url.find("/", 8)
    return _DIGITS.findall(url, start) if start > 0 else []


def _is_date(numbers: list[str]) -> bool:
    """Tell if these are a year with month or day, or a date in one number."""
    dates = [number for number in numbers if _YEAR.fullmatch(number) or _DATE.fullmatch(number)]
    return bool(dates) and all(number in dates or len(number) <= 2 for number in numbers)


# Queries: a forum has ?t=1 to ?t=100000, and each query brings a new value. A list with filters has few values, which
# it combines without end. So the queries beyond one for each value are counted.
#
# The memory is the same for any site, hostile ones too: 2 MB of counters and 4 MB of bits. Collisions can make a count
# too large, by some twenty with a million queries. The order of arrival does not matter.

_FOUR_NUMBERS: Final = Struct(">4I")
_ROWS: Final = 4
_WIDTH: Final = 1 << 17
_BITS: Final = 1 << 25

# Separators in a list of values. Each value counts alone.
_BETWEEN_VALUES: Final = re.compile(r"[,|;+]|%(?:2c|7c|3b|20)", re.IGNORECASE)

# A nested URL with a query, such as the return address of a login: as many values as the site has combinations.
_NESTED: Final = re.compile(r"\?|%3f", re.IGNORECASE)


class QueryCounts(NamedTuple):
    """Counts of a path with queries."""

    queries: int
    combinations: int  # queries beyond one for each value
    most_values: int  # values of the parameter that has most
    # of the query asked about:
    orders: int  # in which its parameters have come, its own included
    is_combination: bool  # all its values are known


class QueryCounter:
    """Counts of the accepted queries of each path."""

    # Allocated for the first query: most sites have none, and many sites may be mirrored at once.

    @cached_property
    def _rows(self) -> list[array[int]]:
        return [array("I", bytes(_WIDTH * array("I").itemsize)) for _ in range(_ROWS)]

    @cached_property
    def _bits(self) -> bytearray:
        return bytearray(_BITS // 8)

    def add(self, path: str, query: str) -> None:
        """Count a query of a path: once for each."""
        self._count(_hashes("queries", path))
        names, order = _orders(query)
        if self._is_new(_hashes("order", path, order)):
            self._count(_hashes("orders", path, names))
        for name, value in _values(query):
            if self._is_new(_hashes("value", path, name, value)):
                self._count(_hashes("values", path))
                found = self._count(_hashes("values of", path, name))
                self._raise(_hashes("most_values", path), found)

    def counts(self, path: str, query: str) -> QueryCounts:
        """Return the counts of a path, before `query` is added."""
        queries = self._read(_hashes("queries", path))
        names, order = _orders(query)
        known = self._read(_hashes("orders", path, names))
        return QueryCounts(
            queries=queries,
            combinations=queries - self._read(_hashes("values", path)),
            most_values=self._read(_hashes("most_values", path)),
            orders=known + (not self._has(_hashes("order", path, order))),
            is_combination=all(self._has(_hashes("value", path, *value)) for value in _values(query)),
        )

    # A count-min sketch: each thing is counted once in every row, and its number is the smallest of them.

    def _count(self, hashes: tuple[int, ...]) -> int:
        counts = []
        for row, hash_ in zip(self._rows, hashes, strict=True):
            row[hash_ % _WIDTH] += 1
            counts.append(row[hash_ % _WIDTH])
        return min(counts)

    def _raise(self, hashes: tuple[int, ...], value: int) -> None:
        for row, hash_ in zip(self._rows, hashes, strict=True):
            row[hash_ % _WIDTH] = max(row[hash_ % _WIDTH], value)

    def _read(self, hashes: tuple[int, ...]) -> int:
        one, two, three, four = hashes
        a, b, c, d = self._rows
        return min(a[one % _WIDTH], b[two % _WIDTH], c[three % _WIDTH], d[four % _WIDTH])

    # A Bloom filter: once in a while something new is taken for known, and a value is not counted.

    def _has(self, hashes: tuple[int, ...]) -> bool:
        bits = self._bits
        one, two, three, four = hashes
        return bool(
            bits[one % _BITS >> 3] >> (one & 7)
            & bits[two % _BITS >> 3] >> (two & 7)
            & bits[three % _BITS >> 3] >> (three & 7)
            & bits[four % _BITS >> 3] >> (four & 7)
            & 1
        )

    def _is_new(self, hashes: tuple[int, ...]) -> bool:
        if self._has(hashes):
            return False
        for hash_ in hashes:
            self._bits[hash_ % _BITS >> 3] |= 1 << (hash_ & 7)
        return True


def _orders(query: str) -> tuple[str, str]:
    """Return the names of the parameters, sorted and as they come."""
    names = [part.partition("=")[0] for part in query.split("&")]
    return "&".join(sorted(names)), "&".join(names)


def _values(query: str) -> Iterator[tuple[str, str]]:
    for part in query.split("&"):
        name, _, values = part.partition("=")
        if _NESTED.search(values):
            values = "?"
        for value in _BETWEEN_VALUES.split(values):
            yield name, value


@lru_cache(maxsize=256)  # A query is looked at and then added, and so are others of its path.
def _hashes(*key: str) -> tuple[int, ...]:
    """Hash a key to four numbers, the same in every process."""
    # No URL has a blank in it, so no two keys are one text.
    text = " ".join(key).encode("utf-8", "surrogatepass")
    return _FOUR_NUMBERS.unpack(blake2b(text, digest_size=_FOUR_NUMBERS.size).digest())
