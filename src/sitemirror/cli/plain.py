"""Reads the command lines that are plain to see: known options, each with its value, and one target or list of sites.

Most are. They start without typer, which takes as long to load and to be told of the options as the rest of a run's
start. Everything else is left to it, for it knows what is allowed besides and what to say of mistakes: help,
abbreviations, short options in one word, values that look like options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from sitemirror.cli.options import Option, is_flag, is_repeatable

_FILES: Final = ("config", "sites")  # options that are no settings


def read_plain(
    arguments: Sequence[str], options: Sequence[Option]
) -> tuple[str, dict[str, Any], Path | None, Path | None] | None:
    """Target, settings that were given, configuration file and list of sites; None if they are not plain to see.

    There is either a target or a list, with which the target is empty.
    """
    names = {**{f"--{name}": (name, None) for name in _FILES}, **dict(_names(options))}
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
        if field not in _FILES and is_repeatable(field):
            found.setdefault(field, []).append(value)
        else:
            found[field] = value
    if "" in (found.get(name) for name in _FILES):
        return None
    config, sites = (Path(found.pop(name)) if name in found else None for name in _FILES)
    if len(targets) != (sites is None) or "" in targets:
        return None
    return "".join(targets), found, config, sites


def _names(options: Sequence[Option]) -> Iterator[tuple[str, tuple[str, bool | None]]]:
    """What may be typed, with the field that is meant and, for a flag, the value."""
    for option in options:
        for spelling in option.names:
            yes, _, no = spelling.partition("/")
            yield yes, (option.field, True if is_flag(option.field) else None)
            if no:
                yield no, (option.field, False)
