"""The programs as typer reads them: every command line that is not plain to see, and what is wrong with it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from sitemirror import __version__
from sitemirror.cli import stdout
from sitemirror.cli.commands import MIRROR_SITE, SITEMAP_TO_MARKDOWN, SITEMIRROR, CommandLine
from sitemirror.cli.complaints import complain
from sitemirror.cli.help import help_of
from sitemirror.cli.options import OPTIONS, Command, Option, default_text, is_flag, is_repeatable, options_of
from sitemirror.errors import UsageError
from sitemirror.settings import kinds

CarryOut = Callable[[Command, CommandLine], int]
"""Does what a command line says, and gives the exit code."""

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}
_COMMANDS: Final = frozenset(Command)
_OPTIONS: Final = frozenset(
    name.strip() for option in OPTIONS for spelling in option.names for name in spelling.split("/")
) | {"--config", "--sites"}
_TAKES_SITES: Final = frozenset((f"{SITEMIRROR} mirror", f"{SITEMIRROR} crawl", MIRROR_SITE))
_LIKE: Final = 0.7  # a letter or two in ten may be wrong, or in the wrong place
_WEB_ADDRESS: Final = ("http://", "https://", "www.")


def _file(option: str) -> Any:
    """An option that names a file. An empty name would be read as that of the working folder."""

    def named(name: str | None) -> Path | None:
        if name == "":
            raise UsageError(f"{option} is empty", hint="give a path, or leave it out")
        return Path(name) if name else None

    return typer.Option(option, parser=str, callback=named)


_Url = Annotated[str, typer.Argument(metavar="URL")]
_UrlOption = Annotated[str, typer.Option("--url")]
_Folder = Annotated[str, typer.Argument(metavar="DIR")]
_Page = Annotated[str, typer.Argument(metavar="FILE|URL|-")]
_Base = Annotated[str | None, typer.Option("--url")]
_Explain = Annotated[bool, typer.Option("--explain")]
_UrlOrFile = Annotated[str, typer.Argument(metavar="URL|FILE")]
_Sites = Annotated[Path | None, _file("--sites")]
_Mirror = Annotated[bool, typer.Option("--mirror/--list-only")]
_Config = Annotated[Path | None, _file("--config")]
_Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=lambda wanted: _print_version() if wanted else None),
]


class _Command(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_of(ctx.command_path, sys.stdout))


class _Group(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_of(ctx.command_path, sys.stdout))


def sitemirror_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `sitemirror ARGUMENTS`."""
    app = _app()

    def do(
        command: Command, context: typer.Context, target: str, config: Path | None, sites: Path | None = None
    ) -> int:
        return carry_out(command, CommandLine(SITEMIRROR, arguments, target, _typed(context), config, sites))

    def list_(context: typer.Context, url: _Url, config: _Config = None) -> int:
        return do(Command.LIST, context, url, config)

    def mirror(context: typer.Context, url: _Url = "", sites: _Sites = None, config: _Config = None) -> int:
        return do(Command.MIRROR, context, url, config, sites)

    def crawl(context: typer.Context, url: _Url = "", sites: _Sites = None, config: _Config = None) -> int:
        return do(Command.CRAWL, context, url, config, sites)

    def convert(
        context: typer.Context, page: _Page, url: _Base = None, explain: _Explain = False, config: _Config = None
    ) -> int:
        line = CommandLine(SITEMIRROR, arguments, page, _typed(context), config, base=url, explains=explain)
        return carry_out(Command.CONVERT, line)

    def verify(context: typer.Context, folder: _Folder, config: _Config = None) -> int:
        return do(Command.VERIFY, context, folder, config)

    def where(context: typer.Context, target: _UrlOrFile, config: _Config = None) -> int:
        return do(Command.WHERE, context, target, config)

    @app.callback()
    def root(version: _Version = False) -> None:
        """Takes the options that stand before the command."""

    every = (
        (Command.LIST, list_),
        (Command.MIRROR, mirror),
        (Command.CRAWL, crawl),
        (Command.CONVERT, convert),
        (Command.VERIFY, verify),
        (Command.WHERE, where),
    )
    for command, function in every:
        # Telling typer of an option takes time, and a command that is not named cannot be meant.
        options = options_of(command) if command in arguments else ()
        app.command(command.value, cls=_Command, context_settings=_CONTEXT)(_with_options(function, options))
    return _run(app, SITEMIRROR, arguments)


