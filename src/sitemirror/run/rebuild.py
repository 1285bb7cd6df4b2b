"""Rebuild a lost state from the manifest and `_processed.txt`, so that no saved page is lost.

The manifest has the result of each URL. A URL that only `_processed.txt` names counts as done, and its file is looked
up at the two paths that it may have. A crawl requests restored pages once, whole, to read their links again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote

from sitemirror import failpoint, urls
from sitemirror.convert import PageKind, page_kind, read_front_matter_url
from sitemirror.links.css import css_links
from sitemirror.links.html import page_links
from sitemirror.publish.file_names import MANIFEST, PROCESSED
from sitemirror.publish.manifest import (
    Damaged,
    FailureRow,
    GoneRow,
    Item,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    SkipRow,
    read_manifest,
)
from sitemirror.reasons import parse_reason
from sitemirror.run.session import stamp
from sitemirror.settings import Format
from sitemirror.store import paths
from sitemirror.store.browse import Browser
from sitemirror.store.database import State
from sitemirror.store.files import Tree
from sitemirror.store.path_allocation import html_beside
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.restore import RestoredFile, RestoredPage, Restorer
from sitemirror.store.safe_folders import is_contained
from sitemirror.store.tables import ASSET, PAGE, FileKind
from sitemirror.text import counted

Warn = Callable[[str], None]

_HERE: Final = "http://copy.invalid/"  # base URL for the output folder
_ASIDE: Final = "_moving"
"""In a host's folder: where earlier versions left files that were being moved during a kill."""


@dataclass(slots=True)
class _ManifestFacts:
    """Facts in the manifest besides its rows."""

    pages: int = 0
    damaged: int = 0
    by_links: bool = False
    is_complete: bool = False
    deepest: int = 0
    formats: set[Format] = field(default_factory=set)


def rebuild(warn: Warn, state: State, tree: Tree, home: str) -> bool:
    """Fill an empty state; True if there was something to fill it from."""
    with state.transaction():
        restorer = Restorer(state)
        facts = _from_manifest(warn, restorer, tree, home)
        lines = ProcessedLog(state, tree, f"{home}/{PROCESSED}").mend()
        trusted = trust(restorer, tree, home, lines)
        strays = [path for path, _ in Browser(tree.root).walk(f"{home}/{_ASIDE}")]
        if strays:
            restorer.forget_missing(tree.exists)
        restorer.finish()
        if len(facts.formats) == 1:  # Another format would be neither refused nor understood.
            state.set_facts(format=facts.formats.pop().value)
    failpoint.reached("rebuilt")
    for path in strays:
        tree.remove(path)
    if restored := facts.pages + trusted.found:
        warn(f"the working state was missing; {counted(restored, 'page')} found again and kept")
    if trusted.missing:
        warn(
            f"{counted(trusted.missing, 'URL')} in _processed.txt without a file here: taken as done; "
            "--re-download-all fetches what is missing"
        )
    return bool(restored or trusted.missing)


# --- the manifest --------------------------------------------------------------------------------------------------


def _from_manifest(warn: Warn, restorer: Restorer, tree: Tree, home: str) -> _ManifestFacts:
    name = f"{home}/{MANIFEST}"
    facts = _ManifestFacts()
    if not tree.exists(name):
        return facts
    try:
        for item in read_manifest(tree.root / name):
            _restore(restorer, tree, home, item, facts)
    except (ManifestUnreadable, OSError) as error:
        warn(f"{name} cannot be read ({error}); going by _processed.txt and the files")
    if facts.damaged:
        entries = "1 entry" if facts.damaged == 1 else f"{facts.damaged:,} entries"
        warn(f"{entries} of {name} could not be understood; going by _processed.txt and the files")
    return facts


def _restore(restorer: Restorer, tree: Tree, home: str, item: Item, facts: _ManifestFacts) -> None:
    try:
        match item:
            case ManifestHeader(source_url=str(source_url)) if source_url:
                facts.by_links, facts.is_complete = not item.sitemaps, item.complete
                at = item.crawl_completed or item.crawl_started
                restorer.begin(source_url, by_links=facts.by_links, at=at)
            case PageRow():
                page = _page(item, tree, home, facts)
                restorer.page(page)
                for alias in item.aliases:
                    restorer.alias(alias, page.url)
                facts.pages += 1
                facts.formats.update(_format(page))
                facts.deepest = max(facts.deepest, page.depth or 0)
            case FailureRow():
                depth = item.depth if facts.by_links else None
                restorer.failure(urls.normalize(item.url), parse_reason(item.error), item.attempts, item.at, depth)
            case SkipRow():
                restorer.skip(item.url, parse_reason(item.reason), item.content_type, item.size_bytes, item.depth)
            case GoneRow():
                restorer.gone(_gone_page(item, tree, home), item.since)
            case str():
                # A crawl finishes one depth before the next, so it is as deep as the last.
                restorer.not_reached(urls.normalize(item), facts.deepest if facts.by_links else None)
            case Damaged():
                facts.damaged += 1
            case _:
                pass
    except urls.InvalidUrl:
        facts.damaged += 1


