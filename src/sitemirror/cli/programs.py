"""The three programs, from their arguments to their exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final

from sitemirror.cli import stdout
from sitemirror.cli.commands import (
    MIRROR_SITE,
    SITEMAP_TO_MARKDOWN,
    SITEMIRROR,
    CommandLine,
    carry_out,
    carry_out_either,
)
from sitemirror.cli.complaints import BUG_HINT, complain, show_traceback
from sitemirror.cli.options import Command, options_of
from sitemirror.cli.plain import read_plain
from sitemirror.errors import SitemirrorError, UsageError, confess


def run_sitemirror(arguments: Sequence[str]) -> int:
    """The exit code of `sitemirror ARGUMENTS`."""

    def run() -> int:
        if arguments and arguments[0] in _COMMANDS:
            command, rest = Command(arguments[0]), arguments[1:]
            if _is_help(rest):
                return _show_help(f"{SITEMIRROR} {command}")
            read = read_plain(rest, options_of(command))
            if read is not None and (read[-1] is None or command in (Command.MIRROR, Command.CRAWL)):
                return carry_out(command, CommandLine(SITEMIRROR, arguments, *read))
        from sitemirror.cli.app import sitemirror_app

        return sitemirror_app(arguments, carry_out)

    return _guarded(SITEMIRROR, arguments, run)


def run_mirror_site(arguments: Sequence[str]) -> int:
    """The exit code of `mirror-site ARGUMENTS`."""

    def run() -> int:
        if (read := read_plain(arguments, options_of(Command.CRAWL))) is not None:
            return carry_out(Command.CRAWL, CommandLine(MIRROR_SITE, arguments, *read))
        from sitemirror.cli.app import mirror_site_app

        return mirror_site_app(arguments, carry_out)

    return _guarded(MIRROR_SITE, arguments, run)


def run_sitemap_to_markdown(arguments: Sequence[str]) -> int:
    """The exit code of `sitemap-to-markdown ARGUMENTS`."""

    def run() -> int:
        from sitemirror.cli.app import sitemap_to_markdown_app

        return sitemap_to_markdown_app(arguments, carry_out_either)

    return _guarded(SITEMAP_TO_MARKDOWN, arguments, run)


_COMMANDS: Final = frozenset(command.value for command in Command)


def _is_help(arguments: Sequence[str]) -> bool:
    return len(arguments) == 1 and arguments[0] in ("-h", "--help")


def _show_help(path: str) -> int:
    from sitemirror.cli.help import help_of

    stdout.print_text(help_of(path, sys.stdout))
    return 0


def _refuse_nothing(program: str) -> int:
    """Nothing to do is not success, so the help goes where errors go."""
    from sitemirror.cli.help import help_of

    sys.stderr.write(help_of(program, sys.stderr))
    return 2


def _guarded(program: str, arguments: Sequence[str], run: Callable[[], int]) -> int:
    """The exit code of `run`, which may raise what it likes."""
    stdout.prepare()
    try:
        if _is_help(arguments):
            return _show_help(program)
        if not arguments:
            return _refuse_nothing(program)
        return run()
    except SitemirrorError as error:
        more = error.more if isinstance(error, UsageError) else ()
        complain(error.message, error.hint, *more, program=program)
        return error.exit_code
    except OSError as error:
        # Our own writing is guarded; what is left is help that nobody reads to the end, or a full disk.
        stdout.give_up()
        complain(str(error), program=program)
        return 1
    except Exception as error:
        if {"--verbose", "-v"}.intersection(arguments):
            show_traceback(error)
        complain(confess(error), BUG_HINT, program=program)
        return 1
