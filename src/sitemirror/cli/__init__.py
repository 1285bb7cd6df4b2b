"""The programs' front doors. Imports nothing until it knows what is wanted, so that `--version` answers at once."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """`sitemirror`: the exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from sitemirror import __version__

        try:
            print(f"sitemirror {__version__}", flush=True)
        except OSError:
            pass  # What could not be written is told below, as it is for every other command.
        else:
            return 0
    try:
        _speak_utf8()
        from sitemirror.cli.programs import run_sitemirror

        return run_sitemirror(arguments)
    except KeyboardInterrupt:  # while loading; a run that has begun handles it itself
        return INTERRUPTED


def sitemap_to_markdown() -> int:
    """`sitemap-to-markdown`, the command line of sitemirror's first ancestor: the exit code."""
    try:
        _speak_utf8()
        from sitemirror.cli.programs import run_sitemap_to_markdown

        return run_sitemap_to_markdown(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def mirror_site() -> int:
    """`mirror-site`, the command line of sitemirror's second ancestor: the exit code."""
    try:
        _speak_utf8()
        from sitemirror.cli.programs import run_mirror_site

        return run_mirror_site(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED


def _speak_utf8() -> None:
    from sitemirror.cli.encoding import speak_utf8

    speak_utf8()
