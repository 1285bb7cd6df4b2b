"""Annotations that refine the types of fields in files and reports.

pydantic generates the published schemas from them and checks files when they are read. A run only writes, without
pydantic, which is slow to load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

if TYPE_CHECKING:
    from pydantic import ConfigDict, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

LEFT_OUT: Final = "left out when empty"

DOCUMENTED: Final[ConfigDict] = {
    "use_attribute_docstrings": True,
    "extra": "forbid",
    # A key with a default is always written, and the schema says so.
    "json_schema_serialization_defaults_required": True,
}


class _NotNegative:
    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> Any:
        return {**handler(source), "ge": 0}


class _LeftOut:
    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> Any:
        return {**handler(source), "metadata": {LEFT_OUT: True}}


@dataclass(frozen=True, slots=True)
class Written:
    """A value whose form in the file differs from that in the program."""

    schema: dict[str, Any]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return self.schema


NOT_NEGATIVE: Final = _NotNegative()
LEFT_OUT_WHEN_EMPTY: Final = _LeftOut()
"""The key is left out of the JSON if it is empty."""

Count = Annotated[int, NOT_NEGATIVE]
Amount = Annotated[float, NOT_NEGATIVE]
