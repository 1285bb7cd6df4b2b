"""Reads the local links of saved files, and the places that links can lead to. Opens nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import turbohtml

from sitemirror import refresh, srcset
from sitemirror.convert.link_values import is_local
from sitemirror.convert.markdown_text import MarkdownText
from sitemirror.discover.stylesheet import decode, references
from sitemirror.xml_styles import style_sheets

_TRIMMED: Final = "".join(map(chr, range(33)))  # what a URL parser drops from both ends
_DROPPED: Final = str.maketrans("\\", "/", "\t\n\r")  # what it drops everywhere, and what it takes for a slash
_LEADING: Final = frozenset(("a", "area", "iframe", "frame"))  # a fragment of theirs is a place in a page
_ATTRIBUTES: Final = {
    **dict.fromkeys(("a", "image", "use", "feImage"), ("href", "xlink:href")),
    **dict.fromkeys(("frame", "embed", "input"), ("src",)),
    **dict.fromkeys(("img", "source", "audio", "track"), ("src", "srcset", *srcset.LAZY_SOURCES, *srcset.LAZY_SRCSETS)),
    "video": ("src", "poster", *srcset.LAZY_SOURCES),
    "iframe": ("src", "data-src"),
    "area": ("href",),
    "link": ("href", "imagesrcset"),
    "script": ("src", "href", "xlink:href"),
    "object": ("data",),
}
_TAGS: Final = (*_ATTRIBUTES, "style", "meta")
_ANYWHERE: Final = '[style*="("],[background]'
_MAX_NESTING: Final = 3  # of pages in srcdoc attributes
_WITHOUT_FILES: Final = frozenset(("canonical", "dns-prefetch", "preconnect"))

# Code is no place for links; what a backslash stands before means itself. The bound keeps the time linear.
_FENCED: Final = re.compile(r"^( {0,3})(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)", re.M | re.S)
_QUIET: Final = re.compile(r"\\.|(?<!`)(`++)(?!`).{1,5000}?(?<!`)\1(?!`)|(?P<link>\]\()", re.S)
_DESTINATION: Final = re.compile(
    r"[ \t\n]*(?:<(?P<angled>(?:[^<>\n\\]|\\.)*)>|(?P<plain>(?:[^\s()\\]|\\.|\([^\s()]*\))*))"
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(slots=True)
class Linked:
    """What a file says: local references as (path, fragment), each once, and the anchors that it has."""

    references: set[tuple[str, str]] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def add(self, reference: str, *, leads: bool) -> None:
        """Takes a reference as it is written; those that leave the disk do not count."""
        text = reference.strip(_TRIMMED).translate(_DROPPED)
        if not text or not is_local(text):
            return
        path, _, fragment = text.partition("#")
        place = fragment.partition(":~:")[0] if leads else ""
        path = unquote(path.partition("?")[0])
        if path or place:
            self.references.add((path, place))


def html_links(data: bytes) -> Linked:
    """The links of a page, as a browser that opens the file takes them."""
    return _html_links(data, None, _MAX_NESTING)


def _html_links(data: bytes, charset: str | None, nesting: int) -> Linked:
    tree = turbohtml.parse(
        data, encoding=charset, detect_encoding=charset is None, positions=False, allow_declarative_shadow_roots=False
    )
    found = Linked()
    found.anchors.update(element.attr("id") or "" for element in tree.select("[id]"))
    for sheet in style_sheets(data):
        found.add(sheet, leads=False)
    for element in tree.iter_elements(_TAGS):
        _read(element, element.tag, found)
    for element in tree.select(_ANYWHERE):  # apart from the others, which is three times as fast
        _read_css(element.attr("style") or "", found)
        found.add(element.attr("background") or "", leads=False)
    if nesting:
        for frame in tree.select("iframe[srcdoc]"):
            inner = _html_links((frame.attr("srcdoc") or "").encode("utf-8", "replace"), "utf-8", nesting - 1)
            # A place without a path is one in that page itself.
            found.references.update(reference for reference in inner.references if reference[0])
    return found


def _read(element: turbohtml.Element, tag: str, found: Linked) -> None:
    if tag == "style":
        _read_css(element.text, found)
        return
    if tag == "meta":
        if (element.attr("http-equiv") or "").strip().lower() == "refresh":
            found.add(refresh.url(element.attr("content") or "") or "", leads=False)
        return
    if tag == "a" and (name := element.attr("name")):
        found.anchors.add(name)
    for attribute in _ATTRIBUTES[tag]:
        if value := element.attr(attribute):
            if attribute.endswith("srcset"):
                for url in srcset.urls(value):
                    found.add(url, leads=False)
            elif tag != "link" or _is_loaded(element):
                found.add(value, leads=tag in _LEADING)


def css_links(data: bytes) -> Linked:
    """What a style sheet loads."""
    found = Linked()
    _read_css(decode(data), found)
    return found


def markdown_links(text: str) -> Linked:
    """The inline links and pictures of Markdown, quickly: what is read as a link need not be one. No anchors."""
    return _linked(_destinations(_FENCED.sub("", text)))


def exact_markdown_links(text: str) -> Linked:
    """All the links of Markdown, as the standard has them. No anchors."""
    return _linked(found.url for found in MarkdownText(text).destinations())


def _linked(destinations: Iterable[str]) -> Linked:
    found = Linked()
    for destination in destinations:
        found.add(destination, leads=True)
    if not any(path for path, _ in found.references):
        # Its links were not made local. Those within the page are the site's own then, and name ids of its HTML.
        found.references.clear()
    return found


def _destinations(text: str) -> Iterator[str]:
    for match in _QUIET.finditer(text):
        if match["link"] and (found := _DESTINATION.match(text, match.end())) is not None:
            yield _ESCAPED.sub(r"\1", found["angled"] if found["angled"] is not None else found["plain"])


def target_of(source: str, path: str) -> str | None:
    """The file that `path` leads to from the file `source`; `None` if it leaves the folder both are counted from."""
    if path.startswith("/"):
        return None
    if not path:
        return source
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    return None if there in (".", "..") or there.startswith("../") else there


def is_anywhere(fragment: str) -> bool:
    """Whether every page has this place: its top."""
    return not fragment or fragment.lower() == "top"


def _is_loaded(link: turbohtml.Element) -> bool:
    return _WITHOUT_FILES.isdisjoint((link.attr("rel") or "").lower().split())


def _read_css(css: str, found: Linked) -> None:
    for reference in references(css):
        found.add(reference, leads=False)
