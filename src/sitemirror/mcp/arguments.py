"""Read the arguments of a call as they were meant. Models misname one in eight.

A name that others use for the same thing is understood, so is a number in quotes. What cannot be understood is
answered with the arguments that there are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from sitemirror.errors import UsageError
from sitemirror.mcp.answers import BUDGET, LEAST, MOST, one_line

_LETTERS: Final = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    is_number: bool = False
    is_needed: bool = False
    default: int | None = None
    least: int = 1
    most: int = MOST

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of its value."""
        found: dict[str, object] = {"type": "integer" if self.is_number else "string", "description": self.description}
        if self.default is not None:
            found |= {"default": self.default, "minimum": self.least, "maximum": self.most}
        return found


def site(description: str) -> Argument:
    """Make the argument that chooses mirrors."""
    names = ("site", "library", "mirror", "host", "docs", "source", "name", "domain", "library_id", "package")
    return Argument("in", description, names)


def page(description: str, *, is_needed: bool) -> Argument:
    """Make the argument that names a page."""
    names = ("url", "uri", "path", "page", "file", "id", "link", "document", "doc", "source")
    return Argument("ref", description, names, is_needed=is_needed)


QUERY_ALIASES: Final = ("q", "search", "text", "question", "topic", "keywords", "term", "terms", "queries")
TOKENS: Final = Argument(
    "budget",
    "Most tokens of the answer.",
    ("tokens", "max_tokens", "token_limit", "limit_tokens", "max_length"),
    is_number=True,
    default=BUDGET,
    least=LEAST,
)


def read_arguments(tool: str, arguments: tuple[Argument, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by the arguments' own names. Raises `UsageError` that says which there are."""
    # Of two arguments with the same alias the first has it.
    known = {_plain(name): each for each in reversed(arguments) for name in each.aliases}
    known |= {_plain(each.name): each for each in arguments}
    own = {_plain(each.name) for each in arguments}
    values: dict[str, Any] = {}
    # An argument's own name counts before an alias of it.
    for name in sorted(given, key=lambda each: _plain(each) not in own):
        argument = known.get(_plain(name))
        if argument is None:
            close = get_close_matches(_plain(name), own, n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise UsageError(f"{tool} has no argument {one_line(json.dumps(name), 80)}.{meant} {_usage(arguments)}")
        if given[name] is not None:
            values.setdefault(argument.name, _value(tool, argument, given[name]))
    for argument in arguments:
        if argument.is_needed and not values.get(argument.name):
            raise UsageError(f"{tool} needs {argument.name}. {_usage(arguments)}")
        if argument.default is not None:
            values.setdefault(argument.name, argument.default)
    return values


def _plain(name: str) -> str:
    """Return a name without case, hyphens and underscores: `maxTokens` and `max_tokens` are one."""
    return _LETTERS.sub("", name.lower())


def _value(tool: str, argument: Argument, value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if argument.is_number:
        try:
            number = int(float(value)) if not isinstance(value, bool) else None
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None:
            raise UsageError(f"{argument.name} of {tool} must be a number, not {one_line(json.dumps(value), 80)}.")
        return min(max(number, argument.least), argument.most)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ("-" if argument.name == "lines" else " ").join(map(str, value))
    raise UsageError(f"{argument.name} of {tool} must be a text, not {one_line(json.dumps(value), 80)}.")


def _usage(arguments: tuple[Argument, ...]) -> str:
    names = (f"{each.name} (needed)" if each.is_needed else each.name for each in arguments)
    return f"Its arguments: {', '.join(names)}."
