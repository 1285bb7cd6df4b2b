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


def read_plain(arguments: Sequence[str], options: Sequence[Option]) -> tuple[str, dict[str, Any], Path | None] | None:
    """Target, settings that were given and configuration file; None if they are not plain to see."""
    names = {"--config": (_CONFIG, None), **dict(_names(options))}
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
        if field != _CONFIG and is_repeatable(field):
            found.setdefault(field, []).append(value)
        else:
            found[field] = value
    if len(targets) != 1 or not targets[0]:
        return None
    config = found.pop(_CONFIG, None)
    return targets[0], found, None if config is None else Path(config)


def _names(options: Sequence[Option]) -> Iterator[tuple[str, tuple[str, bool | None]]]:
    """What may be typed, with the field that is meant and, for a flag, the value."""
    for option in options:
        for spelling in option.names:
            yes, _, no = spelling.partition("/")
            yield yes, (option.field, True if is_flag(option.field) else None)
            if no:
                yield no, (option.field, False)
