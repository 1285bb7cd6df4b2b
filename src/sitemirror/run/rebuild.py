"""What a crawl's published files still know of a lost state: who links to whom, and how deep each URL is.

The mirror index tells most of it. The saved files tell the rest: how deep those URLs are that nobody has fetched yet,
and whether a file's links are as the site wrote them or lead to files already.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson

from sitemirror import failpoint, urls
from sitemirror.convert import PageKind, page_kind, read_front_matter_url
from sitemirror.fetch.media_type import parse_content_type
from sitemirror.frontier.traps import without_session
from sitemirror.links.attributes import LinkKind
from sitemirror.links.css import css_links
from sitemirror.links.found import Found, PageLinks
from sitemirror.links.html import page_links
from sitemirror.model import PageMeta
from sitemirror.publish.file_names import CONTENTS, MANIFEST, MIRROR_INDEX, PROCESSED
from sitemirror.publish.manifest import (
    Damaged,
    FailureRow,
    GoneRow,
    ManifestHeader,
    ManifestUnreadable,
    PageRow,
    SkipRow,
    read_manifest,
)
from sitemirror.publish.mirror_index import dump_page_meta
from sitemirror.publish.mirror_index_check import IndexEntry, LinkList, NotAnIndex, Piece, read_index
from sitemirror.reasons import parse_reason
from sitemirror.run.session import Session, stamp
from sitemirror.settings import Format
from sitemirror.store import paths
from sitemirror.store.browse import Browser
from sitemirror.store.database import FORMAT, State
from sitemirror.store.files import Tree
from sitemirror.store.placement import ASIDE, html_beside
from sitemirror.store.processed_log import ProcessedLog
from sitemirror.store.restore import RESCUED, TO_RECALL, TO_SETTLE, Remembered, Restorer
from sitemirror.store.restore_links import Knitter, Place
from sitemirror.store.schema import ASSET, PAGE
from sitemirror.text import counted

_HERE: Final = "http://copy.invalid/"  # stands for the output folder


def knit(session: Session, knitter: Knitter, tree: Tree, home: str) -> bool:
    """Adds to restored pages how they hang together; False when there is no index to tell."""
    name = f"{home}/{MIRROR_INDEX}"
    if not tree.exists(name):
        return False
    try:
        for piece in read_index(tree.root / name):
            _take(knitter, home, piece)
    except (NotAnIndex, OSError) as error:
        session.warn(f"{name} cannot be read ({error}); what it knew of links is found out anew")
        return False
    for place in knitter.places():
        _read_again(knitter, tree, place)
    return True


def read_links(knitter: Knitter, tree: Tree, source_url: str) -> None:
    """The same from the files of a mirror by sitemaps, which has no index: what they link to, by URL or by path."""
    knitter.belongs_to(source_url)
    urls_by_path = knitter.saved_at()
    for place in knitter.files():
        if not tree.exists(place.path):
            continue
        data, read = tree.read(place.path), _reader(place)
        links = read(data, url=place.url)
        for link in links.found:
            target = without_session(link.url)
            knitter.edge(place.id, link.attribute == "src", target)
            knitter.deepen(target, 0 if link.requisite else 1, _kind(link))
        for refused in links.refused:
            knitter.edge(place.id, False, refused.text)
        for link in read(data, url=_HERE + quote(place.path)).found:
            if link.url.startswith(_HERE) and (url := urls_by_path.get(unquote(link.url[len(_HERE) :]))):
                knitter.edge(place.id, link.attribute == "src", url)


def _kind(link: Found) -> int:
    return ASSET if link.kind is LinkKind.ASSET else PAGE


def _reader(place: Place) -> Callable[..., PageLinks]:
    header = orjson.loads(place.headers).get("content-type", "") if place.headers else ""
    read: Callable[..., PageLinks] = css_links if place.content_type == "text/css" else page_links
    return partial(read, charset=parse_content_type(header)[1])


def _take(knitter: Knitter, home: str, piece: Piece) -> None:
    match piece:
        case IndexEntry("meta", _, {"base_url": str(base_url), "run_id": str(run_id)}):
            knitter.run(base_url, run_id)
        case IndexEntry(
            "items", _, {"type": "file", "path": str(path), "source_url": str(url), "size": int(size), **more}
        ):
            _take_file(knitter, url, f"{home}/{path}", size, more)
        case IndexEntry("urls", str(url), {"kind": kind, **more}):
            _take_url(knitter, url, kind == "asset", more)
        case LinkList("graph.typed_out_edges", (source, attribute), values):
            knitter.edges(source, 1 if attribute == "src" else 0, [value for value in values if isinstance(value, str)])
        case IndexEntry("skipped_urls", _, {"url": str(url), "ts": str(at)}):
            knitter.cut_at(url, at.replace("+00:00", "Z"))
        case IndexEntry("errors", _, {"url": str(url), "ts": str(at)}):
            knitter.kept_at(url, at.replace("+00:00", "Z"))
        case _:
            pass


def _take_file(knitter: Knitter, url: str, path: str, size: int, more: dict[Any, Any]) -> None:
    meta, digest = more.get("page_meta"), more.get("sha256")
    knitter.file(
        url,
        path=path,
        size=size,
        sha256=digest if isinstance(digest, str) else None,
        meta=_page_meta(meta) if isinstance(meta, dict) else None,
    )


def _page_meta(found: dict[Any, Any]) -> str | None:
    """The index's object as the state keeps it; None where somebody has changed its shape."""
    texts = {name: found.get(name) for name in ("title", "meta_description", "canonical_url", "robots")}
    try:
        meta = PageMeta(
            **texts,
            hreflang=tuple((pair["lang"], pair["href"]) for pair in found.get("hreflang", ())),
            h1=tuple(found.get("h1", ())),
            h2=tuple(found.get("h2", ())),
            word_count=found.get("word_count", 0),
        )
        return dump_page_meta(meta).decode()
    except (TypeError, KeyError):
        return None


