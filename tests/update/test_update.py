"""`--update`: new, changed, gone and unchanged pages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sitemirror import verify
from sitemirror.errors import Aborted
from sitemirror.publish.report import MirrorReport, RunStatus
from sitemirror.settings import OnError
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import status


async def test_pages_older_than_their_copy_are_not_requested(site: Site, run: Mirror) -> None:
    """A page whose lastmod is older than its copy costs no request."""
    site.sitemap(urls=[(path, "2020-01-01") for path in site.fill(5)])
    await run()
    site.clear_log()
    report = await run(update=True)
    assert report.successful == 5
    assert not [path for path in site.paths() if path.startswith("/page")]


async def test_undated_page_is_requested_conditionally(site: Site, run: Mirror, copy: Copy) -> None:
    """Without lastmod, a page with an ETag is requested conditionally; a 304 keeps the file and renews its date."""
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    site.html_page("/b", "B", "<p>b</p>")
    site.sitemap(urls=["/a", "/b"])
    await run()
    file = copy.folder / "a/index.md"
    os.utime(file, (1, 1))
    before = file.read_bytes()
    site.clear_log()
    await run(update=True)
    (seen,) = site.requests_for("/a")
    assert seen.headers["if-none-match"] == '"1"'
    assert seen.status == 304
    assert site.count("/b") == 0
    assert file.read_bytes() == before
    assert file.stat().st_mtime > 1_000_000


async def test_newer_lastmod_fetches_only_that_page(site: Site, run: Mirror, copy: Copy) -> None:
    """One of three pages is newer: it alone is requested and rewritten."""
    for name in "abc":
        site.html_page(f"/{name}", name, "<p>old</p>")
    site.sitemap(urls=[(f"/{name}", "2020-01-01") for name in "abc"])
    first = await run()
    assert (first.successful, first.new, first.changed) == (3, 3, 0)
    site.html_page("/b", "b", "<p>new</p>")
    site.html_page("/d", "d", "<p>more</p>")
    site.sitemap(urls=[("/a", "2020-01-01"), ("/b", "2999-01-01"), ("/c", "2020-01-01"), "/d"])
    site.clear_log()
    report = await run(update=True)
    assert [site.count(f"/{name}") for name in "abcd"] == [0, 1, 0, 1]
    assert "new" in copy.text("b/index.md")
    assert (report.successful, report.new, report.changed) == (4, 1, 1)
    again = await run(update=True)
    assert (again.successful, again.new, again.changed) == (4, 0, 0)


async def test_lastmod_in_the_second_of_the_fetch_is_newer(site: Site, run: Mirror, copy: Copy) -> None:
    """Fetch dates have whole seconds; a lastmod a fraction of a second later still counts as newer."""
    site.html_page("/a", "a", "<p>old</p>")
    site.sitemap(urls=[("/a", "2020-01-01")])
    await run()
    second = copy.manifest["pages"][0]["fetched_at"].removesuffix("Z")
    site.html_page("/a", "a", "<p>new</p>")
    site.sitemap(urls=[("/a", f"{second}.999Z")])
    await run(update=True)
    assert "new" in copy.text("a/index.md")


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_duplicate_of_a_changed_page_is_requested_once(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """A duplicate has no file that a 304 could keep, so it is fetched without a condition."""
    for path in ("/a", "/a/", "/b"):
        site.html_page(path, path.strip("/"), f"<p>{path.strip('/')}</p>", etag="old")
    site.sitemap(urls=["/a", "/a/", "/b"])
    await run(format=format)
    assert copy.pages.keys() == {"/a", "/b"}
    site.html_page("/a", "a", "<p>something else</p>", etag="new")
    site.clear_log()
    report = await run(format=format, update=True)
    assert (report.successful, site.count("/a"), site.count("/a/")) == (3, 1, 1)
    assert verify(copy.folder).status is RunStatus.OK


async def test_renewed_mtimes_do_not_hide_a_stale_page(site: Site, run: Mirror, copy: Copy) -> None:
    """The older of mtime and recorded fetch date counts."""
    site.html_page("/a", "a", "<p>old</p>")
    site.sitemap(urls=[("/a", "2020-01-01")])
    await run()
    os.utime(copy.folder / "a/index.md", (4_102_444_800, 4_102_444_800))  # the year 2100
    site.html_page("/a", "a", "<p>new</p>")
    site.sitemap(urls=[("/a", "2090-01-01")])
    await run(update=True)
    assert "new" in copy.text("a/index.md")


async def test_deleted_file_is_fetched_again(site: Site, run: Mirror, copy: Copy) -> None:
    """A page whose file is missing is fetched unconditionally."""
    site.html_page("/a", "a", "<p>text</p>", etag='"1"')
    site.sitemap(urls=[("/a", "2020-01-01")])
    await run()
    (copy.folder / "a/index.md").unlink()
    await run(update=True)
    assert "text" in copy.text("a/index.md")


async def test_url_is_logged_once(site: Site, run: Mirror, copy: Copy) -> None:
    """`_processed.txt` does not grow with updates: neither by pages, nor by aliases, nor by deleted files."""
    site.redirect("/old", "/b")
    for turn in range(3):
        for path in ("/a", "/b", "/c"):
            site.html_page(path, path, f"<p>{path} {turn}</p>")
        site.sitemap(urls=[(path, f"2999-01-0{turn + 1}") for path in ("/a", "/c", "/old")])
        await run(update=turn > 0)
        (copy.folder / "c/index.md").unlink()
    site.html_page("/d", "D", "<p>d</p>")
    site.sitemap(urls=["/a", "/c", "/d", "/old"])
    await run()
    lines = (copy.folder / "_processed.txt").read_text("utf-8").splitlines()
    assert sorted(map(path_of, lines)) == ["/a", "/b", "/c", "/d", "/old"]


async def test_unlisted_page_is_gone_and_stays_on_disk(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that leaves the sitemap is reported as gone, keeps its file, and returns when it is listed again."""
    paths = site.fill(3)
    site.sitemap(urls=paths)
    await run()
    site.sitemap(urls=paths[:2])
    report = await run(update=True)
    assert (report.successful, report.total_pages, report.gone) == (2, 2, 1)
    assert [row["path"] for row in copy.manifest["gone"]] == ["page/0003/index.md"]
    assert (copy.folder / "page/0003/index.md").exists()
    assert copy.accounted() == paths
    site.sitemap(urls=paths)
    report = await run(update=True)
    assert (report.successful, report.gone, copy.manifest["gone"]) == (3, None, [])


