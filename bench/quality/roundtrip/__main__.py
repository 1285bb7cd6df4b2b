"""Builds the sources with every generator that is installed, mirrors them, and tells how much of the sources came back.

`python -m bench.quality.roundtrip --install` makes the environments; `--only Sphinx,Hugo` takes some generators;
`--show` prints what was lost and what nobody wrote, page by page; `--keep DIR` leaves the Markdown there to be read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import record
from bench.peers import HOME
from bench.program import DidNotWork
from bench.quality.roundtrip.blocks import Kind
from bench.quality.roundtrip.generators import GENERATORS
from bench.quality.roundtrip.jobs import Generator
from bench.quality.roundtrip.measure import PEERS, Built, built, ours, scored, sources, summed
from bench.quality.roundtrip.real import MANUALS, Manual
from bench.quality.roundtrip.score import Score

OURS = "sitemirror"
GOAL = 98  # %


def install(home: Path) -> None:
    """Makes every environment that is missing."""
    origins = [need for generator in GENERATORS for need in generator.needs] + [peer.origin for peer in PEERS]
    for origin in dict.fromkeys(origins):
        if origin.missing(home):
            print(f"installing {' '.join(origin.packages)} in {home / origin.name}", file=sys.stderr)
            if reason := origin.install(home):
                print(f"  {reason}", file=sys.stderr)
    for manual in MANUALS:
        manual.install(home)


def tell(scores: Mapping[str, Score]) -> None:
    """What is wrong, page by page, on stderr."""
    for page, score in scores.items():
        for sign, units in (("-", score.lost), ("+", score.foreign)):
            for unit in units:
                print(f"  {page} {sign} {unit.kind}: {unit.text!r} {unit.detail}".rstrip(), file=sys.stderr)


def described(score: Score) -> dict[str, Any]:
    """For the result's file."""
    kinds = {str(kind): f"{score.found[kind]}/{score.total[kind]}" for kind in Kind if score.total[kind]}
    return {"back": round(score.share, 4), "foreign": len(score.foreign), "altered": score.altered, "kinds": kinds}


def one(site: Built, options: argparse.Namespace) -> dict[str, Score]:
    """Everybody's score on one site."""
    output = ours(site)
    if options.keep is not None:
        for page, text in output.items():
            path = options.keep / f"{site.generator.name} {len(site.sources)}" / f"{page}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    pages = scored(site, output)
    if options.show:
        tell(pages)
    found = {OURS: summed(pages)}
    if not options.alone:
        for peer in PEERS:
            if reason := peer.origin.missing(options.peers):
                print(f"{peer.name}: {reason}", file=sys.stderr)
            else:
                found[peer.name] = summed(scored(site, peer.markdown(site, options.peers)))
    return found


def measure(options: argparse.Namespace) -> record.Record:
    """All generators that are asked for and installed."""
    if options.install:
        install(options.peers)
    words = options.only.split(",")
    wanted = [one for one in (*GENERATORS, *MANUALS) if any(word in one.name for word in words)]
    missing = {site: reason for site in wanted if (reason := site.missing(options.peers))}
    for site, reason in missing.items():
        print(f"{site.name}: {reason}", file=sys.stderr)
    result = record.Record("quality-roundtrip", {"pages": len(sources()), "sites": len(wanted) - len(missing)})
    if len(missing) == len(wanted):
        record.not_run("quality.roundtrip", "no generator is installed")
    for site in wanted:
        if site not in missing:
            try:
                _add(result, site, options)
            except DidNotWork as problem:
                print(f"{site.name}: did not work: {problem}", file=sys.stderr)
                result.details[site.name] = {"did not work": str(problem).splitlines()[0]}
    if not result.figures:
        raise DidNotWork("no site could be built and mirrored")
    return result


def _add(result: record.Record, generator: Generator | Manual, options: argparse.Namespace) -> None:
    making = built(generator, options.peers) if isinstance(generator, Generator) else generator.built(options.peers)
    with making as site:
        pages = len(site.sources)
        scores = one(site, options)
    total = scores[OURS].total.total()
    result.add(
        record.at_least(f"{generator.name}: of {total} blocks, back", 100 * scores[OURS].share, "%", GOAL),
        record.at_most("  blocks that are in no source", len(scores[OURS].foreign), "", 0),
    )
    for name, score in scores.items():
        if name != OURS:
            result.add(record.Figure(f"  {name}: back", 100 * score.share, "%"))
            result.add(record.Figure(f"  {name}: in no source", len(score.foreign), ""))
    versions = {need.packages[0]: list(need.packages[1:]) for need in generator.needs}
    result.details[generator.name] = {
        "pages": pages,
        "blocks": total,
        "packages": versions,
        **{name: described(score) for name, score in scores.items()},
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality.roundtrip", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=HOME, help="where the environments are (default: %(default)s)")
    parser.add_argument("--install", action="store_true", help="make the environments that are missing")
    parser.add_argument("--only", default="", help="parts of generators' names, separated by commas")
    parser.add_argument("--alone", action="store_true", help="leave the others out")
    parser.add_argument("--show", action="store_true", help="print what was lost and what is in no source")
    parser.add_argument("--keep", type=Path, help="where to leave our Markdown")
    record.main(measure, parser)


if __name__ == "__main__":
    main()
