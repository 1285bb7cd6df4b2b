"""Finds what a style sheet needs, in whatever encoding it is."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

import turbohtml.detect  # noqa: F401 – registers the encodings of the web under the names the web has for them

from sitemirror.css_urls import find_urls, value
from sitemirror.discover.found import ASSET, Collector, PageLinks

_CHARSET: Final = re.compile(rb'@charset "([^"\r\n]{1,64})";')
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def css_links(css: bytes, *, url: str, charset: str | None = None) -> PageLinks:
    """What a style sheet at `url` needs. `charset` is the header's. Never raises."""
    links = Collector(url=url, base=url)
    for reference in references(decode(css, charset)):
        links.add_resource(reference, ASSET)
    return links.links()


def references(css: str) -> Iterator[str]:
    """Every URL of a style sheet or `style` attribute, unescaped, in its order."""
    if "(" in css or "@" in css:
        for start, end, _ in find_urls(css):
            yield value(css[start:end])


def decode(css: bytes, charset: str | None = None) -> str:
    """The sheet's text as CSS has it: the byte order mark decides, then the header, then `@charset`, then UTF-8."""
    for mark, encoding in _MARKS:
        if css.startswith(mark):
            return css[len(mark) :].decode(encoding, "replace")
    declared = _CHARSET.match(css)
    labels = (charset, declared[1].decode("latin-1") if declared is not None else None)
    for label in labels:
        codec = _codec(label) if label else None
        if codec is not None and label is not charset and codec.startswith("whatwg_utf_16"):
            codec = None  # What can be read as ASCII is not in UTF-16, whatever it says.
        if codec is not None:
            return css.decode(codec, "replace")
    return css.decode("utf-8", "replace")


def _codec(label: str) -> str | None:
    try:
        return codecs.lookup(f"whatwg-{label.strip()}").name
    except (LookupError, ValueError):
        return None
