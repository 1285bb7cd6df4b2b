"""Many numbers of 64 bits in little memory: a million take ten megabytes, where a set takes a hundred."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

_NONE: Final = array("Q")


class Fingerprints:
    """Hashes of what was seen. With a million in it, a million lookups give a wrong yes once in 10 million runs."""

    def __init__(self, values: Iterable[int]) -> None:
        parts: defaultdict[int, array[int]] = defaultdict(lambda: array("Q"))
        for value in values:
            parts[value & 255].append(value)
        for number, part in parts.items():  # one by one: a list takes four times as much
            parts[number] = array("Q", sorted(part))
        self._parts = dict(parts)

    def __contains__(self, value: int) -> bool:
        part = self._parts.get(value & 255, _NONE)
        place = bisect_left(part, value)
        return place < len(part) and part[place] == value
