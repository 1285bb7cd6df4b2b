"""The commands. Each says what it takes and hands over to the library; nothing is decided here twice."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.markup import escape

from sitemirror import __version__
from sitemirror.cli import stdout
from sitemirror.cli.complaints import BUG_HINT, complain, confess, show_traceback
from sitemirror.cli.config import DEFAULT_FILE, settings_for
from sitemirror.cli.options import Command, Option, options_of, parameters, spell, typed
from sitemirror.cli.run import Job, Run, run_job
from sitemirror.cli.summary import command_line
from sitemirror.errors import SitemirrorError
from sitemirror.events import Listener
from sitemirror.settings import Settings

SITEMIRROR: Final = "sitemirror"
SITEMAP_TO_MARKDOWN: Final = "sitemap-to-markdown"
MIRROR_SITE: Final = "mirror-site"

INTRODUCTION: Final = (
    "Copies a whole website to disk as clean Markdown: politely, resumably, incrementally.\n\n"
    "One JSON object goes to stdout when a run ends, everything else to stderr. "
    "A run that was stopped goes on where it was when the same command is given again."
)

HELP: Final = {
    Command.LIST: (
        "Finds a site's sitemaps and writes an outline of its URLs.\n\n"
        "The outline goes to DIR/HOST/sitemap-TIME.md, the report to stdout as JSON."
    ),
    Command.MIRROR: (
        "Saves every page in a site's sitemaps as Markdown.\n\n"
        "The tree goes to DIR/HOST/, the report to stdout as JSON. A run goes on where an earlier one stopped."
    ),
    Command.CRAWL: (
        "Follows links from a page and saves what it finds, with what the pages need to look right.\n\n"
        "The tree goes to DIR/HOST/, with mirror-index.json beside it; the report goes to stdout as JSON. "
        "robots.txt is obeyed. A run goes on where an earlier one stopped."
    ),
    Command.VERIFY: (
        "Checks a mirror: files, hashes, local links and anchors, every URL accounted for.\n\n"
        "Prints each problem, then a report as JSON on stdout. Changes nothing. Exits with 1 if anything is wrong."
    ),
    Command.WHERE: "Says which file a URL is saved to, or which URL a file came from.",
}

SITEMAP_TO_MARKDOWN_HELP: Final = (
    "Writes an outline of a site's sitemaps, or with --mirror saves every page in them as Markdown.\n\n"
    "The same as `sitemirror list` and `sitemirror mirror`, under the name and options of an older tool."
)

MIRROR_SITE_HELP: Final = (
    "Follows links from a page and saves what it finds.\n\n"
    "The same as `sitemirror crawl`, under the name of an older tool."
)

EXAMPLES: Final = {
    SITEMIRROR: """Examples:
sitemirror list https://docs.example.com/             # which pages are there?
sitemirror mirror https://docs.example.com/           # save them all
sitemirror mirror https://docs.example.com/ --update  # only what changed
sitemirror crawl https://docs.example.com/ -o html    # as HTML, by its links
sitemirror verify output/docs.example.com/            # is it all there?
sitemirror where https://docs.example.com/install     # which file is it?""",
    Command.LIST: """Examples:
sitemirror list https://docs.example.com/
sitemirror list https://docs.example.com/guide/ --format md > outline.md
sitemirror list https://example.com/sitemap.xml --exclude-path '/blog/*'""",
    Command.MIRROR: """Examples:
sitemirror mirror https://docs.example.com/
sitemirror mirror https://example.com/guide/ -o mirrors --max-pages 100
sitemirror mirror https://example.com/ --concurrency 5 --rate-limit 2
sitemirror mirror https://docs.example.com/ --update --on-error retry""",
    Command.CRAWL: """Examples:
sitemirror crawl https://docs.example.com/ -o offline
sitemirror crawl https://docs.example.com/install -o part --include-path '/guide/*' --link-depth 3
sitemirror crawl https://docs.example.com/ --format markdown --link-depth 1
sitemirror crawl https://docs.example.com/ -o offline --update""",
    Command.VERIFY: """Examples:
sitemirror verify output/docs.example.com/
sitemirror verify output --quiet > report.json""",
    Command.WHERE: """Examples:
sitemirror where https://docs.example.com/install
sitemirror where output/docs.example.com/install/index.md""",
    MIRROR_SITE: """Examples:
mirror-site https://docs.example.com/ -o offline --link-depth 2
mirror-site https://docs.example.com/ -o raw --delay-seconds 0.5 --no-post-process""",
    SITEMAP_TO_MARKDOWN: """Examples:
sitemap-to-markdown --url https://docs.example.com/           # the outline
sitemap-to-markdown --url https://docs.example.com/ --mirror  # all pages""",
}

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}
_WEB_ADDRESS: Final = ("http://", "https://", "www.")

