"""Tells a row of like pages that leads nowhere from one that leads through a site.

From month to month a calendar goes on without end, and so do two lists that lead to each other. A blog's archive is
such a row as well, but each of its pages leads to posts. So a page is judged by the way to it: whether it is one more
of what the way is made of, and whether it shows anything that the way has not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

WINDOW: Final = 16
"""Pages of a way that are looked back at: so many shapes can take turns and are still seen to recur. A calendar with
the names of months has twelve."""

WHOLE: Final = 10
"""What a link counts that leads on along its way."""

TENTH: Final = 1
"""What it counts on a page that bears fruit."""

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
    """A URL with its numbers, ids and months made equal: `/cal/2031/05` and `/cal/2031/06` are one shape."""
    return _BLURRED.sub(_blur, url)


def _blur(match: re.Match[str]) -> str:
    text = match[0]
    if _HEX.fullmatch(text) is not None or len(text) >= _LONG_ID or text.isalpha():
        return "0"
    return _DIGITS.sub("0", text)


class Way:
    """How a page was reached: its URL, and the URLs of the pages that led to it, nearest first."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._urls = list(urls)
        self._slashes = frozenset(url.count("/") for url in self._urls)
        self._shapes = frozenset(map(shape, self._urls))

    def leads_on_to(self, url: str) -> bool:
        """Whether `url` is one more of what the way is made of."""
        # Nearly all that are not are told by their slashes already.
        return url.count("/") in self._slashes and shape(url) in self._shapes

    def bears_fruit(self, links: Iterable[str], before: Iterable[str]) -> bool:
        """Whether the page, which has these links, shows anything off its way that the pages before did not link to.

        A date alone is nothing, as days hang on months without end; nor is what the page's own numbers are put into
        again, as in the address of its printed form.
        """
        shown = frozenset(before)
        shapes = frozenset(map(shape, shown))
        own = frozenset(_numbers(self._urls[0]))
        for url in links:
            if url in shown or self.leads_on_to(url):
                continue
            numbers = _numbers(url)
            if shape(url) not in shapes or not (own.issuperset(numbers) or _is_date(numbers)):
                return True
        return False


def _numbers(url: str) -> list[str]:
    start = url.find("/", 8)
    return _DIGITS.findall(url, start) if start > 0 else []


def _is_date(numbers: list[str]) -> bool:
    """Whether these are a year and what is counted within one, or both in one number."""
    dates = [number for number in numbers if _YEAR.fullmatch(number) or _DATE.fullmatch(number)]
    return bool(dates) and all(number in dates or len(number) <= 2 for number in numbers)
