"""Marker characters for Markdown that the renderer cannot write, since it escapes its input.

They are noncharacters, which do not occur in text. A page that contains them gains nothing: the replacements are made
safe here, from the rendered text, whatever the origin of a marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from turbohtml import Comment, Element, Node, Text

TAG_MARKERS: Final = {
    "sub": ("\ufdd0", "\ufdd1"),
    "sup": ("\ufdd2", "\ufdd3"),
    "kbd": ("\ufde0", "\ufde1"),
    # where Markdown's own syntax does not work
    "code": ("\ufde3", "\ufde4"),
    "em": ("\ufde6", "\ufde7"),
    "strong": ("\ufde8", "\ufde9"),
}
"""Opening and closing marker of each element."""
LINE_BREAK: Final = "\ufdd4"
"""A line break in a table cell, where Markdown has none."""

_ALERT: Final = "\ufdd7"
_ALERT_END: Final = "\ufdd8"  # after the kind of an alert, before a block
_ALERT_GOES_ON: Final = "\ufdd9"  # the same, before a line of text
_FORMULA: Final = "\ufdda"
_DISPLAY: Final = "\ufddb"  # the language of a code block that is a display formula
_SUMMARY: Final = "\ufddc"
_OPEN_SUMMARY: Final = "\ufddd"
_END_OF_DETAILS: Final = "\ufdde"
_NOTE: Final = "\ufddf"
_COLUMNS: Final = "\ufde2"
_APART: Final = "\ufde5"

_SIMPLE: Final = {
    "\ufdd0": "<sub>",
    "\ufdd1": "</sub>",
    "\ufdd2": "<sup>",
    "\ufdd3": "</sup>",
    "\ufde0": "<kbd>",
    "\ufde1": "</kbd>",
    "\ufde3": "<code>",
    "\ufde4": "</code>",
    "\ufde6": "<em>",
    "\ufde7": "</em>",
    "\ufde8": "<strong>",
    "\ufde9": "</strong>",
    _END_OF_DETAILS: "</details>",
}
_LEAD: Final = "\ufdd0".encode()[:2]  # common to all markers in UTF-8
_IN_UTF8: Final = re.compile(b"\\xef\\xb7[\\x90-\\x94\\x97-\\xa9]").findall  # all except those of `anchors`
_ALERT_KIND: Final = re.compile(f"{_ALERT}([A-Z]+)(?:{_ALERT_END}|{_ALERT_GOES_ON}(?:\n[ \t>]*(?=\n))?)").match
# Begins with one literal backtick, which is fast.
_CODE: Final = re.compile(f"`(`*)([{_FORMULA}{_SUMMARY}{_OPEN_SUMMARY}])([^\n]*?)\\2`\\1")
_BLOCK: Final = re.compile(f"^([^\n`]*)(`{{3,}}){_DISPLAY}\n(.*?)^([ \t>]*)\\2[ \t]*$", re.M | re.S)
_ITEM: Final = re.compile(r"[0-9]+[.)] \Z")
_MAX_ITEM: Final = 12  # characters: nine digits, and two more
_REFERENCE: Final = re.compile(f"{_NOTE}({_NOTE})?([\\w.-]+){_NOTE}")  # two at the beginning of the note itself
# The marker, the header after it, and the row of dashes below.
_TABLE: Final = re.compile(
    f"{_COLUMNS}([rc-]+){_COLUMNS}(?: (?!\\|))?([^\n{_COLUMNS}]*\n[ \t>]*)((?:\\| --- )+)(?=\\|(?:\n|\\Z))"
)
_DASHES: Final = {"r": "| ---: ", "c": "| :---: "}
_NO_TABLE: Final = re.compile(f"{_COLUMNS}[rc-]*{_COLUMNS} ?")
_LINE_APART: Final = re.compile(f"\n[ \\t>]*+{_APART}\n[ \\t>]*+(?=\n)")
# Breaks at the end of a cell. Begins with a literal, which is fast.
_OUTER_BREAKS: Final = re.compile(f"{LINE_BREAK}(?: *{LINE_BREAK})*+ *+(?=(\\|)?)")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")

FIRST_NOTE: Final = "10"
"""The first number of lists of footnotes: with two digits their text is indented by four columns."""


def alert_above_text(kind: str) -> Element:
    """The first line of an alert before a paragraph."""
    return Element("p", None, [Text(f"{_ALERT}{kind}{_ALERT_GOES_ON}")])


def alert_above_block(kind: str) -> Element:
    """The first line of an alert before a list, code or the like."""
    return Element("p", None, [Text(f"{_ALERT}{kind}{_ALERT_END}")])


def inline_formula(tex: str) -> Element:
    """An inline formula."""
    return Element("code", None, [Text(f"{_FORMULA}{' '.join(tex.split())}{_FORMULA}")])


def tex_of(code: str) -> str | None:
    """The TeX of an inline formula from the text of its code element; `None` for other code."""
    return code[1:-1] if code[:1] == _FORMULA == code[-1:] else None


def display_formula(tex: str) -> Element:
    """A display formula."""
    lines = "\n".join(line.rstrip() for line in tex.strip().split("\n") if line.strip())
    return Element("pre", None, [Element("code", {"class": f"language-{_DISPLAY}"}, [Text(lines)])])


def details_start(summary: str) -> Element:
    """The first line of a folded section."""
    return _begin(_SUMMARY, summary)


def open_details_start(summary: str) -> Element:
    """The first line of an unfolded section."""
    return _begin(_OPEN_SUMMARY, summary)


def _begin(mark: str, summary: str) -> Element:
    return Element("p", None, [Element("code", None, [Text(f"{mark}{' '.join(summary.split())}{mark}")])])


def details_end() -> Element:
    """The last line of a foldable section."""
    return Element("p", None, [Text(_END_OF_DETAILS)])


def footnote_reference(label: str) -> Text:
    """A reference to a footnote."""
    return Text(f"{_NOTE}{label}{_NOTE}")


def footnote_definition(label: str) -> Text:
    """The marker that makes an item a footnote, in front of its text."""
    return Text(f"{_NOTE}{_NOTE}{label}{_NOTE}")


def column_alignment(sides: str) -> Text:
    """The alignment of columns, in front of a table's text: a letter for each, `r`, `c` or `-`."""
    return Text(f"{_COLUMNS}{sides}{_COLUMNS} ")


