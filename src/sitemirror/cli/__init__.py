"""The programs' front doors. Imports nothing until it knows what is wanted, so that `--version` answers at once."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> int:
    """`sitemirror`: the exit code."""
    if sys.argv[1:] == ["--version"]:
        from sitemirror import __version__

        try:
            print(f"sitemirror {__version__}", flush=True)
        except OSError:
            pass  # What could not be written is told below, as it is for every other command.
        else:
            return 0
    return _run("run_sitemirror")


def sitemap_to_markdown() -> int:
    """`sitemap-to-markdown`, the command line of sitemirror's first ancestor: the exit code."""
    return _run("run_sitemap_to_markdown")


def mirror_site() -> int:
    """`mirror-site`, the command line of sitemirror's second ancestor: the exit code."""
    return _run("run_mirror_site")


def _run(program: str) -> int:
    try:
        _speak_utf8()
        from sitemirror.cli import programs

        return int(getattr(programs, program)(sys.argv[1:]))
    except KeyboardInterrupt:  # while loading; a run that has begun handles it itself
        return INTERRUPTED


def _speak_utf8() -> None:
    """Starts the program again in Python's UTF-8 mode, if the locale would give file names another encoding.

    A mirror made under one locale has to be the same under the next, and under ISO-8859-1 most of the world's names
    could not be written at all. It hardly ever comes to this: under the C locale, Python itself uses UTF-8.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8":
        return
    if "utf8" in sys._xoptions or not sys.executable:  # asked for by hand, or by us a moment ago
        return
    # The workers are to agree with us about names, and only the environment reaches them.
    environment = {**os.environ, "PYTHONUTF8": "1"}
    try:
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environment)  # noqa: S606
    except OSError:
        pass  # Then the locale decides, and a page whose name cannot be written fails with that reason.
