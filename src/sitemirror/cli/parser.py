"""Parse the command lines of the three programs, driven by the table of options.

The conventions are GNU's: `--name VALUE`, `--name=VALUE`, `-o VALUE`, `-oVALUE`, `-qv`, and `--` before arguments that
look like options. The word after an option that takes a value is always its value. Names cannot be
abbreviated. Values stay text: `Settings` validates them, whether they come from here, the environment or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitemirror.cli.options import (
    ARGUMENTS,
    CONFIG_ROW,
    HELP_ALL_ROW,
    HELP_ROW,
    MORE_ARGUMENTS,
    SITES_ROW,
    VERSION_ROW,
    Command,
    Row,
    is_flag,
    is_repeatable,
    options_of,
)
from sitemirror.errors import UsageError

SITEMIRROR: Final = "sitemirror"
SITEMAP_TO_MARKDOWN: Final = "sitemap-to-markdown"
MIRROR_SITE: Final = "mirror-site"

HELP: Final = "help"
COMPLETION: Final = "completion"
SHELLS: Final = ("bash", "zsh", "fish")

_SUGGESTION_RATIO: Final = 0.7  # A letter or two in ten may be wrong or misplaced.
_WEB_ADDRESS: Final = ("http://", "https://", "www.")


class CommandLine(NamedTuple):
    """A parsed command line."""

    program: str
    arguments: Sequence[str]
    command: Command
    targets: Sequence[str]
    """The URLs, folders or files that the command is about; empty with a list of sites."""
    given: Mapping[str, Any]
    """Settings that were given, by field."""
    config: Path | None = None
    sites: Path | None = None
    """A list of sites, in place of one."""
    more: Mapping[str, Any] = {}
    """Options of `MORE_ARGUMENTS` that were given, by their long spelling; a flag is True."""

    @property
    def target(self) -> str:
        """The one thing that the command is about, empty if nothing was named."""
        return self.targets[0] if self.targets else ""


class ShowHelp(NamedTuple):
    """`--help` of a program, or of a command such as `sitemirror mirror`."""

    path: str
    all_options: bool = False


class ShowCompletion(NamedTuple):
    """`completion bash` and the like."""

    shell: str


class ShowVersion(NamedTuple):
    """`--version`."""


class _NoSuchOption(UsageError):
    """An unknown option."""

    def __init__(self, name: str, suggestions: Sequence[str] = (), *, hint: str) -> None:
        meant = f" (did you mean {' or '.join(suggestions)}?)" if suggestions else ""
        super().__init__(f"no such option: {name}{meant}", hint=hint)
        self.name = name


class _Meaning(NamedTuple):
    """Effect of a spelling such as `--no-hash`."""

    destination: str
    """The field of a setting; the longest spelling of an option that is no setting."""
    constant: bool | None = None
    """Its value; None if one follows it."""
    is_repeatable: bool = False


_Names = Mapping[str, _Meaning]
Parsed = CommandLine | ShowHelp | ShowVersion | ShowCompletion


def parse(program: str, arguments: Sequence[str]) -> Parsed:
    """Parse the arguments of `program`. Raises `UsageError`."""
    if program == SITEMIRROR:
        return _parse_sitemirror(arguments)
    if program == MIRROR_SITE:
        return _parse_command(Command.CRAWL, program, program, arguments, arguments)
    return _parse_sitemap_to_markdown(arguments)


def _parse_sitemirror(arguments: Sequence[str]) -> Parsed:
    hint = f"see `{SITEMIRROR} --help`"
    try:
        options, rest = _split(
            arguments, _names_of_rows(HELP_ROW, HELP_ALL_ROW, VERSION_ROW), hint=hint, stops_at_argument=True
        )
    except _NoSuchOption as error:
        if error.name in _settings_names(*Command) or error.name in ("--config", "--sites"):
            command = next((word for word in arguments if word in ARGUMENTS), Command.MIRROR)
            error.hint = f"give options after the command: {SITEMIRROR} {command} … {error.name}"
        raise
    if (shown := _shown(options, SITEMIRROR)) is not None:
        return shown
    if not rest:
        raise UsageError("missing command", hint=hint)
    name, *words = rest
    if name in ARGUMENTS:
        return _parse_command(Command(name), SITEMIRROR, f"{SITEMIRROR} {name}", arguments, words)
    if name == HELP:
        return _parse_help(words)
    if name == COMPLETION:
        return _parse_completion(words)
    raise _no_such_command(name, hint)


def _parse_help(words: Sequence[str]) -> ShowHelp:
    """Parse what follows `sitemirror help`."""
    options, names = _split(words, _names_of_rows(HELP_ROW, HELP_ALL_ROW), hint=f"see `{SITEMIRROR} --help`")
    if len(names) > 1:
        raise _unexpected(names[1:], hint=f"give one command: {SITEMIRROR} help {names[0]}")
    if not names or names[0] in (HELP, COMPLETION):
        return ShowHelp(SITEMIRROR)
    if names[0] not in ARGUMENTS:
        raise _no_such_command(names[0], f"see `{SITEMIRROR} --help`")
    return ShowHelp(f"{SITEMIRROR} {names[0]}", all_options="--help-all" in options)


def _parse_completion(words: Sequence[str]) -> ShowHelp | ShowCompletion:
    """Parse what follows `sitemirror completion`."""
    hint = f"for bash: {SITEMIRROR} {COMPLETION} bash"
    options, shells = _split(words, _names_of_rows(HELP_ROW), hint=hint)
    if options:
        return ShowHelp(SITEMIRROR)
    if not shells:
        raise UsageError(f"missing argument '{'|'.join(SHELLS)}'", hint=hint)
    if len(shells) > 1 or shells[0] not in SHELLS:
        raise UsageError(f"completion is for {', '.join(SHELLS)}, got {' '.join(shells)}", hint=hint)
    return ShowCompletion(shells[0])


def _no_such_command(name: str, hint: str) -> UsageError:
    from difflib import get_close_matches

    near = ", ".join(repr(str(each)) for each in get_close_matches(name, [*Command, HELP, COMPLETION]))
    if name.startswith(_WEB_ADDRESS):
        hint = f"name a command: {SITEMIRROR} mirror {name}"
    return UsageError(f"no such command {name!r}" + (f". Did you mean {near}?" if near else ""), hint=hint)


def _parse_command(command: Command, program: str, path: str, arguments: Sequence[str], words: Sequence[str]) -> Parsed:
    """Parse `words`: what follows the name of a command, or of a program that is one."""
    hint = f"see `{path} --help`"
    rows = (
        HELP_ROW,
        HELP_ALL_ROW,
        CONFIG_ROW,
        *MORE_ARGUMENTS.get(command, ()),
        *([VERSION_ROW] if path == program else []),
    )
    names = {**_names_of_rows(*rows), **_settings_names(command)}
    options, targets = _split(words, names, hint=hint)
    if (shown := _shown(options, path)) is not None:
        return shown
    config, sites = _file(options, "--config"), _file(options, "--sites")
    takes_sites = SITES_ROW in rows
    argument = ARGUMENTS[command][0]
    if not targets and not takes_sites and not argument.startswith("["):
        raise UsageError(f"missing argument '{argument.partition(' ')[0]}'", hint=hint)
    if len(targets) > 1 and "..." not in argument:
        if takes_sites:
            hint = "give one URL, or a list of them with --sites FILE; quote what contains blanks"
        raise _unexpected(targets[1:], hint=hint)
    more = {name: options.pop(name) for name in [name for name in options if name.startswith("--")]}
    return CommandLine(program, arguments, command, targets, options, config, sites, more)


def _parse_sitemap_to_markdown(arguments: Sequence[str]) -> Parsed:
    """Parse the one program that takes its URL as an option, and the settings of two commands."""
    names = {
        **_names_of_rows(HELP_ROW, HELP_ALL_ROW, VERSION_ROW, CONFIG_ROW, SITES_ROW, ("--url URL", "")),
        "--mirror": _Meaning("--mirror", True),
        "--list-only": _Meaning("--mirror", False),
        **_settings_names(Command.LIST, Command.MIRROR),
    }
    options, rest = _split(arguments, names, hint=f"see `{SITEMAP_TO_MARKDOWN} --help`")
    if (shown := _shown(options, SITEMAP_TO_MARKDOWN)) is not None:
        return shown
    config, sites = _file(options, "--config"), _file(options, "--sites")
    if rest:
        raise _unexpected(rest, hint="the site is given as --url URL")
    command = Command.MIRROR if options.pop("--mirror", False) else Command.LIST
    url = options.pop("--url", "")
    return CommandLine(SITEMAP_TO_MARKDOWN, arguments, command, [url] if url else [], options, config, sites)


def _names_of_rows(*rows: Row) -> _Names:
    """Options that are no settings: `-h, --help`, `--config FILE`."""
    names: dict[str, _Meaning] = {}
    for spelled, _ in rows:
        *short, last = spelled.split(", ")
        long, _, placeholder = last.partition(" ")
        names |= dict.fromkeys((*short, long), _Meaning(long, None if placeholder else True))
    return names


def _settings_names(*commands: Command) -> _Names:
    names: dict[str, _Meaning] = {}
    for option in options_of(*commands):
        for spelling in option.names:
            on, _, off = spelling.partition("/")
            names[on] = _Meaning(option.field, True if is_flag(option.field) else None, is_repeatable(option.field))
            if off:
                names[off] = _Meaning(option.field, False)
    return names


def _split(
    arguments: Sequence[str], names: _Names, *, hint: str, stops_at_argument: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Split words into options, by destination in the order they came, and arguments."""
    options: dict[str, Any] = {}
    rest: list[str] = []
    words = list(reversed(arguments))  # The last is the next: `pop` is cheap there.

    def store(name: str, attached: str | None) -> None:
        meaning = names[name]
        if meaning.constant is not None:
            options[meaning.destination] = meaning.constant
            return
        if attached is None and not words:
            raise UsageError(f"option {name!r} requires an argument", hint=hint)
        text = words.pop() if attached is None else attached
        if meaning.is_repeatable:
            options.setdefault(meaning.destination, []).append(text)
        else:
            options[meaning.destination] = text

    while words:
        word = words.pop()
        if word == "--":
            return options, rest + words[::-1]
        if not word.startswith("-") or word == "-":
            if stops_at_argument:
                return options, [word, *words[::-1]]
            rest.append(word)
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            if name not in names:
                raise _NoSuchOption(name, _similar(name, names), hint=hint)
            if equals and names[name].constant is not None:
                raise UsageError(f"option {name!r} does not take a value", hint=hint)
            store(name, value if equals else None)
        else:
            letters = word[1:]
            while letters:
                name, letters = f"-{letters[0]}", letters[1:]
                if name not in names:
                    raise _NoSuchOption(name, hint=hint)
                takes_value = names[name].constant is None
                store(name, letters if takes_value and letters else None)
                if takes_value:
                    break
    return options, rest


