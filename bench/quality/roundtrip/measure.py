"""One generator, all of the way: sources written in its dialect, built, served, mirrored, read and compared."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from bench.peers import CRAWL4AI, TRAFILATURA, Environment
from bench.program import DidNotWork, run, run_other
from bench.quality.roundtrip.blocks import Kind, Unit, units_of, units_of_source
from bench.quality.roundtrip.grammar import read_source
from bench.quality.roundtrip.jobs import Generator, Job
from bench.quality.roundtrip.pictures import png
from bench.quality.roundtrip.score import Score, compare
from bench.quality.roundtrip.site import output_target, served, source_target
from bench.quality.roundtrip.written import MADE

PAGES: Final = Path(__file__).parent / "pages"
_ROOT: Final = Path(__file__).resolve().parents[3]
_PICTURES: Final = ("badge", "lantern", "parts", "sign")
_LIMITS: Final = ("--rate-limit", 0, "--content-rate-limit", 0, "--concurrency", 4)


@dataclass(frozen=True, slots=True)
class Built:
    """A site that is being served: its sources, and where each page of them is."""

    generator: Generator
    sources: Mapping[str, str]
    base: str
    folder: Path  # to work in

    def url(self, page: str) -> str:
        return self.base + self.generator.address(page)


def sources() -> dict[str, str]:
    """Our pages, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}


@contextmanager
def built(generator: Generator, home: Path) -> Iterator[Built]:
    """Our pages as `generator` builds them, for as long as the block lasts."""
    pages = sources()
    # Beside the generators' packages: Astro fails on a file of theirs that shares no folder with the site's own.
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        folder = Path(scratch).resolve()
        work, site = folder / "work", folder / "site"
        work.mkdir()
        site.mkdir()
        with served(site) as base:
            dialect = generator.dialect()
            written = {name: dialect.page(read_source(text)) for name, text in pages.items()}
            pictures = {f"pictures/{name}.png": png(40, 24) for name in _PICTURES}
            generator.build(Job(written, pictures, work, site, base, home))
            yield Built(generator, pages, base, folder)


def ours(site: Built) -> dict[str, str]:
    """What sitemirror makes of every page, as a user has it."""
    out = site.folder / "ours"
    command, more = ("mirror", ()) if site.generator.command == "mirror" else ("crawl", ("--format", "markdown"))
    ran = run(command, site.url("index"), *more, *_LIMITS, "--output", out, "--quiet")
    manifest = json.loads(Path(ran.report["manifest"]).read_text(encoding="utf-8"))
    folder = Path(ran.report["output_dir"])
    saved = {url: page["path"] for page in manifest["pages"] for url in (page["url"], *page.get("aliases", ()))}
    missing = [page for page in site.sources if site.url(page) not in saved]
    if missing:
        raise DidNotWork(f"{site.generator.name}: not mirrored: {', '.join(missing)}")
    return {page: (folder / saved[site.url(page)]).read_text(encoding="utf-8") for page in site.sources}


def scored(site: Built, output: Mapping[str, str]) -> dict[str, Score]:
    """The score of each page."""
    scores = {}
    for page, text in site.sources.items():
        written = units_of_source(text, partial(source_target, page=page))
        wanted = [unit for unit in written if _can_be_compared(unit)]
        got = units_of(output.get(page, ""), partial(output_target, base=site.base, page=page))
        scores[page] = compare(wanted, got)
        if len(wanted) < len(written) or MADE in text:
            scores[page].foreign.clear()  # Some of its words are in no source that can be read.
    return scores


def _can_be_compared(unit: Unit) -> bool:
    return MADE not in unit.text and MADE not in unit.detail and unit.kind is not Kind.HTML


def summed(scores: Mapping[str, Score]) -> Score:
    """All pages together."""
    total = Score()
    for score in scores.values():
        total.add(score)
    return total


# The others

MARKDOWN_PEERS: Final = Environment("roundtrip-peers", ("markdownify==1.2.3", "html-to-markdown==3.19.0"))


@dataclass(frozen=True, slots=True)
class Peer:
    """Another way from a page to Markdown: a driver of ours around somebody's library."""

    name: str
    driver: str
    origin: Environment
    version: str

    def markdown(self, site: Built, home: Path) -> dict[str, str]:
        """What it makes of every page; nothing where it fails."""
        folder = site.folder / self.driver
        folder.mkdir()
        listing = folder / "urls.txt"
        listing.write_text("".join(f"{site.url(page)}\n" for page in site.sources), encoding="utf-8")
        command = [str(self.origin.python(home)), "-m", f"bench.drivers.{self.driver}", str(listing)]
        run_other(
            [*command, str(folder / "tree"), "2"],
            environment={"PYTHONPATH": str(_ROOT), "CRAWL4_AI_BASE_DIRECTORY": str(folder)},
        )
        found = {}
        for page in site.sources:
            path = folder / "tree" / (unquote(urlsplit(site.url(page)).path).lstrip("/") + ".md")
            found[page] = path.read_text(encoding="utf-8") if path.exists() else ""
        return found


PEERS: Final = (
    Peer("markdownify", "markdownify_pages", MARKDOWN_PEERS, "1.2.3"),
    Peer("html-to-markdown", "html_to_markdown_pages", MARKDOWN_PEERS, "3.19.0"),
    Peer("trafilatura", "trafilatura_pages", TRAFILATURA, TRAFILATURA.version()),
    Peer("crawl4ai", "crawl4ai_http", CRAWL4AI, CRAWL4AI.version()),
)