def id_comments(nodes: Sequence[Node]) -> list[Node]:
    """The comments among `nodes`, which mark the positions of ids."""
    return [node for node in nodes if isinstance(node, Comment)]


def blank_line() -> Element:
    """A blank line between two blocks of an item, where the renderer writes none."""
    return Element("p", None, [Text(_APART)])


def is_marker(char: str) -> bool:
    """True if a character is a marker."""
    return "\ufdd0" <= char <= "\ufdef"


def find_markers(data: bytes) -> list[str]:
    """The markers in a text in UTF-8."""
    if data.isascii() or _LEAD not in data:  # `bench.quality.speed` takes a fifth more if every text is searched
        return []
    return [marker.decode() for marker in set(_IN_UTF8(data))]


def replace_markers(markdown: str, marks: Sequence[str]) -> str:
    """Replace all markers in rendered text; `marks` are those that it contains."""
    if _DISPLAY in marks:
        markdown = _BLOCK.sub(lambda found: f"{found[1]}$$\n{_TAG.sub('< ', found[3])}{found[4]}$$", markdown)
    if _FORMULA in marks or _SUMMARY in marks or _OPEN_SUMMARY in marks:
        markdown = _CODE.sub(_write_code_marker, markdown)
    if _APART in marks:
        markdown = _LINE_APART.sub("", "\n" + markdown)[1:]
    if _ALERT in marks:
        markdown = _with_alerts(markdown)
    if _COLUMNS in marks:
        markdown = _NO_TABLE.sub("", _TABLE.sub(_aligned, markdown))
    if _NOTE in marks:
        markdown = _with_notes(markdown)
    if LINE_BREAK in marks:
        first, *others = _OUTER_BREAKS.sub(_end_of_cell, markdown).split(LINE_BREAK)
        if others:
            *middle, last = others
            markdown = "<br>".join((first.rstrip(" "), *[piece.strip(" ") for piece in middle], last.lstrip(" ")))
        else:
            markdown = first
    for mark in marks:
        if mark in markdown:  # most are replaced already, and this check is ten times faster
            markdown = markdown.replace(mark, _SIMPLE.get(mark, ""))
    return markdown


def _end_of_cell(found: re.Match[str]) -> str:
    """Replace line breaks at the end of a cell by its padding."""
    if found[1] is None:
        return found[0]
    start = found.start()
    before = found.string[max(start - 2, 0) : start]
    return "" if before[-1:] == " " and before != "| " else " "


def _with_alerts(markdown: str) -> str:
    pieces: list[str] = []
    done = 0
    here = markdown.find(_ALERT)
    while here >= 0:
        if found := _ALERT_KIND(markdown, here):
            pieces += (markdown[done:here], "[!", found[1], "]")
            done = found.end()
        here = markdown.find(_ALERT, here + 1)
    pieces.append(markdown[done:])
    return "".join(pieces)


def _with_notes(markdown: str) -> str:
    pieces: list[str] = []
    done = 0
    for found in _REFERENCE.finditer(markdown):
        # Searched near the end only: a pattern that begins with digits is slow.
        before = markdown[done : found.start()]
        item = _ITEM.search(before, max(0, len(before) - _MAX_ITEM)) if found[1] else None
        pieces += (before, f"[^{found[2]}]") if item is None else (before[: item.start()], f"[^{found[2]}]: ")
        done = found.end()
        if item is not None and markdown.startswith(" ", done):
            done += 1
    return "".join((*pieces, markdown[done:]))


def _aligned(found: re.Match[str]) -> str:
    """The first two rows of a table with its alignment."""
    sides, header, dashes = found.groups()
    rest = dashes.count("|") - len(sides)  # short rows are filled on the right
    return header + "".join(_DASHES.get(side, "| --- ") for side in sides + "-" * rest) if rest >= 0 else found[0]


def _write_code_marker(found: re.Match[str]) -> str:
    if found[2] == _FORMULA:
        return f"${_TAG.sub('< ', found[3])}$" if found[3] else ""
    opening = "<details open>" if found[2] == _OPEN_SUMMARY else "<details>"
    return f"{opening}<summary>{escape(found[3], quote=False)}</summary>"
