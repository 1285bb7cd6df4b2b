"""The programs as typer has them: help, and every command line that is not plain to see."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from sitemirror import __version__
from sitemirror.cli import stdout
from sitemirror.cli.commands import (
    MIRROR_SITE,
    SITEMAP_TO_MARKDOWN,
    SITEMIRROR,
    CommandLine,
)
from sitemirror.cli.complaints import complain
from sitemirror.cli.config import DEFAULT_FILE
from sitemirror.cli.options import Command, options_of
from sitemirror.cli.parameters import typed, with_options

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

CarryOut = Callable[[Command, CommandLine], int]
"""Does what a command line says, and gives the exit code."""

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
    str, typer.Argument(metavar="DIR", help="A mirror's folder, or one with several in it.", show_default=False)
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


_Version = Annotated[
    bool,
    typer.Option(
        "--version",
        help="Print the version.",
        metavar="",
        is_eager=True,
        callback=lambda wanted: _print_version() if wanted else None,
    ),
]


def sitemirror_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `sitemirror ARGUMENTS`."""
    app = typer.Typer(
        help=INTRODUCTION,
        epilog=escape(EXAMPLES[SITEMIRROR]),
        context_settings=_CONTEXT,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )

    def do(command: Command, context: typer.Context, target: str, config: Path | None) -> int:
        return carry_out(command, CommandLine(SITEMIRROR, arguments, target, typed(context), config))

    def list_(context: typer.Context, url: _Url, config: _Config = None) -> int:
        return do(Command.LIST, context, url, config)

    def mirror(context: typer.Context, url: _Url, config: _Config = None) -> int:
        return do(Command.MIRROR, context, url, config)

    def crawl(context: typer.Context, url: _Page, config: _Config = None) -> int:
        return do(Command.CRAWL, context, url, config)

    def verify(context: typer.Context, folder: _Mirrored, config: _Config = None) -> int:
        return do(Command.VERIFY, context, folder, config)

    def where(context: typer.Context, target: _Target, config: _Config = None) -> int:
        return do(Command.WHERE, context, target, config)

    @app.callback()
    def root(version: _Version = False) -> None:
        """Takes the options that stand before the command."""

    every = (
        (Command.LIST, list_),
        (Command.MIRROR, mirror),
        (Command.CRAWL, crawl),
        (Command.VERIFY, verify),
        (Command.WHERE, where),
    )
    for command, function in every:
        # Telling typer of an option takes time, and a command that is not named cannot be meant.
        options = options_of(command) if command in arguments else ()
        app.command(command.value, help=HELP[command], epilog=escape(EXAMPLES[command]), context_settings=_CONTEXT)(
            with_options(function, options)
        )
    return _run(app, SITEMIRROR, arguments)


def sitemap_to_markdown_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `sitemap-to-markdown ARGUMENTS`."""
    app = typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=_CONTEXT
    )

    def door(
        context: typer.Context,
        url: _UrlOption,
        mirror: _Mirror = False,
        config: _Config = None,
        version: _Version = False,
    ) -> int:
        command = Command.MIRROR if mirror else Command.LIST
        return carry_out(command, CommandLine(SITEMAP_TO_MARKDOWN, arguments, url, typed(context), config))

    app.command(help=SITEMAP_TO_MARKDOWN_HELP, epilog=escape(EXAMPLES[SITEMAP_TO_MARKDOWN]), context_settings=_CONTEXT)(
        with_options(door, options_of(Command.LIST, Command.MIRROR))
    )
    return _run(app, SITEMAP_TO_MARKDOWN, arguments)


def mirror_site_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `mirror-site ARGUMENTS`."""
    app = typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=_CONTEXT
    )

    def door(context: typer.Context, url: _Page, config: _Config = None, version: _Version = False) -> int:
        return carry_out(Command.CRAWL, CommandLine(MIRROR_SITE, arguments, url, typed(context), config))

    app.command(help=MIRROR_SITE_HELP, epilog=escape(EXAMPLES[MIRROR_SITE]), context_settings=_CONTEXT)(
        with_options(door, options_of(Command.CRAWL))
    )
    return _run(app, MIRROR_SITE, arguments)


def _run(app: typer.Typer, program: str, arguments: Sequence[str]) -> int:
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


def _usage(error: typer.TyperException, program: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What typer found wrong with the command line, in our words."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path if context is not None else program} --help`"
    if message.startswith("No such command") and arguments[0].startswith(_WEB_ADDRESS):
        hint = f"say what to do with it: {program} mirror {arguments[0]}"
    return message[:1].lower() + message[1:], hint


def _print_version() -> None:
    stdout.print_line(f"{SITEMIRROR} {__version__}")
    raise typer.Exit
