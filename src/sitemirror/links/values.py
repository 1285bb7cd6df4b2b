"""Find and rewrite URLs in srcset, meta refresh and xml-stylesheet.

Rewriting works on the source's own characters: only the URL is decoded, and only the URL changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sitemirror.links.source import Coding, Edit, apply
from sitemirror.text import unescape

Rewrite = Callable[[str, str], str | None]
"""Reference without its fragment, fragment with its `#` or empty → the whole new text, or `None` to leave it."""

_TRIMMED: Final = "".join(map(chr, range(33)))  # what a URL parser strips
_DROPPED: Final = str.maketrans("", "", "\t\n\r")  # what it drops everywhere

_CANDIDATE: Final = re.compile(
    r"[ \t\n\f\r,]*+"
    r"(?P<url>[^ \t\n\f\r]++)"
    # A URL that ends with a comma has no descriptors; otherwise they run to a comma outside parentheses.
    r"(?:(?<=,)|(?P<descriptors>(?:[^,(]|\([^)]*+\)?+)*+))"
)
_DESCRIPTOR: Final = re.compile(r"(?:[^ \t\n\f\r(]|\([^)]*+\)?+)++")
_WHOLE: Final = re.compile(r"0*+[1-9][0-9]*+")
_DENSITY: Final = re.compile(r"-(?:0++(?:\.0++)?+|\.0++)|(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")
_UNSAID: Final = {"x": "1"}

_BLANK: Final = r"[ \t\n\f\r]"
_REFRESH: Final = re.compile(
    rf"{_BLANK}*+(?P<seconds>[0-9]*+)[0-9.]*+(?<=[0-9.])(?>{_BLANK}*+[;,]|{_BLANK}){_BLANK}*+"
    rf"(?:url{_BLANK}*+={_BLANK}*+)?+"
    r"(?:(?P<quote>[\"'])(?P<quoted>(?:(?!(?P=quote)).)*+)|(?P<bare>[^\"'].*+))",
    re.IGNORECASE | re.DOTALL,
)

_XML_MARK: Final = "<?xml-stylesheet"
_XML_HREF: Final = re.compile(
    rf"{re.escape(_XML_MARK)}(?:\s++(?!href\b)[\w-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+"
    r"\s++href\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)')"
)
_XML_PROLOG: Final = re.compile(r"(?:[^<]++|<!--(?:.*?-->|.*)|<[!?])*+", re.DOTALL)


# --- srcset -----------------------------------------------------------------------------------------------------------


class ImageCandidate(NamedTuple):
    """One image of a srcset: where its URL is, and its width or density."""

    start: int
    end: int
    size: float


def srcset_candidates(srcset: str) -> Iterator[ImageCandidate]:
    """Candidates of a srcset by the algorithm of the HTML standard, without invalid ones."""
    position = 0
    # Matched from where the last one ended, never searched for: a million commas must not be tried from each of them.
    while (match := _CANDIDATE.match(srcset, position)) is not None:
        position = match.end()
        start, end = match.start("url"), match.start("url") + len(match["url"].rstrip(","))
        size = _size(match["descriptors"] or "")
        if start < end and size is not None:
            yield ImageCandidate(start, end, size)


def srcset_urls(srcset: str) -> Iterator[str]:
    """The URLs of a srcset, as they are written."""
    return (srcset[start:end] for start, end, _ in srcset_candidates(srcset))


def _size(descriptors: str) -> float | None:
    """A density, or a width with at most one height. `None` for anything else."""
    values: dict[str, str] = {}
    for descriptor in _DESCRIPTOR.findall(descriptors):
        value, unit = descriptor[:-1], descriptor[-1]
        number = _DENSITY if unit == "x" else _WHOLE
        if unit not in "wxh" or unit in values or number.fullmatch(value) is None:
            return None
        values[unit] = value
    values = values or _UNSAID
    if "x" in values:
        return float(values["x"]) if len(values) == 1 else None
    return float(values["w"]) if "w" in values else None


# --- meta refresh -----------------------------------------------------------------------------------------------------


class Refresh(NamedTuple):
    """A meta refresh with a URL: where it is in the value, the quote before it, if any, and the delay."""

    start: int
    end: int
    quote: str
    seconds: int


def parse_refresh(content: str) -> Refresh | None:
    """The URL of a meta refresh by the algorithm of the HTML standard; None if the page reloads."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    seconds = int(found["seconds"][:9] or 0)  # Python converts no number of thousands of digits.
    return Refresh(*found.span("quoted" if found["quote"] else "bare"), found["quote"] or "", seconds)


def refresh_url(content: str) -> str | None:
    """The URL of a refresh, as it is written."""
    found = parse_refresh(content)
    return None if found is None else content[found.start : found.end]


# --- xml-stylesheet ---------------------------------------------------------------------------------------------------


def xml_style_sheets(document: bytes) -> Iterator[str]:
    """The style sheets that XML, such as a drawing, names before its first element."""
    if _XML_MARK.encode() in document:
        text = document.decode("utf-8", "replace")
        for start, end in xml_style_sheet_spans(text):
            yield unescape(text[start:end])


def xml_style_sheet_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of their URLs, which have XML's character references."""
    if _XML_MARK in text:
        prolog = _XML_PROLOG.match(text)
        for found in _XML_HREF.finditer(text, 0, prolog.end() if prolog else 0):
            yield found.span(found.lastindex or 1)


# --- rewriting --------------------------------------------------------------------------------------------------------


def rewrite_url(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Rewrites one URL; an empty one is the page itself."""
    reference, mark, fragment = text.strip(_TRIMMED).partition("#")
    if mark and reference.endswith(" "):  # Only at the end of the whole is a blank none of the URL's own.
        bare = reference.rstrip(" ")
        reference = bare + "%20" * (len(reference) - len(bare))
    return rewrite(coding.decode(reference).translate(_DROPPED), mark + fragment)


def rewrite_resource(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Rewrites one URL to load; an empty one or a bare fragment loads nothing."""
    trimmed = text.strip(_TRIMMED)
    return rewrite_url(trimmed, coding, rewrite) if trimmed and trimmed[0] != "#" else None


def rewrite_srcset(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Rewrites every URL of a srcset that a browser may choose."""
    edits: list[Edit] = []
    for start, end, _ in srcset_candidates(text):
        new = rewrite_resource(text[start:end], coding, rewrite)
        if new is not None:
            # A comma at either end would be read as the list's own.
            core = new.strip(",")
            before, after = len(new) - len(new.lstrip(",")), len(new) - len(new.rstrip(","))
            edits.append((start, end, "%2C" * before + core + "%2C" * after if core else "%2C" * before))
    return apply(text, edits) if edits else None


def rewrite_refresh(text: str, coding: Coding, rewrite: Rewrite) -> str | None:
    """Rewrites the URL of a meta refresh; without one the page reloads itself."""
    found = parse_refresh(text)
    if found is None:
        return None
    start, end, quote, _ = found
    new = rewrite_resource(text[start:end], coding, rewrite)
    if new is None:
        return None
    if quote:
        new = new.replace(quote, f"%{ord(quote):02X}")
    elif new[:1] in ("'", '"'):
        new = f"%{ord(new[0]):02X}{new[1:]}"
    return text[:start] + new + text[end:]
