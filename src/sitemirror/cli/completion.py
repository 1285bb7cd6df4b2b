"""Generate completion scripts for bash, zsh and fish from the table of options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from sitemirror.cli.help import TEXTS
from sitemirror.cli.options import (
    CONFIG_ROW,
    HELP_ALL_ROW,
    HELP_ROW,
    MORE_ARGUMENTS,
    VERSION_ROW,
    Command,
    Option,
    Row,
    is_flag,
    is_path,
    options_of,
)
from sitemirror.cli.parser import COMPLETION, HELP, SHELLS, SITEMIRROR


class Value(StrEnum):
    """Value that follows an option."""

    NONE = "none"
    ANY = "any"
    CHOICE = "choice"
    FILE = "file"
    FOLDER = "folder"


class OptionEntry(NamedTuple):
    """An option in a completion script."""

    names: tuple[str, ...]
    text: str
    value: Value = Value.NONE
    choices: tuple[str, ...] = ()


_FOLDERS: Final = (Command.UPDATE, Command.VERIFY, Command.SEARCH, Command.EXPORT, Command.AGENTS, Command.MCP)
_FILES: Final = (Command.CONVERT, Command.WHERE)
_GENERAL: Final = (VERSION_ROW, HELP_ROW)
_OTHER_COMMANDS: Final = (
    (HELP, "Shows the help of a command."),
    (COMPLETION, "Prints a completion script for your shell."),
)


def completion_script(shell: str) -> str:
    """Return the completion script for `shell`, one of `SHELLS`."""
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(write()) + "\n"


def entries(command: Command) -> list[OptionEntry]:
    """Return every option of a command."""
    rows = (*MORE_ARGUMENTS.get(command, ()), CONFIG_ROW, HELP_ROW, HELP_ALL_ROW)
    return [*map(_of_option, options_of(command)), *map(_of_row, rows)]


def _of_option(option: Option) -> OptionEntry:
    names = tuple(part for name in option.names for part in name.split("/"))
    text = option.help.partition(". ")[0].removesuffix(".")
    if is_flag(option.field):
        return OptionEntry(names, text)
    choices = option.choices or option.kind.choices
    if choices:
        return OptionEntry(names, text, Value.CHOICE, choices)
    value = Value.FOLDER if option.field == "output" else Value.FILE if is_path(option.field) else Value.ANY
    return OptionEntry(names, text, value)


def _of_row(row: Row) -> OptionEntry:
    *short, last = row[0].split(", ")
    long, _, placeholder = last.partition(" ")
    text = row[1].partition(". ")[0].removesuffix(".")
    if "|" in placeholder:
        return OptionEntry((*short, long), text, Value.CHOICE, tuple(placeholder.split("|")))
    value = {"": Value.NONE, "FILE": Value.FILE, "PATH": Value.FILE}.get(placeholder, Value.ANY)
    return OptionEntry((*short, long), text, value)


def _commands() -> Iterator[tuple[str, str]]:
    yield from ((command.value, TEXTS[command].partition("\n")[0]) for command in Command)
    yield from _OTHER_COMMANDS


def _names(group: Sequence[OptionEntry]) -> str:
    return " ".join(name for entry in group for name in entry.names)


# --- bash ----------------------------------------------------------------------------------------------------------


def _bash() -> Iterator[str]:
    commands = [name for name, _ in _commands()]
    yield from (
        "# Completion for sitemirror. Add to ~/.bashrc:",
        f'#   eval "$({SITEMIRROR} {COMPLETION} bash)"',
        "_sitemirror_reply() {",
        "    local line",
        "    COMPREPLY=()",
        '    while IFS= read -r line; do COMPREPLY+=("$line"); done < <("$@")',
        "}",
        "_sitemirror_paths() {",
        "    compopt -o filenames 2>/dev/null",
        '    _sitemirror_reply compgen "$1" -- "$2"',
        "}",
        "_sitemirror() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i",
        "    COMPREPLY=()",
        '    if [[ $cur == "=" ]]; then',
        "        cur=",
        '    elif [[ $prev == "=" ]]; then',
        "        prev=${COMP_WORDS[COMP_CWORD-2]}",
        "    fi",
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        "        case ${COMP_WORDS[i]} in",
        f"            {'|'.join(commands)}) command=${{COMP_WORDS[i]}}; break ;;",
        "        esac",
        "    done",
        '    case "$command $prev" in',
    )
    for command in Command:
        for entry in entries(command):
            if entry.value is not Value.NONE:
                pattern = "|".join(f'"{command} {name}"' for name in entry.names)
                yield f"        {pattern}) {_bash_value(entry)}return ;;"
    yield "    esac"
    yield "    case $command in"
    for command in Command:
        arguments = "-d" if command in _FOLDERS else "-f" if command in _FILES else ""
        yield f"        {command})"
        yield "            if [[ $cur == -* ]]; then"
        yield f"                _sitemirror_reply compgen -W '{_names(entries(command))}' -- \"$cur\""
        if arguments:
            yield "            else"
            yield f'                _sitemirror_paths {arguments} "$cur"'
        yield "            fi ;;"
    yield f"        {HELP}) _sitemirror_reply compgen -W '{' '.join(Command)}' -- \"$cur\" ;;"
    yield f"        {COMPLETION}) _sitemirror_reply compgen -W '{' '.join(SHELLS)}' -- \"$cur\" ;;"
    words = " ".join([*commands, *(_names([_of_row(row) for row in _GENERAL]).split())])
    yield f"        *) _sitemirror_reply compgen -W '{words}' -- \"$cur\" ;;"
    yield "    esac"
    yield "}"
    yield "complete -F _sitemirror sitemirror"


def _bash_value(entry: OptionEntry) -> str:
    match entry.value:
        case Value.CHOICE:
            return f"_sitemirror_reply compgen -W '{' '.join(entry.choices)}' -- \"$cur\"; "
        case Value.FILE:
            return '_sitemirror_paths -f "$cur"; '
        case Value.FOLDER:
            return '_sitemirror_paths -d "$cur"; '
        case _:
            return ""


# --- zsh -----------------------------------------------------------------------------------------------------------


def _zsh() -> Iterator[str]:
    commands = list(_commands())
    yield from (
        "#compdef sitemirror",
        "# Completion for sitemirror. Add to ~/.zshrc, after compinit:",
        f'#   eval "$({SITEMIRROR} {COMPLETION} zsh)"',
        "_sitemirror() {",
        "    local command= word prev=${words[CURRENT-1]} cur=${words[CURRENT]}",
        "    local -a found",
        "    for word in ${words[2,CURRENT-1]}; do",
        "        case $word in",
        f"            ({'|'.join(name for name, _ in commands)}) command=$word; break ;;",
        "        esac",
        "    done",
        "    if [[ $cur == --*=* ]]; then",
        "        prev=${cur%%=*}",
        "        compset -P '*='",
        "    fi",
        '    case "$command $prev" in',
    )
    for command in Command:
        for entry in entries(command):
            if entry.value is not Value.NONE:
                pattern = "|".join(f'"{command} {name}"' for name in entry.names)
                yield f"        ({pattern}) {_zsh_value(entry)}; return ;;"
    yield "    esac"
    yield "    case $command in"
    for command in Command:
        yield f"        ({command})"
        yield "            if [[ $cur == -* ]]; then"
        yield f"                found=({' '.join(_zsh_words(entries(command)))})"
        yield "                _describe option found"
        if command in _FOLDERS:
            yield "            else"
            yield "                _files -/"
        elif command in _FILES:
            yield "            else"
            yield "                _files"
        yield "            fi ;;"
    yield f"        ({HELP}) compadd -- {' '.join(Command)} ;;"
    yield f"        ({COMPLETION}) compadd -- {' '.join(SHELLS)} ;;"
    yield "        (*)"
    yield f"            found=({' '.join(_quoted(f'{name}:{text}') for name, text in commands)})"
    yield "            _describe command found"
    yield f"            compadd -- {_names([_of_row(row) for row in _GENERAL])} ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _sitemirror ]]; then _sitemirror "$@"; else compdef _sitemirror sitemirror; fi'


def _zsh_words(group: Sequence[OptionEntry]) -> Iterator[str]:
    return (_quoted(f"{name}:{entry.text}") for entry in group for name in entry.names)


def _zsh_value(entry: OptionEntry) -> str:
    match entry.value:
        case Value.CHOICE:
            return f"compadd -- {' '.join(entry.choices)}"
        case Value.FILE:
            return "_files"
        case Value.FOLDER:
            return "_files -/"
        case _:
            return "_message value"


# --- fish ----------------------------------------------------------------------------------------------------------


def _fish() -> Iterator[str]:
    names = " ".join(name for name, _ in _commands())
    yield "# Completion for sitemirror. Save as ~/.config/fish/completions/sitemirror.fish"
    yield f"complete -c sitemirror -n 'not __fish_seen_subcommand_from {names}' -f"
    for name, text in _commands():
        yield f"complete -c sitemirror -n 'not __fish_seen_subcommand_from {names}' -a {name} -d {_quoted(text)}"
    for entry in (_of_row(row) for row in _GENERAL):
        yield f"complete -c sitemirror -n 'not __fish_seen_subcommand_from {names}' {_fish_option(entry)}"
    for command in Command:
        is_here = f"__fish_seen_subcommand_from {command}"
        if command not in (*_FOLDERS, *_FILES):
            yield f"complete -c sitemirror -n '{is_here}' -f"
        elif command in _FOLDERS:
            yield f"complete -c sitemirror -n '{is_here}' -x -a '(__fish_complete_directories)'"
        for entry in entries(command):
            yield f"complete -c sitemirror -n '{is_here}' {_fish_option(entry)}"
    yield f"complete -c sitemirror -n '__fish_seen_subcommand_from {HELP}' -f -a '{' '.join(Command)}'"
    yield f"complete -c sitemirror -n '__fish_seen_subcommand_from {COMPLETION}' -f -a '{' '.join(SHELLS)}'"


def _fish_option(entry: OptionEntry) -> str:
    names = (f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in entry.names)
    value = {
        Value.NONE: "",
        Value.ANY: "-x",
        Value.CHOICE: f"-x -a '{' '.join(entry.choices)}'",
        Value.FILE: "-r -F",
        Value.FOLDER: "-x -a '(__fish_complete_directories)'",
    }[entry.value]
    return " ".join(filter(None, [*names, value, f"-d {_quoted(entry.text)}"]))


def _quoted(text: str) -> str:
    """Quote a text for zsh and fish. An apostrophe becomes a typographic one, which no shell reads."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
