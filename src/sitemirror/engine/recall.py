"""Finds out what links between Markdown files were on the site, after the state that knew it was lost.

A link to a file stood for the URL of that file's page; which place on the page was meant, only the link's anchor tells.
All pages have to be read for it. Until they are, the state has a note that they are to be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from sitemirror import failpoint
from sitemirror.engine.local_links import pack_links
from sitemirror.links.resolve import linked_path
from sitemirror.stopwatch import Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.pages_by_url import LinkedPage, PagesByUrl, Relinked
from sitemirror.workers.jobs import JobFailed
from sitemirror.workers.pool import Pool

_HANDFUL: Final = 8


async def recall_links(tree: Tree, pages: PagesByUrl, pool: Pool, watch: Stopwatch) -> None:
    """Reads every page that has not been read for this, and notes what its links were."""
    unread = (page for page in pages.pages() if page.sha256 != page.linked and tree.exists(page.path))
    root = str(tree.root.absolute())
    await asyncio.gather(*(_recall_all(root, unread, pages, pool, watch) for _ in range(pool.width)))
    pages.all_recalled()


async def _recall_all(root: str, unread: Iterator[LinkedPage], pages: PagesByUrl, pool: Pool, watch: Stopwatch) -> None:
    """Takes one handful after the other from those that nobody has taken."""
    while handful := [*islice(unread, _HANDFUL)]:
        batch: list[Relinked] = []
        found = await _destinations(root, handful, pool, watch)
        for page, (size, destinations) in zip(handful, found, strict=True):
            led = [(each, url) for each in destinations if (url := _meant(page, each, pages))]
            if led and page.sha256 is not None:
                batch.append(Relinked(page.id, size, page.sha256, pack_links(led), is_vague=True))
        pages.relinked(batch)
        failpoint.reached("links-recalled")
        await asyncio.sleep(0)  # whoever wants to stop the run has a turn


async def _destinations(
    root: str, handful: list[LinkedPage], pool: Pool, watch: Stopwatch
) -> list[tuple[int, list[str]]]:
    try:
        return await pool.links_to_files(root, [(page.path, page.sha256) for page in handful], watch)
    except JobFailed:  # One of them cannot be read, and has cost the others their job.
        if len(handful) == 1:
            return [(0, [])]
        return [found for page in handful for found in await _destinations(root, [page], pool, watch)]


def _meant(page: LinkedPage, destination: str, pages: PagesByUrl) -> str | None:
    """The URL that a link to a file stands for."""
    path, mark, fragment = destination.partition("#")
    there = linked_path(page.path, unquote(path))
    url = pages.url_at(there) if there else None
    return url and url + mark + fragment
