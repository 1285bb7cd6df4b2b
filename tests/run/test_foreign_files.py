"""Files of somebody else's where a mirror begins."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunHere
from tests.site import Site


def test_a_folder_with_files_that_are_no_mirror_s_is_not_used_without_a_word(
    site: Site, out: Path, run_here: RunHere
) -> None:
    """The first run warns that its pages may take their places, and the second has nothing to say any more."""
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


def test_a_folder_with_nothing_but_a_listing_is_no_stranger_s(site: Site, out: Path, run_here: RunHere) -> None:
    """What `list` and git leave there is no reason to warn."""
    site.fill(1)
    site.sitemap()
    run_here("list", site.url, "--rate-limit", 0, "--output", out)
    (out / f"127.0.0.1_{site.port}" / ".gitignore").write_text("*\n")
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).json["warnings"] == []
