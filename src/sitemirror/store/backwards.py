"""Path → URL: the map of `paths.py` read backwards, as far as a name still tells what it was made from.

Several URLs may lead to one path. What is given is always one that does, and the plainest of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from sitemirror.store.names import keep_free
from sitemirror.store.paths import asset_paths, host_folder, page_path
from sitemirror.urls import InvalidUrl, normalize

_ESCAPED: Final = re.compile(r"@([0-9a-f]{2})")
_PORT: Final = re.compile(r"(.+)_([0-9]+)")
_IPV6: Final = "@ipv6-"
_KEPT: Final = "!$&'()*+,;=:@~"  # what a URL's path may hold as it is


def url_at(folder: str, path: str, schemes: tuple[str, ...] = ("https", "http")) -> str | None:
    """A URL whose file is `path` in the folder of its host, the first scheme that fits; `None` if none can be told."""
    for scheme in schemes:
        for tail in _tails(path):
            try:
                url = normalize(f"{scheme}://{_authority(folder)}{tail}")
            except InvalidUrl:
                continue
            if host_folder(url) == folder and leads_to(url, path):
                return url
    return None


def leads_to(url: str, path: str) -> bool:
    """Whether `path` is where this URL's page or asset wants to be."""
    if path.endswith((".md", ".html")):
        return page_path(url, path[path.rindex(".") :]) == path
    return path in asset_paths(url)


def _authority(folder: str) -> str:
    port = _PORT.fullmatch(folder)
    host = port[1] if port else folder.removesuffix("_")  # which stands behind what only looks like a port
    if host.startswith(_IPV6):
        host = f"[{host.removeprefix(_IPV6).replace('-', ':')}]"
    host = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), host).replace("@", "")
    return f"{host}:{port[2]}" if port else host


def _tails(path: str) -> Iterator[str]:
    """What may have stood behind the host, the likeliest first."""
    *above, name = path.split("/")
    segments = above if name in ("index.md", "index.html") else [*above, name]
    if not segments:
        yield "/"
        return
    for first in {segments[0]: None, segments[0][1:]: None}:  # `keep_free` may have put a `_` before it
        if first and keep_free(first) != segments[0]:
            continue
        names = [first, *segments[1:]]
        # A `%` is a byte that is no text, and stands for itself, or was written `%25`.
        for kept in (_KEPT + "%", _KEPT):
            tail = "".join(f"/{quote(each, safe=kept)}" for each in names)
            yield tail
            yield tail + "/"
