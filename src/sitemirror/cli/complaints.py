"""Puts into one line what is wrong with a command line, a variable or a configuration file, and what to do."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from sitemirror.cli.options import choices_of
from sitemirror.text import printable
from sitemirror.values import WrongValues

BUG_HINT: Final = "this is a bug in sitemirror; run with --verbose for the traceback"


def complain(message: str, hint: str = "", *more: str, program: str) -> None:
    """Says on stderr what went wrong, in one line each, and what to do about it."""
    lines = [f"{program}: error: {printable(each)}" for each in (message, *more)]
    if hint:
        lines.append(f"hint: {printable(hint)}")
    try:
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # Nobody is listening on stderr any more; the exit code still tells.


def show_traceback(error: Exception) -> None:
    """Where in the code it happened, safe to print: the text of an exception may come from the network."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        sys.stderr.write(printable(line) + "\n")


def explain(error: WrongValues, name_of: Callable[[str], str]) -> list[str]:
    """A sentence for each wrong value; `name_of` gives a field's name as the person wrote it."""
    lines = []
    for fault in error.faults:
        field = str(fault["loc"][0]) if fault["loc"] else ""
        name = name_of(field) if field else "the settings"
        lines.append(_sentence(name, field, fault))
    return [*dict.fromkeys(lines)]


def _sentence(name: str, field: str, fault: Mapping[str, Any]) -> str:
    rule = _rule(field, fault)
    if rule:
        return f"{name} must be {rule}, got {_shown(fault['input'])}"
    own = fault.get("ctx", {}).get("error")
    return f"{name}: {own if own is not None else fault['msg']}"


def _rule(field: str, fault: Mapping[str, Any]) -> str:
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "greater_than_equal":
            return f"{bounds['ge']:g} or more"
        case "greater_than":
            return f"more than {bounds['gt']:g}"
        case "less_than_equal":
            return f"{bounds['le']:g} or less"
        case "float_parsing" | "float_type" | "finite_number":
            return "a number"
        case "int_parsing" | "int_type" | "int_from_float" | "int_parsing_size":
            return "a whole number"
        case "bool_parsing" | "bool_type":
            return "true or false"
        case "enum":
            return "one of " + ", ".join(choices_of(field))
        case "string_type" | "path_type":
            return "text"
        case "tuple_type":
            return "a list"
        case _:
            return ""


def _shown(value: object) -> str:
    text = str(value)
    return repr(text) if not text or text != text.strip() or " " in text else text