async def test_listed_page_takes_over_the_path_of_a_gone_page(site: Site, run: Mirror, copy: Copy) -> None:
    """A site drops `.html` from its URLs and restores it: the file belongs to the listed URL each time."""
    for path in ("/a.html", "/a"):
        site.html_page(path, path, f"<p>This is {path}.</p>")
    for listed, before in (("/a.html", None), ("/a", "/a.html"), ("/a.html", "/a"), ("/a", "/a.html")):
        site.sitemap(urls=[listed])
        report = await run(update=True, index=True)
        assert (str(report.status), report.successful) == ("ok", 1)
        assert f"This is {listed}." in copy.text("a/index.md")
        assert [(path_of(row["url"]), row["path"]) for row in copy.manifest["gone"]] == [(before, None)][
            : before is not None
        ]
        assert verify(copy.folder).problems == ()


async def test_gone_page_with_deleted_file_is_fetched_when_listed_again(site: Site, run: Mirror, copy: Copy) -> None:
    """The index does not name a deleted file of a gone page; a page listed again is fetched."""
    paths = site.fill(2)
    site.sitemap(urls=paths)
    await run(index=True)
    site.sitemap(urls=paths[:1])
    await run(update=True)
    (copy.folder / "page/0002/index.md").unlink()
    await run(update=True)
    assert verify(copy.folder).problems == ()
    site.sitemap(urls=paths)
    assert (await run()).successful == 2
    assert verify(copy.folder).problems == ()


async def test_unreadable_sitemap_makes_nothing_gone(site: Site, run: Mirror, copy: Copy) -> None:
    """An update that meets a broken child sitemap keeps what that child listed."""
    paths = site.fill(4)
    site.sitemap("/one.xml", urls=paths[:2])
    site.sitemap("/two.xml", urls=paths[2:])
    site.sitemap_index("/sitemap.xml", ["/one.xml", "/two.xml"])
    await run()
    site.fault("/two.xml", status(404))
    report = await run(update=True)
    assert (report.status, report.successful) == ("partial", 4)
    assert copy.manifest["gone"] == []


async def test_failed_refresh_keeps_old_copy(site: Site, run: Mirror, copy: Copy) -> None:
    """A stale page that answers 500 stays on disk and in the manifest, with the error beside it."""
    site.html_page("/a", "a", "<p>old</p>")
    site.html_page("/b", "b", "<p>b</p>")
    site.sitemap(urls=[("/a", "2999-01-01"), ("/b", "2020-01-01")])
    await run()
    site.fault("/a", status(500))
    report = await run(update=True)
    assert (report.status, report.successful, report.failed, report.refresh_failed) == ("partial", 2, 0, 1)
    assert copy.pages["/a"]["refresh_error"] == "HTTP 500"
    (warning,) = report.warnings
    assert warning.startswith("1 page could not be brought up to date; old copies are kept")
    assert "refresh_error in the manifest" in warning
    assert "next --update" in warning
    assert "old" in copy.text("a/index.md")


async def test_unchanged_content_is_not_rewritten(site: Site, run: Mirror, copy: Copy) -> None:
    """A page that is sent again unchanged keeps its file; its dates are renewed."""
    site.html_page("/a", "a", "<p>same</p>")
    site.sitemap(urls=[("/a", "2999-01-01")])
    await run()
    file = copy.folder / "a/index.md"
    inode, fetched = file.stat().st_ino, copy.pages["/a"]["fetched_at"]
    os.utime(file, (1, 1))
    await run(update=True)
    assert file.stat().st_ino == inode
    assert file.stat().st_mtime > 1_000_000
    assert copy.pages["/a"]["fetched_at"] >= fetched


