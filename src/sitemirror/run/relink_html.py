"""Relink saved HTML: to files where the target was saved, to the site where it was not.

This happens when a run ends, to the files as they were received. Later runs change only the differences: the path by
which files link to a target is stored with it, so a page that is saved later, or moved, is linked from unchanged pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import orjson

from sitemirror.fetch.media_type import parse_content_type
from sitemirror.frontier.traps import NO_RULES, ParamRules, strip_session_and_tracking
from sitemirror.links.resolve import relative_link
from sitemirror.stopwatch import Stage, Stopwatch
from sitemirror.store.files import Tree
from sitemirror.store.link_targets import HtmlLinkTargets, LinkingFile
from sitemirror.workers.jobs import JobFailed, Received
from sitemirror.workers.pool import Pool

_HANDFUL: Final = 8
_HANDFUL_BYTES: Final = 256 * 1024


async def relink_saved_html(
    tree: Tree, places: HtmlLinkTargets, pool: Pool, watch: Stopwatch, params: ParamRules = NO_RULES
) -> None:
    """Rewrite the files that need it."""
    places.begin()
    outdated = list(places.outdated())  # now: files localized below link to everything by its current path
    handfuls = _handfuls(place for place in places.received() if tree.is_file(place.path))
    root = str(tree.root.absolute())
    with places.batches():
        await asyncio.gather(*(_localize_all(root, places, pool, handfuls, watch, params) for _ in range(pool.width)))
        for place in outdated:
            with watch.working(Stage.PUBLISHING):
                _relink(tree, places, place, params)
    places.finish()


def _handfuls(received: Iterable[LinkingFile]) -> Iterator[list[LinkingFile]]:
    """Group files into jobs: few, so that a kill costs little, and not too large together."""
    found: list[LinkingFile] = []
    size = 0
    for place in received:
        size += place.size
        if found and (len(found) == _HANDFUL or size > _HANDFUL_BYTES):
            yield found
            found, size = [], place.size
        found.append(place)
    if found:
        yield found


async def _localize_all(
    root: str,
    places: HtmlLinkTargets,
    pool: Pool,
    handfuls: Iterator[list[LinkingFile]],
    watch: Stopwatch,
    params: ParamRules,
) -> None:
    """Localize the groups that no other task has started."""
    for handful in handfuls:
        if not await _localize(root, places, pool, handful, watch, params):
            # An unreadable file failed the whole job: try them one by one.
            for place in handful if len(handful) > 1 else ():
                await _localize(root, places, pool, [place], watch, params)


async def _localize(
    root: str, places: HtmlLinkTargets, pool: Pool, handful: list[LinkingFile], watch: Stopwatch, params: ParamRules
) -> bool:
    """Make links of received files local. False if they failed: the next run tries again."""
    targets = places.targets([place.id for place in handful])
    # Each by its own links, or the result would depend on its neighbours in the group.
    files = [
        Received(
            root,
            place.path,
            place.sha256,
            place.url,
            _charset(place),
            place.content_type,
            targets=targets[place.id],
            strip_params=params.strip,
            keep_params=params.keep,
        )
        for place in handful
    ]
    try:
        with watch.waiting(Stage.LINKS, len(handful)):
            done = await pool.localize(files, watch)
    except JobFailed:
        return False
    for place, (size, digest) in zip(handful, done, strict=True):
        places.done(place, size=size, sha256=digest)
    return True


def _relink(tree: Tree, places: HtmlLinkTargets, place: LinkingFile, params: ParamRules) -> None:
    """Update links between files whose targets have moved."""
    if not tree.exists(place.path):
        return
    data = tree.read(place.path)
    if place.sha256 not in (None, digest := sha256(data).hexdigest()):
        if places.goes_on:  # The killed run has done it.
            places.done(place, size=len(data), sha256=digest)
            return
        return  # The file was edited.
    changes = dict(_changes(places, place))

    def change(reference: str) -> str | None:
        # Links to unsaved pages are as the site wrote them, with the parameters that their URLs are stored without.
        return (
            changes.get(reference)
            or ("://" in reference and changes.get(strip_session_and_tracking(reference, params)))
            or None
        )

    from sitemirror.links.css import relink_css
    from sitemirror.links.rewrite_html import relink_html  # Workers have loaded it, and most runs change few old files.

    if place.is_css:
        changed = relink_css(data, change=change)
    else:
        changed = relink_html(data, charset=_charset(place), change=change)
    if changed != data:
        tree.write(place.path, changed)
    places.done(place, size=len(changed), sha256=sha256(changed).hexdigest())


def _changes(places: HtmlLinkTargets, place: LinkingFile) -> Iterator[tuple[str, str]]:
    for url, before, there in places.links(place.id):
        old = relative_link(place.linked_path or place.path, before) if before else url
        new = relative_link(place.path, there) if there else url
        if old != new:
            yield old, new


def _charset(place: LinkingFile) -> str | None:
    header = orjson.loads(place.headers).get("content-type", "") if place.headers else ""
    return parse_content_type(header)[1]
