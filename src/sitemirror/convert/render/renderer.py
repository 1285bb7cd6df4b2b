"""Render a converted tree as Markdown: options of the renderer, and fixes for its output."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from turbohtml import Element, Markdown, Text

from sitemirror.convert.elements.links import drop_empty_links, strip_link_targets
from sitemirror.convert.hidden.characters import has_controls, has_invisible_text, strip_invisible
from sitemirror.convert.render.code_ranges import collapse_blank_lines, map_outside_code, plain_spaces
from sitemirror.convert.render.emphasis import (
    drop_emphasis_in_tables,
    end_emphasis_at_breaks,
    fix_emphasis,
    join_split_code,
    tags_to_stars,
    unnest_emphasis,
    unnest_unlike_emphasis,
    write_code_as_tag,
)
from sitemirror.convert.render.escapes import drop_needless_escapes
from sitemirror.convert.render.markers import LINE_BREAK, find_markers, replace_markers
from sitemirror.convert.render.spacing import (
    drop_blank_paragraphs,
    drop_empty_items,
    drop_first_breaks,
    drop_last_breaks,
    separate_blocks,
)

_OPTIONS: Final = Markdown(
    # No raw HTML in cells, so that no markup of the page gets past the escaping.
    tables=Markdown.Tables(cell_blocks="text"),
    # Backslashes survive editors that strip trailing blanks.
    document=Markdown.Document(line_break="backslash"),
)
_NO_TEXT: Final = rf"(?:[{LINE_BREAK}\xa0]|&#160;)*+\]\("
_EMPTY_LINK: Final = re.compile(rf"\[(?={_NO_TEXT})").search
_DEFINED_BY_CODE: Final = re.compile(r"\[(?=`++[^`\[\]\n]*+\]:)").search
# Emphasis that would close the one around it: CommonMark pairs delimiters by their neighbours.
_MINGLED, _MINGLED_TAGS = (re.compile(rf"{mark}\*\*?(?=[^\w\s*])").search for mark in (r"\*__?", "<(?:em|strong)>"))
# Emphasis in a cell that the renderer ended early, because of a line break in the text above.
_CUT_SHORT: Final = re.compile(r"^[ >]*\|.*</(?:em|strong|del)>\\ ", re.M).search
# A quote, a table or a rule in an item.
_BLOCK_IN_ITEM: Final = r"[ >]* (?:> |\| --- |---(?:\n|\Z))"
_IN_ITEM: Final = re.compile(rf"\n{_BLOCK_IN_ITEM}").search
# Stars without effect: the renderer takes non-ASCII punctuation in elements for letters.
_UNREAD_STARS, _UNREAD_TILDES = (
    re.compile(rf"{sign}(?:(?<=[^\W_]{sign}){sign}*+(?=[^\w\s!-~])|(?<=[^\w\s!-~]{sign}){sign}*+(?=[^\W_]))").search
    for sign in (r"\*", "~")
)
# Paragraphs of no-break spaces only: in an item, and anywhere.
_SPACING: Final = re.compile(r"\n[ >]*+\n[ >]*+(?<= )&#160;(?:&#160;|[ \xa0])*+(?:\n|\Z)").search
_BLANK_PARAGRAPHS: Final = re.compile(r"\n[ >]*+\n[ >]*+&#160;(?:&#160;|[ \xa0])*+(?=\n[ >]*+(?:\n|\Z)|\Z)")
# An empty item or heading, and a line break before any text.
_BARE: Final = re.compile(r"\n(?<=[-*#.)] \n)").search
_BARE_END: Final = re.compile(r"(?:\n|\A)[ >]*+(?:[-*]|#++|\d++[.)])\s*+\Z").search
_TAIL: Final = 20  # characters at the end that are searched
_FIRST_BREAK: Final = re.compile(r"\\(?:(?<=\n\n\\)|(?<=[-*>.] \\))\n").search


def render(elements: Sequence[Element]) -> tuple[str, int]:
    """Render `elements` as Markdown with LF line ends, one at the end, and without control characters.

    Each element is part of a tree. Also returns the number of invisible texts removed.
    """
    raw = _render_raw(elements)
    shows_nothing = _EMPTY_LINK(raw) is not None
    has_definitions = _DEFINED_BY_CODE(raw) is not None
    has_unread = _has_unread(raw)
    has_breaks = "\\" in raw and (
        _FIRST_BREAK(raw) is not None or raw.startswith("\\\n") or (shows_nothing and ")\\\n" in raw)
    )
    has_blocks = _IN_ITEM(raw) is not None
    has_bare = _BARE_END(raw, max(0, len(raw) - _TAIL)) is not None or _BARE(raw) is not None
    has_spacing = "&#160;" in raw and _SPACING(raw) is not None
    text, has_marks, invisible = _finish(raw, elements)
    # Each of these means that a fix in the tree and a second rendering give better Markdown.
    fixes: list[Callable[[Element], int]] = []
    if "<br>" in raw:
        fixes += (end_emphasis_at_breaks, drop_first_breaks)
    if "](<" in text:
        fixes.append(strip_link_targets)
    fixes += [fix for tag, fix in _FIXES.items() if tag in text]
    if fix_emphasis in fixes:
        # The renderer considers trailing line breaks, which have no effect.
        fixes = [drop_last_breaks, unnest_unlike_emphasis, *fixes]
    if has_breaks and drop_first_breaks not in fixes:
        fixes.append(drop_first_breaks)
    if has_definitions:
        fixes.append(write_code_as_tag)
    if has_blocks:
        fixes.append(separate_blocks)
    if has_spacing:
        fixes.append(drop_blank_paragraphs)
    if has_unread and fix_emphasis not in fixes:
        fixes.append(fix_emphasis)
    if "*_" in text and (_MINGLED(text) or _MINGLED_TAGS(text)):
        fixes.append(unnest_emphasis)
    if shows_nothing or (has_marks and _EMPTY_LINK(text)):
        fixes.append(drop_empty_links)
    if has_bare:
        fixes.append(drop_empty_items)  # last, after items were removed with their links
    return (
        _finish(_render_raw(elements), elements)[::2] if fixes and _apply_fixes(elements, fixes) else (text, invisible)
    )


def _has_unread(raw: str) -> bool:
    """True if delimiters may have no effect."""
    if raw.isascii():
        return False
    return _UNREAD_STARS(raw) is not None or ("~" in raw and _UNREAD_TILDES(raw) is not None)


def _apply_fixes(elements: Sequence[Element], fixes: Sequence[Callable[[Element], int]]) -> int:
    return sum([fix(element) for fix in fixes for element in elements])


_FIXES: Final[dict[str, Callable[[Element], int]]] = {
    "<code>": join_split_code,
    "<em>": fix_emphasis,
    "<strong>": fix_emphasis,
}


def _render_raw(elements: Sequence[Element]) -> str:
    """Render elements without any fixes."""
    # Elements removed by their own rule have no parent.
    parts = [element.to_markdown(_OPTIONS) for element in elements if element.parent is not None]
    raw = parts[0] if len(parts) == 1 else "\n\n".join(filter(None, parts))
    if ">\\ " in raw and _CUT_SHORT(raw) and _apply_fixes(elements, [drop_emphasis_in_tables]):
        return _render_raw(elements)
    return raw


def _strip_invisible(elements: Sequence[Element]) -> int:
    """Clean all text before it is escaped; returns the number of invisible texts removed."""
    removed = 0
    for node in [node for element in elements for node in element.descendants if isinstance(node, Text)]:
        clean, number = strip_invisible(node.data)
        if clean != node.data:
            node.data = clean
        removed += number
    return removed


def _finish(raw: str, elements: Sequence[Element], invisible: int = 0) -> tuple[str, bool, int]:
    """Finish rendered Markdown: text, true if it had markers, and the number of invisible texts removed.

    `invisible` is the number removed before.
    """
    text = raw.strip("\n")
    has_entity = "&#160;" in text
    if has_entity and _BLANK_PARAGRAPHS.search("\n\n" + text):
        # Paragraphs of no-break spaces are spacing.
        text = map_outside_code("\n\n" + text, lambda piece: _BLANK_PARAGRAPHS.sub("", piece)).strip("\n")
    if "&#" in text or "\xa0 |" in text:
        text = plain_spaces(text)
    if "\n\n\n" in text:
        text = collapse_blank_lines(text)
    text = tags_to_stars(text)
    if "\\" in text:
        text = drop_needless_escapes(text)
    if not text:
        return "", False, invisible
    whole = text + "\n"
    data = whole.encode("utf-8", "replace")
    # None of the steps above adds or removes such characters.
    if has_controls(whole, data) or has_invisible_text(data):
        number = _strip_invisible(elements)
        clean, others = strip_invisible(_render_raw(elements))
        if clean != raw:
            return _finish(clean, elements, invisible + number + others)
    if marks := find_markers(data):
        text = replace_markers(text, marks)
        return text + "\n" if text else "", True, invisible
    return whole, False, invisible
