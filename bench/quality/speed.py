"""What a conversion costs: against bare turbohtml on pages of manuals, and in milliseconds on pages of all kinds.

Every page is converted in each way in turn, three times over, and the least of each counts: what else the machine does
meanwhile then falls on all of them alike. CPU time of this process, not time on the clock.

    SITEMIRROR_VECTORS=... python -m bench.quality.speed
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import turbohtml

from bench.corpus import installed, mixed
from bench.quality.wcxb import samples
from bench.record import Figure, Record, at_least, at_most, main, not_run, parser
from sitemirror.convert import convert_html

Way = Callable[[bytes, str], object]
_TURNS: Final = 3


def bare(html: bytes, _: str) -> object:
    """Parsing and rendering, and nothing else."""
    return turbohtml.parse(html).to_markdown()


def _way(content: str) -> Way:
    return lambda html, url: convert_html(html, url=url, content=content)


WAYS: Final[Mapping[str, Way]] = {"bare": bare, **{size: _way(size) for size in ("full", "auto", "main")}}


def cost(pages: Iterable[tuple[bytes, str]], ways: Mapping[str, Way]) -> dict[str, float]:
    """Milliseconds a page in each way."""
    spent = dict.fromkeys(ways, 0.0)
    count = 0
    for html, url in pages:
        count += 1
        least = dict.fromkeys(ways, float("inf"))
        for _ in range(_TURNS):
            for name, way in ways.items():
                began = time.process_time()
                way(html, url)
                least[name] = min(least[name], time.process_time() - began)
        for name, seconds in least.items():
            spent[name] += seconds
    return {name: seconds / max(count, 1) * 1000 for name, seconds in spent.items()}


def measure(options: argparse.Namespace) -> Record:
    """Manuals, then WCXB where it is at hand."""
    books = installed()
    if not books:
        not_run("quality.speed", "no manual is installed: see python -m bench.corpus --packages")
    record = Record("quality-speed", {"manual pages": options.pages, "every": options.every, "turns": _TURNS})
    chosen = mixed(books, options.pages).pages
    manual = cost(((page.file.read_bytes(), f"https://docs.example.com/{page.quoted}") for page in chosen), WAYS)
    record.add(*[Figure(f"manuals, {name}", manual[name], "ms a page") for name in WAYS])
    record.add(at_least("auto, of bare turbohtml's speed", manual["bare"] / manual["auto"], "", 0.5))
    vectors = os.environ.get("SITEMIRROR_VECTORS")
    if vectors and (folder := Path(vectors, "extract-wcxb")).is_dir():
        found = ((sample.html, sample.url) for sample in samples(folder, options.every))
        mixed_pages = cost(found, WAYS)
        record.add(Figure("WCXB, bare", mixed_pages["bare"], "ms a page"))
        record.add(*[at_most(f"WCXB, {name}", mixed_pages[name], "ms a page", 4) for name in ("auto", "main")])
    return record


if __name__ == "__main__":
    options = (("--pages", 300, "pages of manuals"), ("--every", 10, "of WCXB's pages only every so many"))
    main(measure, parser("quality.speed", __doc__, options))
