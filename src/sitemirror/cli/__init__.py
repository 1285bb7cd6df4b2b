"""Entry points of the programs. They import as little as possible, so that `--version` is fast."""

from __future__ import annotations

# The module under `signal`, which itself loads so much first that Ctrl+C could come meanwhile.
import _signal  # type: ignore[import-not-found]
import atexit
import os
import sys

INTERRUPTED = 130


def main() -> int:
    """Run `sitemirror` and return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from sitemirror import __version__

        try:
            print(f"sitemirror {__version__}", flush=True)
        except OSError:
            pass  # The usual way below reports it, as for every other command.
        else:
            return 0
    return _run("sitemirror")


def sitemap_to_markdown() -> int:
    """Run `sitemap-to-markdown`, the command line of sitemirror's first ancestor."""
    return _run("sitemap-to-markdown")


def mirror_site() -> int:
    """Run `mirror-site`, the command line of sitemirror's second ancestor."""
    return _run("mirror-site")


def _run(program: str) -> int:
    _end_at_once(INTERRUPTED, b"interrupted\n")
    atexit.register(_ignore_interrupts)  # Registered first, called last.
    _speak_utf8()
    from sitemirror.cli.commands import run_program

    code = run_program(program, sys.argv[1:])
    _end_at_once(code)  # Everything is printed: an interrupt changes nothing any more.
    return code


def _ignore_interrupts() -> None:
    """Ignore Ctrl+C while Python shuts down, when the signal would end the process."""
    try:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    except ValueError:
        pass  # Not in the main thread, so nothing was changed before.


def _end_at_once(code: int, last_words: bytes = b"") -> None:
    """Let Ctrl+C end the program with this exit code, until a run handles it itself.

    Not by an exception, which could be raised, and shown, inside a module that is being loaded. Before and after a run
    there is nothing to clean up.
    """

    def leave(*_: object) -> None:
        try:
            os.write(2, last_words)
        except OSError:
            pass  # Nobody is listening on stderr any more.
        os._exit(code)

    # A shell that starts us in the background ignores Ctrl+C, and only a main thread may set a handler.
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
        try:
            _signal.signal(_signal.SIGINT, leave)
        except ValueError:
            pass


def _speak_utf8() -> None:
    """Restart the program in Python's UTF-8 mode if the locale would encode file names differently.

    A mirror has to be the same under every locale, and ISO-8859-1 lacks most of the world's characters. This is rare:
    under the C locale, Python itself uses UTF-8.
    """
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8":
        return
    if "utf8" in sys._xoptions or not sys.executable:  # Set by hand, or by us just before.
        return
    # Workers need the same encoding, and only the environment reaches them.
    environment = {**os.environ, "PYTHONUTF8": "1"}
    try:
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environment)  # noqa: S606
    except OSError:
        pass  # Then the locale decides, and a page whose name cannot be written fails with that reason.