def _take_url(knitter: Knitter, url: str, is_asset: bool, more: dict[Any, Any]) -> None:
    depth, status, headers = more.get("depth"), more.get("http_status"), more.get("headers")
    knitter.url(
        url,
        depth=depth if isinstance(depth, int) else None,
        kind=ASSET if is_asset else PAGE,
        http_status=status if isinstance(status, int) else None,
        headers=orjson.dumps(headers).decode() if isinstance(headers, dict) else None,
        not_modified=int(more.get("not_modified") is True),
    )
    match more.get("redirect_chain"):
        case [_, _, _, *_] as hops if all(isinstance(hop, str) for hop in hops):
            knitter.redirects(hops)


def _read_again(knitter: Knitter, tree: Tree, place: Place) -> None:
    """What was saved is linked by its path if the file's links are local; what was not is linked by its URL always."""
    if not tree.exists(place.path):
        return
    links = _reader(place)(tree.read(place.path), url=place.url)
    known = knitter.targets(place.id)
    found = {without_session(link.url): link for link in links.found}
    knitter.localised(place.id, place.path if found.keys() - known else "")
    for url, link in found.items():
        if url in known:
            knitter.deepen(url, place.depth + (0 if link.requisite else 1), _kind(link))


_WITH_LINKS: Final = (".html", ".css", ".svg")


def rebuild(session: Session, state: State, tree: Tree, home: str) -> bool:
    """Fills an empty state; True when there was something to fill it from."""
    restorer = Restorer(state)
    with state.transaction():
        told = _from_manifest(session, restorer, tree, home)
        from_manifest = told.pages
        knitter = Knitter(state)
        if from_manifest:
            if knit(session, knitter, tree, home):
                pass
            elif told.by_links:
                _not_reached(restorer, tree, home, told.deepest)
                knitter.do_without(told.source_url)
            elif told.html:
                read_links(knitter, tree, told.source_url)
            knitter.fill_depths()
        trusted = trust(restorer, tree, home, ProcessedLog(state, tree, f"{home}/{PROCESSED}").mend())
        lost = _refetch_strays(restorer, tree)
        state.put(TO_RECALL, True)
        state.put(TO_SETTLE, True)
        if len(told.formats) == 1:  # Another would be neither refused nor understood.
            state.put(FORMAT, *told.formats)
    failpoint.reached("rebuilt")
    settle_links(state)
    if lost:
        session.warn(f"{counted(lost, 'page')} had been on the move when the state was lost; fetched again")
    if kept := from_manifest + trusted.found:
        session.warn(f"the working state was missing; {counted(kept, 'page')} found again and kept")
    if trusted.missing:
        session.warn(
            f"{counted(trusted.missing, 'URL')} in _processed.txt without a file here: taken as done; "
            "--re-download-all fetches what is missing"
        )
    return bool(from_manifest or trusted.found or trusted.missing)


def settle_links(state: State) -> None:
    """Does the last step of rebuilding, which a kill may have prevented: by which paths files link to each other."""
    Knitter(state).settle_places()
    state.put(TO_SETTLE, False)


@dataclass(slots=True)
class Trusted:
    """URLs that count as done because `_processed.txt` says so."""

    found: int = 0  # with a file
    missing: int = 0


