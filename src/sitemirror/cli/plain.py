"""Reads the command lines that are plain to see: known options, each with its value, and one target.

Most are. They start without typer, which takes as long to load and to be told of the options as the rest of a run's
start. Everything else is left to it, for it knows what is allowed besides and what to say of mistakes: help,
abbreviations, short options in one word, values that look like options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from sitemirror.cli.options import Option, is_flag, is_repeatable

_CONFIG: Final = "config"
_SITES: Final = "sites"


def read_plain(arguments: Sequence[str], options: Sequence[Option]) -> tuple[str, dict[str, Any], Path | None] | None:
    """Target, settings that were given and configuration file; None if they are not plain to see."""
    read = _read(arguments, options, [_CONFIG])
    if read is None or len(read[0]) != 1 or not read[0][0]:
        return None
    (target,), found = read
    return target, found, _path(found, _CONFIG)


def read_plain_list(
    arguments: Sequence[str], options: Sequence[Option]
) -> tuple[str, dict[str, Any], Path | None, Path | None] | None:
    """The same, with `--sites FILE` in place of the target, which is empty then."""
    read = _read(arguments, options, [_CONFIG, _SITES])
    if read is None or read[0] or _SITES not in read[1]:
        return None
    found = read[1]
    return "", found, _path(found, _CONFIG), _path(found, _SITES)


def _path(found: dict[str, Any], name: str) -> Path | None:
    value = found.pop(name, None)
    return None if value is None else Path(value)


def _read(
    arguments: Sequence[str], options: Sequence[Option], files: Sequence[str]
) -> tuple[list[str], dict[str, Any]] | None:
    """What is no option, and what the options give; `files` are options that are no settings."""
    names = {**{f"--{name}": (name, None) for name in files}, **dict(_names(options))}
    found: dict[str, Any] = {}
    targets: list[str] = []
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            targets.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in names or (equals and not name.startswith("--")):
            return None
        field, meaning = names[name]
        if meaning is not None:
            if equals:
                return None
            found[field] = meaning
            continue
        if not equals:
            value = next(words, "-")
            if value.startswith("-"):
                return None
        if field not in files and is_repeatable(field):
            found.setdefault(field, []).append(value)
        else:
            found[field] = value
    return targets, found


def _names(options: Sequence[Option]) -> Iterator[tuple[str, tuple[str, bool | None]]]:
    """What may be typed, with the field that is meant and, for a flag, the value."""
    for option in options:
        for spelling in option.names:
            yes, _, no = spelling.partition("/")
            yield yes, (option.field, True if is_flag(option.field) else None)
            if no:
                yield no, (option.field, False)
