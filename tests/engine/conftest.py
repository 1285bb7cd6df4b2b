"""Runs the library in this process against the test site, as fast as it goes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror
from sitemirror.publish.report import MirrorReport
from tests.site import Site

Mirror = Callable[..., Awaitable[MirrorReport]]


class Copy:
    """A mirror on disk, as a user finds it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def manifest(self) -> Any:
        return json.loads((self.folder / "_manifest.json").read_text("utf-8"))

    @property
    def pages(self) -> dict[str, Any]:
        """Path of the URL → its entry in the manifest."""
        return {path_of(page["url"]): page for page in self.manifest["pages"]}

    @property
    def files(self) -> dict[str, bytes]:
        """Every page file with its bytes."""
        return {
            found.relative_to(self.folder).as_posix(): found.read_bytes()
            for found in sorted(self.folder.rglob("*.md"))
            if not found.relative_to(self.folder).as_posix().startswith("_")
        }

    def text(self, path: str) -> str:
        return (self.folder / path).read_text("utf-8")

    def accounted(self) -> list[str]:
        """Every URL that the manifest names, wherever it names it."""
        manifest = self.manifest
        named = [name for page in manifest["pages"] for name in (page["url"], *page["aliases"])]
        named += [row["url"] for part in ("failures", "skips", "gone") for row in manifest[part]]
        return sorted(path_of(url) for url in [*named, *manifest["not_reached"]])


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.fixture
def run(site: Site, out: Path) -> Mirror:
    """Mirrors the site without waiting between requests."""

    async def mirror_site(url: str | None = None, **options: Any) -> MirrorReport:
        return await mirror(url or site.url, output=out, **({"rate_limit": 0} | options))

    return mirror_site


@pytest.fixture
def copy(site: Site, out: Path) -> Copy:
    """The mirror that `run` makes."""
    return Copy(out / f"127.0.0.1_{site.port}")