def trust(restorer: Restorer, tree: Tree, home: str, processed: Iterable[str]) -> Trusted:
    """Counts URLs from `_processed.txt` as done, also when neither state nor file knows them."""
    trusted = Trusted()
    # Before anything is published, no links lead to files. Of a page that may have such ones its site has to be asked.
    as_received = not any(tree.exists(f"{home}/{name}") for name in (CONTENTS, MIRROR_INDEX))
    for line in processed:
        with suppress(urls.InvalidUrl):
            url = urls.normalize(line)
            if not restorer.done(url):
                page = _look_up(restorer, tree, home, url)
                if restorer.knows(url) and (not page.fetched_at or restorer.has_file(page.path)):
                    continue  # The manifest tells what has become of it since.
                if page.received and not as_received and (page.html_path or page.path).endswith(_WITH_LINKS):
                    page = page._replace(received=None)
                restorer.page(page)
                trusted.found += bool(page.fetched_at)
                trusted.missing += not page.fetched_at
    return trusted


def _refetch_strays(restorer: Restorer, tree: Tree) -> int:
    """Removes files that stood aside when the state was lost; queues the pages that miss theirs, and counts them."""
    browser = Browser(tree.root)
    strays = [path for folder in restorer.folders() for path, _ in browser.walk(f"{folder}/{ASIDE}")]
    if not strays:
        return 0
    lost = [id for id, path in restorer.paths() if not tree.exists(path)]
    for id in lost:
        restorer.forget_file(id)
    for path in strays:
        tree.remove(path)
    return len(lost)


def _look_up(restorer: Restorer, tree: Tree, home: str, url: str) -> Remembered:
    """What the disk itself says of a page."""
    wanted = _wanted(url)
    for path in (wanted, paths.collision_path(wanted, url)):
        if tree.exists(path) and read_front_matter_url(data := tree.read(path)) in (url, None):
            fetched_at = stamp(datetime.fromtimestamp(tree.mtime(path) or 0, UTC))
            found = Remembered(url, path, wanted, len(data), fetched_at, sha256=sha256(data).hexdigest(), kind=PAGE)
            beside = html_beside(path)
            if (size := _size(tree, beside)) is None:
                return found
            return found._replace(html_path=beside, html_size=size, received=RESCUED)
    folder = paths.folder_within(home, url)
    # No HTML file says whose it is; but the name of one that had to give way is its URL's alone, so that comes first.
    own, *longer = paths.asset_paths(url)
    # With an ending added to it, a name may be another URL's own: /badge leads to /badge.svg.
    free = [name for name in longer if not restorer.has_file(f"{folder}/{name}")]
    page = paths.page_path(url, ".html")
    for name in (page, own, *free):
        wanted_html = f"{folder}/{name}"
        for path in (paths.collision_path(wanted_html, url), wanted_html):
            if tree.exists(path):
                received = None if restorer.at_path(path) else RESCUED
                fetched_at = stamp(datetime.fromtimestamp(tree.mtime(path) or 0, UTC))
                size, kind = _size(tree, path) or 0, PAGE if name == page else ASSET
                return Remembered(url, path, wanted_html, size, fetched_at, received=received, kind=kind)
    # Where its file would be there may be another page's.
    return Remembered(url, paths.collision_path(wanted, url) if restorer.has_file(wanted) else wanted, wanted)


@dataclass(slots=True)
class _Told:
    """What the manifest told beside its rows."""

    pages: int = 0
    source_url: str = ""
    by_links: bool = False
    html: bool = False
    deepest: int = 0
    formats: set[Format] = field(default_factory=set)


def _from_manifest(session: Session, restorer: Restorer, tree: Tree, home: str) -> _Told:
    name = f"{home}/{MANIFEST}"
    told = _Told()
    if not tree.exists(name):
        return told
    damaged = 0
    published = False
    try:
        for item in read_manifest(tree.root / name):
            match item:
                case ManifestHeader(complete=published):
                    told.source_url, told.by_links = item.source_url, not item.sitemaps
                case PageRow():
                    page = _remembered(item, home, published=published)
                    if page is None:
                        damaged += 1
                        continue
                    page = page._replace(html_size=_size(tree, page.html_path))
                    restorer.page(page if told.by_links else page._replace(depth=None))
                    for alias in item.aliases:
                        restorer.alias(alias, page.url)
                    told.pages += 1
                    told.formats.update(_format(page))
                    told.html = told.html or page.html_path is not None
                    told.deepest = max(told.deepest, page.depth or 0)
                case FailureRow():
                    with suppress(urls.InvalidUrl):
                        url, depth = urls.normalize(item.url), item.depth if told.by_links else None
                        restorer.failure(url, parse_reason(item.error), item.attempts, item.at, depth)
                case SkipRow():
                    restorer.skip(item.url, parse_reason(item.reason), item.content_type, item.size_bytes, item.depth)
                case GoneRow(path=str(path)) if path:
                    gone = _remembered(PageRow(url=item.url, path=path), home, published=True)
                    if gone is not None:
                        gone = _on_disk(tree, gone)
                        if told.html and not gone.html_path and gone.path.endswith(".md"):
                            gone = gone._replace(html_path=html_beside(gone.path))  # deleted, and perhaps still linked
                        restorer.gone(gone, item.since)
                case GoneRow():
                    restorer.gone_without_file(item.url, item.since)
                case Damaged():
                    damaged += 1
    except (ManifestUnreadable, OSError) as error:
        session.warn(f"{name} cannot be read ({error}); going by _processed.txt and the files")
    if damaged:
        entries = "1 entry" if damaged == 1 else f"{damaged:,} entries"
        session.warn(f"{entries} of {name} could not be understood; going by _processed.txt and the files")
    return told


