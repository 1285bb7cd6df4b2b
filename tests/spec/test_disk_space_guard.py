"""Requirement: Disk Space Guard."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunHere
from tests.site import Site, faults
from tests.spec.mirrored import FAST, Mirrored
from tests.spec.small_disk import SmallDisk


def test_max_pages_limit(site: Site, out: Path, run_here: RunHere) -> None:
    """Max pages limit: after 1000 saved pages nothing more is asked for, failures aside; the next run goes on."""
    paths = site.fill(1005)
    for path in paths[:2]:
        site.fault(path, faults.status(404))
    site.sitemap()
    options = (*FAST, "--quiet", "--concurrency", 4, "--max-pages", 1000, "--output", out)

    done = run_here("mirror", site.url, *options)

    asked = [path for path in site.paths() if path.startswith("/page")]
    assert len(asked) == 1002
    assert done.returncode == 0
    counts = [done.json[name] for name in ("status", "successful", "failed", "not_reached")]
    assert counts == ["partial", 1000, 2, 3]
    mirrored = Mirrored.of(site, out)
    assert len(mirrored.pages) == len(mirrored.processed) == 1000
    assert mirrored.manifest["complete"] is False
    assert sorted(mirrored.manifest["not_reached"]) == sorted(site.url + path for path in set(paths) - set(asked))

    site.clear_log()
    again = run_here("mirror", site.url, *options)
    assert again.json["successful"] == 1003
    assert sorted(path for path in site.paths() if path.startswith("/page")) == sorted(
        {*paths[:2], *(set(paths) - set(asked))}
    )


def test_disk_space_check(site: Site, small_disk: SmallDisk) -> None:
    """Disk space check: under 100 MB the run saves where it is, says why and stops; with space it goes on."""
    text = "<p>" + "Many words fill a disk. " * 20_000 + "</p>"  # about half a megabyte
    paths = [f"/page/{number}" for number in range(1, 9)]
    for path in paths:
        site.html_page(path, path, f"<h1>Page {path}</h1>{text}")
    site.sitemap(urls=paths)

    small_disk.start("mirror", site.url, *FAST, size_mb=102, then_mb=200)
    stopped, disk, resumed, grown = small_disk.finish()

    assert stopped.returncode == 1, stopped.stderr
    assert stopped.json["status"] == "error"
    assert stopped.json["error"].startswith("Insufficient disk space: ")
    assert "100 MB needed" in stopped.json["error"]
    assert "Traceback" not in stopped.stderr
    assert stopped.stderr.splitlines()[-1].startswith("hint: free some space, then run the same command")
    mirrored = Mirrored.of(site, disk)
    saved = mirrored.processed
    assert 1 <= len(saved) < len(paths)
    assert saved == [site.url + path for path in paths[: len(saved)]]
    assert mirrored.pages == {f"{path[1:]}/index.md" for path in paths[: len(saved)]}
    assert mirrored.checkpoint["total_processed"] == len(saved)
    assert mirrored.checkpoint["total_expected"] == len(paths)
    assert not list(disk.rglob("*.tmp"))

    assert (resumed.returncode, resumed.json["successful"]) == (0, len(paths))
    assert Mirrored.of(site, grown).pages == {f"{path[1:]}/index.md" for path in paths}
    for path in paths[: len(saved)]:
        assert site.count(path) == 1


def test_disk_space_check_before_the_start(site: Site, out: Path, run_here: RunHere) -> None:
    """Disk space check: a disk that is too full already costs the site no page request."""
    site.fill(3)
    site.sitemap()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--min-free-mb", 10**9)

    assert done.returncode == 1
    assert "Insufficient disk space" in done.json["error"]
    assert "--min-free-mb" in done.json["hint"]
    assert not any(path.startswith("/page") for path in site.paths())
