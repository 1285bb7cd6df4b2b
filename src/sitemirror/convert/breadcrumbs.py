"""The trail that a page shows above its title: the sections it stands in."""

from __future__ import annotations

from itertools import islice
from typing import Final

from turbohtml import Element

from sitemirror.convert.document import Document
from sitemirror.convert.one_line import one_line

_TRAIL: Final = "readcrumb"  # with a small letter in front or a capital one
_LISTS_ABOVE: Final = 40  # A trail stands above the page, seldom after long menus.
_BESIDE: Final = "breadcrumbs-aside"  # Read the Docs': a link to the source of the page
_MAX_CRUMBS: Final = 20
_MAX_CRUMB: Final = 200  # characters
_SEPARATORS: Final = "/>›»→\\|· \xa0"


def read_breadcrumbs(document: Document) -> list[str]:
    """What the steps of the first trail on the page are called. A step that is but a picture has no name."""
    if len(document.lists) <= _LISTS_ABOVE:
        found = [element for element in document.lists if _is_trail(element)]
        trail = next((element for element in found if element.closest("body") is not None), None)
    else:
        body = document.body
        above = islice(body.iter_elements(("nav", "ol", "ul")), _LISTS_ABOVE) if body is not None else ()
        trail = next(filter(_is_trail, above), None)
    return [] if trail is None else _steps(trail)


def _is_trail(element: Element) -> bool:
    return _TRAIL in (element.attr("class") or "") or _TRAIL in (element.attr("aria-label") or "")


def _steps(trail: Element) -> list[str]:
    steps: list[str] = []
    for item in trail.find_all("li", limit=_MAX_CRUMBS) or trail.find_all("a", limit=_MAX_CRUMBS):
        if _BESIDE in (item.attr("class") or ""):
            continue
        text = (one_line(item.text) or "").strip(_SEPARATORS)
        if text and len(text) <= _MAX_CRUMB:
            steps.append(text)
    return steps