def sitemap_to_markdown_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `sitemap-to-markdown ARGUMENTS`."""
    app = _app()

    def door(
        context: typer.Context,
        url: _UrlOption = "",
        sites: _Sites = None,
        mirror: _Mirror = False,
        config: _Config = None,
        version: _Version = False,
    ) -> int:
        command = Command.MIRROR if mirror else Command.LIST
        return carry_out(command, CommandLine(SITEMAP_TO_MARKDOWN, arguments, url, _typed(context), config, sites))

    options = options_of(Command.LIST, Command.MIRROR)
    app.command(cls=_Command, context_settings=_CONTEXT)(_with_options(door, options))
    return _run(app, SITEMAP_TO_MARKDOWN, arguments)


def mirror_site_app(arguments: Sequence[str], carry_out: CarryOut) -> int:
    """The exit code of `mirror-site ARGUMENTS`."""
    app = _app()

    def door(
        context: typer.Context,
        url: _Url = "",
        sites: _Sites = None,
        config: _Config = None,
        version: _Version = False,
    ) -> int:
        return carry_out(Command.CRAWL, CommandLine(MIRROR_SITE, arguments, url, _typed(context), config, sites))

    app.command(cls=_Command, context_settings=_CONTEXT)(_with_options(door, options_of(Command.CRAWL)))
    return _run(app, MIRROR_SITE, arguments)


def _app() -> typer.Typer:
    return typer.Typer(cls=_Group, context_settings=_CONTEXT, add_completion=False, pretty_exceptions_enable=False)


def _run(app: typer.Typer, program: str, arguments: Sequence[str]) -> int:
    try:
        return int(app(list(arguments), prog_name=program, standalone_mode=False) or 0)
    except typer.TyperException as error:
        message, hint = _usage(error, program, arguments)
        complain(message, hint, program=program)
        return error.exit_code


def _usage(error: typer.TyperException, program: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What typer found wrong with the command line, in our words."""
    message = " ".join(error.format_message().split()).rstrip(".")
    if (unknown := getattr(error, "option_name", None)) and (near := getattr(error, "possibilities", None)) is not None:
        meant = " or ".join(name for name in near if _is_near(unknown, name))
        message = f"No such option: {unknown}" + (f" (did you mean {meant}?)" if meant else "")
    context = getattr(error, "ctx", None)  # An option without its value comes without one.
    named = f"{program} {arguments[0]}" if program == SITEMIRROR and arguments[0] in _COMMANDS else program
    hint = f"see `{context.command_path if context is not None else named} --help`"
    if message.startswith("No such command") and arguments[0].startswith(_WEB_ADDRESS):
        hint = f"say what to do with it: {program} mirror {arguments[0]}"
    elif message.startswith("Got unexpected extra argument") and named in _TAKES_SITES:
        hint = "give one URL, or a list of them with --sites FILE; what has blanks in it goes in quotes"
    elif message.startswith("Got unexpected extra argument") and program == SITEMAP_TO_MARKDOWN:
        hint = "the site is given as --url URL"
    elif unknown in _OPTIONS and program == SITEMIRROR and arguments[0].startswith("-"):
        command = next((each for each in arguments if each in _COMMANDS), "mirror")
        hint = f"options stand behind the command: {program} {command} … {unknown}"
    return message[:1].lower() + message[1:], hint


def _is_near(typed: str, name: str) -> bool:
    """Whether somebody may have meant `name`; typer takes the two dashes for likeness, too."""
    typed, name = typed.lstrip("-"), name.lstrip("-")
    return name.startswith(typed) or SequenceMatcher(None, typed, name).ratio() >= _LIKE


def _print_version() -> None:
    stdout.print_line(f"{SITEMIRROR} {__version__}")
    raise typer.Exit


# --- the options, as typer has them --------------------------------------------------------------------------------


def _with_options(function: Callable[..., Any], options: Sequence[Option]) -> Callable[..., Any]:
    """`function` as typer sees it: with the options as further parameters, which it reads from the context."""
    signature = inspect.signature(function, eval_str=True)
    every = [*signature.parameters.values(), *_parameters(options)]

    def command(**values: Any) -> Any:
        return function(**{name: value for name, value in values.items() if name in signature.parameters})

    command.__name__ = function.__name__
    command.__signature__ = inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in every])  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in every}
    return command


def _parameters(options: Iterable[Option]) -> list[inspect.Parameter]:
    """The options as parameters of a typer command.

    Values stay strings: pydantic judges them in one place, whether they come from here, the environment or a file.
    """
    return [
        inspect.Parameter(
            option.field,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(option.field),
            annotation=Annotated[
                _annotation(option.field),
                typer.Option(*option.names),
            ],
        )
        for option in options
    ]


def _annotation(field: str) -> Any:
    if is_flag(field):
        return bool | None if kinds()[field].optional else bool
    return list[str] | None if is_repeatable(field) else str | None


def _default(field: str) -> bool | str | None:
    if is_flag(field):
        default = kinds()[field].default
        return None if default is None else bool(default)
    return default_text(field) or None


def _typed(context: typer.Context) -> dict[str, Any]:
    """What was given on the command line itself, as opposed to what has its default."""
    fields = {option.field for option in OPTIONS}
    return {name: value for name, value in context.params.items() if name in fields and _was_typed(context, name)}


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
