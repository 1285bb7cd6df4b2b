"""One URL segment → one name that Linux, macOS and Windows all take, and when two names are one there.

Names made here never hold a space, which is how our own temporary files (`files.py`) stay apart from every page.
"""

from __future__ import annotations

import re
import sys
from hashlib import md5, sha256
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

ENCODING: Final = sys.getfilesystemencoding()
"""How Python writes names on this system: UTF-8, unless a POSIX locale says otherwise."""

MAX_CHARS: Final = 200
MAX_BYTES: Final = 240  # 255 is the common limit of file systems; the rest is room for tools that add a suffix.
HASH_DIGITS: Final = 8
MAX_HASH_DIGITS: Final = 96

# Separators, what Windows refuses, every kind of blank, controls, bidi and other invisible format characters, and the
# code points that Unicode promises never to assign. Variation selectors stay: emoji slugs are full of them.
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

# Windows gives the first ones to devices in every folder, whatever the extension. A mirrored `.git` would be obeyed as
# configuration by whoever runs git inside the mirror.
_SPECIAL: Final = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?=\.|\Z)|(?:\.git|git~1)\Z", re.I
)

_OWN_FILES: Final = re.compile(r"mirror-index\.json|sitemap-[0-9]{8}-[0-9]{6}(?:-[0-9]+)?\.md")

# File systems that fold case also skip these when they compare (ext4 with casefold, HFS+).
_IGNORED: Final = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def can_be_written(name: str) -> bool:
    """Whether the system's encoding has all its characters."""
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
    return normalize("NFC", text)


def clean(text: str) -> str:
    """A decoded segment as a name that every common file system takes. Its length is not looked at."""
    if not _ORDINARY.fullmatch(text):
        text = _REFUSED.sub("_", text)
        text = _TRAILING_DOTS.sub(lambda match: "_" * len(match[0]), text) or "_"
    if special := _SPECIAL.match(text):
        return f"{special[0]}_{text[special.end() :]}"
    return text


def name_of(segment: str) -> str:
    """The name for a segment as it stands in a URL."""
    return clean(decode(segment))


def keep_free(name: str) -> str:
    """`name` as the first in its host's folder, where it must not meet one of the tool's own files."""
    if name.isascii() and name[0] not in "_mMsS":
        return name
    folded = fold(name)
    return "_" + name if folded.startswith("_") or _OWN_FILES.fullmatch(folded) else name


def digest(text: str, digits: int = HASH_DIGITS) -> str:
    """The first `digits` of the md5, which goes on with the sha256 because md5 clashes can be made on purpose."""
    data = text.encode("utf-8", "surrogatepass")
    found = md5(data, usedforsecurity=False).hexdigest()
    return found[:digits] if digits <= len(found) else (found + sha256(data).hexdigest())[:digits]


def fits(name: str) -> bool:
    """Whether `name` is within both limits of length."""
    return len(name) <= MAX_CHARS and (name.isascii() or len(name.encode()) <= MAX_BYTES)


def with_ending(stem: str, ending: str) -> str:
    """`stem` + `ending`, the stem cut at a character boundary so that the whole is within both limits."""
    ending_bytes = len(ending.encode())
    stem = stem[: MAX_CHARS - len(ending)]
    encoded = stem.encode()
    if len(encoded) + ending_bytes > MAX_BYTES:
        stem = encoded[: MAX_BYTES - ending_bytes].decode("utf-8", "ignore")
    return stem + ending


def split_extension(name: str) -> tuple[str, str]:
    """`logo.min.css` → `logo.min`, `.css`. What is not a plain short extension belongs to the stem."""
    stem, dot, extension = name.rpartition(".")
    if dot and stem.strip(".") and len(extension) <= 16 and extension.isascii() and extension.isalnum():
        return stem, dot + extension
    return name, ""


def fold(path: str) -> str:
    """Two paths with equal fold are one file on some file system of macOS, Windows or Linux.

    Wider than any one of them: full case folding in both directions (so `ß` = `ss` and dotless `ı` = `i`), canonical
    equivalence, invisible characters skipped. To hold two names for one costs a hash in a name; the opposite, a page.
    """
    if path.isascii():
        return path.lower()
    path = normalize("NFD", _IGNORED.sub("", path))
    return normalize("NFD", normalize("NFD", path.upper()).casefold())
