"""Many sites at once, each with its own limit: all of them should take as long as one of them.

The sites are addresses of the loopback network behind one nginx, each with its own robots.txt and sitemap. The limit's
own time is what the pages of one site take at that rate; the whole command is held against it, with its start, the
requests for robots.txt and sitemaps, and whatever it writes at the end. That no site was asked faster is seen at the
server.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from bench import corpus, record
from bench.program import Ended, expect, run_other, sitemirror
from bench.rounds import busy
from bench.server import Log, Nginx, Request, missing

_STRETCH: Final = 10  # requests over which the rate is looked at


class Hosts(Nginx):
    """The same pages on many addresses, each with sitemaps that name it."""

    def __init__(self, folder: Path, books: Sequence[corpus.Book], pages: corpus.Corpus, count: int) -> None:
        locations = [f"    location /{book.name}/ {{ alias {book.folder}/; }}" for book in books]
        locations += [f"    location = /{name} {{ try_files /$server_addr/{name} =404; }}" for name in _WRITTEN]
        # Every site has a front page; one that cannot be had would be asked for twice.
        locations.append('    location = / { default_type text/html; return 200 "<title>Manuals</title>"; }')
        addresses = [f"127.0.{1 + number // 200}.{1 + number % 200}" for number in range(count)]
        super().__init__(folder, locations, addresses, Log.ON)
        for address in addresses:
            own = self.site / address
            own.mkdir()
            pages.write(own, self.url_at(address))


_WRITTEN: Final = ("robots.txt", "sitemap.xml")


def mirror_all(hosts: Hosts, rate: float, folder: Path) -> Ended:
    """`sitemirror mirror --sites FILE`, one URL a line."""
    sites = folder / "sites.txt"
    sites.write_text("".join(f"{hosts.url_at(address)}/\n" for address in hosts.addresses), encoding="utf-8")
    return run_other(
        sitemirror("mirror", "--sites", sites, "--rate-limit", rate, "--output", folder / "out", "--quiet")
    )


def check(hosts: Hosts, pages: corpus.Corpus, out: Path, by_site: Mapping[str, Sequence[Request]]) -> None:
    """Every site was asked for every page once, and has a file for it."""
    wanted = sorted(f"/{page.quoted}" for page in pages.pages)
    for address in hosts.addresses:
        asked = sorted(request.path for request in by_site[address] if request.is_page and request.status == 200)
        expect(f"pages that {address} was asked for", asked, wanted)
        home = out / f"{address}_{hosts.port}"
        saved = [path for path in home.rglob("*.md") if not path.name.startswith("_")]
        expect(f"pages of {address} saved", len(saved), len(pages))


def fastest(requests: Sequence[Request]) -> float:
    """The most requests a second that a site saw, over any ten in a row."""
    times = sorted(request.time for request in requests)
    gaps = [later - earlier for earlier, later in zip(times, islice(times, _STRETCH, None), strict=False)]
    return _STRETCH / max(min(gaps), 1e-3) if gaps else 0.0


def measure(options: argparse.Namespace) -> record.Record:
    """One run over all of them."""
    books = corpus.installed()
    pages = corpus.mixed(books, options.pages, options.largest * 1024 or math.inf)
    pages.warm()
    load = busy()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        work = Path(folder)
        (work / "nginx").mkdir()
        with Hosts(work / "nginx", books, pages, options.sites) as hosts:
            ended = mirror_all(hosts, options.rate, work)
            requests = hosts.requests()
        by_site: dict[str, list[Request]] = defaultdict(list)
        for request in requests:
            by_site[request.address].append(request)
        check(hosts, pages, work / "out", by_site)
    own = len(pages) / options.rate
    asked = sorted(request.time for request in requests if request.is_page)
    conditions = {"sites": options.sites, "pages each": len(pages), "bytes a page": pages.described()["bytes a page"]}
    found = record.Record(
        "hosts-small" if options.largest else "hosts",
        {**conditions, "rate": f"{options.rate:g}/s", "load before": load},
    )
    found.add(
        record.Figure("the limit's own time", own, "s"),
        record.Figure("whole command", ended.seconds, "s"),
        record.at_most("ratio", ended.seconds / own, "×", 1.1),
        record.at_most(
            "fastest site, against its limit", max(map(fastest, by_site.values())) / options.rate, "×", 1.05
        ),
        record.Figure("from the first page that is asked for to the last", asked[-1] - asked[0], "s"),
        record.Figure("CPU", ended.cpu_seconds, "s"),
        record.Figure("peak memory, all processes (PSS)", ended.peak_pss_mb, "MB"),
    )
    return found


def sites_supported() -> bool:
    """Whether this sitemirror can mirror many sites at once."""
    return b"--sites" in run_other(sitemirror("mirror", "--help"), environment={"COLUMNS": "200"}).stdout


if __name__ == "__main__":
    if reason := missing():
        record.not_run("hosts", reason)
    if not sites_supported():
        record.not_run("hosts", "this sitemirror has no mirror --sites")
    record.main(
        measure,
        record.parser(
            "hosts",
            __doc__,
            [
                ("--sites", 100, "how many sites"),
                ("--pages", 100, "pages on each"),
                ("--rate", 5.0, "requests a second that each is limited to"),
                ("--largest", 0, "kilobytes that a page may have; 0 = any"),
            ],
        ),
    )