def _similar(typed: str, names: Iterable[str]) -> list[str]:
    """Names that may have been meant. The dashes are no likeness."""
    from difflib import SequenceMatcher, get_close_matches

    def is_near(name: str) -> bool:
        letters, others = typed.lstrip("-"), name.lstrip("-")
        return others.startswith(letters) or SequenceMatcher(None, letters, others).ratio() >= _SUGGESTION_RATIO

    return [name for name in get_close_matches(typed, [name for name in names if len(name) > 2]) if is_near(name)]


def _shown(options: Mapping[str, Any], path: str) -> ShowHelp | ShowVersion | None:
    """Return the help or the version, whichever comes first."""
    for name in options:
        if name in ("--help", "--help-all"):
            return ShowHelp(path, all_options="--help-all" in options)
        if name == "--version":
            return ShowVersion()
    return None


def _file(options: dict[str, Any], name: str) -> Path | None:
    """Take an option that names a file. An empty name would be read as that of the working folder."""
    value = options.pop(name, None)
    if value == "":
        raise UsageError(f"{name} is empty", hint="give a path, or leave it out")
    return None if value is None else Path(value)


def _unexpected(arguments: Sequence[str], *, hint: str) -> UsageError:
    return UsageError(f"got unexpected extra argument(s) ({' '.join(arguments)})", hint=hint)
