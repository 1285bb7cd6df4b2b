"""Decides from what each block is worth which blocks are the page, and takes the others out of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from sitemirror.choices import Content
from sitemirror.convert.blocks import Reading

_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# Text that is told by its element to be content, wherever the content is.
_SOLID: Final = frozenset(("p", "pre", "td", "th", "dt", "dd", "blockquote", "figcaption", "caption", *_HEADINGS))
_SURE: Final = 0.5  # of what is expected at best: the share of right blocks that is worth a wrong one
_AUTO: Final = 0.12
_MOST: Final = 0.75  # of the text of a part that is kept, for the rest of it to be content as well


def threshold(probabilities: Sequence[float], lengths: Sequence[int]) -> float:
    """How likely a block must be content to be kept.

    Keeping every block that is at least half as likely as the best F1 that can be expected gives that best F1: where
    little is sure, more has to be kept.
    """
    expected = sum(p * n for p, n in zip(probabilities, lengths, strict=True))
    best, least, right, kept = 0.0, 1.0, 0.0, 0
    for p, n in sorted(zip(probabilities, lengths, strict=True), reverse=True):
        right += p * n
        kept += n
        f1 = 2 * right / (kept + expected)
        if f1 > best:
            best, least = f1, p
        elif p * 2 < best:
            break
    return least


def keep(reading: Reading, probabilities: Sequence[float], content: Content) -> list[bool]:
    """For each block whether it is kept. At least one is."""
    lengths = [len(text) for text in reading.texts]
    least = threshold(probabilities, lengths)
    if content is Content.AUTO:
        least = min(least, _AUTO)
    return [p >= least for p in probabilities]


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
            before = kept[start - 1] if start > starts[parent] else True
            after = kept[start] if start < ends[parent] else True
            is_gone = not (before and after)
        if is_gone:
            gone.add(place)
            reading.elements[place].decompose()
    for block, is_kept in enumerate(kept):
        if not is_kept and reading.owners[block] not in gone:
            for node in reading.nodes[block]:
                node.decompose()
