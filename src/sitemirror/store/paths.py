"""Paths of pages and assets: from a URL to names that Linux, macOS and Windows accept.

No name made here has a space; those of temporary files (`files.py`) do.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b, md5, sha256
from typing import Final
from unicodedata import normalize as normalize_unicode
from urllib.parse import unquote_to_bytes

from sitemirror.urls import origin, parts

ENCODING: Final = sys.getfilesystemencoding()
"""Encoding of file names on this system: UTF-8, unless a POSIX locale says otherwise."""

MAX_CHARS: Final = 200
MAX_BYTES: Final = 240  # File systems allow 255; tools that add a suffix need the rest.
HASH_DIGITS: Final = 8
MAX_HASH_DIGITS: Final = 96

# Separators, characters that Windows refuses, blanks, controls, bidi and other invisible format characters, and
# noncharacters. Variation selectors stay: emoji slugs are full of them.
_REFUSED: Final = re.compile(
    '[<>:"/\\\\|?*\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f'
    "\u205f-\u206f\u3000\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)
_ORDINARY: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.~,;=+!@&'()-]*(?<!\.)")
_BAD_UTF8: Final = re.compile("[\udc80-\udcff]")
_TRAILING_DOTS: Final = re.compile(r"\.+\Z")

# Windows reserves the first ones for devices in every folder, whatever the extension. git run inside a mirror would
# obey a mirrored `.git` as its configuration.
_SPECIAL: Final = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?=\.|\Z)|(?:\.git|git~1)\Z", re.I
)

_OWN_FILES: Final = re.compile(r"mirror-index\.json|sitemap-[0-9]{8}-[0-9]{6}(?:-[0-9]+)?\.md")

# File systems that fold case also ignore these (ext4 with casefold, HFS+).
_IGNORED: Final = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

EXTERNAL: Final = "_external"
"""Subfolder for the files of other hosts, if the run's own folder holds all files."""

MAX_PATH_BYTES: Final = 1000
_HOST_BYTES: Final = 240
_PAGE_EXTENSION: Final = re.compile(r"(?<=.)\.(?:x?html|htm|php|aspx?|jsp|md|markdown)\Z", re.I | re.S)
_PAGE_ENDINGS: Final = (".md", ".html")
_INDEX_FILES: Final = ("index.md", "index.html")
# Browsers recognise a local style sheet or SVG by its extension alone, and everything else by its first bytes.
_ENDINGS: Final = {"text/css": ".css", "image/svg+xml": ".svg"}
_ODD_IN_HOST: Final = re.compile(r"[^a-z0-9_.-]|\.\Z")
_LIKE_A_PORT: Final = re.compile(r"_[0-9]*\Z")


def can_be_written(name: str) -> bool:
    """True if the system's encoding has all characters of `name`."""
    try:
        name.encode(ENCODING)
    except UnicodeEncodeError:
        return False
    return True


