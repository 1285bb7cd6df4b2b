"""Renders a shaped tree as Markdown: the renderer's options, and what its output still needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from turbohtml import Element, Markdown, Text

from sitemirror.convert.characters import without_controls
from sitemirror.convert.links import drop_empty_links, strip_targets
from sitemirror.convert.markdown_code import with_plain_spaces, without_blank_lines
from sitemirror.convert.markdown_escapes import unescaped
from sitemirror.convert.markdown_stars import starred
from sitemirror.convert.marks import resolve


class _Options(Markdown):
    """Options that are unpacked once; the renderer would do it for every page."""

    _flat: dict[str, object] | None = None

    def _unpack(self) -> dict[str, object]:
        flat = self._flat
        if flat is None:
            flat = super()._unpack()
            object.__setattr__(self, "_flat", flat)
        return flat


_OPTIONS: Final = _Options(
    # Cells never hold raw HTML, so that no markup of the page's gets past the escaping.
    tables=Markdown.Tables(cell_blocks="text"),
    # A backslash survives editors that strip trailing blanks.
    document=Markdown.Document(line_break="backslash"),
)
_EMPHASIS: Final = ("em", "i", "strong", "b")
_BLANK_PARAGRAPHS: Final = re.compile(r"\n\n&#160;(?:&#160;|[ \xa0]|\n\n)*(?=\n\n|\Z)")


def render(elements: Sequence[Element]) -> str:
    """The Markdown of `elements`, each within a tree: LF line ends, one at the end, no control characters."""
    text = _rendered(elements)
    # The renderer has met what Markdown cannot say, or what says nothing. Most of it can be mended.
    # One character is found ten times faster than several, and most pages do not have it.
    mends = [mend for sign, mend in _MENDS.items() if sign in text] if "<" in text else []
    if "[](" in text:
        mends.append(drop_empty_links)
    mended = sum(mend(element) for mend in mends for element in elements)
    return _rendered(elements) if mended else text


def _join_code(element: Element) -> int:
    return _join(element, ("code", "tt", "samp"))


def _join_emphasis(element: Element) -> int:
    return _join(element, _EMPHASIS)


def _join(element: Element, tags: tuple[str, ...]) -> int:
    """Makes one of what is cut in pieces of one tag without anything between them. The number of cuts."""
    joined = 0
    for part in list(element.iter_elements(tags)):
        if not isinstance(part.next_sibling, Element) or _has_break(part):
            continue  # What ends a line ends its emphasis as well.
        while part.parent is not None and isinstance(after := part.next_sibling, Element) and after.tag == part.tag:
            if _has_break(after):
                break
            part.extend(list(after.children))
            after.decompose()
            joined += 1
    return joined


def _has_break(part: Element) -> bool:
    return any(isinstance(child, Element) and child.tag == "br" for child in part)


def _mend_emphasis(element: Element) -> int:
    return _join_emphasis(element) + _free_spaces(element)


def _free_spaces(element: Element) -> int:
    """Takes no-break spaces out of the ends of emphasis, which can neither begin nor end with one. Their number."""
    freed = 0
    for part in list(element.iter_elements(_EMPHASIS)):
        if not len(part):
            continue
        first, last = part[0], part[-1]
        if isinstance(first, Text) and (spaces := _leading_spaces(first.data)):
            first.data = first.data[spaces:]
            part.insert_before(Text("\xa0" * spaces))
            freed += spaces
        if isinstance(last, Text) and (spaces := _leading_spaces(last.data[::-1])):
            last.data = last.data[:-spaces]
            part.insert_after(Text("\xa0" * spaces))
            freed += spaces
    return freed


def _leading_spaces(text: str) -> int:
    return len(text) - len(text.lstrip("\xa0"))


_MENDS: Final[dict[str, Callable[[Element], int]]] = {
    "](<": strip_targets,
    "<code>": _join_code,
    "<em>": _mend_emphasis,
    "<strong>": _mend_emphasis,
}


def _rendered(elements: Sequence[Element]) -> str:
    # What has left the page, taken out by its own rule, says nothing; and the renderer would look for its parent.
    parts = (element.to_markdown(_OPTIONS) for element in elements if element.parent is not None)
    text = without_controls("\n\n".join(part for part in parts if part)).strip("\n")
    if "&" in text and "&#160;" in text:
        # Paragraphs with nothing but a no-break space are spacing.
        text = _BLANK_PARAGRAPHS.sub("", "\n\n" + text).strip("\n")
    if ("&" in text and "&#160;" in text) or ("\xa0" in text and "\xa0 |" in text):
        text = with_plain_spaces(text)
    if "\n\n\n" in text:
        text = without_blank_lines(text)
    text = starred(text)
    if "\\" in text:
        text = unescaped(text, "".join([element.text for element in elements]))
    text = resolve(text)
    return text + "\n" if text else ""
