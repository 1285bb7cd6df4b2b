"""The two programs' front doors. Imports nothing until it knows what is wanted, so that `--version` answers at once."""

from __future__ import annotations

import sys


def main() -> int:
    """`sitemirror`: the exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        from sitemirror import __version__

        print(f"sitemirror {__version__}")
        return 0
    from sitemirror.cli.app import run_sitemirror

    return run_sitemirror(arguments)


def sitemap_to_markdown() -> int:
    """`sitemap-to-markdown`, the command line of sitemirror's first ancestor: the exit code."""
    from sitemirror.cli.app import run_sitemap_to_markdown

    return run_sitemap_to_markdown(sys.argv[1:])