_Url = Annotated[str, typer.Argument(metavar="URL", help="A site, a part of a site, or a sitemap.", show_default=False)]
_Page = Annotated[str, typer.Argument(metavar="URL", help="The page to begin at.", show_default=False)]
_UrlOption = Annotated[str, typer.Option("--url", metavar="URL", help="A site, a part of a site, or a sitemap.")]
_Mirror = Annotated[
    bool, typer.Option("--mirror/--list-only", help="Save the pages, or only write the outline.", metavar="")
]
_Target = Annotated[
    str, typer.Argument(metavar="URL|FILE", help="A page's address, or a file of a mirror.", show_default=False)
]
_Mirrored = Annotated[
    Path, typer.Argument(metavar="DIR", help="A mirror's folder, or one with several in it.", show_default=False)
]
_Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help=escape(f"Settings, named like the options, in TOML. Default: {DEFAULT_FILE} here, if there is one."),
        show_default=False,
    ),
]


def run_sitemirror(arguments: Sequence[str]) -> int:
    """The exit code of `sitemirror ARGUMENTS`."""
    return _run(_sitemirror(arguments), SITEMIRROR, arguments)


def run_sitemap_to_markdown(arguments: Sequence[str]) -> int:
    """The exit code of `sitemap-to-markdown ARGUMENTS`."""
    return _run(_sitemap_to_markdown(arguments), SITEMAP_TO_MARKDOWN, arguments)


def run_mirror_site(arguments: Sequence[str]) -> int:
    """The exit code of `mirror-site ARGUMENTS`."""
    return _run(_mirror_site(arguments), MIRROR_SITE, arguments)


def _run(app: typer.Typer, program: str, arguments: Sequence[str]) -> int:
    stdout.prepare()
    try:
        if not arguments:
            with contextlib.redirect_stdout(sys.stderr):
                app(["--help"], prog_name=program, standalone_mode=False)
            return 2
        return int(app(list(arguments), prog_name=program, standalone_mode=False) or 0)
    except typer.TyperException as error:
        message, hint = _usage(error, program, arguments)
        complain(message, hint, program=program)
        return error.exit_code
    except SitemirrorError as error:
        complain(error.message, error.hint, program=program)
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


def _usage(error: typer.TyperException, program: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What typer found wrong with the command line, in our words."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path if context is not None else program} --help`"
    if message.startswith("No such command") and arguments[0].startswith(_WEB_ADDRESS):
        hint = f"say what to do with it: {program} mirror {arguments[0]}"
    return message[:1].lower() + message[1:], hint


def _sitemirror(arguments: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        help=INTRODUCTION,
        epilog=escape(EXAMPLES[SITEMIRROR]),
        context_settings=_CONTEXT,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    typed_again = command_line(SITEMIRROR, arguments)

    def list_(context: typer.Context, url: _Url, config: _Config = None) -> int:
        settings = settings_for(Command.LIST, typed(context), environ=os.environ, config=config)
        return run_job(_job("list", url, settings, SITEMIRROR, typed_again))

    def mirror(context: typer.Context, url: _Url, config: _Config = None) -> int:
        settings = settings_for(Command.MIRROR, typed(context), environ=os.environ, config=config)
        return run_job(_job("mirror", url, settings, SITEMIRROR, typed_again))

    def crawl(context: typer.Context, url: _Page, config: _Config = None) -> int:
        settings = settings_for(Command.CRAWL, typed(context), environ=os.environ, config=config)
        return run_job(_job("crawl", url, settings, SITEMIRROR, typed_again))

    def verify(context: typer.Context, folder: _Mirrored, config: _Config = None) -> int:
        from sitemirror.cli.verification import run_verify

        settings = settings_for(Command.VERIFY, typed(context), environ=os.environ, config=config)
        return run_verify(folder, settings, SITEMIRROR)

    def where(context: typer.Context, target: _Target, config: _Config = None) -> None:
        from sitemirror import api

        settings = settings_for(Command.WHERE, typed(context), environ=os.environ, config=config)
        stdout.print_line(api.where(target, settings=settings))

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option("--version", help="Print the version.", metavar="", is_eager=True, callback=_print_version),
        ] = False,
    ) -> None:
        """Takes the options that stand before the command."""

    every = (
        (Command.LIST, list_),
        (Command.MIRROR, mirror),
        (Command.CRAWL, crawl),
        (Command.VERIFY, verify),
        (Command.WHERE, where),
    )
    for command, function in every:
        app.command(command.value, help=HELP[command], epilog=escape(EXAMPLES[command]), context_settings=_CONTEXT)(
            _with_options(function, options_of(command))
        )
    return app


