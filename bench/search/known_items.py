"""Searches for every entry of the manuals' own indexes, and counts how often the page it names is found first.

    python -m bench.search.known_items                  # the tuned manuals, 1,000 items of each kind
    python -m bench.search.known_items --unseen --all   # the ones that were not looked at

Beside sitemirror's search: FTS5 without weights over the same sections, and tantivy where it is installed.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bench.search.manuals import TUNED, UNSEEN, Item, Manual, installed, make_mirror
from sitemirror.reading.index import SearchIndex, open_index
from sitemirror.reading.mirrors import open_mirror
from sitemirror.reading.search import parse, search_indexes
from sitemirror.reading.sections import split

Engine = Callable[[str], Sequence[str]]
"""From a query to the URLs of pages, best first."""

_TOP: Final = 5
_WORD: Final = re.compile(r"\w+")


class Score(NamedTuple):
    """Shares of the queries whose page came first, and among the first five; the time of a query."""

    first: float
    five: float
    milliseconds: float
    slowest: float  # 95th percentile
    missed: list[tuple[Item, Sequence[str]]]


def measure(engine: Engine, items: Sequence[Item], base: str) -> Score:
    """Ask the engine for every item."""
    first = five = 0
    times: list[float] = []
    missed: list[tuple[Item, Sequence[str]]] = []
    for item in items:
        started = time.perf_counter()
        pages = [url.removeprefix(base) for url in engine(item.query)]
        times.append((time.perf_counter() - started) * 1000)
        ranks = [rank for rank, page in enumerate(pages) if page in item.answers]
        first += ranks[:1] == [0]
        five += bool(ranks) and ranks[0] < _TOP
        if ranks[:1] != [0]:
            missed.append((item, pages))
    count = max(1, len(items))
    times.sort()
    slowest = times[int(0.95 * len(times))] if times else 0.0
    return Score(first / count, five / count, statistics.median(times or [0]), slowest, missed)


def sitemirror_engine(index: SearchIndex) -> Engine:
    """Our search."""

    def ask(query: str) -> Sequence[str]:
        report = search_indexes(parse(query), [index], limit=_TOP)
        return [result.url for result in report.results]

    return ask


def fts_engine(sections: Sequence[tuple[str, str, str]]) -> Engine:
    """FTS5 as it comes: no weights, no stems, each word of the query quoted."""
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table f using fts5(url unindexed, title, body)")
    database.executemany("insert into f values(?, ?, ?)", sections)

    def ask(query: str) -> Sequence[str]:
        words = _WORD.findall(query)
        found: list[str] = []
        for glue in (" ", " OR "):
            if words and len(found) < _TOP:
                expression = glue.join(f'"{word}"' for word in words)
                rows = database.execute("select url from f where f match ? order by rank limit 50", (expression,))
                found = list(dict.fromkeys([*found, *(url for (url,) in rows)]))
        return found[:_TOP]

    return ask


def tantivy_engine(sections: Sequence[tuple[str, str, str]]) -> Engine | None:
    """Tantivy with English stems and titles boosted; `None` where it is not installed."""
    try:
        import tantivy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    builder.add_text_field("title", tokenizer_name="en_stem")
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=100_000_000, num_threads=1)
    for url, title, body in sections:
        writer.add_document(tantivy.Document(url=[url], title=[title], body=[body]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(query: str) -> Sequence[str]:
        words = " ".join(_WORD.findall(query))
        parsed, _ = index.parse_query_lenient(words, ["title", "body"], field_boosts={"title": 6.0})
        hits = searcher.search(parsed, 50).hits
        return list(dict.fromkeys(searcher.doc(address)["url"][0] for _, address in hits))[:_TOP]

    return ask


def sections_of(folder: Path) -> Iterator[tuple[str, str, str]]:
    """URL, titles and text of every section of a mirror."""
    mirror = open_mirror(folder)
    for page in mirror.markdown_pages():
        for section in split(mirror.current(page) or "", url=page.url, path=page.path):
            yield page.url, " ".join((page.title or "", *section.headings)), section.text


def sample(items: Sequence[Item], count: int, seed: int = 30) -> list[Item]:
    """So many items of each kind; 0 = all."""
    chosen: list[Item] = []
    for kind in sorted({item.kind for item in items}):
        some = [item for item in items if item.kind == kind]
        chosen += random.Random(seed).sample(some, count) if 0 < count < len(some) else some
    return chosen


def report(manual: Manual, folder: Path, count: int, *, others: bool, show: int) -> None:
    """Print a row for each engine and kind of query."""
    items = sample(manual.items(), count)
    with open_index(open_mirror(folder)) as index:
        engines: dict[str, Engine | None] = {"sitemirror": sitemirror_engine(index)}
        if others:
            sections = list(sections_of(folder))
            engines |= {"FTS5": fts_engine(sections), "tantivy": tantivy_engine(sections)}
        for kind in sorted({item.kind for item in items}):
            some = [item for item in items if item.kind == kind]
            for name, engine in engines.items():
                if engine is None:
                    continue
                score = measure(engine, some, manual.url)
                print(
                    f"| {manual.name} | {kind} | {len(some):,} | {name} | {score.first:.3f} | {score.five:.3f} "
                    f"| {score.milliseconds:.1f} | {score.slowest:.1f} |",
                    flush=True,
                )
                if name == "sitemirror":
                    for item, pages in score.missed[:: max(1, len(score.missed) // show)] if show else ():
                        print(
                            f"    {item.query!r} → {sorted(item.answers)[:2]}, found {list(pages)[:3]}", file=sys.stderr
                        )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.search.known_items", description=__doc__)
    parser.add_argument("--unseen", action="store_true", help="the manuals that the ranking was not adjusted with")
    parser.add_argument("--manual", help="one manual only")
    parser.add_argument("--count", type=int, default=1000, help="items of each kind (1000; 0 = all)")
    parser.add_argument("--alone", action="store_true", help="only sitemirror")
    parser.add_argument("--show", type=int, default=0, help="so many of the misses, on stderr")
    parser.add_argument("--mirrors", type=Path, help="a folder that keeps the mirrors")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        print("| manual | queries | number | engine | hit@1 | hit@5 | ms | ms, 95 % |")
        print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |", flush=True)
        for manual in installed(UNSEEN if options.unseen else TUNED):
            if options.manual in (None, manual.name):
                folder = make_mirror(manual, options.mirrors or Path(temporary))
                report(manual, folder, options.count, others=not options.alone, show=options.show)


if __name__ == "__main__":
    main()
