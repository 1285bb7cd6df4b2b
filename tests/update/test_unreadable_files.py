"""Copies that cannot be read: a failing disk, or missing permissions."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from sitemirror import mirror_sync
from tests.site import Site


def test_unreadable_copy_is_rewritten(site: Site, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not end the run."""
    site.html_page("/a", "A", "<h1>A</h1>")
    site.html_page("/b", "B", "<h1>B</h1>")
    site.sitemap()
    report = mirror_sync(site.url, output=out, rate_limit=0)
    page = Path(report.output_dir, "a/index.md")
    before = page.stat().st_ino
    real, refused = os.open, set[str]()

    def refuse(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        fd = real(path, flags, mode, dir_fd=dir_fd)
        if not flags & (os.O_WRONLY | os.O_RDWR) and os.fstat(fd).st_ino == before:
            os.close(fd)
            refused.add(str(path))
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return fd

    monkeypatch.setattr(os, "open", refuse)
    again = mirror_sync(site.url, output=out, rate_limit=0, re_download_all=True)
    assert refused
    assert (again.status, again.successful) == ("ok", 2)
    assert page.stat().st_ino != before
    assert page.read_text("utf-8").endswith("# A\n")
