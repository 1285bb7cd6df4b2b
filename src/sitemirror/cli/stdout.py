"""The one place that writes to stdout: data for the next program, which may stop reading whenever it likes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pydantic import BaseModel

from sitemirror.text import printable


def print_report(report: BaseModel) -> None:
    """One JSON object, in ASCII: nothing in it can drive a terminal, and any encoding carries it."""
    _write(json.dumps(report.model_dump(mode="json"), indent=2) + "\n")


def print_line(line: str) -> None:
    _write((printable(line) if sys.stdout.isatty() else line) + "\n")


def print_file(path: Path) -> None:
    """A text file as it is; made printable first where a terminal would obey what is in it."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        if sys.stdout.isatty():
            for line in lines:
                _write(printable(line.rstrip("\n")) + "\n")
        else:
            while chunk := lines.read(65_536):
                _write(chunk)


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Point the stream elsewhere, or Python complains again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
