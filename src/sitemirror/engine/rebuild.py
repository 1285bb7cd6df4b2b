"""Makes a lost state anew from what is published: the manifest, `_processed.txt` and the files themselves."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256

from sitemirror import urls
from sitemirror.convert import read_front_matter_url
from sitemirror.engine.session import Session, stamp
from sitemirror.publish.manifest import FailureRow, GoneRow, ManifestHeader, PageRow
from sitemirror.publish.manifest_reader import Damaged, ManifestUnreadable, read_manifest
from sitemirror.store import paths
from sitemirror.store.files import Tree
from sitemirror.store.processed import ProcessedLog
from sitemirror.store.restore import Remembered, Restorer
from sitemirror.store.state import State


def rebuild(session: Session, state: State, tree: Tree, home: str) -> bool:
    """Fills an empty state; True when there was something to fill it from."""
    restorer = Restorer(state)
    with state.transaction():
        from_manifest = _from_manifest(session, restorer, tree, home)
        trusted = trust(restorer, tree, ProcessedLog(state, tree, f"{home}/_processed.txt").mend())
    if from_manifest or trusted:
        session.warn(f"the working state was missing; {from_manifest + trusted} pages were found again and are kept")
    return bool(from_manifest or trusted)


def trust(restorer: Restorer, tree: Tree, processed: Iterable[str]) -> int:
    """Counts URLs from `_processed.txt` as done, also when neither state nor file knows them."""
    count = 0
    for line in processed:
        with suppress(urls.InvalidUrl):
            url = urls.normalize(line)
            if not restorer.done(url):
                restorer.page(_look_up(tree, url))
                count += 1
    return count


def _look_up(tree: Tree, url: str) -> Remembered:
    """What the disk itself says of a page."""
    wanted = _wanted(url)
    for path in (wanted, paths.collision_path(wanted, url)):
        if tree.exists(path) and read_front_matter_url(data := tree.read(path)) in (url, None):
            fetched_at = stamp(datetime.fromtimestamp(tree.mtime(path) or 0, UTC))
            return Remembered(url, path, wanted, len(data), fetched_at, sha256=sha256(data).hexdigest())
    return Remembered(url, wanted, wanted)


def _from_manifest(session: Session, restorer: Restorer, tree: Tree, home: str) -> int:
    name = f"{home}/_manifest.json"
    if not tree.exists(name):
        return 0
    pages = damaged = 0
    published = False
    try:
        for item in read_manifest(tree.root / name):
            match item:
                case ManifestHeader(complete=complete):
                    published = complete
                case PageRow():
                    page = _remembered(item, home, published=published)
                    if page is None:
                        damaged += 1
                        continue
                    restorer.page(page)
                    for alias in item.aliases:
                        restorer.alias(alias, page.url)
                    pages += 1
                case FailureRow():
                    with suppress(urls.InvalidUrl):
                        restorer.failure(urls.normalize(item.url), item.error, item.attempts, item.at)
                case GoneRow() if item.path:
                    gone = _remembered(PageRow(url=item.url, path=item.path), home, published=True)
                    if gone is not None:
                        restorer.gone(gone, item.since)
                case Damaged():
                    damaged += 1
    except (ManifestUnreadable, OSError) as error:
        session.warn(f"{name} cannot be read ({error}); going by _processed.txt and the files")
    if damaged:
        session.warn(f"{damaged} entries of {name} could not be understood")
    return pages


def _remembered(row: PageRow, home: str, *, published: bool) -> Remembered | None:
    try:
        url = urls.normalize(row.url)
    except urls.InvalidUrl:
        return None
    path = posixpath.normpath(posixpath.join(home, row.path))
    wanted = _wanted(url)
    if path.startswith(("/", "../")) or path in (".", ".."):
        path = wanted  # A manifest is only a file: it cannot send us outside the tree.
    return Remembered(
        url,
        path,
        wanted,
        row.size_bytes or 0,
        row.fetched_at or "",
        row.title,
        row.sha256,
        row.lastmod,
        row.etag,
        row.last_modified,
        row.content_type,
        row.canonical_url,
        published,
    )


def _wanted(url: str) -> str:
    return f"{paths.host_folder(url)}/{paths.page_path(url)}"
