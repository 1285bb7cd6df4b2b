"""Runs the library in this process against the test site, as fast as it goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror
from sitemirror.fetch.pace import SystemClock
from sitemirror.publish.report import MirrorReport
from tests import copies
from tests.copies import path_of as path_of  # for the tests as well
from tests.site import Site

Mirror = Callable[..., Awaitable[MirrorReport]]


class Copy(copies.Copy):
    """A mirror on disk, as a user finds it."""

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


class Later(SystemClock):
    """The clock of somebody who comes back after some days."""

    def __init__(self, days: int) -> None:
        super().__init__()
        self._days = timedelta(days=days)

    def now(self) -> datetime:
        return super().now() + self._days


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
