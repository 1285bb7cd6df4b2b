"""Generate the JSON Schemas of reports and files from their classes.

`python -m sitemirror.publish.schema docs/schema` regenerates them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from sitemirror.publish.manifest import FailureRow, GoneRow, ManifestHeader, PageRow, SkipRow
from sitemirror.publish.marks import LEFT_OUT
from sitemirror.publish.mirror_index_format import MirrorIndex
from sitemirror.publish.progress import Checkpoint, Progress
from sitemirror.publish.report import ErrorReport, ListReport, MirrorReport, SitesReport, VerifyReport


@dataclass(frozen=True, slots=True)
class _Lists:
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(use_attribute_docstrings=True)

    pages: list[PageRow]
    """Pages on disk."""

    failures: list[FailureRow]
    """Failed URLs."""

    skips: list[SkipRow]
    """Skipped URLs."""

    gone: list[GoneRow]
    """Pages on disk that no sitemap lists any more."""

    not_reached: list[str]
    """URLs that were not fetched."""


def schemas() -> dict[str, dict[str, Any]]:
    """Each schema by its name."""
    described = {
        "list-report": _schema(ListReport | ErrorReport),
        "mirror-report": _schema(MirrorReport | ErrorReport),
        "sites-report": _schema(SitesReport | ErrorReport),
        "verify-report": _schema(VerifyReport),
        "manifest": _manifest(),
        "mirror-index": _schema(MirrorIndex),
        "progress": _schema(Progress),
        "checkpoint": _schema(Checkpoint),
    }
    return {
        name: {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
        for name, schema in described.items()
    }


class _Generator(GenerateJsonSchema):
    """Schema generator that makes omitted keys optional."""

    def field_is_required(
        self, field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField, total: bool
    ) -> bool:
        inner: Any = field["schema"]
        if inner["type"] == "default":
            inner = inner["schema"]
        return super().field_is_required(field, total) and LEFT_OUT not in inner.get("metadata", {})


def _schema(kind: Any) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema(mode="serialization", schema_generator=_Generator)


def _manifest() -> dict[str, Any]:
    """Fields of the manifest: the header and the lists, which the writer streams separately."""
    header, lists = _schema(ManifestHeader), _schema(_Lists)
    return {
        **header,
        "title": "Manifest",
        "description": "`_manifest.json`: every URL the mirror knows, each accounted for exactly once.",
        "properties": header["properties"] | lists["properties"],
        "required": header["required"] + lists["required"],
        "$defs": lists["$defs"],
    }


def write_schemas(folder: Path) -> None:
    """Write the `<name>.schema.json` files, with the same bytes on every system."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_bytes(text.encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m sitemirror.publish.schema DIR")
    write_schemas(Path(sys.argv[1]))