def _sitemap_to_markdown(arguments: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=_CONTEXT
    )
    typed_again = command_line(SITEMAP_TO_MARKDOWN, arguments)

    def door(
        context: typer.Context,
        url: _UrlOption,
        mirror: _Mirror = False,
        config: _Config = None,
        version: Annotated[
            bool,
            typer.Option("--version", help="Print the version.", metavar="", is_eager=True, callback=_print_version),
        ] = False,
    ) -> int:
        command = Command.MIRROR if mirror else Command.LIST
        given = typed(context)
        settings = settings_for(command, given, environ=os.environ, config=config)
        idle = given.keys() - {option.field for option in options_of(command)}
        if idle and not settings.quiet:
            names = ", ".join(sorted(map(spell, idle)))
            other = "with --mirror" if command is Command.LIST else "without --mirror"
            print(f"note: {names} {'counts' if len(idle) == 1 else 'count'} only {other}", file=sys.stderr)
        return run_job(_job("mirror" if mirror else "list", url, settings, SITEMAP_TO_MARKDOWN, typed_again))

    app.command(help=SITEMAP_TO_MARKDOWN_HELP, epilog=escape(EXAMPLES[SITEMAP_TO_MARKDOWN]), context_settings=_CONTEXT)(
        _with_options(door, options_of(Command.LIST, Command.MIRROR))
    )
    return app


def _mirror_site(arguments: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=_CONTEXT
    )
    typed_again = command_line(MIRROR_SITE, arguments)

    def door(
        context: typer.Context,
        url: _Page,
        config: _Config = None,
        version: Annotated[
            bool,
            typer.Option("--version", help="Print the version.", metavar="", is_eager=True, callback=_print_version),
        ] = False,
    ) -> int:
        settings = settings_for(Command.CRAWL, typed(context), environ=os.environ, config=config)
        return run_job(_job("crawl", url, settings, MIRROR_SITE, typed_again))

    app.command(help=MIRROR_SITE_HELP, epilog=escape(EXAMPLES[MIRROR_SITE]), context_settings=_CONTEXT)(
        _with_options(door, options_of(Command.CRAWL))
    )
    return app


def _job(
    command: Literal["list", "mirror", "crawl"], url: str, settings: Settings, program: str, typed_again: str
) -> Job:
    def start(listener: Listener) -> Run:
        from sitemirror import api

        if command == "list":
            return api.list_site(url, settings=settings, on_event=listener)
        start_run = api.crawl if command == "crawl" else api.mirror
        return start_run(url, settings=settings, on_event=listener)

    return Job(command, url, settings, program, typed_again, start)


def _with_options(function: Callable[..., Any], options: Sequence[Option]) -> Callable[..., Any]:
    """`function` as typer sees it: with the options as further parameters, which it reads from the context."""
    signature = inspect.signature(function, eval_str=True)
    every = [*signature.parameters.values(), *parameters(options)]

    def command(**values: Any) -> Any:
        return function(**{name: value for name, value in values.items() if name in signature.parameters})

    command.__name__ = function.__name__
    command.__signature__ = inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in every])  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in every}
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        stdout.print_line(f"{SITEMIRROR} {__version__}")
        raise typer.Exit
