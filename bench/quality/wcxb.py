"""How much of a page's content `main` and `auto` keep, and how much else: word F1 on WCXB's development set.

WCXB (Murrough Foley, 2026, CC-BY-4.0) has 1,491 pages of seven kinds with the text that people want from them. The
score is its own: words as a bag, F1 a page, the mean over pages.

    SITEMIRROR_VECTORS=... python -m bench.quality.wcxb
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.quality.said import said
from bench.record import Figure, Record, at_least, at_most, main, not_run
from sitemirror.convert import convert_html

_WORD: Final = re.compile(r"\w+")
KINDS: Final = ("article", "documentation", "service", "product", "collection", "forum", "listing")


class Score(NamedTuple):
    """Of one page, or the mean of several."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One page and what it should give."""

    name: str
    url: str
    kind: str
    html: bytes
    wanted: str


def samples(folder: Path, step: int = 1) -> Iterator[Sample]:
    """Every `step`-th page, in the order of their names."""
    for path in sorted((folder / "ground-truth").glob("*.json"))[::step]:
        truth: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        kind = (truth.get("_internal") or {}).get("page_type") or {}
        primary = kind.get("primary", "article") if isinstance(kind, dict) else kind
        yield Sample(
            name=path.stem,
            url=truth.get("url") or f"https://{path.stem}.example/",
            kind="collection" if primary == "category" else primary,
            html=gzip.decompress((folder / "html" / f"{path.stem}.html.gz").read_bytes()),
            wanted=truth["ground_truth"].get("main_content") or "",
        )


def words(text: str) -> Counter[str]:
    """The words of a text, as WCXB counts them."""
    return Counter(_WORD.findall(text.lower()))


def score(found: Counter[str], wanted: Counter[str]) -> Score:
    """Word precision, recall and F1; a page without content is right when nothing is found."""
    if not wanted:
        right = float(not found)
        return Score(right, right, right)
    shared = (found & wanted).total()
    if not shared:
        return Score(0.0, 0.0, 0.0)
    precision, recall = shared / found.total(), shared / wanted.total()
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def mean(scores: Sequence[Score]) -> Score:
    """The mean of each part."""
    return Score(*(sum(part) / len(scores) for part in zip(*scores, strict=True)))


def folder() -> Path:
    """Where the data set is; ends the program where there is none."""
    if vectors := os.environ.get("SITEMIRROR_VECTORS"):
        found = Path(vectors) / "extract-wcxb"
        if found.is_dir():
            return found
    return not_run("quality.wcxb", "SITEMIRROR_VECTORS names no folder with extract-wcxb in it")


def measure(options: argparse.Namespace) -> Record:
    """Every page in each way."""
    record = Record("quality-wcxb", {"pages": 0, "every": options.every, "score": "word F1, mean over pages"})
    scores: dict[str, dict[str, list[Score]]] = {size: {} for size in ("main", "auto", "full")}
    spent = dict.fromkeys(scores, 0.0)
    pages: dict[str, dict[str, list[float]]] = {}
    for sample in samples(folder(), options.every):
        record.conditions["pages"] += 1
        wanted = words(sample.wanted)
        for size in scores:
            began = time.process_time()
            page = convert_html(sample.html, url=sample.url, content=size)
            spent[size] += time.process_time() - began
            found = score(words(said(page.markdown)), wanted)
            scores[size].setdefault(sample.kind, []).append(found)
            pages.setdefault(sample.name, {})[size] = [round(part, 4) for part in found]
    for size, by_kind in scores.items():
        every = mean([one for found in by_kind.values() for one in found])
        f1 = {"main": 0.87, "auto": 0.82}.get(size)
        record.add(_figure(f"{size}: F1", every.f1, f1), Figure(f"{size}: precision", every.precision, ""))
        record.add(_figure(f"{size}: recall", every.recall, 0.95 if size == "auto" else None))
        for kind in KINDS:
            if of_kind := by_kind.get(kind):
                goal = 0.94 if size == "main" and kind in ("article", "documentation") else None
                part = mean(of_kind)
                record.add(_figure(f"{size}: F1, {len(of_kind)} × {kind}", part.f1, goal))
                record.details.setdefault(size, {})[kind] = part._asdict()
        record.add(at_most(f"{size}: CPU a page", 1000 * spent[size] / record.conditions["pages"], "ms", 4))
    if options.pages:
        options.pages.write_text(json.dumps(pages, indent=1) + "\n", encoding="utf-8")
    return record


def _figure(name: str, value: float, goal: float | None) -> Figure:
    return Figure(name, value, "") if goal is None else at_least(name, value, "", goal)


if __name__ == "__main__":
    command = argparse.ArgumentParser(prog="python -m bench.quality.wcxb", description=__doc__)
    command.add_argument("--every", type=int, default=1, help="score every N-th page only (default: %(default)s)")
    command.add_argument("--pages", type=Path, help="also write each page's scores to this file")
    main(measure, command)
