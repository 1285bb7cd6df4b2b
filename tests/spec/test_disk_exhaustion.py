"""Requirement: Disk space guard prevents exhaustion."""

from __future__ import annotations

from tests.site import Exchange, Site, faults
from tests.spec.mirrored import FAST, Mirrored
from tests.spec.small_disk import SmallDisk


def test_abort_when_disk_space_low(site: Site, small_disk: SmallDisk) -> None:
    """Abort when disk space low: 50 MB left in the middle of a crawl stop the next write; the manifest says partial."""
    paths = site.fill(6)
    site.sitemap()
    whole = faults.ok()

    async def while_the_disk_fills(exchange: Exchange) -> None:
        small_disk.take(100)
        await whole(exchange)

    site.fault(paths[3], while_the_disk_fills, whole)

    small_disk.start("mirror", site.url, *FAST, size_mb=150, then_mb=300)
    stopped, disk, resumed, grown = small_disk.finish()

    assert stopped.returncode == 1, stopped.stderr
    assert "Insufficient disk space: 4" in stopped.json["error"]  # 49 MB: the mirror itself needs some
    assert stopped.stderr.count("sitemirror: error: Insufficient disk space") == 1
    mirrored = Mirrored.of(site, disk)
    assert mirrored.pages == {f"{path[1:]}/index.md" for path in paths[:3]}
    manifest = mirrored.manifest
    assert (manifest["complete"], manifest["crawl_completed"]) == (False, None)
    assert [page["url"] for page in manifest["pages"]] == [site.url + path for path in paths[:3]]
    assert manifest["not_reached"] == [site.url + path for path in paths[3:]]
    assert stopped.json["not_reached"] == 3
    assert site.count(paths[4]) == 1  # by the second run

    assert (resumed.returncode, resumed.json["status"]) == (0, "ok")
    assert len(Mirrored.of(site, grown).pages) == 6
    assert [site.count(path) for path in paths] == [1, 1, 1, 2, 1, 1]


def test_a_disk_that_is_really_full(site: Site, small_disk: SmallDisk) -> None:
    """With the guard off and not a byte left, the run ends with one clear line, and goes on when there is room."""
    text = "<p>" + "Many words fill a disk. " * 12_000 + "</p>"
    paths = [f"/page/{number}" for number in range(1, 13)]
    for path in paths:
        site.html_page(path, path, f"<h1>Page {path}</h1>{text}")
    site.sitemap(urls=paths)

    small_disk.start("mirror", site.url, *FAST, "--min-free-mb", 0, size_mb=2, then_mb=50)
    stopped, _, resumed, grown = small_disk.finish()

    assert (stopped.returncode, stopped.json["status"]) == (1, "error")
    assert stopped.json["error"].startswith("Insufficient disk space: the disk is full")
    assert "unexpected" not in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert (resumed.returncode, resumed.json["status"], resumed.json["successful"]) == (0, "ok", 12)
    assert len(Mirrored.of(site, grown).pages) == 12
