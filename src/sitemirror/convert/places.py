"""Where on a page each block stands, as far as the page says so: in its main part, in the article that has its title,
among the comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Final

from sitemirror.convert.blocks import Reading
from sitemirror.convert.features import TITLES
from sitemirror.convert.hints import Hints
from sitemirror.convert.judge import probabilities

_COMMENTS: Final = re.compile(
    r"(?<![A-Za-z])[Cc]omments?(?![a-z])|[a-z]Comments?(?![a-z])|disqus"
    r"|[Cc]omments?[-_]?(?:list|body|content|area|text|thread|section)"
)
_NAMES: Final = 1000  # characters that are looked at
_COMMENTS_AT_MOST: Final = 0.7  # of what is likely to be content; an article may be shorter than what people say of it
_ARTICLE_AT_LEAST: Final = 0.3
_MAIN_AT_LEAST: Final = 0.5
_NEVER: Final = -8.0  # odds, as a logarithm
_FARTHER: Final = 2.0  # by how much the logarithm of the odds falls
_NAMELESS: Final = 8  # characters; a shorter heading is in too many titles
_NAMELESS_FOREIGN: Final = 3  # where a character may be a word


class Places:
    """What a page says of where its blocks stand."""

    def __init__(self, reading: Reading, probabilities: Sequence[float]) -> None:
        self._reading = reading
        self._probabilities = probabilities

    @cached_property
    def _likely(self) -> list[float]:
        """How much of the text before each block is likely to be content."""
        return [0.0, *accumulate(map(mul, self._probabilities, map(len, self._reading.texts)))]

    def main_part(self) -> set[int] | None:
        """The blocks of what a page marks as its main part, if that has most of the likely content."""
        reading = self._reading
        tags = reading.tags
        marked = [place for place, role in reading.roles.items() if role == "main" and place]
        if "main" in tags:
            marked += [place for place, tag in enumerate(tags) if tag == "main"]
        if not marked and tags.count("article") == 1:
            marked = [tags.index("article")]
        parts = [range(reading.starts[place], reading.ends[place]) for place in marked]
        blocks = set[int]().union(*parts)
        share = self._share(parts[0] if len(parts) == 1 else blocks) if blocks else 0
        return blocks if share >= _MAIN_AT_LEAST else None

    def article(self, titles: str) -> range | None:
        """The smallest article, or main part, that has a heading that the page is called by and much of the content."""
        reading = self._reading
        for block, owner in enumerate(reading.owners):
            place = owner if self._is_title(block, titles) else 0
            while place:
                if reading.tags[place] in ("article", "main"):
                    blocks = range(reading.starts[place], reading.ends[place])
                    if self._share(blocks) >= _ARTICLE_AT_LEAST:
                        return blocks
                place = reading.parents[place]
        return None

    def comments(self) -> set[int]:
        """The blocks of what people say of the page; empty where that may be the page.

        One part of that name may be about anything; comments are several, or stand in a part for them.
        """
        reading = self._reading
        found: set[int] = set()
        parts = 0
        for place, names in enumerate(reading.names):
            # Nearly all names have none of this in them, and the expression takes its time.
            if ("omment" in names or "disqus" in names) and place and _COMMENTS.search(names, 0, _NAMES):
                parts += 1
                found.update(range(reading.starts[place], reading.ends[place]))
        return found if parts > 1 and self._share(found) <= _COMMENTS_AT_MOST else set()

    def _is_title(self, block: int, titles: str) -> bool:
        text = self._reading.texts[block]
        is_heading = self._reading.tags[self._reading.owners[block]] in TITLES
        nameless = _NAMELESS if text.isascii() else _NAMELESS_FOREIGN
        return is_heading and len(text) > nameless and " ".join(text.lower().split()) in titles

    def _share(self, blocks: set[int] | range) -> float:
        """How much of what is likely to be content is in these blocks."""
        likely = self._likely
        if isinstance(blocks, range):
            inside = likely[blocks.stop] - likely[blocks.start]
        else:
            inside = sum(likely[block + 1] - likely[block] for block in blocks)
        return inside / (likely[-1] or 1)


def by_place(reading: Reading, odds: Sequence[float], hints: Hints) -> Sequence[float]:
    """The odds on a page that says that it is an article, less those of comments and of all that is not in it."""
    if not hints.is_article:
        return odds
    places = Places(reading, probabilities(odds))
    if not hints.is_documentation and (article := places.article(hints.titles)) is not None:
        odds = [one if block in article else one - _FARTHER for block, one in enumerate(odds)]
        places = Places(reading, probabilities(odds))
    comments = places.comments()
    return [min(one, _NEVER) if block in comments else one for block, one in enumerate(odds)] if comments else odds
