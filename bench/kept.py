"""Whether pages were really saved: a program that saved less was not faster.

For every page there must be a file. Of a sample, what is saved as sent must be the very bytes; of what is converted or
rewritten, the words of the page's paragraphs are looked for. The page is read with the standard library's parser, which
none of those compared uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean
from typing import Final

from bench.corpus import Page
from bench.program import DidNotWork

_SAMPLE: Final = 60
_ENOUGH: Final = 0.5  # of all words, over all pages of the sample; extractors leave out what they take for noise
_WORD: Final = re.compile(r"[A-Za-z]{5,}")
_PHRASING: Final = re.compile(
    "(?:a|abbr|acronym|b|big|br|cite|code|dfn|em|font|i|img|kbd|mark|q|s|samp|small|span|strong|su[bp]|tt|u|var|wbr)"
)


class Saves(Enum):
    """What a program makes of a page."""

    AS_SENT = "HTML as sent"
    REWRITTEN = "HTML, local links"
    MARKDOWN = "Markdown"


def check(who: str, saves: Saves, pages: Sequence[Page], files: Mapping[Page, Path]) -> float:
    """The share of words kept; raises `DidNotWork` when pages are missing or are not what they should be."""
    missing = [page.path for page in pages if page not in files or not files[page].is_file()]
    if missing:
        raise DidNotWork(f"{who} did not save {len(missing)} of {len(pages)} pages, such as {missing[0]}")
    sample = pages[:: max(1, len(pages) // _SAMPLE)]
    if saves is Saves.AS_SENT:
        if wrong := [page.path for page in sample if files[page].read_bytes() != page.file.read_bytes()]:
            raise DidNotWork(f"{who} saved other bytes than were sent, such as {wrong[0]}")
        return 1.0
    kept = mean(_share(paragraph_words(page.file), files[page]) for page in sample)
    if kept < _ENOUGH:
        raise DidNotWork(f"{who} kept only {kept:.0%} of the words on {len(sample)} pages")
    return kept


def _share(words: frozenset[str], saved: Path) -> float:
    if not words:
        return 1.0
    found = set(_WORD.findall(saved.read_text(encoding="utf-8", errors="replace")))
    return len(words & found) / len(words)


@lru_cache(maxsize=1024)
def paragraph_words(file: Path) -> frozenset[str]:
    """The words of five letters and more in a page's paragraphs."""
    reader = _Paragraphs()
    reader.feed(file.read_text(encoding="utf-8", errors="replace"))
    return frozenset(_WORD.findall("".join(reader.text)))


class _Paragraphs(HTMLParser):
    """Text inside <p>, and inside Java's <div class="block">, which is its paragraph, up to what no paragraph has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p" or (tag == "div" and dict(attrs).get("class") == "block"):
            self._inside = True
            self.text.append(" ")
        elif not _PHRASING.fullmatch(tag):
            self._inside = False

    def handle_endtag(self, tag: str) -> None:
        if not _PHRASING.fullmatch(tag):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text.append(data)