def _not_reached(restorer: Restorer, tree: Tree, home: str, deepest: int) -> None:
    """Restores what links had led to and nobody fetched. Levels are finished one by one: it is as deep as the last."""
    for item in read_manifest(tree.root / f"{home}/{MANIFEST}"):
        if isinstance(item, str):
            with suppress(urls.InvalidUrl):
                restorer.not_reached(urls.normalize(item), deepest)


def _remembered(row: PageRow, home: str, *, published: bool) -> Remembered | None:
    try:
        url = urls.normalize(row.url)
    except urls.InvalidUrl:
        return None
    path = _inside(home, row.path)
    wanted = _wanted(url)
    if path is None:
        path = wanted
    elif not path.endswith(".md") or path.startswith(f"{home}/{paths.EXTERNAL}/"):
        wanted = (row.preferred_path and _inside(home, row.preferred_path)) or path
    html_path = row.html_path and _inside(home, row.html_path)
    if not html_path and not path.endswith(".md") and _has_links(row.content_type):
        html_path = path
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
        html_path or None,
        depth=row.depth,
        hidden_texts=row.hidden_texts or 0,
        changed_at=row.changed_at or "",
        refresh=parse_reason(row.refresh_error) if row.refresh_error else None,
        kind=_kind_of_row(
            row, as_page=_wanted(url) in (path, row.preferred_path and _inside(home, row.preferred_path))
        ),
    )


def _kind_of_row(row: PageRow, *, as_page: bool) -> int | None:
    """Page or asset, as the keeper tells them apart: text is a page where it is named as one."""
    if row.content_type is None:
        return None
    found = page_kind(row.content_type)
    return PAGE if found is PageKind.HTML or (found and as_page) else ASSET


def _on_disk(tree: Tree, page: Remembered) -> Remembered:
    """A page of which the manifest tells no more than its path."""
    if not tree.exists(page.path):  # Somebody deleted it; of two files perhaps only one.
        beside = html_beside(page.path) if page.path.endswith(".md") else None
        size = _size(tree, beside)
        return page if size is None else page._replace(html_path=beside, html_size=size)
    data, is_page = tree.read(page.path), page.path.endswith((".md", ".html"))
    page = page._replace(size=len(data), sha256=sha256(data).hexdigest(), kind=PAGE if is_page else ASSET)
    html_path = html_beside(page.path) if page.path.endswith(".md") else page.path
    size = _size(tree, html_path) if is_page else None
    return page if size is None else page._replace(html_path=html_path, html_size=size)


def _size(tree: Tree, path: str | None) -> int | None:
    found = tree.stat(path) if path else None
    return None if found is None else found.st_size


def _inside(home: str, path: str) -> str | None:
    """A path of the manifest as seen from the output folder. It is only a file: it cannot send us outside."""
    found = posixpath.normpath(posixpath.join(home, path))
    return None if found.startswith(("/", "../")) or found in (".", "..") else found


def _format(page: Remembered) -> Iterator[Format]:
    """What a page of a site tells of its mirror. What was no HTML is kept as it was sent, whatever the format."""
    if page.content_type is not None and page_kind(page.content_type) is PageKind.HTML:
        is_markdown = page.path.endswith(".md")
        yield (Format.BOTH if page.html_path else Format.MARKDOWN) if is_markdown else Format.HTML


def _has_links(content_type: str | None) -> bool:
    if content_type is None:
        return False
    return content_type in ("text/css", "image/svg+xml") or page_kind(content_type) is PageKind.HTML


def _wanted(url: str) -> str:
    return f"{paths.host_folder(url)}/{paths.page_path(url)}"
