"""The standard streams: data for the next program on stdout, errors with a hint on stderr. Readers may leave."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sitemirror.errors import OutputError
from sitemirror.text import printable

if TYPE_CHECKING:
    from sitemirror.publish.report import Report


_ON_DISK: Final = "the files on disk are complete"


def prepare() -> None:
    """Makes the standard streams fit for use, however the program was started."""
    # A closed descriptor would be given to the next file opened, and messages would be written into a mirror.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # Data for other programs is UTF-8 on every platform, whatever the console is set to.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def give_up() -> None:
    """Nothing more can be written: point the stream elsewhere, or Python complains again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_report(report: Report) -> None:
    """The one JSON object that a run ends with."""
    _write(report.to_json() + "\n", _ON_DISK)


def print_object(members: Mapping[str, object]) -> None:
    _write(object_text(members))


def object_text(members: Mapping[str, object]) -> str:
    """A JSON object in ASCII: nothing in it can drive a terminal, and any encoding carries it."""
    return json.dumps(dict(members), indent=2) + "\n"


def print_line(line: str) -> None:
    _write((printable(line) if sys.stdout.isatty() else line) + "\n")


def print_text(text: str) -> None:
    """Our own words, which a terminal may obey: they can be in colour."""
    _write(text)


def print_page(text: str) -> None:
    """A page's Markdown; made printable first where a terminal would obey what is in it."""
    if sys.stdout.isatty():
        text = "".join(f"{printable(line, limit=len(line) * 10)}\n" for line in text.splitlines())
    _write(text)


def print_file(path: Path) -> None:
    """A text file as it is; made printable first where a terminal would obey what is in it."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        if sys.stdout.isatty():
            for line in lines:
                _write(printable(line.rstrip("\n")) + "\n", _ON_DISK)
        else:
            while chunk := lines.read(65_536):
                _write(chunk, _ON_DISK)


class BinaryOutput:
    """Data in UTF-8 for stdout, written as it comes."""

    def write(self, data: bytes, /) -> int:
        _write(data.decode())
        return len(data)


def _write(text: str, hint: str = "make room where stdout leads, or let it lead elsewhere") -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        give_up()
        if not _reader_has_gone(error):
            raise OutputError(f"cannot write to stdout: {error.strerror}", hint=hint) from error


def _reader_has_gone(error: OSError) -> bool:
    """`| head` has seen enough: no failure of ours."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


BUG_HINT: Final = "this is a bug in sitemirror; run with --verbose for the traceback"


def complain(message: str, hint: str = "", *more: str, program: str) -> None:
    """Says on stderr what went wrong, in one line each, and what to do about it."""
    lines = [f"{program}: error: {printable(each)}" for each in (message, *more)]
    if hint:
        lines.append(f"hint: {printable(hint)}")
    try:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # Nobody is listening on stderr any more; the exit code still tells.


def show_traceback(error: Exception) -> None:
    """Where in the code it happened, safe to print: the text of an exception may come from the network."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        sys.stderr.write(printable(line) + "\n")
