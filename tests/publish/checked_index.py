"""Mirror indexes on the disk: read back and judged, by the published schema and by our own check."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from sitemirror.publish.mirror_index_check import validate_index
from tests.publish.sample_index import LARGE, SCHEMA, Rows


def closed(schema: Any) -> Any:
    """The schema without room for fields it does not describe: what we write ourselves is all described."""
    if isinstance(schema, dict):
        found = {name: closed(value) for name, value in schema.items()}
        return found | {"additionalProperties": False} if "properties" in schema else found
    return [closed(value) for value in schema] if isinstance(schema, list) else schema


STRICT = Draft202012Validator(closed(deepcopy(SCHEMA)), format_checker=Draft202012Validator.FORMAT_CHECKER)


def valid(path: Path) -> dict[str, Any]:
    """The index, which both the schema and our own check accept."""
    found: dict[str, Any] = json.loads(path.read_bytes())
    STRICT.validate(found)
    assert list(validate_index(path)) == []
    return found


def written(tmp_path: Path, **rows: Any) -> dict[str, Any]:
    """The sample's valid index, with some of its rows replaced."""
    return valid(Rows(**rows).write(tmp_path / "mirror-index.json"))


def document(path: Path, rows: Rows = LARGE) -> dict[str, Any]:
    """An index as the writer wrote it, to be spoiled and put back."""
    found: dict[str, Any] = json.loads(rows.write(path).read_bytes())
    return found


def problems(path: Path) -> list[str]:
    """What our own check has against the index."""
    return list(validate_index(path))


def in_our_layout(found: dict[str, Any]) -> bytes:
    """A document with the writer's line breaks, whatever is in it."""

    def text(value: Any, indent: int, levels: int) -> str:
        if not levels or not value or not isinstance(value, dict | list):
            return json.dumps(value)
        line = "\n" + " " * (indent + 2)
        if isinstance(value, list):
            inner = [text(element, indent + 2, levels - 1) for element in value]
        else:
            inner = [f"{json.dumps(name)}: {text(part, indent + 2, levels - 1)}" for name, part in value.items()]
        opening, closing = "[]" if isinstance(value, list) else "{}"
        return opening + line + ("," + line).join(inner) + "\n" + " " * indent + closing

    sections = (f"  {json.dumps(name)}: {text(part, 2, 1 + (name == 'graph'))}" for name, part in found.items())
    return ("{\n" + ",\n".join(sections) + "\n}\n").encode()
