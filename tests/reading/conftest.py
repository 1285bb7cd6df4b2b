"""Published mirrors of a few pages, as a run leaves them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from sitemirror.publish.file_names import MANIFEST
from sitemirror.publish.manifest import ManifestHeader, PageRow, write_manifest
from sitemirror.reading.search import SearchReport, search
from sitemirror.store.paths import page_path

TIME = "2026-01-01T00:00:00Z"


class Published:
    """A mirror whose pages a test writes and publishes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = f"https://{folder.name}/"
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, name: str) -> Path:
        return self.folder / page_path(self.base + name)

    def write(self, name: str, markdown: str) -> PageRow:
        """Write a page's file; its row is that of a manifest."""
        url = self.base + name
        title = next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("#")), name)
        data = f'---\ntitle: {json.dumps(title)}\nurl: "{url}"\n---\n\n{markdown}'.encode()
        path = self.file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return PageRow(
            url=url,
            path=path.relative_to(self.folder).as_posix(),
            size_bytes=len(data),
            title=title,
            sha256=sha256(data).hexdigest(),
            fetched_at=TIME,
        )

    def publish(self, rows: list[PageRow]) -> None:
        """Write the manifest, as a run does when it ends: whole, and in place of the old one."""
        count = len(rows)
        header = ManifestHeader(
            source_url=self.base,
            sitemap_url=None,
            sitemaps=(),
            crawl_started=TIME,
            crawl_completed=TIME,
            complete=True,
            total_pages=count,
            successful=count,
            failed=0,
            skipped=0,
            duplicates=0,
            not_reached_count=0,
        )
        with (self.folder / "new").open("wb") as file:
            write_manifest(file, header, pages=rows, failures=(), skips=(), gone=(), not_reached=())
        (self.folder / "new").replace(self.folder / MANIFEST)

    def have(self, pages: Mapping[str, str]) -> None:
        """Make these pages the mirror."""
        self.publish([self.write(name, markdown) for name, markdown in sorted(pages.items())])

    def search(self, query: str, limit: int = 10) -> SearchReport:
        return search(query, [self.folder], limit=limit)

    def found(self, query: str) -> list[str]:
        """The names of the pages found, best first."""
        return [result.url.removeprefix(self.base) for result in self.search(query).results]


@pytest.fixture
def mirror(tmp_path: Path) -> Published:
    return Published(tmp_path / "output" / "docs.example")
