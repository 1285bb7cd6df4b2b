"""Run the programs: parse the arguments, run the command, print its result, return the exit code.

Modules that one command alone needs are imported by its function, so that the others start without them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sitemirror.cli import streams
from sitemirror.cli.config import STDIN, misspelt, settings_for
from sitemirror.cli.options import Command, options_of, spell
from sitemirror.cli.parser import (
    SITEMAP_TO_MARKDOWN,
    SITEMIRROR,
    CommandLine,
    ShowCompletion,
    ShowHelp,
    ShowVersion,
    parse,
)
from sitemirror.cli.streams import BUG_HINT, complain, show_traceback
from sitemirror.errors import SitemirrorError, UsageError, describe_unexpected
from sitemirror.settings import Settings, UrlSource
from sitemirror.text import counted, printable
from sitemirror.version import __version__

if TYPE_CHECKING:
    from sitemirror.cli.job import Run
    from sitemirror.events import Listener
    from sitemirror.publish.report import VerifyProblem, VerifyReport
    from sitemirror.run.convert_one import PageInput

_ABOUT_LINKS: Final = frozenset({"link_depth", "honor_nofollow"})


def run_program(program: str, arguments: Sequence[str]) -> int:
    """Run one of the three programs and return its exit code."""
    streams.prepare()
    try:
        return _parse_and_run(program, arguments)
    except SitemirrorError as error:
        more = error.more if isinstance(error, UsageError) else ()
        complain(error.message, error.hint, *more, program=program)
        return error.exit_code
    except OSError as error:
        # Our own writing is guarded: this is help that nobody reads to the end, or a full disk.
        streams.give_up()
        complain(str(error), program=program)
        return 1
    except Exception as error:
        if {"--verbose", "-v"}.intersection(arguments):
            show_traceback(error)
        complain(describe_unexpected(error), BUG_HINT, program=program)
        return 1


def _parse_and_run(program: str, arguments: Sequence[str]) -> int:
    if not arguments:
        from sitemirror.cli.help import help_of

        sys.stderr.write(help_of(program, sys.stderr))  # Nothing to do is no success.
        return 2
    match parse(program, arguments):
        case ShowHelp(path, all_options):
            from sitemirror.cli.help import help_of

            streams.print_text(help_of(path, sys.stdout, all_options=all_options))
            return 0
        case ShowCompletion(shell):
            from sitemirror.cli.completion import completion_script

            streams.print_text(completion_script(shell))
            return 0
        case ShowVersion():
            streams.print_line(f"{SITEMIRROR} {__version__}")
            return 0
        case line:
            return _run_command(line)


def _run_command(line: CommandLine) -> int:
    if line.program == SITEMAP_TO_MARKDOWN:
        return _list_or_mirror(line)
    command, settings = line.command, _settings(line)
    match command:
        case Command.MIRROR | Command.CRAWL if line.sites is not None or not line.target:
            return _run_sites(line, settings)
        case Command.LIST | Command.MIRROR | Command.CRAWL:
            return _run_site(line, settings)
        case Command.UPDATE:
            return _update(line, settings)
        case Command.CONVERT:
            show = _explain if line.more.get("--explain") else _convert
            return show(_convert_target(line), line.more.get("--url"), settings)
        case Command.VERIFY | Command.WHERE if not line.target:
            what = "folder" if command is Command.VERIFY else "URL or file"
            raise UsageError(f"the {what} is an empty name", hint=f"see `{SITEMIRROR} {command} --help`")
        case Command.VERIFY:
            return _verify(Path(line.target), settings, line.program)
        case Command.WHERE:
            from sitemirror import api

            streams.print_line(api.where(line.target, settings=settings, on_guess=_note))
            return 0
        case Command.SEARCH:
            from sitemirror.cli.search import run_search

            return run_search(line, settings)
        case Command.EXPORT:
            from sitemirror.cli.export import run_export

            return run_export(line)
        case Command.MCP:
            return _serve_mcp([Path(each) for each in line.targets], line.more.get("--http"))
        case Command.AGENTS:
            from sitemirror.cli.agents import run_agents

            return run_agents(line)


def _settings(line: CommandLine) -> Settings:
    return settings_for(line.command, line.given, environ=os.environ, config=line.config)


def _list_or_mirror(line: CommandLine) -> int:
    """Run `sitemap-to-markdown`. It takes the options of two commands: some may have no effect."""
    if line.sites is None and not line.target:
        raise UsageError("missing option '--url'", hint=f"see `{line.program} --help`")
    if line.sites is not None and line.command is not Command.MIRROR:
        raise UsageError("--sites FILE needs --mirror", hint="for the outline of one site give --url URL")
    settings = _settings(line)
    unused = line.given.keys() - {option.field for option in options_of(line.command)}
    if unused and not settings.quiet:
        names = ", ".join(sorted(map(spell, unused)))
        other = "with --mirror" if line.command is Command.LIST else "without --mirror"
        _note(f"{names} {'has' if len(unused) == 1 else 'have'} an effect only {other}")
    return (_run_site if line.sites is None else _run_sites)(line, settings)


# --- list, mirror, crawl -------------------------------------------------------------------------------------------


def _run_site(line: CommandLine, settings: Settings) -> int:
    from sitemirror.cli.job import Job, command_line, run_job

    _note_unused_options(line, settings)
    command = line.command

    def start(listener: Listener) -> Run:
        from sitemirror import api

        if command is Command.LIST:
            _load_client()
            return api.list_site(line.target, settings=settings, on_event=listener)
        return api.copy_run(command.value, line.target, settings, listener, api.Parts(load=_load_client))

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

    from sitemirror.cli.job import Job, command_line, run_job

    _load_client()

    from sitemirror.cli.config import read_sites
    from sitemirror.sites import crawl_sites, mirror_sites
    from sitemirror.sites.capacity import allow_more_files

    sites, common = read_sites(file, command, settings)
    start_run = crawl_sites if command is Command.CRAWL else mirror_sites

    def start(listener: Listener) -> Run:
        allow_more_files()
        return start_run(sites, settings=common, on_event=listener)

    typed_again = command_line(line.program, line.arguments)
    return run_job(Job(command.value, str(file), common, line.program, typed_again, start))


def _note_unused_options(line: CommandLine, settings: Settings) -> None:
    """Note options without effect and misspelt variables."""
    for name, meant in misspelt(os.environ) if not settings.quiet else ():
        _note(f"{name} in the environment is not an option: did you mean {meant}?")
    if settings.update and settings.re_download_all and not settings.quiet:
        _note("--update has no effect with --re-download-all, which fetches everything again")
    if "max_age" in line.given and not settings.update and not settings.quiet:
        _note("--max-age has an effect only with --update")
    source = settings.discover or (UrlSource.LINKS if line.command is Command.CRAWL else UrlSource.AUTO)
    unused = sorted(map(spell, line.given.keys() & _ABOUT_LINKS))
    if unused and line.command is not Command.LIST and source is not UrlSource.LINKS and not settings.quiet:
        has = "has" if len(unused) == 1 else "have"
        when = "if links are followed" if source is UrlSource.AUTO else "with --discover links"
        _note(f"{', '.join(unused)} {has} an effect only {when}")


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _load_client() -> None:
    """Load aiohttp without the system's certificates; its own TLS contexts then trust nobody.

    aiohttp reads them twice when it is loaded, for default contexts that we never use: the fetcher makes its own. That
    takes as long as loading the rest of aiohttp (`bench.startup`). Not for the library: other code in the process may
    rely on the defaults.
    """
    import ssl

    contexts: Any = ssl.SSLContext
    before = contexts.load_default_certs
    contexts.load_default_certs = contexts.set_default_verify_paths = lambda *_: None
    try:
        import aiohttp  # noqa: F401
    finally:
        contexts.load_default_certs = before
        del contexts.set_default_verify_paths  # Uncovers that of the base class.


# --- update --------------------------------------------------------------------------------------------------------


def _update(line: CommandLine, settings: Settings) -> int:
    """Update the mirrors in some folders: one alone as a run of its command, several as many sites."""
    from sitemirror.cli.job import Job, command_line, run_job

    for name, meant in misspelt(os.environ) if not settings.quiet else ():
        _note(f"{name} in the environment is not an option: did you mean {meant}?")
    _load_client()

    from sitemirror import api
    from sitemirror.sites import update_sites
    from sitemirror.sites.capacity import allow_more_files
    from sitemirror.sites.remembered import find_mirrors, site_of

    folders = find_mirrors(map(Path, line.targets))
    sites = [site_of(folder, settings, line.given.keys()) for folder in folders]
    if not settings.quiet:
        for folder, remembered in zip(folders, sites, strict=True):
            if missing := [spell(field) for field in remembered.missing if field not in line.given]:
                _note(f"{folder} was made with {', '.join(missing)}, not stored: give it again if needed")
    typed_again = command_line(line.program, line.arguments)
    if len(sites) == 1:
        site = sites[0].site
        (command, url, own) = (site.command or "mirror", site.url, site.settings)

        def start(listener: Listener) -> Run:
            return api.copy_run(command, url, own, listener, api.Parts(load=_load_client))

        return run_job(Job(command, url, own, line.program, typed_again, start))

    common = settings.with_changes(update=not settings.re_download_all)

    def start_all(listener: Listener) -> Run:
        allow_more_files()
        return update_sites([each.site for each in sites], common, listener, api.Parts())

    return run_job(Job("update", " ".join(line.targets), common, line.program, typed_again, start_all))


# --- convert -------------------------------------------------------------------------------------------------------


def _convert_target(line: CommandLine) -> str:
    """Return the page to convert: stdin if none is named and a pipe leads there."""
    if line.targets:
        return line.target
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("missing argument 'FILE|URL|-'", hint=f"see `{SITEMIRROR} convert --help`")
    return STDIN


def _convert(target: str, base: str | None, settings: Settings) -> int:
    """Print a page as Markdown. `base` is the URL of a page that is in a file."""
    source = _source(target, base, settings)
    page = source.convert(settings.content)
    from sitemirror.convert import PageKind, with_front_matter

    has_head = settings.front_matter and source.kind is not PageKind.TEXT  # Text stays as it is.
    streams.print_page(with_front_matter(page) if has_head else page.markdown)
    if not page.markdown and not settings.quiet:
        print("note: the page has no text", file=sys.stderr)
    return 0


def _explain(target: str, base: str | None, settings: Settings) -> int:
    """Print every block of a page under the reason why it is kept or cut."""
    blocks = [block for block in _source(target, base, settings).explain(settings.content) if block.text.strip()]
    lines: list[str] = []
    for (is_kept, reason), group in groupby(blocks, lambda block: (block.is_kept, block.reason)):
        lines += ("", f"{'kept' if is_kept else 'cut'}: {reason}")
        lines += (f"  {'+' if is_kept else '-'} {block.tag}: {' '.join(block.text.split())}" for block in group)
    streams.print_page("".join(f"{line}\n" for line in lines[1:]))
    if not settings.quiet:
        kept = [block for block in blocks if block.is_kept]
        letters = sum(len(block.text) for block in kept), sum(len(block.text) for block in blocks)
        shown = f"{len(kept)} of {counted(len(blocks), 'block')} kept, {letters[0]:,} of {letters[1]:,} characters"
        print(shown, file=sys.stderr)
    return 0


def _source(target: str, base: str | None, settings: Settings) -> PageInput:
    if "://" in target:
        if base is not None:
            raise UsageError("--url is for a page in a file", hint="leave it out: the page has a URL")
        return _fetch(target, settings)

    from sitemirror.run.convert_one import of_bytes, read_file

    url = "" if base is None else _base_url(base)
    if not target:
        raise UsageError("the file or URL is empty", hint="give one, or - for stdin")
    if target == STDIN:
        if sys.stdin is None:
            raise UsageError("stdin is closed", hint="redirect a page to it, or name a file")
        return of_bytes(sys.stdin.buffer.read(), "stdin", url=url)
    return read_file(Path(target), url=url)


def _base_url(base: str) -> str:
    """Normalise a base URL. It must be complete: it is never requested, and a typo would not show."""
    from sitemirror import api

    if "://" not in base:
        hint = "give it as https://example.com/docs/page"
        raise UsageError(f"{printable(base, limit=200)!r} is not a complete URL", hint=hint)
    return api.start_of(base, credentials_hint="leave them out: the URL is not requested")


def _fetch(url: str, settings: Settings) -> PageInput:
    import asyncio

    from sitemirror import api

    _load_client()
    return asyncio.run(api.fetch_page(url, settings=settings))


# --- verify --------------------------------------------------------------------------------------------------------


def _verify(folder: Path, settings: Settings, program: str) -> int:
    """Check a mirror: print each problem as it is found, then the report."""
    from sitemirror import api
    from sitemirror.publish.report import RunStatus

    try:
        with _interruptible():
            report = api.verify(folder, on_problem=None if settings.quiet else _print_problem)
    except KeyboardInterrupt as interrupt:
        if streams.shows_json(is_forced=settings.json):
            status = RunStatus.INTERRUPTED.value
            streams.print_object({"status": status, "command": "verify", "folder": printable(str(folder))})
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    if streams.shows_json(is_forced=settings.json):
        streams.print_report(report)
    if not settings.quiet:
        _print_lines(*(f"note: {warning}" for warning in report.warnings), _summary(report))
    if report.status is RunStatus.ERROR:
        complain(report.error or "", report.hint or "", program=program)
        return 1
    return 0


# --- mcp -----------------------------------------------------------------------------------------------------------


def _serve_mcp(folders: Sequence[Path], port: str | None) -> int:
    """Serve mirrors over MCP until stdin ends, or with a port until a signal."""
    if port is not None and not (port.isdecimal() and int(port) < 65_536):
        raise UsageError(f"--http must be a port from 0 to 65535, got {port}", hint=f"see `{SITEMIRROR} mcp --help`")
    try:
        from sitemirror.mcp.server import serve_http, serve_stdio
    except ImportError as error:
        hint = "pip install 'sitemirror[mcp]'"
        raise UsageError(f"mcp needs the package mcp, version 2: {error}", hint=hint) from None
    from sitemirror.reading.mirrors import DEFAULT_FOLDER

    folders = folders or [DEFAULT_FOLDER]
    if port is None:
        serve_stdio(folders)
    else:
        serve_http(folders, int(port))
    return 0


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on every signal that ends a process: a check leaves nothing unfinished."""

    def end(number: int, _: object) -> NoReturn:
        raise KeyboardInterrupt(number)

    before = {
        number: signal.signal(number, end)
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_problem(problem: VerifyProblem) -> None:
    _print_lines(f"{problem.where}: {problem.message}")


def _summary(report: VerifyReport) -> str:
    from sitemirror.cli.progress import span

    checked = report.checked
    figures = (
        counted(checked.urls, "URL"),
        counted(checked.files, "file"),
        counted(checked.links, "local link"),
        counted(checked.anchors, "anchor"),
    )
    return f"{report.status}: {', '.join(figures)} checked; {span(report.elapsed_sec)}"


def _print_lines(*lines: str) -> None:
    try:
        sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))
    except (OSError, ValueError):
        pass  # Nobody reads stderr any more; stdout and the exit code remain.
