"""What a crawl's published files still know of a lost state: who links to whom, and how deep each URL is.

The mirror index tells most of it. The saved files tell the rest: how deep those URLs are that nobody has fetched yet,
and whether a file's links are as the site wrote them or lead to files already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson

from sitemirror.engine.session import Session
from sitemirror.fetch.media_type import parse_content_type
from sitemirror.frontier.traps import without_session
from sitemirror.links.attributes import LinkKind
from sitemirror.links.css import css_links
from sitemirror.links.found import Found, PageLinks
from sitemirror.links.html import page_links
from sitemirror.model import PageMeta
from sitemirror.publish.file_names import MIRROR_INDEX
from sitemirror.publish.index_reader import Entry, Links, NotAnIndex, OtherLayout, Piece, by_line, whole
from sitemirror.publish.index_rows import dump_page_meta
from sitemirror.store.files import Tree
from sitemirror.store.knit import Knitter, Place
from sitemirror.store.schema import ASSET, PAGE

_HERE: Final = "http://copy.invalid/"  # stands for the output folder


def knit(session: Session, knitter: Knitter, tree: Tree, home: str) -> bool:
    """Adds to restored pages how they hang together; False when there is no index to tell."""
    name = f"{home}/{MIRROR_INDEX}"
    if not tree.exists(name):
        return False
    try:
        for piece in _pieces(tree.root / name):
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


def _pieces(path: Path) -> Iterator[Piece]:
    try:
        yield from by_line(path)
    except OtherLayout:
        yield from whole(path)  # from the beginning: taking a piece twice does no harm


def _take(knitter: Knitter, home: str, piece: Piece) -> None:
    match piece:
        case Entry("meta", _, {"base_url": str(base_url), "run_id": str(run_id)}):
            knitter.run(base_url, run_id)
        case Entry("items", _, {"type": "file", "path": str(path), "source_url": str(url), "size": int(size), **more}):
            _take_file(knitter, url, f"{home}/{path}", size, more)
        case Entry("urls", str(url), {"kind": kind, **more}):
            _take_url(knitter, url, kind == "asset", more)
        case Links("graph.typed_out_edges", (source, attribute), values):
            knitter.edges(source, 1 if attribute == "src" else 0, [value for value in values if isinstance(value, str)])
        case Entry("skipped_urls", _, {"url": str(url), "ts": str(at)}):
            knitter.cut_at(url, at.replace("+00:00", "Z"))
        case Entry("errors", _, {"url": str(url), "ts": str(at)}):
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