def _page(row: PageRow, tree: Tree, home: str, facts: _ManifestFacts) -> RestoredPage:
    url = urls.normalize(row.url)
    path = _inside(home, row.path) or _preferred(url)
    preferred = (row.preferred_path and _inside(home, row.preferred_path)) or path
    if path == paths.collision_path(_preferred(url), url):  # An older manifest does not say so.
        preferred = _preferred(url)
    kind = _kind_of_row(row, as_page=_preferred(url) in (path, preferred))
    size = row.size_bytes if row.sha256 or row.fetched_at else None
    files = [RestoredFile(_file_kind(path, kind), path, preferred, size, row.sha256)]
    if row.html_path and (beside := _inside(home, row.html_path)):
        meant = html_beside(preferred)
        is_there = tree.exists(beside)
        files.append(
            _file_on_disk(tree, FileKind.HTML, beside, meant)
            if is_there
            else RestoredFile(FileKind.HTML, beside, meant)
        )
    return RestoredPage(
        url,
        tuple(_with_links(tree, url, file, row.content_type, is_published=facts.is_complete) for file in files),
        kind,
        fetched_at=row.fetched_at,
        changed_at=row.changed_at,
        title=row.title,
        etag=row.etag,
        last_modified=row.last_modified,
        content_type=row.content_type,
        canonical=row.canonical_url,
        hidden_texts=row.hidden_texts or 0,
        depth=row.depth if facts.by_links else None,
        cause=parse_reason(row.refresh_error) if row.refresh_error else None,
        is_published=facts.is_complete,
        has_links=kind != ASSET or _is_linked_asset(files[0], row.content_type),
    )


def _gone_page(row: GoneRow, tree: Tree, home: str) -> RestoredPage:
    """Restore a page of which the manifest has only the path. One or both of its files may be deleted."""
    url = urls.normalize(row.url)
    path = row.path and _inside(home, row.path)
    if not path:
        return RestoredPage(url, ())
    names = [path, html_beside(path)] if path.endswith(".md") else [path]
    is_page = path.endswith((".md", ".html"))
    preferred = _preferred(url) if path.endswith(".md") else path
    files = []
    for name, meant in zip(names, (preferred, html_beside(preferred)), strict=False):
        if tree.exists(name):
            data = tree.read(name)
            kind = _file_kind(name, PAGE if is_page else ASSET)
            is_local = kind is not FileKind.MARKDOWN
            files.append(RestoredFile(kind, name, meant, len(data), sha256(data).hexdigest(), is_local))
    return RestoredPage(url, tuple(files), PAGE if is_page else ASSET, is_published=True)


def _kind_of_row(row: PageRow, *, as_page: bool) -> int | None:
    """Return page or asset, as the writer tells them apart: text is a page if its name is a page's."""
    if row.content_type is None:
        return None
    found = page_kind(row.content_type)
    return PAGE if found is PageKind.HTML or (found and as_page) else ASSET


def _file_kind(path: str, kind: int | None) -> FileKind:
    if kind == ASSET:
        return FileKind.ASSET
    return FileKind.MARKDOWN if path.endswith(".md") else FileKind.HTML if path.endswith(".html") else FileKind.ASSET


def _format(page: RestoredPage) -> Iterator[Format]:
    """Return the format of a site, as a page shows it. Assets have the same format in both."""
    if page.content_type is not None and page_kind(page.content_type) is PageKind.HTML:
        kinds = {file.kind for file in page.files}
        is_markdown = FileKind.MARKDOWN in kinds
        yield (Format.BOTH if FileKind.HTML in kinds else Format.MARKDOWN) if is_markdown else Format.HTML


def _inside(home: str, path: str) -> str | None:
    """Return a path of the manifest relative to the output folder, which it cannot leave."""
    found = posixpath.normpath(posixpath.join(home, path))
    return None if found.startswith(("/", "../")) or found in (".", "..") else found


