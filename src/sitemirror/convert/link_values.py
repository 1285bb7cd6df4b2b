"""How a value names URLs: one, many with sizes (srcset), one after a number of seconds (refresh). Finds and replaces.

All work on the source's own characters: only the URL is decoded, and only the URL changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sitemirror.convert.source import Coding, Edit, apply
from sitemirror.refresh import target
from sitemirror.srcset import candidates

Rewrite = Callable[[str, str], str | None]
"""Reference without its fragment, fragment with its `#` or empty → the whole new text, or `None` to leave it."""

_TRIMMED: Final = "".join(map(chr, range(33)))  # what a URL parser drops from both ends
_DROPPED: Final = str.maketrans("", "", "\t\n\r")  # and from everywhere
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:|[/\\]{2}")


def is_local(reference: str) -> bool:
    """Whether a reference leads to a file beside the one that it stands in."""
    return _ABSOLUTE.match(reference) is None


def rewrite_url(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """A value that is one URL; an empty one is the page itself."""
    reference, mark, fragment = text.strip(_TRIMMED).partition("#")
    if mark and reference.endswith(" "):  # Only at the end of the whole is a blank none of the URL's own.
        bare = reference.rstrip(" ")
        reference = bare + "%20" * (len(reference) - len(bare))
    return rewrite(coding.decode(reference).translate(_DROPPED), mark + fragment)


def rewrite_loaded(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """A value that is one URL of something to load: empty ones load nothing, bare fragments what is already there."""
    trimmed = text.strip(_TRIMMED)
    return rewrite_url(trimmed, coding, rewrite) if trimmed and trimmed[0] != "#" else None


def rewrite_srcset(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Every URL of a srcset that a browser may choose."""
    edits: list[Edit] = []
    for start, end, _ in candidates(text):
        new = rewrite_loaded(text[start:end], coding, rewrite)
        if new is not None:
            # At either end a comma would be taken for the list's own.
            core = new.strip(",")
            before, after = len(new) - len(new.lstrip(",")), len(new) - len(new.rstrip(","))
            edits.append((start, end, "%2C" * before + core + "%2C" * after if core else "%2C" * before))
    return apply(text, edits) if edits else None


def rewrite_refresh(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """The URL of a meta refresh; without one the page reloads itself."""
    found = target(text)
    if found is None:
        return None
    start, end, quote, _ = found
    new = rewrite_loaded(text[start:end], coding, rewrite)
    if new is None:
        return None
    if quote:
        new = new.replace(quote, f"%{ord(quote):02X}")
    elif new[:1] in ("'", '"'):
        new = f"%{ord(new[0]):02X}{new[1:]}"
    return text[:start] + new + text[end:]
