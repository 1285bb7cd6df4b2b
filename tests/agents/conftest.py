"""A mirror on disk, made once by a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site

MakeMirror = Callable[..., Path]


@pytest.fixture
def make_mirror(site: Site, out: Path, run_here: RunHere) -> MakeMirror:
    """Mirrors a site of these pages, path to title, into `out`, and returns the mirror's folder."""

    def make(pages: dict[str, str], **options: object) -> Path:
        for path, title in pages.items():
            site.html_page(path, title, f"<h1>{title}</h1><p>Text of {path}.</p>")
        site.sitemap()
        done = run_here("mirror", site.url, "--rate-limit", 0, "--output", out)
        assert done.returncode == 0, done.stderr
        return Path(done.json["output_dir"])

    return make