def _preferred(url: str) -> str:
    return f"{paths.host_folder(url)}/{paths.page_path(url)}"


# --- files -----------------------------------------------------------------------------------------------------------


def _with_links(
    tree: Tree, url: str, file: RestoredFile, content_type: str | None, *, is_published: bool
) -> RestoredFile:
    """Find out if a file's links are local: relinking it would lead them to the site.

    A complete run has made them local. Before that, the file itself shows it.
    """
    if file.kind is FileKind.MARKDOWN or (file.kind is FileKind.ASSET and not _is_linked_asset(file, content_type)):
        return file
    return file._replace(is_local=is_published or _leads_to_files(tree, url, file))


def _is_linked_asset(file: RestoredFile, content_type: str | None) -> bool:
    return content_type in ("text/css", "image/svg+xml") or file.path.endswith((".css", ".svg"))


def _leads_to_files(tree: Tree, url: str, file: RestoredFile) -> bool:
    if not tree.exists(file.path):
        return False
    data = tree.read(file.path)
    read = css_links if file.path.endswith(".css") else page_links
    here = {link.url.partition("#")[0] for link in read(data, url=_HERE + quote(file.path)).found}
    local = {unquote(link[len(_HERE) :]) for link in here if link.startswith(_HERE)}
    return any(path != file.path and is_contained(path) and tree.is_file(path) for path in local)


@dataclass(slots=True)
class Trusted:
    """URLs that count as done because `_processed.txt` says so."""

    found: int = 0  # with a file
    missing: int = 0


def trust(restorer: Restorer, tree: Tree, home: str, processed: Iterable[str]) -> Trusted:
    """Count URLs from `_processed.txt` as done, even if neither state nor file knows them."""
    trusted = Trusted()
    for line in processed:
        with suppress(urls.InvalidUrl):
            url = urls.normalize(line)
            if restorer.is_done(url):
                continue
            page = _look_up(restorer, tree, home, url)
            has_file = page.fetched_at is not None
            if restorer.knows(url) and (not has_file or restorer.has_file(page.files[0].path)):
                continue  # The manifest has a newer result.
            files = (_with_links(tree, url, file, None, is_published=False) for file in page.files)
            restorer.page(page._replace(files=tuple(files)))
            trusted.found += has_file
            trusted.missing += not has_file
    return trusted


def _look_up(restorer: Restorer, tree: Tree, home: str, url: str) -> RestoredPage:
    """Find a page by its possible files: Markdown that names no other URL, or else HTML."""
    preferred = _preferred(url)
    for path in (preferred, paths.collision_path(preferred, url)):
        if tree.exists(path) and read_front_matter_url(tree.read(path)) in (url, None):
            files = [_file_on_disk(tree, FileKind.MARKDOWN, path, preferred)]
            if tree.exists(html_beside(path)):
                files.append(_file_on_disk(tree, FileKind.HTML, html_beside(path), html_beside(preferred)))
            return _page_on_disk(tree, url, files, PAGE)
    # HTML files do not name their URL; but the hashed path belongs to this URL alone, so it comes first.
    folder = paths.folder_within(home, url)
    own, *longer = paths.asset_paths(url)
    page = paths.page_path(url, ".html")
    # With an added extension, a name may be another URL's own: /badge redirects to /badge.svg.
    free = [name for name in longer if not restorer.has_file(f"{folder}/{name}")]
    for name in (page, own, *free):
        meant = f"{folder}/{name}"
        for path in (paths.collision_path(meant, url), meant):
            if tree.exists(path) and not restorer.has_file(path):
                kind = PAGE if name == page else ASSET
                return _page_on_disk(tree, url, [_file_on_disk(tree, _file_kind(path, kind), path, meant)], kind)
    # Another page's file may be at its path.
    path = paths.collision_path(preferred, url) if restorer.has_file(preferred) else preferred
    return RestoredPage(url, (RestoredFile(FileKind.MARKDOWN, path, preferred),))


def _file_on_disk(tree: Tree, kind: FileKind, path: str, preferred: str) -> RestoredFile:
    data = tree.read(path)
    return RestoredFile(kind, path, preferred, len(data), sha256(data).hexdigest())


def _page_on_disk(tree: Tree, url: str, files: list[RestoredFile], kind: int) -> RestoredPage:
    fetched_at = stamp(datetime.fromtimestamp(tree.mtime(files[0].path) or 0, UTC))
    has_links = kind != ASSET or _is_linked_asset(files[0], None)
    return RestoredPage(url, tuple(files), kind, fetched_at=fetched_at, has_links=has_links)
