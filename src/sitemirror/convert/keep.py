"""Decides from what each block is worth which blocks are the page, and takes the others out of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from sitemirror.choices import Content
from sitemirror.convert.blocks import Reading
from sitemirror.convert.judge import probability

_AUTO: Final = 0.12  # the chance of being content that `auto` leaves to no block
# The surest block of a page is about this sure (the logarithm of its odds), and how far a page's blocks are moved
# towards that: a page that is unlike the ones that were learnt from is judged by its own measure.
_SUREST: Final = 3.0
_MOVED: Final = 0.2
_STRICT: Final = 1.1  # `main` asks for so much more than the expectation does, since odds are a little too good
_SAID: Final = 50  # characters; a longer text is not said twice on purpose
_SAID_AGAIN: Final = frozenset(("pre", "td", "th"))  # but in code and in tables it may be


def threshold(probabilities: Sequence[float], lengths: Sequence[int]) -> float:
    """How likely a block must be content to be kept.

    Keeping every block that is at least half as likely as the best F1 that can be expected gives that best F1: where
    little is sure, more has to be kept.
    """
    expected = sum(p * n for p, n in zip(probabilities, lengths, strict=True))
    best, right, kept = 0.0, 0.0, 0
    for p, n in sorted(zip(probabilities, lengths, strict=True), reverse=True):
        right += p * n
        kept += n
        f1 = 2 * right / (kept + expected)
        if f1 < best:
            break
        best = f1
    return best / 2


def keep(reading: Reading, odds: Sequence[float], content: Content) -> list[bool]:
    """For each block whether it is kept, given the logarithms of the odds that it is content. At least one is."""
    moved = _MOVED * (max(odds) - _SUREST)
    probabilities = [probability(one - moved) for one in odds]
    least = threshold(probabilities, [len(text) for text in reading.texts])
    if content is Content.AUTO:
        least = min(least, _AUTO)
        return [p >= least for p in probabilities]
    least = min(least * _STRICT, max(probabilities))
    kept = [p >= least for p in probabilities]
    _once(reading, kept)
    return kept


def _once(reading: Reading, kept: list[bool]) -> None:
    """Keeps a text once that a page has several times, as those do that have a version for every screen."""
    seen: set[str] = set()
    for block, text in enumerate(reading.texts):
        if kept[block] and len(text) >= _SAID and reading.tags[reading.owners[block]] not in _SAID_AGAIN:
            kept[block] = text not in seen
            seen.add(text)


def prune(reading: Reading, kept: Sequence[bool]) -> None:
    """Takes out of the tree what is not kept: whole elements where nothing in them is, else the text itself.

    An element without text (a picture, a rule) goes with the text around it.
    """
    upto = [0, *accumulate(kept)]
    gone: set[int] = set()
    starts, ends, parents = reading.starts, reading.ends, reading.parents
    for place in range(1, len(starts)):
        parent = parents[place]
        if parent in gone:
            gone.add(place)
            continue
        start, end = starts[place], ends[place]
        if start < end:
            is_gone = upto[start] == upto[end]
        else:
            alone = reading.tags[place] != "hr"  # a rule parts two texts, and says nothing with one
            before = kept[start - 1] if start > starts[parent] else alone
            after = kept[start] if start < ends[parent] else alone
            is_gone = not (before and after)
        if is_gone:
            gone.add(place)
            reading.elements[place].decompose()
    for block, is_kept in enumerate(kept):
        if not is_kept and reading.owners[block] not in gone:
            for node in reading.nodes[block]:
                node.decompose()
