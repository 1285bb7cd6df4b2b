"""URL → path: where a page or an asset wants to be. Pure, and the same every time.

URLs are taken as `urls.normalize` gives them. Two URLs may want one path; `settle.py` decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from sitemirror.store.names import (
    HASH_DIGITS,
    clean,
    decode,
    digest,
    fits,
    keep_free,
    name_of,
    split_extension,
    with_ending,
)
from sitemirror.urls import origin, parts

EXTERNAL: Final = "_external"
"""In a run's own folder: the folders of other hosts, where that one is to hold all files."""

MAX_PATH_BYTES: Final = 1000
_HOST_BYTES: Final = 240
_PAGE_EXTENSION: Final = re.compile(r"(?<=.)\.(?:x?html|htm|php|aspx?|jsp|md|markdown)\Z", re.I | re.S)
_INDEX_FILES: Final = ("index.md", "index.html")
# On disk there is no Content-Type: browsers take a style sheet or a drawing for one by its ending alone. All else that
# a page loads they know by its first bytes.
_ENDINGS: Final = {"text/css": ".css", "image/svg+xml": ".svg"}
_ODD_IN_HOST: Final = re.compile(r"[^a-z0-9_.-]|\.\Z")
_LIKE_A_PORT: Final = re.compile(r"_[0-9]*\Z")


def host_folder(url: str) -> str:
    """The folder of a URL's host: `docs.example.com`, `localhost_8080`.

    Distinct hosts have distinct folders. `@` marks all that is not spelled as in the URL: it cannot occur in a host.
    """
    return _folder_of(origin(url))


def folder_within(home: str, url: str) -> str:
    """The folder of a URL's host where the folder `home` is to hold all files."""
    folder = host_folder(url)
    return folder if folder == home else f"{home}/{EXTERNAL}/{folder}"


@lru_cache(maxsize=256)  # A run has few hosts, and asks with every page.
def _folder_of(start: str) -> str:
    found = parts(start)
    host = found.host
    if host.startswith("["):
        folder = "@ipv6-" + host[1:-1].replace(":", "-")
    else:
        folder = _ODD_IN_HOST.sub(lambda match: f"@{ord(match[0]):02x}", host)
        label, dot, rest = folder.partition(".")
        if clean(label) != label:  # a Windows device name
            folder = f"{label}@{dot}{rest}"
    if found.port:
        folder = f"{folder}_{found.port}"
    elif _LIKE_A_PORT.search(folder):
        folder += "_"
    return folder if len(folder) <= _HOST_BYTES else f"{folder[:200]}@@{digest(found.authority, 32)}"


def page_path(url: str, extension: str = ".md") -> str:
    """The file of a page, relative to its host's folder, POSIX style. `extension` is `.html` in an HTML mirror."""
    found = parts(url)
    above, _, last = found.path.rpartition("/")
    name = decode(last)
    stem = _PAGE_EXTENSION.sub("", name)
    if not name or (stem != name and stem.lower() == "index"):
        if found.query is not None:
            return _joined(above, f"index__q_{digest(found.query)}{extension}")
        if not above:
            return f"index{extension}"
        above, _, last = above.rpartition("/")
        leaf = name_of(last)
    else:
        leaf = clean(stem)
    if not above:
        leaf = keep_free(leaf)
    if found.query is None and fits(leaf + extension):
        return _joined(above, f"{leaf}/index{extension}")
    ending = extension if found.query is None else f"__q_{digest(found.query)}{extension}"
    return _joined(above, _shortened(leaf, last, ending))


def asset_path(url: str, content_type: str = "") -> str:
    """The file of an asset, relative to its host's folder: its own name, and the ending that its type needs."""
    found = parts(url)
    above, _, last = found.path.rpartition("/")
    name = name_of(last) if last else "index"
    if not above:
        name = keep_free(name)
    stem, extension = split_extension(name)
    needed = _ENDINGS.get(content_type, extension)
    if extension.lower() != needed.lower():
        stem, extension = name, needed
    ending = extension if found.query is None else f"__q_{digest(found.query)}{extension}"
    return _joined(above, _shortened(stem, last, ending))


def asset_paths(url: str) -> list[str]:
    """Every path that an asset may want, whatever its type; its own name first."""
    return list(dict.fromkeys(asset_path(url, content_type) for content_type in ("", *_ENDINGS)))


def collision_path(path: str, url: str, digits: int = HASH_DIGITS) -> str:
    """Where the page goes that lost `path` to another: `p/index.md` → `p_<h>.md`, `c.md` → `c_<h>.md`.

    `path` may be relative to the host's folder or to the one above; the host's own `index.md` → `index_<h>.md`.
    """
    names = path.split("/")
    name = names.pop()
    stem, extension = split_extension(name)
    if names and name in _INDEX_FILES and page_path(url, extension) != name:
        stem = names.pop()
    names.append(with_ending(stem, f"_{digest(url, digits)}{extension}"))
    return _within_limit(names, names, _limit(path, url))


def moved_folder(path: str, blocked: str, url: str, digits: int = HASH_DIGITS) -> str:
    """Where a file goes that needs the folder `blocked`, at which another URL's file stands: beside it."""
    names = path.split("/")
    level = blocked.count("/")
    names[level] = with_ending(names[level], f"_{digest(url, digits)}")
    return _within_limit(names, names, _limit(path, url))


def folders(path: str) -> Iterator[str]:
    """The folders that `path` needs, outermost first."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _shortened(stem: str, segment: str, ending: str) -> str:
    whole = stem + ending
    return whole if fits(whole) else with_ending(stem, f"_{digest(segment)}{ending}")


def _joined(above: str, file: str) -> str:
    """`file` under the folders for the URL path `above`, which is empty or begins with a slash."""
    path = _folder(above) + file
    if _path_fits(path, MAX_PATH_BYTES):
        return path
    return _within_limit(path.split("/"), above.split("/")[1:], MAX_PATH_BYTES)


@lru_cache(maxsize=1024)
def _folder(above: str) -> str:
    """The folder for a URL path, with its last slash. Remembered, because a site's pages share their folders."""
    segments = above.split("/")[1:]
    names = [name_of(segment) for segment in segments]
    if names:
        names[0] = keep_free(names[0])
    return "".join(f"{_shortened(name, segment, '')}/" for name, segment in zip(names, segments, strict=True))


def _limit(path: str, url: str) -> int:
    """How long the path of `url` may be: the host's folder, where `path` begins with it, does not count."""
    folder = host_folder(url)
    return MAX_PATH_BYTES + len(folder) + 1 if path.startswith(folder + "/") else MAX_PATH_BYTES


def _path_fits(path: str, limit: int) -> bool:
    return len(path) <= limit and (path.isascii() or len(path.encode()) <= limit)


def _within_limit(names: Sequence[str], originals: Sequence[str], limit: int) -> str:
    """`names` joined; over the limit, the middle is one folder named for the hash of its `originals`."""
    path = "/".join(names)
    if _path_fits(path, limit):
        return path
    kept = 2 if names[-1] in _INDEX_FILES else 1
    tail = "/".join(names[-kept:])
    room = limit - len(tail.encode()) - len("__/") - HASH_DIGITS
    head = 0
    while (cost := len(names[head].encode()) + 1) <= room:
        room -= cost
        head += 1
    middle = digest("/".join(originals[head : len(names) - kept]))
    return "/".join((*names[:head], f"__{middle}", tail))
