"""The standard streams: data for programs on stdout, errors with a hint on stderr. Readers may leave."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from sitemirror.errors import OutputError
from sitemirror.text import printable

if TYPE_CHECKING:
    from sitemirror.publish.report import Report


_ON_DISK: Final = "the files on disk are complete"


class Tone(StrEnum):
    """Colour of a line on a terminal."""

    PLAIN = ""
    WARNING = "yellow"
    ERROR = "red"


_CODES: Final = {Tone.WARNING: "33", Tone.ERROR: "31"}


def shows_colour(stream: TextIO) -> bool:
    """True for a terminal that understands colour, unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    return sys.platform != "win32" or "WT_SESSION" in os.environ  # Older consoles show the codes.


def paint(text: str, tone: Tone, stream: TextIO) -> str:
    """Colour a line if `stream` shows colour."""
    return f"\x1b[{_CODES[tone]}m{text}\x1b[0m" if tone and shows_colour(stream) else text


def shows_json(*, is_forced: bool) -> bool:
    """True if a JSON report belongs on stdout: for programs, or for a person who asks for it."""
    return is_forced or not sys.stdout.isatty()


def prepare() -> None:
    """Make the standard streams usable, however the program was started."""
    # A closed descriptor would be given to the next file opened, and messages would be written into a mirror.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # Data for other programs is UTF-8 on every platform, independent of the console.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def give_up() -> None:
    """Point stdout elsewhere: nothing can be written, and Python would complain again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_report(report: Report) -> None:
    """Print the JSON object that a run ends with."""
    _write(report.to_json() + "\n", _ON_DISK)


def print_object(members: Mapping[str, object]) -> None:
    _write(object_text(members))


def object_text(members: Mapping[str, object]) -> str:
    """Return a JSON object in ASCII: it cannot drive a terminal, and any encoding carries it."""
    return json.dumps(dict(members), indent=2) + "\n"


def print_line(line: str) -> None:
    _write((printable(line) if sys.stdout.isatty() else line) + "\n")


def print_text(text: str) -> None:
    """Print our own words, which may contain colour."""
    _write(text)


def print_page(text: str) -> None:
    """Print a page's Markdown; on a terminal without control characters."""
    if sys.stdout.isatty():
        text = "".join(f"{printable(line, limit=len(line) * 10)}\n" for line in text.splitlines())
    _write(text)


def print_file(path: Path) -> None:
    """Print a text file; on a terminal without control characters."""
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


def _write(text: str, hint: str = "free some space, or redirect stdout elsewhere") -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        give_up()
        if not _reader_has_gone(error):
            raise OutputError(f"cannot write to stdout: {error.strerror}", hint=hint) from error


def _reader_has_gone(error: OSError) -> bool:
    """True if the reader has closed the pipe, as `| head` does: no failure of ours."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


BUG_HINT: Final = "this is a bug in sitemirror; run with --verbose for the traceback"


def complain(message: str, hint: str = "", *more: str, program: str) -> None:
    """Print errors on stderr, one line each, and a hint."""
    lines = [paint(f"{program}: error: {printable(each)}", Tone.ERROR, sys.stderr) for each in (message, *more)]
    if hint:
        lines.append(f"hint: {printable(hint)}")
    try:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # Nobody is listening on stderr any more; the exit code still tells.


def show_traceback(error: Exception) -> None:
    """Print a traceback without control characters: an exception's text may come from the network."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        sys.stderr.write(printable(line) + "\n")
