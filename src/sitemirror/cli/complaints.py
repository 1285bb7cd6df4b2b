"""Says on stderr what went wrong, in one line, and what to do."""

from __future__ import annotations

import sys
import traceback
from typing import Final

from sitemirror.text import printable

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
