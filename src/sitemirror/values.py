"""What the value of a setting may be, and whether a given one is.

Nearly every value is plainly right: it has the type, or is text that spells it. Such values are taken here. The others
go to pydantic, which knows what else is meant by them and what to say of the wrong ones. It takes longer to load than
most runs take to begin, so it is not loaded before there is something to judge.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, get_args, get_origin

from sitemirror.errors import UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

# Few digits: what a number with more of them means is not for us to say.
_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,8})")
_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?")


class WrongValues(UsageError):
    """Values that cannot be. `faults` has one entry for each, as pydantic describes them."""

    def __init__(self, kinds: Mapping[str, Kind], faults: list[dict[str, Any]]) -> None:
        self.faults = faults
        self._kinds = kinds
        super().__init__("; ".join(self.sentences(str)), hint="see sitemirror.settings.Settings")

    def sentences(self, name_of: Callable[[str], str]) -> list[str]:
        """One for each wrong value; `name_of` gives a field's name as the person wrote it."""
        lines = []
        for fault in self.faults:
            field = str(fault["loc"][0]) if fault["loc"] else ""
            name = name_of(field) if field else "the settings"
            lines.append(_sentence(name, self._kinds.get(field), fault))
        return [*dict.fromkeys(lines)]


class Bounds(NamedTuple):
    """What a number must be: at least `ge`, more than `gt`, at most `le`."""

    ge: int | None = None
    gt: int | None = None
    le: int | None = None

    def hold(self, number: float) -> bool:
        return (
            (self.ge is None or number >= self.ge)
            and (self.gt is None or number > self.gt)
            and (self.le is None or number <= self.le)
        )


Rule = Callable[[Any], Any]
"""Gives the value back or raises a ValueError that says how it should look."""


class _NotPlain(Exception):
    """Not for us to judge."""


class Kind(NamedTuple):
    """The values that a setting takes."""

    type: type
    """bool, int, float, str, Path, an enumeration, or tuple for any number of texts."""
    optional: bool
    bounds: Bounds | None
    rule: Rule | None
    default: Any

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that an enumerated setting takes; nothing for the others."""
        return tuple(str(choice) for choice in self.type) if issubclass(self.type, StrEnum) else ()

    def take(self, value: Any) -> Any:
        """`value` as the setting has it. Raises `_NotPlain` if that is not plain to see."""
        if value is None and self.optional:
            return None
        taken = self._typed(value)
        if self.bounds is not None and not self.bounds.hold(taken):
            raise _NotPlain
        if self.rule is not None:
            try:
                self.rule(taken)
            except ValueError:
                raise _NotPlain from None
        return taken

    def _typed(self, value: Any) -> Any:
        given = type(value)
        if self.type is tuple and given in (tuple, list) and all(type(each) is str and is_text(each) for each in value):
            return tuple(value)
        if given is str and is_text(value):
            return self._spelled(value)
        if given is self.type or (self.type is Path and isinstance(value, Path)):
            if given is not float or math.isfinite(value):
                return value
        elif given is int and self.type is float:
            return float(value)
        raise _NotPlain

    def _spelled(self, text: str) -> Any:
        """What `text` is the usual spelling of."""
        if self.type in (str, Path):
            return self.type(text)
        if issubclass(self.type, StrEnum):
            try:
                return self.type(text)
            except ValueError:
                raise _NotPlain from None
        if (self.type is int and _WHOLE.fullmatch(text)) or (self.type is float and _DECIMAL.fullmatch(text)):
            return self.type(text)
        raise _NotPlain


def kind_of(annotation: Any, default: Any) -> Kind:
    """Reads a field's annotation: a type, perhaps with `Bounds` or a rule, perhaps or None."""
    bounds = rule = None
    optional = False
    while True:
        parts = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation, *extras = parts
            for extra in extras:
                if isinstance(extra, Bounds):
                    bounds = extra
                else:
                    rule = extra
        elif NoneType in parts:
            optional = True
            (annotation,) = (part for part in parts if part is not NoneType)
        else:
            return Kind(get_origin(annotation) or annotation, optional, bounds, rule, default)


def judged(kinds: Mapping[str, Kind], values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as their settings have them. Raises `WrongValues`, which names all that are wrong."""
    try:
        return {name: kinds[name].take(value) for name, value in values.items()}
    except (_NotPlain, KeyError):
        return judged_by_pydantic(kinds, values)


def is_text(value: str) -> bool:
    """Not so for names that are no Unicode: the system hands them over with half characters in them."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def judged_by_pydantic(kinds: Mapping[str, Kind], values: Mapping[str, Any]) -> dict[str, Any]:
    """The same, however plain the values are."""
    from pydantic import ValidationError

    try:
        found = _model(tuple(kinds.items())).model_validate(dict(values))
    except ValidationError as error:
        raise WrongValues(kinds, [dict(fault) for fault in error.errors(include_url=False)]) from None
    return {name: getattr(found, name) for name in values}


@cache
def _model(kinds: tuple[tuple[str, Kind], ...]) -> type[BaseModel]:
    from pydantic import AfterValidator, ConfigDict, Field, create_model

    def annotation(kind: Kind) -> Any:
        found: Any = tuple[str, ...] if kind.type is tuple else kind.type
        if kind.bounds is not None:
            found = Annotated[found, Field(ge=kind.bounds.ge, gt=kind.bounds.gt, le=kind.bounds.le)]
        if kind.rule is not None:
            found = Annotated[found, AfterValidator(kind.rule)]
        return found | None if kind.optional else found

    fields: dict[str, Any] = {name: (annotation(kind), kind.default) for name, kind in kinds}
    return create_model("Settings", __config__=ConfigDict(extra="forbid"), **fields)


def _sentence(name: str, kind: Kind | None, fault: Mapping[str, Any]) -> str:
    if kind is None:
        return f"there is no setting {name}"
    rule = _rule(kind, fault)
    if rule:
        return f"{name} must be {rule}, got {_shown(fault['input'])}"
    own = fault.get("ctx", {}).get("error")
    return f"{name}: {own if own is not None else fault['msg']}"


def _rule(kind: Kind, fault: Mapping[str, Any]) -> str:
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
            return "one of " + ", ".join(kind.choices)
        case "string_type" | "path_type":
            return "text"
        case "tuple_type":
            return "a list"
        case _:
            return ""


def _shown(value: object) -> str:
    if value is not None and not isinstance(value, str | int | float | Path):
        return f"a value of type {type(value).__name__}"  # It may be long, or hold what is nobody's business.
    text = str(value)
    return repr(text) if not text or text != text.strip() or " " in text else text
