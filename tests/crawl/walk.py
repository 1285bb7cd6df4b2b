"""Walks through a site that exists as a function only: its links are judged and kept as in a crawl, nothing is fetched.

Sites of thousands of pages are walked in a second or two, endless ones as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sitemirror.frontier.scope import CrawlScope
from sitemirror.links.attributes import LinkKind
from sitemirror.links.found import Found, PageLinks
from sitemirror.reasons import text_of
from sitemirror.run.crawl_loop import Queue
from sitemirror.run.follow_links import LinkPolicy
from sitemirror.run.plan import plan_for
from sitemirror.settings import Settings
from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.link_table import LinkTable
from sitemirror.store.queue import Part, RunRules
from sitemirror.store.url_table import UrlTable
from sitemirror.urls import normalize

HOME = "https://example.com/"
Links = Callable[[str], Iterable[str]]
"""From a page's path, with its query, to what it links to; `.png` is a picture on it."""


@dataclass(frozen=True)
class Walk:
    """Where a walk came: the paths that would be fetched, and those that were cut, with the reason."""

    visited: list[str]
    cut: dict[str, str]


def walk(folder: Path, links: Links, *, most: int = 20_000) -> Walk:
    """Breadth first from `/`, as a crawl to HTML goes; a site that has no end after `most` pages is a failure."""
    settings = Settings()
    tree = Tree(folder, min_free_mb=0)
    tree.prepare()
    state = State.open(folder / "state.sqlite3")
    try:
        run = state.begin_run(source_url=HOME, mode="links:html", scope="", started_at="")
        rules = RunRules(run=run.number, start=run.source, by_links=True, renews=False)
        table, link_table = UrlTable(state, run), LinkTable(state, rules)
        scope = CrawlScope(settings, start_url=HOME)
        plan = plan_for("crawl", settings)
        follow = LinkPolicy(settings, lambda: "2026-01-03T20:00:00Z", plan, scope, state, link_table)
        state.begin()
        link_table.start(HOME)
        queue, visited = Queue(table, Part()), list[str]()
        while (known := queue.next()) is not None:
            path = known.url.removeprefix(HOME[:-1])
            visited.append(path)
            assert len(visited) <= most, "no end in sight"
            if known.kind != 2:
                follow.links(known, _page_links(links(path)))
        rows = state.db.execute("SELECT url, reason, detail FROM url WHERE reason IS NOT NULL").fetchall()
        state.commit()
        return Walk(visited, {url.removeprefix(HOME[:-1]): text_of(*cause) or "" for url, *cause in rows})
    finally:
        state.close()


def _page_links(links: Iterable[str]) -> PageLinks:
    found = []
    for link in dict.fromkeys(links):
        there = normalize(HOME[:-1] + link)
        picture = there.endswith(".png")
        kind, attribute = (LinkKind.ASSET, "src") if picture else (LinkKind.PAGE, "href")
        found.append(Found(there, kind, requisite=picture, attribute=attribute, nofollow=False))
    return PageLinks(tuple(found), (), nofollow=False)
