"""Makes the saved HTML link to itself: to files where the target was saved, to the site where not.

Done when a run ends, over the files as they were received. Later runs change only what has changed: which path a file
links by is kept with each target, so that a page saved later, or moved, is linked from pages that stay as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256

import orjson

from sitemirror.convert.localize import relink_html
from sitemirror.convert.localize_css import relink_css
from sitemirror.convert.relative import relative_link
from sitemirror.fetch.media import parse_content_type
from sitemirror.frontier.traps import without_session
from sitemirror.stopwatch import IDLE, Stage, Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.localities import Localities, Place
from sitemirror.workers.jobs import JobFailed, Received
from sitemirror.workers.pool import Pool


async def localize(tree: Tree, places: Localities, pool: Pool, watch: Stopwatch = IDLE) -> None:
    """Rewrites what needs it."""
    places.begin()
    outdated = list(places.outdated())  # now: what is localised below links to everything by the path it has
    received = places.received()
    with places.batches():
        await asyncio.gather(*(_localize_all(tree, places, pool, received, watch) for _ in range(pool.width)))
        for place in outdated:
            with watch.working(Stage.PUBLISHING):
                _relink(tree, places, place)
    places.settle()


async def _localize_all(
    tree: Tree, places: Localities, pool: Pool, received: Iterator[Place], watch: Stopwatch
) -> None:
    """Takes one file after the other from those that nobody has taken."""
    root = str(tree.root.absolute())
    for place in received:
        if tree.is_file(place.path):
            await _localize(root, places, pool, place, watch)


async def _localize(root: str, places: Localities, pool: Pool, place: Place, watch: Stopwatch) -> None:
    """Links as the site wrote them become links between files."""
    targets = {url: there for url, _, there in places.links(place.id) if there}
    file = Received(root, place.path, place.sha256, place.url, _charset(place), place.is_css)
    try:
        with watch.waiting(Stage.LINKS):
            size, digest = await pool.localize(file, targets, watch)
    except JobFailed:
        return  # It stays as received, and the next run tries again.
    places.done(place, size=size, sha256=digest)


def _relink(tree: Tree, places: Localities, place: Place) -> None:
    """Links between files that lead elsewhere by now are changed; the others stay."""
    if not tree.exists(place.path):
        return
    data = tree.read(place.path)
    if places.goes_on and (digest := sha256(data).hexdigest()) != place.sha256:  # The run that was killed has done it.
        places.done(place, size=len(data), sha256=digest)
        return
    changes = dict(_changes(places, place))

    def change(reference: str) -> str | None:
        # What was not saved is linked as the site wrote it, with the session id that its URL is known without.
        return changes.get(reference) or ("://" in reference and changes.get(without_session(reference))) or None

    if place.is_css:
        changed = relink_css(data, change=change)
    else:
        changed = relink_html(data, charset=_charset(place), change=change)
    if changed != data:
        tree.write(place.path, changed)
    places.done(place, size=len(changed), sha256=sha256(changed).hexdigest())


def _changes(places: Localities, place: Place) -> Iterator[tuple[str, str]]:
    for url, before, there in places.links(place.id):
        old = relative_link(place.local_at, before) if before else url
        new = relative_link(place.path, there) if there else url
        if old != new:
            yield old, new


def _charset(place: Place) -> str | None:
    header = orjson.loads(place.headers).get("content-type", "") if place.headers else ""
    return parse_content_type(header)[1]
