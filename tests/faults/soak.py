"""A long run takes no more memory and no more files than a short one, and accounts for every URL.

`python -m tests.faults.soak` runs over 20,000 pages; `bench/growth.py` does the same with 49,000 real files and nginx.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.conftest import clean_environment
from tests.site import Site


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process had at one moment."""

    pages: int
    megabytes: float
    files: int


def soak(command: str, pages: int, settled: int, output: Path) -> str:
    """Runs over `pages` pages; after the first `settled` nothing may grow. Gives a line about it."""
    with Site() as site:
        paths = site.fill(pages)
        if command == "crawl":
            site.html_page("/", "Home", "".join(f'<a href="{path}">{path}</a>' for path in paths))
        site.sitemap(urls=paths)
        arguments = ["--rate-limit", "0", "--concurrency", "8", "--max-pages", "0", "--quiet", "--workers", "1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "sitemirror", command, site.url, *arguments, "--output", str(output)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(None),
        )
        samples = list(_watch(process, site))
        said, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        report = json.loads(said)
        folder = output / f"127.0.0.1_{site.port}"
    found = pages + (command == "crawl")
    assert (report["status"], report["successful"], report["total_pages"]) == ("ok", found, found)
    manifest = json.loads((folder / "_manifest.json").read_text("utf-8"))
    assert len({page["url"] for page in manifest["pages"]}) == len(manifest["pages"]) == found
    early = [one for one in samples if settled // 2 <= one.pages <= settled]
    late = [one for one in samples if settled < one.pages]
    assert early, "too quick for a look"
    assert late, "too quick for a look"
    grown = max(one.megabytes for one in late) - max(one.megabytes for one in early)
    assert grown < 16, f"{grown:.1f} MB more after {settled} pages"
    more = max(one.files for one in late) - max(one.files for one in early)
    assert more <= 8, f"{more} more files open"  # At the end, rows are sorted in a few files that have no name.
    peak = max(one.megabytes for one in samples)
    return f"{command}, {pages:,} pages: {peak:.0f} MB at most, {grown:+.1f} MB and {more:+d} files after {settled:,}"


def _watch(process: subprocess.Popen[str], site: Site) -> list[Sample]:
    looked = psutil.Process(process.pid)
    samples = []
    while process.poll() is None:
        try:
            memory, files = looked.memory_info().rss / 1e6, looked.num_fds()
        except psutil.Error:
            break
        samples.append(Sample(len(site.requests), memory, files))
        time.sleep(0.05)
    return samples


def main() -> None:
    """The long run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--settled", type=int, default=2_000)
    given = parser.parse_args()
    for command in ("mirror", "crawl"):
        with tempfile.TemporaryDirectory() as folder:
            print(soak(command, given.pages, given.settled, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
