"""Serialise JSON for the files of a mirror, which contain foreign text and are read in terminals.

Control characters that a terminal or an editor would obey are escaped, so parsers get the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol

import orjson

from sitemirror.text import UNPRINTABLE


class Sink(Protocol):
    """An open file, or anything else that bytes can be written to."""

    def write(self, data: bytes, /) -> int: ...


def json_bytes(value: object) -> bytes:
    """Serialise `value` on one line, in UTF-8."""
    try:
        data = orjson.dumps(value)
    except orjson.JSONEncodeError:
        # A lone surrogate in one title must not cost the whole file.
        data = orjson.dumps(_without_surrogates(value))
    if data.isascii() and b"\x7f" not in data:
        return data
    return UNPRINTABLE.sub(_escape, data.decode()).encode()


def write_list(file: Sink, name: bytes, elements: Iterable[object], *, last: bytes = b",\n") -> None:
    """Write a list in an object with each element on its own line, for readable diffs."""
    file.write(b'  "%b": [' % name)
    before = b"\n    "
    for element in elements:
        file.write(before + json_bytes(element))
        before = b",\n    "
    file.write((b"]" if before == b"\n    " else b"\n  ]") + last)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_surrogates(item) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _without_surrogates(asdict(value))
        case _:
            return value