def decode(segment: str) -> str:
    """`segment` percent-decoded once, in NFC. Bytes that are not UTF-8 stay as `%XX`."""
    if segment.isascii() and "%" not in segment:
        return segment
    text = unquote_to_bytes(segment.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")
    text = _BAD_UTF8.sub(lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)
    return normalize_unicode("NFC", text)


def clean(text: str) -> str:
    """Turn a decoded segment into a name that every common file system accepts, of any length."""
    if not _ORDINARY.fullmatch(text):
        text = _REFUSED.sub("_", text)
        text = _TRAILING_DOTS.sub(lambda match: "_" * len(match[0]), text) or "_"
    if special := _SPECIAL.match(text):
        return f"{special[0]}_{text[special.end() :]}"
    return text


def name_of(segment: str) -> str:
    """Name for a segment as written in a URL."""
    return clean(decode(segment))


def keep_free(name: str) -> str:
    """Prefix a name in the host's folder with `_` if it could be one of the tool's own files."""
    if name.isascii() and name[0] not in "_mMsS":
        return name
    folded = fold(name)
    return "_" + name if folded.startswith("_") or _OWN_FILES.fullmatch(folded) else name


def digest(text: str, digits: int = HASH_DIGITS) -> str:
    """First `digits` of the md5, followed by the sha256: md5 collisions can be made on purpose."""
    data = text.encode("utf-8", "surrogatepass")
    found = md5(data, usedforsecurity=False).hexdigest()
    return found[:digits] if digits <= len(found) else (found + sha256(data).hexdigest())[:digits]


def fits(name: str) -> bool:
    """True if `name` is within both limits of length."""
    return len(name) <= MAX_CHARS and (name.isascii() or len(name.encode()) <= MAX_BYTES)


def with_ending(stem: str, ending: str) -> str:
    """Join `stem` and `ending`, cutting the stem at a character so that the whole fits."""
    ending_bytes = len(ending.encode())
    stem = stem[: MAX_CHARS - len(ending)]
    encoded = stem.encode()
    if len(encoded) + ending_bytes > MAX_BYTES:
        stem = encoded[: MAX_BYTES - ending_bytes].decode("utf-8", "ignore")
    return stem + ending


def split_extension(name: str) -> tuple[str, str]:
    """`logo.min.css` → `logo.min`, `.css`. Only a short plain extension is split off."""
    stem, dot, extension = name.rpartition(".")
    if dot and stem.strip(".") and len(extension) <= 16 and extension.isascii() and extension.isalnum():
        return stem, dot + extension
    return name, ""


def fold(path: str) -> str:
    """Key of a path: two paths with the same key are one file on some common file system.

    Wider than any one of them: full case folding in both directions (so `ß` = `ss` and dotless `ı` = `i`), canonical
    equivalence, invisible characters ignored. A false match costs a hash in a name, a missed one costs a page.
    """
    if path.isascii():
        return path.lower()
    path = normalize_unicode("NFD", _IGNORED.sub("", path))
    return normalize_unicode("NFD", normalize_unicode("NFD", path.upper()).casefold())


def path_key(path: str) -> bytes:
    """Return 16 bytes, equal for paths that some system takes for one and for both formats of a page."""
    stem = path.removesuffix(".md") if path.endswith(".md") else path.removesuffix(".html")
    return blake2b(fold(stem).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def host_folder(url: str) -> str:
    """Folder of a URL's host: `docs.example.com`, `localhost_8080`.

    Distinct hosts have distinct folders. `@`, which no host has, marks escapes.
    """
    return _folder_of(origin(url))


def folder_within(home: str, url: str) -> str:
    """Folder of a URL's host if the folder `home` holds all files."""
    folder = host_folder(url)
    return folder if folder == home else f"{home}/{EXTERNAL}/{folder}"


@lru_cache(maxsize=256)  # A run has few hosts and asks for each page.
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
    """Preferred path of a page, relative to its host's folder. `extension` is `.html` in an HTML mirror."""
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
    """Preferred path of an asset, relative to its host's folder, with the extension its type needs."""
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
    """Preferred paths of an asset for every content type; its own name first."""
    return list(dict.fromkeys(asset_path(url, content_type) for content_type in ("", *_ENDINGS)))


def collision_path(path: str, url: str, digits: int = HASH_DIGITS) -> str:
    """Hashed path of a page whose `path` is another's: `p/index.md` → `p_<h>.md`, `c.md` → `c_<h>.md`.

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
    """Hashed path of a file whose folder `blocked` is another URL's file: a folder beside that."""
    names = path.split("/")
    level = blocked.count("/")
    names[level] = with_ending(names[level], f"_{digest(url, digits)}")
    return _within_limit(names, names, _limit(path, url))


def folders_above(path: str) -> Iterator[str]:
    """Folders above `path`, outermost first."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _shortened(stem: str, segment: str, ending: str) -> str:
    whole = stem + ending
    return whole if fits(whole) else with_ending(stem, f"_{digest(segment)}{ending}")


def _joined(above: str, file: str) -> str:
    """Put `file` under the folders for the URL path `above`, which is empty or begins with a slash."""
    path = _folder(above) + file
    if _path_fits(path, MAX_PATH_BYTES):
        return path
    return _within_limit(path.split("/"), above.split("/")[1:], MAX_PATH_BYTES)


@lru_cache(maxsize=1024)
def _folder(above: str) -> str:
    """Folder for a URL path, with its last slash. Cached: pages share their folders."""
    segments = above.split("/")[1:]
    names = [name_of(segment) for segment in segments]
    if names:
        names[0] = keep_free(names[0])
    names = [f"{name}_" if name.lower().endswith(_PAGE_ENDINGS) else name for name in names]  # A file may have it.
    return "".join(f"{_shortened(name, segment, '')}/" for name, segment in zip(names, segments, strict=True))


def _limit(path: str, url: str) -> int:
    """Maximum length of the path of `url`, not counting the host's folder if `path` begins with it."""
    folder = host_folder(url)
    return MAX_PATH_BYTES + len(folder) + 1 if path.startswith(folder + "/") else MAX_PATH_BYTES


def _path_fits(path: str, limit: int) -> bool:
    return len(path) <= limit and (path.isascii() or len(path.encode()) <= limit)


def _within_limit(names: Sequence[str], originals: Sequence[str], limit: int) -> str:
    """Join `names`; over the limit, replace the middle by one folder named by the hash of its `originals`."""
    path = "/".join(names)
    if _path_fits(path, limit):
        return path
    last = 2 if names[-1] in _INDEX_FILES else 1
    tail = "/".join(names[-last:])
    room = limit - len(tail.encode()) - len("__/") - HASH_DIGITS
    head = 0
    while (cost := len(names[head].encode()) + 1) <= room:
        room -= cost
        head += 1
    middle = digest("/".join(originals[head : len(names) - last]))
    return "/".join((*names[:head], f"__{middle}", tail))
