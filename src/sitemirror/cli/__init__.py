"""The programs' front doors. Imports nothing until it knows what is wanted, so that `--version` answers at once."""

from __future__ import annotations

# What `signal` is made of, which itself loads so much first that Ctrl+C could come meanwhile.
import _signal  # type: ignore[import-not-found]
import atexit
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
    return _run("sitemirror")


def sitemap_to_markdown() -> int:
    """`sitemap-to-markdown`, the command line of sitemirror's first ancestor: the exit code."""
    return _run("sitemap-to-markdown")


def mirror_site() -> int:
    """`mirror-site`, the command line of sitemirror's second ancestor: the exit code."""
    return _run("mirror-site")


def _run(program: str) -> int:
    _end_at_once(INTERRUPTED, b"interrupted\n")
    atexit.register(_ignore_interrupts)  # What is registered first comes last.
    _speak_utf8()
    from sitemirror.cli.commands import run_program

    code = run_program(program, sys.argv[1:])
    _end_at_once(code)  # All is said: whoever is impatient now changes nothing any more.
    return code


def _ignore_interrupts() -> None:
    """For the last moments, in which Python takes the process apart and would let the signal end it."""
    try:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    except ValueError:
        pass  # Not in the main thread, so nothing was changed before.


def _end_at_once(code: int, last_words: bytes = b"") -> None:
    """From now on Ctrl+C ends the program with this exit code. A run that has begun handles it itself.

    Not by an exception, which could be raised, and shown, inside whatever is just being loaded. Before a run, after it,
    and where nothing is written, there is nothing to tidy up.
    """

    def leave(*_: object) -> None:
        try:
            os.write(2, last_words)
        except OSError:
            pass  # Nobody is listening on stderr any more.
        os._exit(code)

    # A shell that starts us in the background has Ctrl+C ignored, and only a main thread may say what it does.
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        try:
            _signal.signal(_signal.SIGINT, leave)
        except ValueError:
            pass


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
