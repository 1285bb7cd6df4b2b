"""What all reports have in common: text that is safe to show, numbers that make sense, and their JSON."""

import json
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, get_args, get_origin

from sitemirror.publish.marks import DOCUMENTED, LEFT_OUT_WHEN_EMPTY, NOT_NEGATIVE
from sitemirror.text import printable

if TYPE_CHECKING:
    from pydantic import ConfigDict

_SHOWN: Final = "text that may come from the network"

Shown = Annotated[str, _SHOWN]
"""Control and invisible characters are spelled out."""

ShownIfGiven = Annotated[str | None, _SHOWN, LEFT_OUT_WHEN_EMPTY]
ShownLines = Annotated[tuple[str, ...], _SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A JSON object to be."""

    __pydantic_config__: ClassVar["ConfigDict"] = DOCUMENTED

    def __post_init__(self) -> None:
        """Makes text safe to show. Raises ValueError for what makes no sense: a mistake of ours, better not printed."""
        for field in fields(self):
            object.__setattr__(self, field.name, _checked(field.name, field.type, getattr(self, field.name)))

    def to_dict(self) -> dict[str, Any]:
        """The members of the JSON object."""
        found = {field.name: (field.type, getattr(self, field.name)) for field in fields(self)}
        return {
            name: _plain(value)
            for name, (kind, value) in found.items()
            if value is not None or LEFT_OUT_WHEN_EMPTY not in _marks(kind)
        }

    def to_json(self) -> str:
        """What goes to stdout: one JSON object in ASCII, without the last newline."""
        return json.dumps(self.to_dict(), indent=2)


def _marks(kind: Any) -> tuple[Any, ...]:
    return getattr(kind, "__metadata__", ())


def _checked(name: str, kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if (get_origin(kind) is Literal and value not in get_args(kind)) or (NOT_NEGATIVE in _marks(kind) and value < 0):
        raise ValueError(f"{name} cannot be {value!r}")
    if _SHOWN in _marks(kind) and value is not None:
        return printable(value) if isinstance(value, str) else tuple(map(printable, value))
    return value


def _plain(value: Any) -> Any:
    match value:
        case Reported():
            return value.to_dict()
        case tuple():
            return [_plain(each) for each in value]
        case StrEnum():
            return value.value
    return value
