"""Run a command once its command line has been parsed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sitemirror.cli.config import misspelt, settings_for
from sitemirror.cli.options import Command, options_of, spell
from sitemirror.cli.parser import SITEMAP_TO_MARKDOWN, SITEMIRROR, CommandLine
from sitemirror.errors import UsageError
from sitemirror.settings import Settings, UrlSource

if TYPE_CHECKING:
    from sitemirror.cli.run import Run
    from sitemirror.events import Listener

_ABOUT_LINKS: Final = frozenset({"link_depth", "honor_nofollow"})


def carry_out(line: CommandLine) -> int:
    """Run the command of a command line and return its exit code."""
    if line.program == SITEMAP_TO_MARKDOWN:
        return _list_or_mirror(line)
    command, settings = line.command, _settings(line)
    match command:
        case Command.MIRROR | Command.CRAWL if line.sites is not None or not line.target:
            return _run_sites(line, settings)
        case Command.LIST | Command.MIRROR | Command.CRAWL:
            return _run(line, settings)
        case Command.CONVERT:
            from sitemirror.cli.conversion import run_convert, run_explain

            return (run_explain if line.explain else run_convert)(line.target, line.base, settings)
        case Command.VERIFY | Command.WHERE if not line.target:
            what = "folder" if command is Command.VERIFY else "URL or file"
            raise UsageError(f"the {what} is an empty name", hint=f"see `{SITEMIRROR} {command} --help`")
        case Command.VERIFY:
            from sitemirror.cli.verification import run_verify

            return run_verify(Path(line.target), settings, line.program)
        case Command.WHERE:
            from sitemirror import api
            from sitemirror.cli import stdout

            stdout.print_line(api.where(line.target, settings=settings, on_guess=_note))
            return 0


def _settings(line: CommandLine) -> Settings:
    return settings_for(line.command, line.given, environ=os.environ, config=line.config)


def _list_or_mirror(line: CommandLine) -> int:
    """Run `sitemap-to-markdown`. It takes the options of two commands, so that some may have no effect."""
    if line.sites is None and not line.target:
        raise UsageError("missing option '--url'", hint=f"see `{line.program} --help`")
    if line.sites is not None and line.command is not Command.MIRROR:
        raise UsageError("an outline is of one site, not of --sites FILE", hint="give --url URL, or add --mirror")
    settings = _settings(line)
    idle = line.given.keys() - {option.field for option in options_of(line.command)}
    if idle and not settings.quiet:
        names = ", ".join(sorted(map(spell, idle)))
        other = "with --mirror" if line.command is Command.LIST else "without --mirror"
        _note(f"{names} {'counts' if len(idle) == 1 else 'count'} only {other}")
    return (_run if line.sites is None else _run_sites)(line, settings)


def _tell_idle(line: CommandLine, settings: Settings) -> None:
    """Says so when an option about links was typed and no links are followed, or one that another includes.

    And when something in the environment looks like an option and is none.
    """
    for name, meant in misspelt(os.environ) if not settings.quiet else ():
        _note(f"{name} in the environment is not an option: did you mean {meant}?")
    if settings.update and settings.re_download_all and not settings.quiet:
        _note("--re-download-all fetches everything again, so --update adds nothing to it")
    source = settings.discover or (UrlSource.LINKS if line.command is Command.CRAWL else UrlSource.SITEMAP)
    idle = sorted(map(spell, line.given.keys() & _ABOUT_LINKS))
    if idle and line.command is not Command.LIST and source is UrlSource.SITEMAP and not settings.quiet:
        counts = "counts" if len(idle) == 1 else "count"
        _note(f"{', '.join(idle)} {counts} only where links are followed: --discover links")


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _run(line: CommandLine, settings: Settings) -> int:
    from sitemirror.cli.run import Job, run_job
    from sitemirror.cli.summary import command_line

    _tell_idle(line, settings)
    command = line.command

    def start(listener: Listener) -> Run:
        from sitemirror import api
        from sitemirror.cli.client import load_client

        if command is Command.LIST:
            load_client()
            return api.list_site(line.target, settings=settings, on_event=listener)
        return api.copy_run(command.value, line.target, settings, listener, api.Parts(None, None, load=load_client))

    typed_again = command_line(line.program, line.arguments)
    return run_job(Job(command.value, line.target, settings, line.program, typed_again, start))


def _run_sites(line: CommandLine, settings: Settings) -> int:
    command, file = line.command, line.sites
    if file is None:
        path = f"{SITEMIRROR} {command}" if line.program == SITEMIRROR else line.program
        raise UsageError("missing argument 'URL', or --sites FILE", hint=f"see `{path} --help`")
    if line.target:
        hint = f"put {line.target} into {file}, or leave one out"
        raise UsageError("a URL and --sites FILE exclude each other", hint=hint)

    from sitemirror.cli.client import load_client
    from sitemirror.cli.run import Job, run_job
    from sitemirror.cli.summary import command_line

    load_client()

    from sitemirror.cli.sites_file import read_sites
    from sitemirror.sites import crawl_sites, mirror_sites
    from sitemirror.sites.capacity import allow_more_files

    sites, common = read_sites(file, command, settings)
    start_run = crawl_sites if command is Command.CRAWL else mirror_sites

    def start(listener: Listener) -> Run:
        allow_more_files()
        return start_run(sites, settings=common, on_event=listener)

    typed_again = command_line(line.program, line.arguments)
    return run_job(Job(command.value, str(file), common, line.program, typed_again, start))
