"""Pages in memory, one after another."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

import sitemirror
from sitemirror.errors import NoSitemap, UsageError
from sitemirror.events import Event, PageFailed
from sitemirror.page_stream import BACKLOG
from tests.site import Site


async def test_pages_are_markdown_with_metadata(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title, URL and front matter are apart from the text, and nothing stays on disk."""
    monkeypatch.chdir(tmp_path)
    site.html_page("/a", 'A "quoted" č', '<p>text</p><meta name="description" content="About a">')
    site.page("/b", '<html lang="en"><meta name="description" content="About b"><title>B</title><p>b')
    site.sitemap()
    found = {page.url: page async for page in sitemirror.pages(site.url, rate_limit=0)}
    assert set(found) == {f"{site.url}/a", f"{site.url}/b"}
    page = found[f"{site.url}/b"]
    assert (page.title, page.markdown, page.changed, page.new) == ("B", "b\n", True, True)
    assert page.metadata == {"description": "About b", "language": "en"}
    assert found[f"{site.url}/a"].title == 'A "quoted" č'
    assert not page.path.exists()
    assert not any(tmp_path.iterdir())


async def test_pages_by_links_and_in_a_folder(site: Site, out: Path) -> None:
    """`discover="links"` crawls; with `output` the mirror stays, and an update gives what it asked for."""
    site.html_page("/", "Home", '<a href="/a">a</a>', etag='"1"')
    site.html_page("/a", "A", "<p>a</p>", etag='"1"')
    options = sitemirror.Options(rate_limit=0, discover="links", output=out)
    assert len([page async for page in sitemirror.pages(site.url, **options)]) == 2
    site.html_page("/a", "A", "<p>changed</p>", etag='"2"')
    updating = sitemirror.Options(**options, update=True)
    updated = {page.url: page async for page in sitemirror.pages(site.url, **updating)}
    changed = updated[f"{site.url}/a"]
    assert (changed.markdown, changed.changed, changed.new) == ("changed\n", True, False)
    assert changed.path.is_file()
    assert not updated[f"{site.url}/"].changed
    assert [page async for page in sitemirror.pages(site.url, **options)] == []


async def test_a_slow_reader_stops_the_requests(site: Site) -> None:
    """Back-pressure: however large the site, few pages wait in memory, and the rest comes when there is room."""
    site.fill(300)
    site.sitemap()
    most = BACKLOG + 16 + 4 + 8  # waiting, in conversion, in flight; robots.txt, sitemap and the like

    async with aclosing(sitemirror.pages(site.url, rate_limit=0, concurrency=4)) as pages:
        await anext(pages)
        seen = -1
        while seen != (seen := len(site.requests)):
            await asyncio.sleep(0.3)
        assert seen <= most
        taken = 1
        async for _ in pages:
            taken += 1
    assert taken == 300


async def test_leaving_the_loop_ends_the_run(site: Site) -> None:
    """No more requests are sent, and the temporary folder is removed."""
    site.fill(300)
    site.sitemap()
    async with aclosing(sitemirror.pages(site.url, rate_limit=0)) as pages:
        page = await anext(pages)
    sent = len(site.requests)
    assert sent < 100
    await asyncio.sleep(0.2)
    assert len(site.requests) == sent
    assert not page.path.parent.exists()


async def test_failures_are_events_and_a_failed_run_raises(site: Site) -> None:
    """As for `mirror`."""
    site.html_page("/a", "A", "<p>a</p>")
    site.sitemap(urls=["/a", "/missing"])
    events: list[Event] = []
    found = [page async for page in sitemirror.pages(site.url, rate_limit=0, on_event=events.append)]
    assert len(found) == 1
    assert [event.url for event in events if isinstance(event, PageFailed)] == [f"{site.url}/missing"]
    with Site() as empty, pytest.raises(NoSitemap):
        [page async for page in sitemirror.pages(empty.url, rate_limit=0)]
    with pytest.raises(UsageError, match="format cannot be chosen"):
        [page async for page in sitemirror.pages(site.url, format="html")]


def test_a_run_is_a_coroutine_for_asyncio(site: Site, out: Path) -> None:
    """`asyncio.run(mirror(…))` works, and so do tasks, timeouts and cancellation."""
    site.fill(3)
    site.sitemap()
    report = asyncio.run(sitemirror.mirror(site.url, rate_limit=0, output=out))
    assert report.successful == 3

    async def others() -> None:
        task = asyncio.create_task(sitemirror.mirror(site.url, rate_limit=0, output=out))
        assert (await task).successful == 3
        run = sitemirror.mirror(site.url, rate_limit=0.01, output=out / "slow")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run, 0.5)
        first, second = await asyncio.gather(
            sitemirror.list_site(site.url, rate_limit=0, output=out),
            sitemirror.mirror(site.url, rate_limit=0, output=out / "b"),
        )
        assert (first.total_urls, second.successful) == (3, 3)

    asyncio.run(others())
    with pytest.raises(NoSitemap), Site() as empty:
        asyncio.run(sitemirror.mirror(empty.url, rate_limit=0, output=out))
