"""Run `sitemirror export`: records on stdout or in a file, or Markdown files of a size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from sitemirror.cli import streams
from sitemirror.cli.parser import CommandLine
from sitemirror.errors import UsageError
from sitemirror.reading.changed_pages import parse_since
from sitemirror.reading.export import Unit, export, markdown_mirrors, write_jsonl, write_parquet
from sitemirror.reading.pack import FILE_TOKENS, write_packed
from sitemirror.reading.sections import MAX_TOKENS
from sitemirror.reading.user_files import replacing
from sitemirror.text import counted, printable

_FORMATS: Final = ("jsonl", "parquet", "md")
_SHOWN: Final = 10
"""Unreadable files that are named; the others are counted."""


class _Problems:
    """Names the first unreadable files on stderr and counts all."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, message: str) -> None:
        self.count += 1
        if self.count <= _SHOWN:
            _note(message)


def run_export(line: CommandLine) -> int:
    """Run the command and return its exit code: 1 when pages are missing from the export."""
    kind = line.more.get("--format", "jsonl")
    if kind not in _FORMATS:
        raise UsageError(f"--format must be one of {', '.join(_FORMATS)}, got {kind}", hint=_SEE)
    unit = Unit.SECTIONS if line.more.get("--sections") else Unit.PAGES
    max_tokens = _tokens(line.more.get("--max-tokens"))
    output: str | None = line.more.get("--output")
    if output == "":
        raise UsageError("--output is empty", hint="give a path, or leave it out")
    problems = _Problems()
    if kind == "md":
        _write_md(line, output, unit, max_tokens, problems)
    else:
        if max_tokens is not None and unit is Unit.PAGES:
            raise UsageError("--max-tokens is for --sections and --format md", hint="pages are exported whole")
        if kind == "parquet" and output is None:
            raise UsageError("Parquet is not for the terminal", hint="add --output FILE.parquet")
        _write_records(line, kind, output, unit, max_tokens or MAX_TOKENS, problems)
    if problems.count:
        _note(f"{counted(problems.count, 'page')} left out: `sitemirror verify` checks the mirror")
    return 1 if problems.count else 0


_SEE: Final = "see `sitemirror export --help`"


def _tokens(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise UsageError(f"--max-tokens must be a number above 0, got {text}", hint=_SEE)
    return int(text)


def _write_md(line: CommandLine, output: str | None, unit: Unit, max_tokens: int | None, problems: _Problems) -> None:
    if unit is Unit.SECTIONS:
        raise UsageError("--sections is for jsonl and parquet", hint="md packs whole pages: leave it out")
    if output is None:
        raise UsageError("--format md writes several files", hint="add --output FOLDER")
    since = line.more.get("--since")
    mirrors = markdown_mirrors([Path(each) for each in line.targets])
    written = write_packed(
        Path(output),
        mirrors[0].name if len(mirrors) == 1 else "sites",
        mirrors,
        max_tokens=max_tokens or FILE_TOKENS,
        since=None if since is None else parse_since(since),
        on_problem=problems,
    )
    for path in written:
        streams.print_line(str(path))
    _note(f"{counted(len(written), 'file')} in {output}")


def _write_records(
    line: CommandLine, kind: str, output: str | None, unit: Unit, max_tokens: int, problems: _Problems
) -> None:
    options: dict[str, Any] = {"since": line.more.get("--since"), "max_tokens": max_tokens, "on_problem": problems}
    records = export(*line.targets, unit=unit.value, **options)
    if output is None:
        write_jsonl(streams.BinaryOutput(), records)
        return
    with replacing(Path(output)) as file:
        count = write_jsonl(file, records) if kind == "jsonl" else write_parquet(file, records, unit)
    _note(f"{counted(count, 'record')} in {output}")


def _note(text: str) -> None:
    print(printable(text), file=sys.stderr)
