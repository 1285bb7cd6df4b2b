"""Compares the units of a page with those of its source: which came back, which are lost, and what nobody wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bench.quality.roundtrip.blocks import ADMONITIONS, Kind, Unit, bare

# Markdown has no syntax of its own for these: they are back when a block of text says them.
_LABELS: Final = frozenset(
    (Kind.TAB, Kind.SUMMARY, Kind.TERM, Kind.DEFINITION, Kind.CAPTION, Kind.TITLE, Kind.SIGNATURE, Kind.FOOTNOTE)
)
_TEXTS: Final = frozenset((*_LABELS, Kind.PARAGRAPH, Kind.ITEM, Kind.HEADING, Kind.CODE))
# Say nothing of their own: their words are those of the blocks around them.
_MARKS: Final = frozenset((Kind.LINK, Kind.SPAN, Kind.EMPHASIS, Kind.KEY, Kind.ADMONITION, Kind.TASK))


@dataclass(slots=True)
class Score:
    """Of a page, or of many. `foreign` are blocks of the output with words that no block of the source has."""

    found: Counter[Kind] = field(default_factory=Counter)
    total: Counter[Kind] = field(default_factory=Counter)
    lost: list[Unit] = field(default_factory=list)
    foreign: list[Unit] = field(default_factory=list)
    altered: int = 0  # blocks of the output that say what the source says, in another way

    @property
    def share(self) -> float:
        """Of the source's units, those that came back."""
        return self.found.total() / self.total.total() if self.total else 0.0

    def add(self, other: Score) -> None:
        self.found += other.found
        self.total += other.total
        self.lost += other.lost
        self.foreign += other.foreign
        self.altered += other.altered


def compare(source: Sequence[Unit], output: Sequence[Unit]) -> Score:
    """How much of `source` is in `output`. A unit of the output counts once."""
    left = Counter(output)
    missing: list[Unit] = []
    for unit in source:
        if left[unit] > 0:
            left[unit] -= 1
        else:
            missing.append(unit)
    lost = list(_without_labels(_without_deeper(missing, left), left))
    words = {bare(unit.text) for unit in source}
    rest = [unit for unit in left.elements() if unit.kind not in _MARKS]
    foreign = [unit for unit in rest if bare(unit.text) not in words and not _is_default_title(unit)]
    total = Counter(unit.kind for unit in source)
    return Score(
        found=total - Counter(unit.kind for unit in lost),
        total=total,
        lost=lost,
        foreign=foreign,
        altered=len(rest) - len(foreign),
    )


def _without_deeper(missing: Iterable[Unit], left: Counter[Unit]) -> Iterator[Unit]:
    """What is missing even when a list may be deeper: tabs and definitions are often made lists themselves."""
    for unit in missing:
        if unit.kind is Kind.ITEM:
            depth, _, mark = unit.detail.partition(" ")
            deeper = (replace(unit, detail=f"{int(depth) + more} {mark}") for more in (1, 2))
            if found := next((one for one in deeper if left[one] > 0), None):
                left[found] -= 1
                continue
        yield unit


def _without_labels(missing: Iterable[Unit], left: Counter[Unit]) -> Iterator[Unit]:
    """What is missing even when a label may be any block of text that says the same; takes those out of `left`."""
    texts: defaultdict[str, list[Unit]] = defaultdict(list)
    for unit in left.elements():
        if unit.kind in _TEXTS:
            texts[_squeezed(unit)].append(unit)
    for unit in missing:
        said = texts[_squeezed(unit)] if unit.kind in _LABELS else []
        if unit.kind is Kind.ADMONITION:
            said = next((texts[name] for name, kind in ADMONITIONS.items() if kind == unit.text and texts[name]), [])
        if said:
            left[said.pop()] -= 1
        else:
            yield unit


def _squeezed(unit: Unit) -> str:
    return "".join(bare(unit.text).casefold().split())


def _is_default_title(unit: Unit) -> bool:
    """What a generator writes above an admonition that has no title: its kind."""
    return unit.kind in (Kind.TITLE, Kind.PARAGRAPH) and bare(unit.text).casefold() in ADMONITIONS
