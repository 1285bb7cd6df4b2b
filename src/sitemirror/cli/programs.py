"""Run a program from its arguments to its exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sitemirror.cli import stdout
from sitemirror.cli.commands import carry_out
from sitemirror.cli.complaints import BUG_HINT, complain, show_traceback
from sitemirror.cli.parser import SITEMIRROR, ShowHelp, ShowVersion, parse
from sitemirror.errors import SitemirrorError, UsageError, confess
from sitemirror.version import __version__


def run_program(program: str, arguments: Sequence[str]) -> int:
    """Run `program` and return its exit code."""
    stdout.prepare()
    try:
        return _run(program, arguments)
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


def _run(program: str, arguments: Sequence[str]) -> int:
    if not arguments:
        from sitemirror.cli.help import help_of

        sys.stderr.write(help_of(program, sys.stderr))  # Nothing to do is no success.
        return 2
    match parse(program, arguments):
        case ShowHelp(path):
            from sitemirror.cli.help import help_of

            stdout.print_text(help_of(path, sys.stdout))
            return 0
        case ShowVersion():
            stdout.print_line(f"{SITEMIRROR} {__version__}")
            return 0
        case line:
            return carry_out(line)
