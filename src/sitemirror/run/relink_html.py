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

_GROUP_SIZE: Final = 8
_GROUP_BYTES: Final = 256 * 1024


async def relink_saved_html(
    tree: Tree, table: HtmlLinkTargets, pool: Pool, watch: Stopwatch, params: ParamRules = NO_RULES
) -> None:
    """Rewrite the files that need it."""
    table.begin()
    outdated = list(table.outdated())  # now: files localized below link to everything by its current path
    groups = _groups(file for file in table.received() if tree.is_file(file.path))
    root = str(tree.root.absolute())
    with table.batches():
        await asyncio.gather(*(_localize_all(root, table, pool, groups, watch, params) for _ in range(pool.width)))
        for file in outdated:
            with watch.working(Stage.PUBLISHING):
                _relink(tree, table, file, params)
    table.finish()


def _groups(received: Iterable[LinkingFile]) -> Iterator[list[LinkingFile]]:
    """Group files into jobs: few, so that a kill costs little, and not too large together."""
    found: list[LinkingFile] = []
    size = 0
    for file in received:
        size += file.size
        if found and (len(found) == _GROUP_SIZE or size > _GROUP_BYTES):
            yield found
            found, size = [], file.size
        found.append(file)
    if found:
        yield found


async def _localize_all(
    root: str,
    table: HtmlLinkTargets,
    pool: Pool,
    groups: Iterator[list[LinkingFile]],
    watch: Stopwatch,
    params: ParamRules,
) -> None:
    """Localize the groups that no other task has started."""
    for group in groups:
        if not await _localize(root, table, pool, group, watch, params):
            # An unreadable file failed the whole job: try them one by one.
            for file in group if len(group) > 1 else ():
                await _localize(root, table, pool, [file], watch, params)


async def _localize(
    root: str, table: HtmlLinkTargets, pool: Pool, group: list[LinkingFile], watch: Stopwatch, params: ParamRules
) -> bool:
    """Make links of received files local. False if they failed: the next run tries again."""
    targets = table.targets([file.id for file in group])
    # Each by its own links, or the result would depend on its neighbours in the group.
    files = [
        Received(
            root,
            file.path,
            file.sha256,
            file.url,
            _charset(file),
            file.content_type,
            targets=targets[file.id],
            strip_params=params.strip,
            keep_params=params.keep,
        )
        for file in group
    ]
    try:
        with watch.waiting(Stage.LINKS, len(group)):
            done = await pool.localize(files, watch)
    except JobFailed:
        return False
    for file, (size, digest) in zip(group, done, strict=True):
        table.done(file, size=size, sha256=digest)
    return True


def _relink(tree: Tree, table: HtmlLinkTargets, file: LinkingFile, params: ParamRules) -> None:
    """Update links between files whose targets have moved."""
    if not tree.exists(file.path):
        return
    data = tree.read(file.path)
    if file.sha256 not in (None, digest := sha256(data).hexdigest()):
        if table.goes_on:  # The killed run has done it.
            table.done(file, size=len(data), sha256=digest)
            return
        return  # The file was edited.
    changes = dict(_changes(table, file))

    def change(reference: str) -> str | None:
        # Links to unsaved pages are as the site wrote them, with the parameters that their URLs are stored without.
        return (
            changes.get(reference)
            or ("://" in reference and changes.get(strip_session_and_tracking(reference, params)))
            or None
        )

    from sitemirror.links.css import relink_css
    from sitemirror.links.rewrite_html import relink_html  # Workers have loaded it, and most runs change few old files.

    if file.is_css:
        changed = relink_css(data, change=change)
    else:
        changed = relink_html(data, charset=_charset(file), change=change)
    if changed != data:
        tree.write(file.path, changed)
    table.done(file, size=len(changed), sha256=sha256(changed).hexdigest())


def _changes(table: HtmlLinkTargets, file: LinkingFile) -> Iterator[tuple[str, str]]:
    for url, before, there in table.links(file.id):
        old = relative_link(file.linked_path or file.path, before) if before else url
        new = relative_link(file.path, there) if there else url
        if old != new:
            yield old, new


def _charset(file: LinkingFile) -> str | None:
    header = orjson.loads(file.headers).get("content-type", "") if file.headers else ""
    return parse_content_type(header)[1]
