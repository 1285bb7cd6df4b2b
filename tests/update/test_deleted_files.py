"""Files that somebody deleted: the next run fetches them, and counts no missing page."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemirror import crawl, mirror, verify
from sitemirror.events import Event, Progress
from sitemirror.publish.report import RunStatus
from tests.run.conftest import Copy, Mirror, path_of
from tests.site import Site
from tests.site.faults import status


async def test_deleted_pages_are_fetched_again(site: Site, run: Mirror, copy: Copy) -> None:
    """Only they are requested; they are not new, so --max-pages does not limit them."""
    paths = site.fill(6, etag="1")
    site.sitemap(urls=paths)
    await run()
    before = copy.files
    deleted = ["page/0002/index.md", "page/0004/index.md"]
    for path in deleted:
        (copy.folder / path).unlink()
    site.clear_log()
    report = await run(max_pages=1)
    assert [site.count(path) for path in paths] == [0, 1, 0, 1, 0, 0]
    assert (report.status, report.successful, report.new) == ("ok", 6, 0)
    assert report.warnings == ("2 files deleted or emptied since the last run; fetched again",)
    assert copy.files == before
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("links", ["absolute", "local"])
@pytest.mark.parametrize("deleted", ["md", "html"])
async def test_deleted_file_of_two_is_fetched_again(
    site: Site, run: Mirror, copy: Copy, deleted: str, links: str
) -> None:
    """With two formats neither file may be missing; only that page is requested."""
    body = '<p><a href="/page/0001">one</a> <a href="/page/0002">two</a></p>'
    paths = ["/page/0001", "/page/0002"]
    for path in paths:
        site.html_page(path, path, f"<p>{path}</p>{body}")
    site.sitemap(urls=paths)
    await run(format="both", links=links)
    missing = copy.folder / f"page/0002/index.{deleted}"
    before = missing.read_bytes()
    missing.unlink()
    site.clear_log()
    report = await run(format="both", links=links)
    assert [site.count(path) for path in paths] == [0, 1]
    assert (report.status, report.successful, report.new) == ("ok", 2, 0)
    assert report.warnings == ("1 file deleted or emptied since the last run; fetched again",)
    assert missing.read_bytes() == before
    assert verify(copy.folder).status is RunStatus.OK


async def test_resumed_update_counts_a_page_with_one_file_once(site: Site, run: Mirror, copy: Copy, out: Path) -> None:
    """The page is due in any case, and progress reaches its total."""
    site.sitemap(urls=site.fill(6))
    await run(format="both")
    told: list[Progress] = []

    def hear(event: Event) -> None:
        if isinstance(event, Progress):
            told.append(event)
            if len(told) == 3:
                update.stop()

    update = mirror(site.url, output=out, rate_limit=0, format="both", update=True, concurrency=1, on_event=hear)
    assert (await update).status == "interrupted"
    for path in ("page/0001/index.md", "page/0006/index.md"):
        (copy.folder / path).unlink()
    assert (await run(format="both", update=True, on_event=hear)).status == "ok"
    assert (told[-1].processed, told[-1].total) == (6, 6)


@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_empty_file_is_fetched_again(site: Site, run: Mirror, copy: Copy, format: str) -> None:
    """An empty file is no page unless the site's own is empty; it is removed where the page fails."""
    paths = site.fill(3, etag="1")
    site.page("/nothing.css", b"", type="text/css")
    site.html_page("/page/0001", "One", '<link rel="stylesheet" href="/nothing.css"><p>one</p>')
    site.sitemap(urls=paths)
    await run(format=format)
    ending = "md" if format == "markdown" else "html"
    emptied = [copy.folder / f"page/000{number}/index.{ending}" for number in (2, 3)]
    before = emptied[0].read_bytes()
    for file in emptied:
        file.write_bytes(b"")
    if format != "both":
        site.remove("/page/0003")
    site.clear_log()
    report = await run(format=format)
    assert [site.count(path) for path in (*paths, "/nothing.css")] == [0, 1, 1, 0]
    assert "2 files deleted or emptied since the last run; fetched again" in report.warnings
    assert report.failed == (format != "both")
    assert emptied[0].read_bytes() == before
    assert verify(copy.folder).status is RunStatus.OK


async def test_deleted_page_that_fails_is_a_failure(site: Site, run: Mirror, copy: Copy) -> None:
    """A deleted page does not count as saved when the server no longer has it."""
    paths = site.fill(2)
    site.sitemap(urls=paths)
    await run()
    (copy.folder / "page/0001/index.md").unlink()
    site.fault(paths[0], status(500))
    report = await run()
    assert (report.status, report.successful, report.failed) == ("partial", 1, 1)
    assert [path_of(row["url"]) for row in copy.manifest["failures"]] == [paths[0]]
    assert verify(copy.folder).status is RunStatus.OK


async def test_deleted_file_of_a_gone_page_is_not_fetched(site: Site, run: Mirror, copy: Copy) -> None:
    """A gone page is not listed, so its file may be deleted."""
    paths = site.fill(2)
    site.sitemap(urls=paths)
    await run()
    site.sitemap(urls=paths[:1])
    await run(update=True)
    (copy.folder / "page/0002/index.md").unlink()
    site.clear_log()
    assert (await run()).status == "ok"
    assert site.count(paths[1]) == 0
    assert verify(copy.folder).status is RunStatus.OK


async def test_crawl_fetches_deleted_pages_and_assets(site: Site, copy: Copy) -> None:
    """Their links are local, as before."""
    site.html_page("/", "Home", '<a href="/a">a</a><img src="/i.png">')
    site.html_page("/a", "A", '<a href="/b">b</a>')
    site.html_page("/b", "B", '<a href="/a">a</a>')
    site.page("/i.png", b"picture", type="image/png")
    first = await crawl(f"{site.url}/", output=copy.folder.parent, rate_limit=0)
    before = {path: path.read_bytes() for path in copy.folder.rglob("*") if path.suffix in (".html", ".png")}
    assert len(before) == 4
    [picture] = [path for path in before if path.suffix == ".png"]
    picture.unlink()
    (copy.folder / "a/index.html").unlink()
    site.clear_log()
    report = await crawl(f"{site.url}/", output=copy.folder.parent, rate_limit=0)
    assert (site.count("/a"), site.count("/i.png"), site.count("/b")) == (1, 1, 0)
    assert (report.status, report.successful) == ("ok", first.successful)
    assert {path: path.read_bytes() for path in before} == before
    assert verify(copy.folder).status is RunStatus.OK


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("format", ["markdown", "html", "both"])
async def test_restored_file_with_same_content_is_unchanged(
    site: Site, run: Mirror, copy: Copy, format: str, update: bool
) -> None:
    """Of deleted files, only those with other content count as changed."""
    for name in "abc":
        site.html_page(f"/{name}", name, f'<p>{name}</p><img src="/{name}.png"><a href="/a">a</a>')
        site.page(f"/{name}.png", name, type="image/png")
    site.sitemap(urls=["/a", "/b", "/c"])
    first = await run(format=format)
    deleted = [path for path in copy.folder.rglob("*") if path.parent.name in "ab" or path.name in ("a.png", "b.png")]
    if format == "both":
        deleted.append(copy.folder / "c/index.html")
    for path in deleted:
        path.unlink()
    site.html_page("/b", "b", '<p>another b</p><img src="/b.png">')
    report = await run(format=format, update=update)
    assert (report.status, report.successful, report.new, report.changed) == ("ok", first.successful, 0, 1)
    assert all(path.is_file() for path in deleted)
