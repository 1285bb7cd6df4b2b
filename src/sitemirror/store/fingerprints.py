"""Many numbers of 64 bits in little memory: a million take ten megabytes, where a set takes a hundred."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable


class Fingerprints:
    """Hashes of what was seen. With a million in it, a million lookups give a wrong yes once in 10 million runs."""

    def __init__(self, values: Iterable[int]) -> None:
        parts = [array("Q") for _ in range(256)]
        for value in values:
            parts[value & 255].append(value)
        self._parts = [array("Q", sorted(part)) for part in parts]  # one by one: a list takes four times as much

    def __contains__(self, value: int) -> bool:
        part = self._parts[value & 255]
        place = bisect_left(part, value)
        return place < len(part) and part[place] == value
