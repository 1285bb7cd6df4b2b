"""A site's folder as a user finds it, for the tests that run the library in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Copy:
    """A mirror or a crawl on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def manifest(self) -> Any:
        return json.loads((self.folder / "_manifest.json").read_text("utf-8"))

    def text(self, path: str) -> str:
        return (self.folder / path).read_text("utf-8")

    def accounted(self) -> list[str]:
        """Every URL that the manifest names, wherever it names it."""
        manifest = self.manifest
        named = [name for page in manifest["pages"] for name in (page["url"], *page["aliases"])]
        named += [row["url"] for part in ("failures", "skips", "gone") for row in manifest[part]]
        return sorted(path_of(url) for url in [*named, *manifest["not_reached"]])


def path_of(url: str) -> str:
    """A URL of a test site without its origin; others as they are."""
    if not url.startswith("http://127.0.0.1"):
        return url
    return "/" + url.split("/", 3)[3]
