"""Output folders with files of somebody else."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunHere
from tests.site import Site


def test_folder_with_foreign_files_gives_a_warning(site: Site, out: Path, run_here: RunHere) -> None:
    """The first run warns that its pages may replace them; the second does not."""
    site.fill(2)
    site.sitemap()
    arguments = ("mirror", site.url, "--rate-limit", 0, "--output", out)
    folder = out / f"127.0.0.1_{site.port}"
    (folder / "page/0001").mkdir(parents=True)
    (folder / "page/0001/index.md").write_text("mine")
    first = run_here(*arguments)
    (warning,) = first.json["warnings"]
    assert warning.startswith(f"{folder} holds files that are not of this mirror, such as page: ")
    assert warning in first.stderr
    assert run_here(*arguments).json["warnings"] == []


def test_folder_with_only_a_listing_gives_no_warning(site: Site, out: Path, run_here: RunHere) -> None:
    """Files of `list` and git are no reason to warn."""
    site.fill(1)
    site.sitemap()
    run_here("list", site.url, "--rate-limit", 0, "--output", out)
    (out / f"127.0.0.1_{site.port}" / ".gitignore").write_text("*\n")
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json["warnings"] == []
