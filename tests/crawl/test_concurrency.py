"""Concurrent requests in a crawl."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunHere
from tests.site import Site, faults

PNG = b"\x89PNG\r\n\x1a\n"
FAST = ("--rate-limit", 0, "--concurrency", 4)


def test_assets_of_a_single_page_are_fetched_concurrently(site: Site, out: Path, run_here: RunHere) -> None:
    """Slots that were idle while the page was fetched get its pictures."""
    names = [f"/{number}.png" for number in range(8)]
    site.html_page("/", "Home", "".join(f'<img src="{name}">' for name in names))
    for name in names:
        site.page(name, PNG + name.encode(), type="image/png")
        site.fault(name, faults.slow(0.3))
    done = run_here("crawl", site.url, "--output", out, *FAST)
    assert (done.json["status"], done.json["assets"]) == ("ok", 8)
    assert site.max_in_flight == 4


def test_two_assets_with_one_path_at_once_are_both_saved(site: Site, out: Path, run_here: RunHere) -> None:
    """Two URLs that map to one path keep their own bytes, also while both are in flight."""
    pictures = {"/a%20b.png": PNG + b"1" * 300_000, "/a_b.png": PNG + b"2" * 300_000}
    site.html_page("/", "Home", "".join(f'<img src="{path}">' for path in pictures))
    for path, picture in pictures.items():
        site.page(path, picture, type="image/png")
        site.fault(path, faults.drip(400_000))
    done = run_here("crawl", site.url, "--output", out, *FAST)
    assert done.json["status"] == "ok"
    assert site.max_in_flight == 2
    saved = [file.read_bytes() for file in Path(done.json["output_dir"]).glob("a_b*.png")]
    assert sorted(saved) == list(pictures.values())
