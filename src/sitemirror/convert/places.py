"""Where on a page each block stands, as far as the page says so: in its main part, in the article that has its title,
among the comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sitemirror.convert.blocks import Reading
from sitemirror.convert.hints import Hints
from sitemirror.convert.judge import probability

_COMMENTS: Final = re.compile(
    r"(?<![a-z])comments?(?![a-z])|comment[-_]?(?:list|body|content|area|text|thread|section)|disqus|discussion|responses",
    re.I,
)
# Comments are what a page is about if they are more than this share of what is likely to be content: a forum's posts
# may be called so. An article says that it is one, and may be shorter than what people say of it.
_COMMENTS_AT_MOST: Final = 0.5
_COMMENTS_OF_ARTICLE_AT_MOST: Final = 0.7
_ARTICLE_AT_LEAST: Final = 0.3  # of what is likely to be content
_MAIN_AT_LEAST: Final = 0.5
_FARTHER: Final = 2.0  # by how much the logarithm of the odds falls
_TITLES: Final = frozenset(("h1", "h2", "h3"))
_NAMELESS: Final = 8  # characters; a shorter heading is in too many titles


def by_place(reading: Reading, odds: Sequence[float], hints: Hints) -> Sequence[float]:
    """The odds, less those of comments and, on a page that says that it is an article, of all that is not in it."""
    if hints.is_article and (article := _article(reading, odds, hints.titles)) is not None:
        odds = [one if block in article else one - _FARTHER for block, one in enumerate(odds)]
    comments = _comments(reading)
    most = _COMMENTS_OF_ARTICLE_AT_MOST if hints.is_article else _COMMENTS_AT_MOST
    if comments and _share(reading, odds, comments) <= most:
        odds = [one - _FARTHER if block in comments else one for block, one in enumerate(odds)]
    return odds


def main_part(reading: Reading, odds: Sequence[float]) -> set[int] | None:
    """The blocks of what a page marks as its main part, if that has most of the likely content."""
    marked = [
        place
        for place, tag in enumerate(reading.tags)
        if tag == "main" or (place and reading.elements[place].attr("role") == "main")
    ]
    if not marked:
        articles = [place for place, tag in enumerate(reading.tags) if tag == "article"]
        marked = articles if len(articles) == 1 else []
    blocks = {block for place in marked for block in range(reading.starts[place], reading.ends[place])}
    return blocks if blocks and _share(reading, odds, blocks) >= _MAIN_AT_LEAST else None


def _article(reading: Reading, odds: Sequence[float], titles: str) -> range | None:
    """The smallest article, or main part, that has the heading that the page is called by and much of the content."""
    block = next((at for at, text in enumerate(reading.texts) if _is_title(reading, at, text, titles)), None)
    place = 0 if block is None else reading.owners[block]
    while place:
        if reading.tags[place] in ("article", "main"):
            blocks = range(reading.starts[place], reading.ends[place])
            if _share(reading, odds, blocks) >= _ARTICLE_AT_LEAST:
                return blocks
        place = reading.parents[place]
    return None


def _is_title(reading: Reading, block: int, text: str, titles: str) -> bool:
    is_heading = len(text) > _NAMELESS and reading.tags[reading.owners[block]] in _TITLES
    return is_heading and " ".join(text.lower().split()) in titles


def _comments(reading: Reading) -> set[int]:
    blocks: set[int] = set()
    end = 0
    for place, element in enumerate(reading.elements):
        if reading.starts[place] < end or not place:
            continue  # in one that was found already, or everything
        names = f"{element.attr('class') or ''} {element.attr('id') or ''}"
        if len(names) > 1 and _COMMENTS.search(names):
            end = max(end, reading.ends[place])
            blocks.update(range(reading.starts[place], reading.ends[place]))
    return blocks


def _share(reading: Reading, odds: Sequence[float], blocks: set[int] | range) -> float:
    """How much of what is likely to be content is in these blocks."""
    likely = [probability(one) * len(text) for one, text in zip(odds, reading.texts, strict=True)]
    return sum(likely[block] for block in blocks) / (sum(likely) or 1)
