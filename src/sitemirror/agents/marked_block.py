"""Put a block between markers into a user's file, and remove it again byte for byte.

The opening marker records what was added before it, so that the file gets back its missing final newline, and a file
that did not exist before can be deleted. Bytes that are not ours are never decoded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sitemirror.errors import UsageError

_NEW: Final = b" new file"
_NO_FINAL_NEWLINE: Final = b" after no newline"


@dataclass(frozen=True, slots=True)
class Comment:
    """The spelling of a comment of one line."""

    opening: bytes
    closing: bytes = b""


MARKDOWN: Final = Comment(b"<!-- ", b" -->")
TOML: Final = Comment(b"# ")


@dataclass(frozen=True, slots=True)
class _Block:
    """Places in a file: the whole block with its markers, the lines between them, what the marker notes."""

    begin: int
    inner: int
    inner_end: int
    end: int
    note: bytes
    newline: bytes


def put_block(data: bytes | None, text: str, style: Comment) -> bytes:
    """Return a file's bytes with the block, replaced or appended. `None` is a new file.

    Raises `UsageError` for bytes that are no text, and where the markers of an earlier block are damaged.
    """
    if data is not None and b"\0" in data:
        raise UsageError("it is not text in UTF-8", hint="name a text file, such as AGENTS.md")
    found = _find(data or b"", style)
    if found is not None and data is not None:
        return data[: found.inner] + _lines(text, found.newline) + data[found.inner_end :]
    newline = b"\r\n" if data and b"\r\n" in data else b"\n"
    note, gap = b"", b""
    if data is None:
        note = _NEW
    elif data.endswith(b"\n"):
        gap = newline
    elif data:
        note, gap = _NO_FINAL_NEWLINE, newline * 2
    begin = style.opening + b"sitemirror begin" + note + style.closing + newline
    end = style.opening + b"sitemirror end" + style.closing + newline
    return (data or b"") + gap + begin + _lines(text, newline) + end


def remove_block(data: bytes, style: Comment) -> bytes | None:
    """Return the bytes as they were before the block; `None` where the file was made for it.

    Without a block they are returned as they are. Raises `UsageError` where its markers are damaged.
    """
    found = _find(data, style)
    if found is None:
        return data
    before, after = data[: found.begin], data[found.end :]
    if found.note == _NEW and not before and not after:
        return None
    for _ in range({_NEW: 0, _NO_FINAL_NEWLINE: 2}.get(found.note, 1)):
        before = before.removesuffix(found.newline)
    return before + after


def has_block(data: bytes, style: Comment) -> bool:
    """Return true if there is a block. Raises `UsageError` where its markers are damaged."""
    return _find(data, style) is not None


def _lines(text: str, newline: bytes) -> bytes:
    return b"".join(line.encode() + newline for line in text.split("\n"))


def _find(data: bytes, style: Comment) -> _Block | None:
    opening, closing = re.escape(style.opening), re.escape(style.closing)
    begins = list(re.finditer(rb"^%bsitemirror begin([a-z ]*)%b(\r?\n)" % (opening, closing), data, re.MULTILINE))
    ends = list(re.finditer(rb"^%bsitemirror end%b(?:\r?\n|\Z)" % (opening, closing), data, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise UsageError(
            f"the markers of sitemirror's block are damaged: {len(begins)} begin and {len(ends)} end one",
            hint="take the block out by hand, from its first marker to its last, and run the same command again",
        )
    begin, end = begins[0], ends[0]
    return _Block(begin.start(), begin.end(), end.start(), end.end(), begin[1], begin[2])
