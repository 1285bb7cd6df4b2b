"""Requirement: Incremental Update Mode."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import RunHere
from tests.site import Site
from tests.spec.mirrored import FAST, Mirrored


def _put(site: Site, path: str, text: str, lastmod: str | None = None) -> None:
    site.html_page(path, path, f"<h1>{path}</h1><p>{text}</p>", lastmod=lastmod)


def _asked(site: Site) -> list[str]:
    return [path for path in site.paths() if path.startswith("/docs")]


def _set_time(file: Path, when: datetime) -> None:
    os.utime(file, (when.timestamp(), when.timestamp()))


def _in_days(days: int) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%d")


@pytest.mark.parametrize("state", ["kept", "lost"])
def test_update_mode_activation(site: Site, out: Path, run_here: RunHere, state: str) -> None:
    """Update mode activation: sitemap dates are held against the files, by what the manifest knows if need be."""
    for path in ("/docs/a", "/docs/b", "/docs/c", "/docs/d"):
        _put(site, path, "first", lastmod="2020-01-01")
    site.html_page("/docs/tagged", "T", "<h1>T</h1>", etag="v1")
    site.sitemap()
    run_here("mirror", site.url, *FAST, "--output", out)
    mirrored = Mirrored.of(site, out)
    if state == "lost":
        (mirrored.folder / "_state.sqlite3").unlink()
    _set_time(mirrored.folder / "docs/b/index.md", datetime(2020, 6, 1, tzinfo=UTC))
    _set_time(mirrored.folder / "docs/d/index.md", datetime.now(UTC) + timedelta(days=3))
    _put(site, "/docs/a", "second", lastmod="2020-03-01")  # older than the copy of today
    _put(site, "/docs/b", "second", lastmod="2021-03-01")  # newer than the copy of June 2020
    _put(site, "/docs/d", "second", lastmod=_in_days(1))  # newer than the fetch, whatever a checkout made of its file
    site.clear_log()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert (done.returncode, done.json["status"], done.json["successful"]) == (0, "ok", 5)
    assert _asked(site) == ["/docs/b", "/docs/d", "/docs/tagged"]
    assert "second" in mirrored.text("docs/b/index.md")
    assert "second" in mirrored.text("docs/d/index.md")
    assert "first" in mirrored.text("docs/a/index.md")
    # No file knows its page's ETag: without the state, only the manifest does.
    [asked] = site.requests_for("/docs/tagged")
    assert asked.headers["if-none-match"] == '"v1"'
    assert asked.status == 304


def test_selective_re_fetching(site: Site, out: Path, tmp_path: Path, run_here: RunHere) -> None:
    """Selective re-fetching: only the page with a newer date is asked for and overwritten; the rest is not touched."""
    paths = [f"/docs/{number}" for number in range(5)]
    for path in paths:
        _put(site, path, "first", lastmod="2024-05-05")
    site.sitemap()
    run_here("mirror", site.url, *FAST, "--output", out)
    mirrored = Mirrored.of(site, out)
    before = {path: (mirrored.folder / path).stat().st_mtime_ns for path in mirrored.pages}
    page, manifest = tmp_path / "page", tmp_path / "manifest"
    os.link(mirrored.folder / "docs/3/index.md", page)
    os.link(mirrored.folder / "_manifest.json", manifest)
    for path in paths:  # all have changed, but only one says so
        _put(site, path, "second", lastmod=_in_days(2) if path == "/docs/3" else "2024-05-05")
    site.clear_log()

    run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert _asked(site) == ["/docs/3"]
    after = {path: (mirrored.folder / path).stat().st_mtime_ns for path in mirrored.pages}
    assert {path for path in after if after[path] != before[path]} == {"docs/3/index.md"}
    assert "second" in mirrored.text("docs/3/index.md")
    assert "first" in mirrored.text("docs/2/index.md")
    # A new file took each old one's place: whoever reads it meanwhile, or a crash, finds one or the other whole.
    assert "first" in page.read_text(encoding="utf-8")
    assert {entry["lastmod"] for entry in json.loads(manifest.read_bytes())["pages"]} == {"2024-05-05"}
    assert mirrored.manifest["successful"] == 5


def test_new_page_detection(site: Site, out: Path, run_here: RunHere) -> None:
    """New page detection: what the sitemap lists for the first time is fetched; what it drops stays on disk as gone."""
    _put(site, "/docs/old", "first", lastmod="2024-05-05")
    _put(site, "/docs/dropped", "first", lastmod="2024-05-05")
    site.sitemap()
    run_here("mirror", site.url, *FAST, "--output", out)
    mirrored = Mirrored.of(site, out)
    site.remove("/docs/dropped")
    _put(site, "/docs/dated", "new", lastmod="2020-01-01")  # old, but new to us
    _put(site, "/docs/undated", "new")
    site.clear_log()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--update")

    assert sorted(_asked(site)) == ["/docs/dated", "/docs/undated"]
    assert done.json["status"] == "ok"
    assert "new" in mirrored.text("docs/dated/index.md")
    assert "new" in mirrored.text("docs/undated/index.md")
    urls = [page["url"].removeprefix(site.url) for page in mirrored.manifest["pages"]]
    assert urls == ["/docs/dated", "/docs/old", "/docs/undated"]
    [gone] = mirrored.manifest["gone"]
    assert (gone["url"], gone["path"]) == (f"{site.url}/docs/dropped", "docs/dropped/index.md")
    assert "first" in mirrored.text("docs/dropped/index.md")


def test_conditional_requests(site: Site, out: Path, run_here: RunHere) -> None:
    """Pages without a date are asked for with what the server gave us, and a 304 costs no body and changes no byte."""
    site.html_page("/docs/tagged", "T", "<h1>T</h1>", etag="v1")
    site.html_page("/docs/dated", "D", "<h1>D</h1>", last_modified=datetime(2024, 5, 5, tzinfo=UTC))
    site.html_page("/docs/changed", "C", "<h1>before</h1>", etag="v1")
    site.sitemap()
    run_here("mirror", site.url, *FAST, "--output", out)
    mirrored = Mirrored.of(site, out)
    before = mirrored.text("docs/tagged/index.md")
    site.html_page("/docs/changed", "C", "<h1>after</h1>", etag="v2")
    site.clear_log()

    done = run_here("mirror", site.url, *FAST, "--output", out, "--update")

    answers = {seen.path: seen.status for seen in site.requests if seen.path.startswith("/docs")}
    assert answers == {"/docs/tagged": 304, "/docs/dated": 304, "/docs/changed": 200}
    assert mirrored.text("docs/tagged/index.md") == before
    assert "after" in mirrored.text("docs/changed/index.md")
    assert (done.json["status"], done.json["successful"]) == ("ok", 3)
