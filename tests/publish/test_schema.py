"""The published schemas are the code's, and say something about every field."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from sitemirror.publish.schema import schemas

PUBLISHED = Path(__file__).parents[2] / "docs/schema"


def test_published_schemas_are_current(tmp_path: Path) -> None:
    """`python -m sitemirror.publish.schema docs/schema` would change nothing."""
    subprocess.run([sys.executable, "-m", "sitemirror.publish.schema", str(tmp_path)], check=True)
    made = {file.name: json.loads(file.read_text("utf-8")) for file in tmp_path.iterdir()}
    assert made == {file.name: json.loads(file.read_text("utf-8")) for file in PUBLISHED.iterdir()}
    assert set(made) == {f"{name}.schema.json" for name in schemas()}


def test_missing_folder_shows_usage() -> None:
    """Without an argument the command exits with its usage."""
    done = subprocess.run([sys.executable, "-m", "sitemirror.publish.schema"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "usage:" in done.stderr


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema and isinstance(schema["properties"], dict):
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_schemas_are_valid_and_documented() -> None:
    """Each is a valid JSON Schema, and each field has a description."""
    for name, schema in schemas().items():
        Draft202012Validator.check_schema(schema)
        for described in objects(schema):
            for field, content in described["properties"].items():
                # An hreflang pair is described by the list that holds it.
                assert "description" in content or field in ("lang", "href"), (name, field)
