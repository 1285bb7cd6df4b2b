"""Counts the queries of each path, so that values can be told from their combinations.

A forum has `?t=1` to `?t=100000`: each query brings a value that no other had. A list with filters has few values,
which it combines without end: hardly a query brings one. So it is counted how many queries there are beyond values.

The memory is the same for any site, hostile ones too: 2 MB of counters and 4 MB of bits. A count may come out too large
by what others put on the same places, some twenty with a million queries. The order of arrival does not matter.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

_FOUR_NUMBERS: Final = Struct(">4I")
_ROWS: Final = 4
_WIDTH: Final = 1 << 17
_BITS: Final = 1 << 25

# Lists of values: each of them is one, in whatever company.
_BETWEEN_VALUES: Final = re.compile(r"[,|;+]|%(?:2c|7c|3b|20)", re.IGNORECASE)

# Another URL with its query: where a login leads back to. It has as many values as the site has combinations.
_NESTED: Final = re.compile(r"\?|%3f", re.IGNORECASE)


class Counted(NamedTuple):
    """What is known of a path that has queries."""

    queries: int
    combinations: int  # queries beyond one for each value
    richest: int  # values of the parameter that has most
    # of the query asked about:
    orders: int  # in which its parameters have come, its own included
    is_combination: bool  # whether all its values are known


class Queries:
    """The queries that were accepted."""

    # Made for the first query: most sites have none, and many sites may be mirrored at once.

    @cached_property
    def _rows(self) -> list[array[int]]:
        return [array("I", bytes(_WIDTH * array("I").itemsize)) for _ in range(_ROWS)]

    @cached_property
    def _bits(self) -> bytearray:
        return bytearray(_BITS // 8)

    def add(self, path: str, query: str) -> None:
        """Counts a query of a path. Once for each."""
        self._count(_places("queries", path))
        names, order = _orders(query)
        if self._is_new(_places("order", path, order)):
            self._count(_places("orders", path, names))
        for name, value in _values(query):
            if self._is_new(_places("value", path, name, value)):
                self._count(_places("values", path))
                found = self._count(_places("values of", path, name))
                self._raise(_places("richest", path), found)

    def look(self, path: str, query: str) -> Counted:
        """What is known of a path, before `query` is added."""
        queries = self._read(_places("queries", path))
        names, order = _orders(query)
        known = self._read(_places("orders", path, names))
        return Counted(
            queries=queries,
            combinations=queries - self._read(_places("values", path)),
            richest=self._read(_places("richest", path)),
            orders=known + (not self._has(_places("order", path, order))),
            is_combination=all(self._has(_places("value", path, *value)) for value in _values(query)),
        )

    # A count-min sketch: each thing is counted once in every row, and its number is the smallest of them.

    def _count(self, places: tuple[int, ...]) -> int:
        counts = []
        for row, place in zip(self._rows, places, strict=True):
            row[place % _WIDTH] += 1
            counts.append(row[place % _WIDTH])
        return min(counts)

    def _raise(self, places: tuple[int, ...], value: int) -> None:
        for row, place in zip(self._rows, places, strict=True):
            row[place % _WIDTH] = max(row[place % _WIDTH], value)

    def _read(self, places: tuple[int, ...]) -> int:
        one, two, three, four = places
        a, b, c, d = self._rows
        return min(a[one % _WIDTH], b[two % _WIDTH], c[three % _WIDTH], d[four % _WIDTH])

    # A Bloom filter: once in a while something new is taken for known, and a value is not counted.

    def _has(self, places: tuple[int, ...]) -> bool:
        bits = self._bits
        one, two, three, four = places
        return bool(
            bits[one % _BITS >> 3] >> (one & 7)
            & bits[two % _BITS >> 3] >> (two & 7)
            & bits[three % _BITS >> 3] >> (three & 7)
            & bits[four % _BITS >> 3] >> (four & 7)
            & 1
        )

    def _is_new(self, places: tuple[int, ...]) -> bool:
        if self._has(places):
            return False
        for place in places:
            self._bits[place % _BITS >> 3] |= 1 << (place & 7)
        return True


def _orders(query: str) -> tuple[str, str]:
    """The names of the parameters, sorted, and as they come."""
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
def _places(*key: str) -> tuple[int, ...]:
    """Where something is counted: the same in every process."""
    # No URL has a blank in it, so no two keys are one text.
    text = " ".join(key).encode("utf-8", "surrogatepass")
    return _FOUR_NUMBERS.unpack(blake2b(text, digest_size=_FOUR_NUMBERS.size).digest())
