"""How much of an article `main` keeps, and how much else: the article-extraction-benchmark's own score.

181 news and blog pages with the article's text. Texts are compared as runs of four words, each page counts the same,
and F1 is that of the mean precision and the mean recall.

    SITEMIRROR_VECTORS=... python -m bench.quality.aeb
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.quality.said import said
from bench.record import Figure, Record, at_least, main, not_run
from sitemirror.convert import convert_html

_WORD: Final = re.compile(r"\w+")
_RUN: Final = 4

Counts = tuple[int, int, int]  # runs in both, in ours only, in the truth only


def samples(folder: Path, step: int = 1) -> Iterator[tuple[str, str, bytes, str]]:
    """Name, URL, page and article text of every `step`-th page."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for name in sorted(truth)[::step]:
        html = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        yield name, truth[name].get("url") or f"https://{name}.example/", html, truth[name].get("articleBody") or ""


def runs(text: str) -> Counter[tuple[str, ...]]:
    """The runs of four words of a text; a shorter text is one run."""
    found = _WORD.findall(text)
    return Counter(tuple(found[at : at + _RUN]) for at in range(max(1, len(found) - _RUN + 1)) if found)


def compare(text: str, wanted: str) -> Counts:
    """How many runs are shared, too many and missing."""
    ours, theirs = runs(text), runs(wanted)
    shared = (ours & theirs).total()
    return shared, ours.total() - shared, theirs.total() - shared


def total(pages: Sequence[Counts]) -> tuple[float, float, float]:
    """Precision, recall and F1 over pages. A page where nothing was found has no precision."""
    precisions = [shared / (shared + extra) for shared, extra, _ in pages if shared + extra]
    recalls = [shared / (shared + missing) for shared, _, missing in pages if shared + missing]
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return precision, recall, 2 * precision * recall / (precision + recall)


def folder() -> Path:
    """Where the data set is; ends the program where there is none."""
    if vectors := os.environ.get("SITEMIRROR_VECTORS"):
        found = Path(vectors) / "extract-aeb"
        if found.is_dir():
            return found
    return not_run("quality.aeb", "SITEMIRROR_VECTORS names no folder with extract-aeb in it")


def measure(options: argparse.Namespace) -> Record:
    """Every page in each way."""
    record = Record("quality-aeb", {"pages": 0, "score": "runs of four words, F1 of the means"})
    found: dict[str, list[Counts]] = {size: [] for size in ("main", "auto", "full")}
    pages: dict[str, Counts] = {}
    for name, url, html, wanted in samples(folder()):
        record.conditions["pages"] += 1
        for size, counts in found.items():
            counts.append(compare(said(convert_html(html, url=url, content=size).markdown), wanted))
        pages[name] = found["main"][-1]
    for size, counts in found.items():
        precision, recall, f1 = total(counts)
        record.add(at_least(f"{size}: F1", f1, "", 0.96) if size == "main" else Figure(f"{size}: F1", f1, ""))
        record.add(Figure(f"{size}: precision", precision, ""), Figure(f"{size}: recall", recall, ""))
    if options.pages:
        options.pages.write_text(json.dumps(pages, indent=1) + "\n", encoding="utf-8")
    return record


if __name__ == "__main__":
    command = argparse.ArgumentParser(prog="python -m bench.quality.aeb", description=__doc__)
    command.add_argument("--pages", type=Path, help="also write each page's counts for `main` to this file")
    main(measure, command)
