"""The command `search`: results for people on a terminal, JSON for programs."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from sitemirror.cli import streams
from sitemirror.cli.parser import CommandLine
from sitemirror.errors import UsageError
from sitemirror.reading.mirrors import DEFAULT_FOLDER
from sitemirror.reading.search import LIMIT, SearchReport, SearchResult, parse, search, words_pattern
from sitemirror.settings import Settings
from sitemirror.text import counted, printable

if TYPE_CHECKING:
    import re

_BOLD, _DIM, _MARKED, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[1;33m", "\x1b[0m"
_NO_STYLE = ("", "", "", "")


def run_search(line: CommandLine, settings: Settings) -> int:
    """Search and print; the exit code is 1 if nothing was found."""
    query, *folders = line.targets
    try:
        report = search(query, [Path(each) for each in folders] or [DEFAULT_FOLDER], limit=_limit(line))
    except UsageError as error:
        if folders and not Path(folders[0]).exists():
            raise UsageError(
                error.message, hint=f'put a query of several words in quotes: "{query} {folders[0]}"'
            ) from None
        raise
    for warning in report.warnings:
        print(f"note: {printable(warning)}", file=sys.stderr)
    if streams.shows_json(is_forced=settings.json):
        streams.print_object(_members(report))
    else:
        streams.print_text(_text(report, in_colour=streams.shows_colour(sys.stdout)))
    return 0 if report.results else 1


def _limit(line: CommandLine) -> int:
    given = line.more.get("--limit")
    if given is None:
        return LIMIT
    try:
        return int(given)
    except ValueError:
        raise UsageError(f"--limit must be a whole number, not {given!r}", hint="leave it out for 10") from None


def _members(report: SearchReport) -> dict[str, object]:
    members = asdict(report)
    del members["warnings"]
    if report.results:
        del members["suggestions"]
    return members


def _text(report: SearchReport, *, in_colour: bool) -> str:
    bold, dim, marked, plain = (_BOLD, _DIM, _MARKED, _PLAIN) if in_colour else _NO_STYLE
    if not report.results:
        lines = [f"nothing found for {printable(report.query, limit=200)}"]
        if report.suggestions:
            lines += ["there is:", *(f"  {printable(each, limit=200)}" for each in report.suggestions)]
        return "\n".join(lines) + "\n"
    pattern = words_pattern(parse(report.query).words)
    lines = []
    for result in report.results:
        lines.append(f"{bold}{printable(_heading(result), limit=300)}{plain}")
        place = f"{result.path}:{result.lines[0]}"
        lines.append(f"  {dim}{printable(place)}  {printable(result.url)}{plain}")
        lines += (f"  {_mark(each, pattern, marked, plain)}" for each in wrap(printable(result.snippet), _width() - 2))
        lines.append("")
    shown = len(report.results)
    if report.total > shown:
        lines.append(f"{shown} of {counted(report.total, 'section')}; --limit N shows more")
    return "\n".join(lines) + "\n"


def _heading(result: SearchResult) -> str:
    path = result.headings or (result.title,)
    shown = path if not result.title or path[0] == result.title else (result.title, *path[1:])
    return " › ".join(filter(None, shown)) or result.url


def _mark(text: str, pattern: re.Pattern[str] | None, marked: str, plain: str) -> str:
    return pattern.sub(rf"{marked}\g<0>{plain}", text) if pattern and marked else text


def _width() -> int:
    try:
        return max(40, min(100, os.get_terminal_size().columns))
    except OSError:
        return 80
