"""Makes the saved HTML link to itself: to files where the target was saved, to the site where not.

Done when a run ends, over the files as they were received. Later runs change only what has changed: which path a file
links by is kept with each target, so that a page saved later, or moved, is linked from pages that stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import orjson

from sitemirror.convert.localize import localize_html, relink_html
from sitemirror.convert.localize_css import localize_css, relink_css
from sitemirror.convert.relative import relative_link
from sitemirror.fetch.media import parse_content_type
from sitemirror.frontier.traps import without_session
from sitemirror.store.files import Tree
from sitemirror.store.localities import Localities, Place


def localize(tree: Tree, places: Localities) -> int:
    """Rewrites what needs it; says how many files."""
    count = 0
    outdated = list(places.outdated())  # now: what is localised below links to everything by the path it has
    for place in places.received():
        count += _localize(tree, places, place)
    for place in outdated:
        count += _relink(tree, places, place)
    places.settle()
    return count


def _localize(tree: Tree, places: Localities, place: Place) -> bool:
    """Links as the site wrote them become links between files."""
    data = tree.read(place.path) if tree.exists(place.path) else None
    if data is None:
        return False
    if sha256(data).hexdigest() == place.sha256:  # else a run that was killed has done it already
        targets = {url: there for url, _, there in places.links(place.id)}

        def target(url: str) -> str:
            there = targets.get(without_session(url))
            return relative_link(place.path, there) if there else url

        rewrite = localize_css if place.is_css else localize_html
        data = rewrite(data, url=place.url, charset=_charset(place), target=target)
        tree.write(place.path, data)
    places.done(place, size=len(data), sha256=sha256(data).hexdigest())
    return True


def _relink(tree: Tree, places: Localities, place: Place) -> bool:
    """Links between files that lead elsewhere by now are changed; the others stay."""
    if not tree.exists(place.path):
        return False
    changes = dict(_changes(places, place))
    data = tree.read(place.path)
    if place.is_css:
        changed = relink_css(data, change=changes.get)
    else:
        changed = relink_html(data, charset=_charset(place), change=changes.get)
    if changed != data:
        tree.write(place.path, changed)
    places.done(place, size=len(changed), sha256=sha256(changed).hexdigest())
    return changed != data


def _changes(places: Localities, place: Place) -> Iterator[tuple[str, str]]:
    for url, before, there in places.links(place.id):
        old = relative_link(place.local_at, before) if before else url
        new = relative_link(place.path, there) if there else url
        if old != new:
            yield old, new


def _charset(place: Place) -> str | None:
    header = orjson.loads(place.headers).get("content-type", "") if place.headers else ""
    return parse_content_type(header)[1]