async def test_new_and_changed_count_pages_not_urls(site: Site, run: Mirror, copy: Copy) -> None:
    """Duplicates that diverge are new pages; pages that become duplicates count as changed once at most."""

    def put(*texts: str) -> None:
        for path, text in zip(("/t", "/t/", "/b", "/c"), texts, strict=True):
            site.html_page(path, "t", f"<p>{text}</p>")

    put("same", "same", "b", "c")
    site.sitemap(urls=["/t", "/t/", "/b", "/c"])
    first = await run()
    assert (first.successful, first.new, first.changed) == (3, 3, 0)
    put("one", "two", "b", "c")
    parted = await run(re_download_all=True)
    assert (parted.successful, parted.new, parted.changed) == (4, 1, 1)
    put("again the same", "again the same", "other", "c")
    merged = await run(re_download_all=True)
    assert (merged.successful, merged.new, merged.changed) == (3, 0, 2)


async def test_diverging_duplicates_become_two_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """When one of two duplicates changes, both are pages again."""
    for path in ("/p", "/p/"):
        site.html_page(path, "P", "<p>same</p>")
    site.sitemap(urls=["/p", "/p/"])
    await run()
    site.html_page("/p", "P", "<p>changed</p>")
    site.sitemap(urls=[("/p", "2999-01-01"), "/p/"])
    report = await run(update=True)
    assert (report.successful, report.duplicates) == (2, 0)
    contents = sorted(data.decode().rsplit("\n", 2)[1] for data in copy.files.values())
    assert contents == ["changed", "same"]


async def test_two_sitemaps_of_one_host_keep_each_others_pages(site: Site, run: Mirror, copy: Copy, out: Path) -> None:
    """Mirroring one sitemap does not mark the pages of another one as gone."""
    paths = site.fill(4)
    site.sitemap("/one.xml", urls=paths[:2])
    site.sitemap("/two.xml", urls=paths[2:])
    await run(f"{site.url}/one.xml")
    report = await run(f"{site.url}/two.xml")
    assert report.successful == 4
    assert copy.manifest["gone"] == []


async def test_partial_run_does_not_hide_a_gone_page(site: Site, run: Mirror, copy: Copy) -> None:
    """The whole site, a part of it, the whole again: a page that left the sitemap meanwhile is gone."""
    for path in ("/a", "/part/b"):
        site.html_page(path, path, f"<p>{path}</p>")
    site.sitemap(urls=["/a", "/part/b"])
    await run()
    await run(f"{site.url}/part/", update=True)
    site.sitemap(urls=["/part/b"])
    await run(update=True)
    assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/a"]


async def test_gone_url_has_no_placeholder(site: Site, run: Mirror, copy: Copy) -> None:
    """Neither a URL that left the sitemap nor one that was excluded since has a placeholder."""
    site.fill(1)
    site.page("/file.zip", b"PK", type="application/zip")
    site.sitemap(urls=["/page/0001", "/bad", "/worse", "/file.zip"])
    await run()
    assert len([*copy.folder.glob("_failed/*.md")]) == 2
    assert len([*copy.folder.glob("_skipped/*.md")]) == 1
    site.sitemap(urls=["/page/0001", "/worse"])
    await run(update=True, exclude_path=("/worse",))
    assert [path_of(row["url"]) for row in copy.manifest["gone"]] == ["/bad", "/file.zip"]
    assert [path_of(row["url"]) for row in copy.manifest["skips"]] == ["/worse"]
    assert [*copy.folder.glob("_failed/*.md"), *copy.folder.glob("_skipped/*.md")] == []
    site.sitemap(urls=["/page/0001", "/bad"])
    await run(update=True)
    assert len([*copy.folder.glob("_failed/*.md")]) == 1


async def test_invalid_lastmod_dates_give_one_warning(site: Site, run: Mirror) -> None:
    """Their pages are requested, and one warning gives their number and an example."""
    paths = site.fill(3)
    site.sitemap(urls=[(paths[0], "yesterday"), (paths[1], "2026-13-45"), (paths[2], "2020-01-01")])
    assert (await run()).warnings == ()
    site.clear_log()
    report = await run(update=True)
    assert [site.count(path) for path in paths] == [1, 1, 0]
    said = f"2 pages asked for again: lastmod cannot be read, such as 'yesterday' of {site.url}{paths[0]}"
    assert report.warnings == (said,)


async def test_interrupted_update_reports_unchecked_pages(site: Site, run: Mirror, copy: Copy) -> None:
    """All pages are saved, so the report says how many were not checked."""
    paths = site.fill(12)
    site.sitemap(urls=paths)
    await run()
    site.fault(paths[4], status(500))
    with pytest.raises(Aborted) as ended:
        await run(re_download_all=True, on_error=OnError.ABORT, concurrency=1)
    report, progress = ended.value.report, json.loads(copy.text("_progress.json"))
    assert isinstance(report, MirrorReport)
    left = progress["total"] - progress["processed"]
    assert (report.successful, report.not_reached) == (12, 0)
    assert left >= 7
    assert f"{left} pages not looked at yet: the same command goes on with them" in report.warnings
    site.heal(paths[4])
    assert (await run(re_download_all=True)).warnings == ()
