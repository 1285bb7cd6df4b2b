"""Measures what the search index costs: CPU time to build, size, and the time of a query, cold and warm.

python -m bench.search.speed
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from bench.search.known_items import sample
from bench.search.manuals import TUNED, UNSEEN, Manual, installed, make_mirror
from sitemirror.publish.file_names import SEARCH_INDEX
from sitemirror.reading.index import open_index
from sitemirror.reading.mirrors import open_mirror
from sitemirror.reading.search import search

_QUERIES = 200


def measure(manual: Manual, folder: Path) -> str:
    """Build the index anew and ask it; a row of the table."""
    mirror = open_mirror(folder)
    (folder / SEARCH_INDEX).unlink(missing_ok=True)
    sizes = [page.size_bytes or 0 for page in mirror.markdown_pages()]
    megabytes = sum(sizes) / 1e6
    started = time.process_time()
    open_index(mirror).database.close()
    built = time.process_time() - started
    size = (folder / SEARCH_INDEX).stat().st_size / 1e6
    times = []
    for item in sample(manual.items(), _QUERIES)[:_QUERIES]:
        started = time.process_time()
        search(item.query, [folder])
        times.append(1000 * (time.process_time() - started))
    return (
        f"| {manual.name} | {len(sizes):,} | {megabytes:.1f} | {megabytes / built:.1f} | {size / megabytes:.2f} "
        f"| {times[0]:.0f} | {statistics.median(times):.1f} | {sorted(times)[int(0.95 * len(times))]:.1f} |"
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.search.speed", description=__doc__)
    parser.add_argument("--mirrors", type=Path, help="a folder that keeps the mirrors")
    options = parser.parse_args()
    print("| manual | pages | MB | built, MB/s of CPU | size × text | first query, ms | median | 95 % |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as temporary:
        for manual in installed((*TUNED, *UNSEEN)):
            print(measure(manual, make_mirror(manual, options.mirrors or Path(temporary))), flush=True)


if __name__ == "__main__":
    main()
