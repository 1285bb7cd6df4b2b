"""Renders a shaped tree as Markdown: the renderer's options, and what its output still needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from turbohtml import Element, Markdown, Text

from sitemirror.convert.characters import has_controls, without_controls
from sitemirror.convert.links import drop_empty_links, strip_targets
from sitemirror.convert.markdown_code import with_plain_spaces, without_blank_lines
from sitemirror.convert.markdown_escapes import unescaped
from sitemirror.convert.markdown_stars import starred
from sitemirror.convert.marks import marks_in, resolve


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
_SLANTED: Final = ("em", "i")
# Each begins with one character that others stand around: that is found twice as fast as a text of several.
_TAGS: Final = re.compile(r"<(?:code|em|strong)>").findall
_POINTED_TARGET: Final = re.compile(r"<(?<=\]\(<)").search
_EMPTY_LINK: Final = re.compile(r"\[(?=\]\()").search
# What closes the emphasis that it should be nested in: marks are told apart by what stands beside them.
_MINGLED: Final = re.compile(r"(?:\*__?|<(?:em|strong)>)\*\*?(?=[^\w\s*])").search
_BLANK_PARAGRAPHS: Final = re.compile(r"\n\n&#160;(?:&#160;|[ \xa0]|\n\n)*(?=\n\n|\Z)")


def render(elements: Sequence[Element]) -> str:
    """The Markdown of `elements`, each within a tree: LF line ends, one at the end, no control characters."""
    raw = _raw(elements)
    shows_nothing = _EMPTY_LINK(raw) is not None
    if shows_nothing and "<" not in raw and "*_" not in raw and not marks_in(raw.encode("utf-8", "replace")):
        # Nothing else can be amiss here, so the text need not be finished to find out.
        return _finished(_raw(elements) if _mended(elements, [drop_empty_links]) else raw, elements)[0]
    text, has_marks = _finished(raw, elements)
    # The renderer has met what Markdown cannot say, or what says nothing. Most of it can be mended.
    mends: list[Callable[[Element], int]] = []
    if "<" in text:  # One character is found ten times faster than several, and most pages do not have it.
        if _POINTED_TARGET(text):
            mends.append(strip_targets)
        tags = set(_TAGS(text))
        mends += [mend for tag, mend in _MENDS.items() if tag in tags]
    if "*_" in text and _MINGLED(text):
        mends.append(_unnest)
    if shows_nothing or (has_marks and _EMPTY_LINK(text)):
        mends.append(drop_empty_links)
    return _finished(_raw(elements), elements)[0] if mends and _mended(elements, mends) else text


def _mended(elements: Sequence[Element], mends: Sequence[Callable[[Element], int]]) -> int:
    return sum([mend(element) for mend in mends for element in elements])


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


def _unnest(element: Element) -> int:
    """Takes emphasis out that is the third around its text, and shows no more than the first does. The number."""
    inner = [part for part in element.iter_elements(_EMPHASIS) if _is_nested(part)]
    for part in inner:
        part.unwrap()
    return len(inner)


def _is_nested(part: Element) -> bool:
    between = part.parent
    around = between.parent if isinstance(between, Element) and between.tag in _EMPHASIS else None
    return (
        isinstance(around, Element) and around.tag in _EMPHASIS and (around.tag in _SLANTED) == (part.tag in _SLANTED)
    )


def _leading_spaces(text: str) -> int:
    return len(text) - len(text.lstrip("\xa0"))


_MENDS: Final[dict[str, Callable[[Element], int]]] = {
    "<code>": _join_code,
    "<em>": _mend_emphasis,
    "<strong>": _mend_emphasis,
}


def _raw(elements: Sequence[Element]) -> str:
    """What the renderer makes of them."""
    # What has left the page, taken out by its own rule, says nothing; and the renderer would look for its parent.
    parts = [element.to_markdown(_OPTIONS) for element in elements if element.parent is not None]
    return parts[0] if len(parts) == 1 else "\n\n".join(filter(None, parts))


def _finished(raw: str, elements: Sequence[Element]) -> tuple[str, bool]:
    """What the renderer has made of `elements`, with what it needs besides. And whether there were marks in it."""
    text = raw.strip("\n")
    has_entity = "&" in text and text.rfind("&#160;") >= 0
    if has_entity and ("\n\n&#160;" in text or text.startswith("&#160;")):
        # Paragraphs with nothing but a no-break space are spacing.
        text = _BLANK_PARAGRAPHS.sub("", "\n\n" + text).strip("\n")
    if has_entity or ("|" in text and "\xa0" in text and "\xa0 |" in text):
        text = with_plain_spaces(text)
    if text.rfind("\n\n\n") >= 0:  # twice as fast as from the beginning
        text = without_blank_lines(text)
    text = starred(text)
    if "\\" in text:
        text = unescaped(text, lambda: "".join([element.text for element in elements]))
    if not text:
        return "", False
    whole = text + "\n"
    try:
        data = whole.encode()
    except UnicodeEncodeError:
        return _finished(without_controls(raw), elements)
    if has_controls(whole, data):
        # Nothing above takes a control character out or puts one in, so they can be looked for when all is done.
        return _finished(without_controls(raw), elements)
    if marks := marks_in(data):
        text = resolve(text, marks)
        return text + "\n" if text else "", True
    return whole, False
