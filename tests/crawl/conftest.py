"""Runs the library's crawl in this process against the test site, and reads the copy as a user finds it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sitemirror import crawl
from sitemirror.publish.report import MirrorReport
from tests import copies
from tests.copies import path_of
from tests.site import Site

Crawl = Callable[..., Awaitable[MirrorReport]]

_OWN = (
    "_manifest.json",
    "_index.md",
    "_llms.txt",
    "_checkpoint.json",
    "_processed.txt",
    "_failed.log",
    "_progress.json",
)
_OWN_FOLDERS = ("_failed/", "_skipped/", "_state.sqlite3", "mirror-index.json", ".lock", "_lock")


class Copy(copies.Copy):
    """A crawl on disk."""

    @property
    def index(self) -> Any:
        return json.loads((self.folder / "mirror-index.json").read_text("utf-8"))

    @property
    def files(self) -> dict[str, bytes]:
        """Every mirrored file with its bytes; none of the tool's own."""
        found = {path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*") if path.is_file()}
        return {
            name: path.read_bytes()
            for name, path in sorted(found.items())
            if name not in _OWN and not name.startswith(_OWN_FOLDERS)
        }

    @property
    def depths(self) -> dict[str, int]:
        """Path of the URL → its depth in the index."""
        return {path_of(url): row["depth"] for url, row in self.index["urls"].items()}

    @property
    def skipped(self) -> dict[str, tuple[str, str | None]]:
        """Skipped URL, without the site's own origin → (reason, detail)."""
        return {path_of(row["url"]): (row["reason"], row.get("detail")) for row in self.index["skipped_urls"]}


def link(*paths: str) -> str:
    """A body that links to these."""
    return "".join(f'<p><a href="{path}">To {path}</a></p>' for path in paths)


def asked(site: Site) -> list[str]:
    """Every path that was asked for, in order, but robots.txt."""
    return [path for path in site.paths() if path != "/robots.txt"]


def timeless(value: Any) -> Any:
    """An index or a manifest without what may differ between two runs: times, run ids, folders, tries, 200 or 304."""
    times = {
        "generated_at", "run_id", "mtime", "downloaded_at", "ts", "at", "since", "fetched_at", "changed_at",
        "crawl_started", "crawl_completed", "target_root", "target_abs_path", "date", "not_modified", "http_status",
        "attempts",
    }  # fmt: skip
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in times}
    return [timeless(part) for part in value] if isinstance(value, list) else value


@pytest.fixture
def run(site: Site, out: Path) -> Crawl:
    """Crawls the site without waiting between requests."""

    async def crawl_site(url: str | None = None, **options: Any) -> MirrorReport:
        return await crawl(url or site.url, output=out, **({"rate_limit": 0} | options))

    return crawl_site


@pytest.fixture
def copy(site: Site, out: Path) -> Copy:
    """The copy that `run` makes."""
    return Copy(out / f"127.0.0.1_{site.port}")
