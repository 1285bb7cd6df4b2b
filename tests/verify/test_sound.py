"""Nothing is found where nothing is wrong, and nothing is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

import sitemirror
from sitemirror.publish.report import RunStatus
from tests.site import Site, faults
from tests.verify.conftest import WAYS, Mirrored


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(each): (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize("way", WAYS)
def test_fresh_mirrors_are_sound(mirrored: Mirrored, way: str) -> None:
    """Every kind of mirror passes, and no file is touched."""
    copy = mirrored(way)
    before = contents(copy.output)
    report = copy.verify()
    assert report.problems == ()
    assert report.status is RunStatus.OK
    assert report.error is None
    assert report.complete is (way != "crawl-cut-short")
    assert bool(report.warnings) is (way == "crawl-cut-short")
    assert report.checked.urls >= 7
    assert report.checked.files >= 3
    assert contents(copy.output) == before


def test_local_links_are_counted(mirrored: Mirrored) -> None:
    """Links between files are counted, and none in files saved as received."""
    local, received = mirrored("crawl").verify().checked, mirrored("crawl-as-received").verify().checked
    assert local.links > received.links
    assert (local.anchors, received.anchors) == (3, 0)
    assert mirrored("mirror-local").verify().checked.anchors == 3
    assert mirrored("mirror").verify().checked.anchors == 0


@pytest.mark.parametrize("way", ["mirror", "mirror-local", "mirror-both", "crawl"])
def test_mirror_without_state_is_checked(mirrored: Mirrored, way: str) -> None:
    """A mirror without its state can be checked."""
    copy = mirrored(way)
    (copy.folder / "_state.sqlite3").unlink()
    assert copy.problems() == []
    assert copy.verify().checked.links


def test_output_folder_checks_all_mirrors(mirrored: Mirrored) -> None:
    """Given the folder above, verify checks every mirror in it."""
    copy = mirrored("mirror")
    alone = copy.verify().checked
    other = copy.output / "other.example"
    copy.folder.rename(other)
    mirrored("crawl").folder.rename(copy.folder)
    both = sitemirror.verify(copy.output)
    assert both.problems == ()
    assert both.checked.mirrors == 2
    assert both.checked.urls > alone.urls


def test_subdomains_are_checked_with_their_mirror(site: Site, out: Path) -> None:
    """Pages and orphans in the folder of another host belong to the mirror that saved them."""
    main, docs = "example.localhost", "docs.example.localhost"
    site.html_page("/", "Home", "<main><h1>Home</h1><p>The site's own page.</p></main>", host=main)
    site.html_page("/x", "Docs", "<main><h1>Docs</h1><p>A page on the other host.</p></main>", host=docs)
    site.sitemap(urls=[f"{site.url_of(main)}/", f"{site.url_of(docs)}/x"], host=main)
    sitemirror.mirror_sync(site.url_of(main), output=out, rate_limit=0)
    assert sitemirror.verify(out).problems == ()
    other = out / f"{docs}_{site.port}"
    (other / "x/index.md").write_text("other", "utf-8")
    (other / "stray.md").write_text("x", "utf-8")
    found = [(problem.kind, problem.where) for problem in sitemirror.verify(out).problems]
    assert found == [
        ("changed", (other / "x/index.md").as_posix()),
        ("orphan", (other / "stray.md").as_posix()),
    ]


def test_files_of_git_and_file_managers_are_no_orphans(mirrored: Mirrored) -> None:
    """Files of version control and file managers are ignored."""
    copy = mirrored("crawl")
    (copy.folder / ".git").mkdir()
    (copy.folder / ".git" / "index.md").write_text("x")
    (copy.folder / "guide" / ".DS_Store").write_text("x")
    assert copy.problems() == []


def test_pages_of_neighbouring_mirror_are_no_orphans(mirrored: Mirrored) -> None:
    """They are checked with the mirror that saved them."""
    copy = mirrored("mirror")
    page = copy.page("guide/index.md")
    neighbour = copy.output / "neighbour.example"
    neighbour.mkdir()
    rows = [{**page, "path": f"../{copy.folder.name}/extra.md", "sha256": None, "size_bytes": None}]
    header = {**copy.manifest, "pages": rows, "failures": [], "skips": [], "gone": [], "not_reached": []}
    header |= {"successful": 1, "failed": 0, "skipped": 0, "not_reached_count": 0, "total_pages": 1}
    (neighbour / "_manifest.json").write_text(json.dumps(header), "utf-8")
    (neighbour / "_index.md").write_text("# Contents\n")
    (copy.folder / "extra.md").write_text("# Extra\n")
    assert copy.problems() == []
    assert sitemirror.verify(neighbour).problems == ()
    (copy.folder / "extra.md").unlink()
    assert [problem.kind for problem in sitemirror.verify(neighbour).problems] == ["missing"]


def test_gone_page_that_returned_as_failure_is_sound(site: Site, out: Path) -> None:
    """Its old copy counts again."""
    site.fill(2)
    listed = ["/page/0001", "/page/0002"]
    for urls in (listed, listed[:1]):
        site.sitemap(urls=urls)
        sitemirror.mirror_sync(site.url, output=out, rate_limit=0)
    site.sitemap(urls=listed)
    site.fault("/page/0002", faults.status(410))
    assert sitemirror.mirror_sync(site.url, output=out, rate_limit=0, update=True).successful == 2
    assert sitemirror.verify(out).problems == ()


@pytest.mark.parametrize("format", ["html", "both"])
def test_missing_anchor_of_alias_is_a_warning(
    site: Site, out: Path, format: Literal["markdown", "html", "both"]
) -> None:
    """An alias has the anchors of its page, so the site lacks the anchor."""
    site.html_page("/", "Home", '<a href="/old#dead">b</a><a href="/b#there">b</a>')
    site.redirect("/old", "/b")
    site.html_page("/b", "B", '<h1 id="there">B</h1>')
    sitemirror.crawl_sync(site.url, output=out, rate_limit=0, format=format)
    report = sitemirror.verify(out)
    assert (report.status, report.problems) == (RunStatus.OK, ())
    assert "1 link to places that the site's own pages lack" in report.warnings[0]


@pytest.mark.parametrize("format", ["html", "both"])
def test_anchor_of_a_removed_duplicate_is_reported(
    site: Site, out: Path, format: Literal["markdown", "html", "both"]
) -> None:
    """Of two pages with equal Markdown, an anchor that only the removed one had is lost."""
    site.html_page("/", "Home", '<a href="/b#one">b</a><a href="/b/#two">b</a>')
    site.html_page("/b", "B", '<h1 id="one">B</h1>')
    site.html_page("/b/", "B", '<h1 id="two">B</h1>')
    sitemirror.crawl_sync(site.url, output=out, rate_limit=0, format=format)
    report = sitemirror.verify(out)
    assert [problem.kind for problem in report.problems] == (["anchor"] if format == "both" else [])
    assert (report.hint is None) == (format == "html")


@pytest.mark.parametrize("format", ["html", "both"])
def test_missing_anchor_on_the_site_is_a_warning(
    site: Site, out: Path, format: Literal["markdown", "html", "both"]
) -> None:
    """An anchor that the copy lost, or may have lost, is a problem."""
    site.html_page("/", "Home", '<a href="/b#dead">b</a><a href="/b#there">b</a><a href="#none">here</a>')
    site.html_page("/b", "B", '<h1 id="there">B</h1>')
    sitemirror.crawl_sync(site.url, output=out, rate_limit=0, format=format)
    folder = out / f"127.0.0.1_{site.port}"
    report = sitemirror.verify(folder)
    assert (report.status, report.problems) == (RunStatus.OK, ())
    [note] = report.warnings
    assert note.startswith("2 links to places that the site's own pages lack, such as from ")
    page = folder / "b/index.html"
    page.write_text(page.read_text("utf-8").replace("there", "three"), "utf-8")
    kinds = sorted(problem.kind for problem in sitemirror.verify(folder).problems)
    assert kinds == ["anchor", "anchor", "changed"]
